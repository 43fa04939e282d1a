/**
 * Builds audit rows for commands. The rows name no API key as the actor: a command only needs
 * access to the database. Whoever --as names is added when they are written; see tools/acting.ts.
 */
import type { AuditAction } from '../../domain/events.ts';
import type { AuditEntry } from '../../domain/transition.ts';

/** Returns the audit row of an action; an `entity` that is a text is the id of an API key. */
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
