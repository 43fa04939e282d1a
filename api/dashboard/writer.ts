/**
 * Who changes the allowlist on the dashboard: an operator with a key of their own, over eight lines. In the
 * order of the API: headers, key, clock, signature, and only then the nonce.
 */
import { createHmac, createSecretKey, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Logger } from 'pino';
import { ServiceError } from '../../domain/errors.ts';
import type { Caller } from '../../domain/roles.ts';
import { OPERATOR_NAME, type DashboardKeys } from '../../platform/dashboard-keys.ts';
import type { Database } from '../../prisma/client.ts';
import { writeAuditOnce } from '../../store/audit.ts';
import { takeNonce } from '../../store/nonces.ts';
import type { SignedRequest } from '../app.ts';
import { dashboardCanonicalString } from '../auth/canonical.ts';
import { createRefusalRecorder } from '../auth/record-refusal.ts';
import { AuthenticationError } from '../auth/refusal.ts';

export interface WriterOptions {
  readonly db: Database;
  readonly log: Logger;
  /** Null: nobody may write. */
  readonly keys: DashboardKeys | null;
  readonly maxSkewSeconds: number;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/** Tells who signed, or throws `unauthenticated`, or `dashboard_writes_disabled` where nobody can. */
export type AuthenticateWriter = (request: SignedRequest) => Promise<Caller>;

/** As the audit has it: a writer of the dashboard is no caller of the API. */
export const WRITER_ROLE = 'dashboard';
const PREFIX = 'dashboard:';

/** The operator's name of a caller that {@link createWriterAuthentication} gave. */
export function operatorOf({ key_id }: Caller): string {
  return (key_id ?? '').slice(PREFIX.length);
}

export function createWriterAuthentication({ db, log, keys, maxSkewSeconds, now = Date.now }: WriterOptions): AuthenticateWriter {
  const record = createRefusalRecorder({ log, write: (eventId, entry) => writeAuditOnce(db, eventId, entry) });
  return async (request) => {
    if (keys === null) throw new ServiceError('dashboard_writes_disabled');
    try {
      const { operator, nonce } = checkSignature(request, keys, { maxSkewSeconds, now: now() });
      const key_id = PREFIX + operator;
      if (!(await takeNonce(db, { key_id, nonce }))) throw new AuthenticationError('nonce_replayed', key_id);
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
  'x-svc-dashboard-timestamp': /^(0|[1-9][0-9]{0,11})$/,
  'x-svc-dashboard-nonce': /^[A-Za-z0-9._~-]{1,128}$/,
  'x-svc-dashboard-signature': /^v3=[0-9a-f]{64}$/,
} as const;
type Header = keyof typeof FORMS;

/** An unknown operator costs what a known one does. */
const NOBODY = createSecretKey(randomBytes(32));

function checkSignature(
  { method, target, headers, body }: SignedRequest,
  keys: DashboardKeys,
  clock: { readonly maxSkewSeconds: number; readonly now: number },
): { readonly operator: string; readonly nonce: string } {
  const [operator, timestamp, nonce, signature] = (Object.keys(FORMS) as Header[]).map((name) => single(headers, name)) as [
    string,
    string,
    string,
    string,
  ];
  const secret = keys.get(operator);
  const text = dashboardCanonicalString({ method, path: target.path, query: target.query, body, timestamp, nonce, operator });
  const expected = createHmac('sha256', secret ?? NOBODY)
    .update(text, 'utf8')
    .digest();
  const fits = timingSafeEqual(expected, Buffer.from(signature.slice('v3='.length), 'hex'));
  if (secret === undefined) throw new AuthenticationError('key_unknown');
  const key_id = PREFIX + operator;
  if (Math.abs(Math.floor(clock.now / 1000) - Number(timestamp)) > clock.maxSkewSeconds) {
    throw new AuthenticationError('timestamp_out_of_range', key_id);
  }
  if (!fits) throw new AuthenticationError('signature_mismatch', key_id);
  return { operator, nonce };
}

function single(headers: SignedRequest['headers'], name: Header): string {
  const values = headers[name] ?? [];
  if (values.length > 1) throw new AuthenticationError('header_repeated');
  const [value = ''] = values;
  if (value === '') throw new AuthenticationError('header_missing');
  if (!FORMS[name].test(value)) throw new AuthenticationError('header_malformed');
  return value;
}
