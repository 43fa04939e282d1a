/**
 * Audit rows of what a command did: there is no key behind it, only somebody with access to the
 * database.
 */
import type { AuditAction } from '../../domain/events.ts';
import type { AuditEntry } from '../../domain/transition.ts';

export function toolAudit(
  action: AuditAction,
  keyId: string,
  reason: string | null = null,
): AuditEntry {
  return {
    action,
    entity_type: 'api_key',
    entity_key: keyId,
    outcome: 'success',
    reason,
    details: { tool: 'fundadmin' },
  };
}
