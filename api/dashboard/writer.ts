/**
 * Who changes the allowlist on the dashboard: an operator with a key of their own, over eight
 * lines. In the order of the API: headers, key, clock, signature, and only then the nonce.
 */
import type { Logger } from 'pino';
import { ServiceError } from '../../domain/errors.ts';
import type { Caller } from '../../domain/roles.ts';
import { OPERATOR_NAME, type DashboardKeys } from '../../platform/dashboard-keys.ts';
import type { Database } from '../../prisma/client.ts';
import { writeAuditOnce } from '../../store/audit.ts';
import { takeNonce } from '../../store/request-nonces.ts';
import type { SignedRequest } from '../http/signed-request.ts';
import { dashboardCanonicalString } from '../auth/canonical.ts';
import { NONCE, readHeaders, TIMESTAMP } from '../auth/credentials.ts';
import { createRefusalRecorder } from '../auth/record-refusal.ts';
import { AuthenticationError } from '../auth/refusal.ts';
import { assertSigned, type Clock } from '../auth/verify.ts';

export interface WriterOptions {
  readonly db: Database;
  readonly log: Logger;
  /** Null: nobody may write. */
  readonly keys: DashboardKeys | null;
  readonly maxSkewSeconds: number;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/**
 * Tells who signed, or throws `unauthenticated`, or `dashboard_writes_disabled` where nobody can.
 */
export type AuthenticateWriter = (request: SignedRequest) => Promise<Caller>;

/** As the audit has it: a writer of the dashboard is no caller of the API. */
export const WRITER_ROLE = 'dashboard';
const PREFIX = 'dashboard:';

/** The operator's name of a caller that {@link createWriterAuthentication} gave. */
export function operatorOf({ key_id }: Caller): string {
  return (key_id ?? '').slice(PREFIX.length);
}

export function createWriterAuthentication({
  db,
  log,
  keys,
  maxSkewSeconds,
  now = Date.now,
}: WriterOptions): AuthenticateWriter {
  const record = createRefusalRecorder({
    log,
    write: (eventId, entry) => writeAuditOnce(db, eventId, entry),
  });
  return async (request) => {
    if (keys === null) throw new ServiceError('dashboard_writes_disabled');
    try {
      const { key_id, nonce } = checkSignature(request, keys, { maxSkewSeconds, now: now() });
      if (!(await takeNonce(db, { key_id, nonce })))
        throw new AuthenticationError('nonce_replayed', key_id);
      // Roles are the API's; here the key is what counts.
      return { client_id: null, key_id, role: 'admin' };
    } catch (error) {
      if (error instanceof AuthenticationError) record(error, request.request_id);
      throw error;
    }
  };
}

const FORMS = {
  'x-svc-dashboard-operator': OPERATOR_NAME,
  'x-svc-dashboard-timestamp': TIMESTAMP,
  'x-svc-dashboard-nonce': NONCE,
  'x-svc-dashboard-signature': /^v3=[0-9a-f]{64}$/,
} as const;

function checkSignature(
  { method, target: { path, query }, headers, body }: SignedRequest,
  keys: DashboardKeys,
  clock: Clock,
): { readonly key_id: string; readonly nonce: string } {
  const read = readHeaders(headers, FORMS);
  const [operator, timestamp, nonce] = [
    read['x-svc-dashboard-operator'],
    read['x-svc-dashboard-timestamp'],
    read['x-svc-dashboard-nonce'],
  ];
  const key_id = PREFIX + operator;
  const text = dashboardCanonicalString({ method, path, query, body, timestamp, nonce, operator });
  const signature = Buffer.from(read['x-svc-dashboard-signature'].slice('v3='.length), 'hex');
  assertSigned(
    { keyId: key_id, secret: keys.get(operator) ?? null, text, signature, timestamp },
    clock,
  );
  return { key_id, nonce };
}
