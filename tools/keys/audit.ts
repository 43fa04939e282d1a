/**
 * Audit rows of what a command did: there is no key behind it, only somebody with access to the
 * database.
 */
import type { AuditAction } from '../../domain/events.ts';
import type { AuditEntry } from '../../domain/transition.ts';

/** A text is the id of a key. */
export function toolAudit(
  action: AuditAction,
  entity: string | { readonly entity_type: 'agent_authority'; readonly entity_key: string },
  reason: string | null = null,
): AuditEntry {
  const about =
    typeof entity === 'string' ? { entity_type: 'api_key', entity_key: entity } : entity;
  return {
    action,
    ...about,
    outcome: 'success',
    reason,
    details: { tool: 'fundadmin' },
  };
}
