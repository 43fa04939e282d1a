/** Guarded refusals leave an audit row of their own. */
import { auditOf, type Requester } from '../domain/actions/context.ts';
import { ServiceError } from '../domain/errors.ts';
import type { AuditAction } from '../domain/events.ts';
import { writeAudit } from '../store/audit.ts';
import type { ApiDependencies } from './dependencies.ts';

export interface Subject {
  readonly action: AuditAction;
  readonly entity_type: string;
  readonly entity_key: string;
}

/** Runs `work`; a 409 or 403 that it throws is recorded as denied, with its code as the reason, before it is answered. */
export async function auditedRefusal<T>(
  deps: Pick<ApiDependencies, 'db'>,
  requester: Requester,
  subject: Subject,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ServiceError && [403, 409].includes(error.status)) {
      await writeAudit(deps.db, [auditOf(requester, { ...subject, outcome: 'denied', reason: error.code })]);
    }
    throw error;
  }
}
