/** Who requested a change, and how timeline and audit trail record this. */
import type { AuditAction } from '../events.ts';
import type { JsonObject } from '../json.ts';
import type { Actor, Caller } from '../roles.ts';
import type { AuditEntry } from '../transition.ts';

export interface Requester {
  readonly caller: Caller;
  readonly request_id: string;
}

/** Returns the requester's key (and the operator's label, if any) as the timeline shows them. */
export function actorOf(requester: Requester, label?: string): Actor {
  return {
    type: 'key',
    client_id: requester.caller.client_id,
    key_id: requester.caller.key_id,
    ...(label === undefined ? {} : { label }),
  };
}

/** Returns an audit row about something that the requester did or was refused. */
export function auditOf(
  requester: Requester,
  entry: {
    readonly action: AuditAction;
    readonly entity_type: string;
    readonly entity_key: string;
    readonly outcome?: AuditEntry['outcome'];
    readonly reason?: string;
    readonly details?: JsonObject;
  },
): AuditEntry {
  return {
    action: entry.action,
    entity_type: entry.entity_type,
    entity_key: entry.entity_key,
    outcome: entry.outcome ?? 'success',
    actor_client_id: requester.caller.client_id,
    actor_key_id: requester.caller.key_id,
    actor_role: requester.caller.role,
    namespace: requester.caller.namespace ?? null,
    request_id: requester.request_id,
    reason: entry.reason ?? null,
    ...(entry.details === undefined ? {} : { details: entry.details }),
    ...(requester.caller.checked_at === undefined
      ? {}
      : { checked_at: requester.caller.checked_at }),
  };
}

/** Returns the audit row of a successful command on a movement. */
export function movementAudit(
  requester: Requester,
  action: AuditAction,
  movementId: string,
  more: { readonly reason?: string; readonly details?: JsonObject } = {},
): { readonly audit: readonly AuditEntry[] } {
  return {
    audit: [
      auditOf(requester, { action, entity_type: 'movement', entity_key: movementId, ...more }),
    ],
  };
}
