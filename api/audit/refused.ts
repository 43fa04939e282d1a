/** Writes audit rows of guarded refusals; no other file writes them. */
import { auditOf, type Requester } from '../../domain/commands/context.ts';
import { ServiceError, type ErrorCode } from '../../domain/errors.ts';
import type { AuditAction } from '../../domain/events.ts';
import type { JsonObject } from '../../domain/json.ts';
import { writeAudit } from '../../store/audit.ts';
import type { ApiDependencies } from '../dependencies.ts';

export interface Subject {
  readonly action: AuditAction;
  readonly entity_type: string;
  readonly entity_key: string;
  /** The request's content. */
  readonly details?: JsonObject;
}

/**
 * Runs `work`. A guarded refusal that `work` throws is recorded as denied before the caller gets
 * the error: the error code is the reason, and the details are the request and the context that the
 * caller sees. The row is committed in a separate database transaction, since the transaction of
 * `work` is rolled back by then.
 */
export async function auditedRefusal<T>(
  deps: Pick<ApiDependencies, 'db'>,
  requester: Requester,
  subject: Subject,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ServiceError && isGuarded(error)) {
      const details = { ...subject.details, ...contextOf(error) };
      const row = {
        ...subject,
        outcome: 'denied',
        reason: error.code,
        ...(Object.keys(details).length === 0 ? {} : { details }),
      } as const;
      await writeAudit(deps.db, [auditOf(requester, row)]);
    }
    throw error;
  }
}

/** Codes with status 422 that depend on stored data, and not on the form of the request. */
const GUARDED_INVALID: readonly ErrorCode[] = [
  'cap_consistency_violation',
  'address_not_allowlisted',
  'max_notional_exceeded',
  'asset_not_allowed',
  'chain_not_allowed',
];

/** Returns whether a rule caused the refusal, not the request's form; every 403 and 409 counts. */
function isGuarded({ status, code }: ServiceError): boolean {
  return status === 403 || status === 409 || GUARDED_INVALID.includes(code);
}

function contextOf({ context }: ServiceError): JsonObject {
  return JSON.parse(JSON.stringify(context)) as JsonObject;
}
