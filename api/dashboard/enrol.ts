/** Enrols an operator: a browser hands over the secret that it made, for the row of its link. */
import { timingSafeEqual } from 'node:crypto';
import type { Logger } from 'pino';
import { ServiceError } from '../../domain/errors.ts';
import { dashboardId } from '../../domain/roles.ts';
import type { AuditEntry } from '../../domain/transition.ts';
import { keyFingerprint, tokenHash } from '../../platform/one-time.ts';
import { openSecret, sealSecret, type SecretsKeys } from '../../platform/secrets.ts';
import type { Database } from '../../prisma/client.ts';
import { writeAuditOnce } from '../../store/audit.ts';
import {
  fillKey,
  readEnrolment,
  type EnrolledKey,
  type HeldKey,
} from '../../store/dashboard-keys.ts';
import { createMinutelyAudit } from '../auth/record-refusal.ts';
import type { OperatorKeys } from './operators.ts';
import type { EnrolBody, EnrolResponse } from './schema.ts';

/** The operator name that a page signs with while it does not know whose link it has. */
export const ENROLLING = 'enrol';

/**
 * Stores the new operator's secret. The same request again returns the same result; any other fails
 * with `enrolment_refused`.
 */
export type Enrol = (
  db: Database,
  enrolment: EnrolBody & {
    /** The operator that the request names; the request is signed with the new secret. */
    readonly signer: string;
    readonly request_id: string;
  },
) => Promise<EnrolResponse>;

const REFUSALS = {
  unknown: 'This enrolment link is unknown: ask for a new link (fundadmin dashboard enrol).',
  other_operator: 'This link is for another operator.',
  used: 'Another key was enrolled with this link. If that was not you, report it at once; otherwise ask for a new link.',
  expired: 'This link has expired: ask for a new link (fundadmin dashboard enrol).',
  ended:
    'This link was ended, or replaced by a newer one: use the newest link, or ask for a new one (fundadmin dashboard enrol).',
  in_file:
    'This operator has a key in SVC_DASHBOARD_WRITER_KEYS_FILE: ask for a link made with --replace.',
  no_secrets_key: 'The service cannot store a key without SVC_SECRETS_KEY: set it.',
} as const;
type Refusal = keyof typeof REFUSALS;

export function createEnrol({
  db: auditDb,
  log,
  secretsKeys,
  file,
}: {
  readonly db: Database;
  readonly log: Logger;
  readonly secretsKeys: SecretsKeys;
  /** Keys of the file; a link may replace such a key only if the link was made for that. */
  readonly file: OperatorKeys;
}): Enrol {
  const auditMinutely = createMinutelyAudit({
    log,
    write: (eventId, entry) => writeAuditOnce(auditDb, eventId, entry),
  });
  const refusalOf = async (
    row: (HeldKey & { readonly expired: boolean }) | null,
    { operator, signer, secret }: Parameters<Enrol>[1],
  ): Promise<Refusal | null> => {
    if (secretsKeys.length === 0) return 'no_secrets_key';
    if (row === null) return 'unknown';
    const named = [operator ?? row.operator, signer === ENROLLING ? row.operator : signer];
    if (named.some((each) => each !== row.operator)) return 'other_operator';
    if (row.state === 'ended') return 'ended';
    if (row.secret !== null) {
      const held = tokenHash(openSecret(secretsKeys, row.secret, row.key_id));
      return timingSafeEqual(held, tokenHash(secret)) ? null : 'used';
    }
    if (row.expired) return 'expired';
    return !row.replaces && (await file.find(row.operator)) !== null ? 'in_file' : null;
  };
  return async (db, enrolment) => {
    const { code, secret, request_id } = enrolment;
    const entry = (row: EnrolledKey | null): Omit<AuditEntry, 'outcome' | 'reason'> => ({
      action: 'dashboard_key.fill',
      entity_type: 'dashboard_key',
      entity_key: row?.key_id ?? 'unknown',
      request_id,
      ...(row === null ? {} : { actor_client_id: dashboardId(row.operator) }),
    });
    // At most two tries: when another page's request was stored first, the second try reads its
    // row.
    for (let look = 0; look < 2; look += 1) {
      const row = await readEnrolment(db, tokenHash(code));
      const refusal = await refusalOf(row, enrolment);
      if (refusal !== null || row === null) {
        const reason = refusal ?? 'unknown';
        auditMinutely(`enrol ${reason} ${row?.key_id ?? ''}`, {
          ...entry(row),
          outcome: 'denied',
          reason,
        });
        throw new ServiceError('enrolment_refused', {
          message: REFUSALS[reason],
          context: { reason },
        });
      }
      if (row.secret !== null) return answerOf(row, secret);
      const sealed = sealSecret(secretsKeys, secret, row.key_id);
      const filled = await fillKey(db, row.key_id, sealed, [
        { ...entry(row), outcome: 'success', reason: null },
      ]);
      if (filled !== null) return answerOf(filled, secret);
    }
    throw new Error('the row of an enrolment changed after every read');
  };
}

function answerOf(
  { operator, role, allowlist, state }: EnrolledKey,
  secret: string,
): EnrolResponse {
  return { operator, role, allowlist, state, fingerprint: keyFingerprint(secret, operator) };
}
