/**
 * Authenticates requests under `/dashboard/`: an operator signs eight lines with an operator key,
 * or reads with a session. The order is that of the API: headers, key, clock, signature, and only
 * then the nonce.
 */
import type { KeyObject } from 'node:crypto';
import type { Logger } from 'pino';
import { ServiceError } from '../../domain/errors.ts';
import { dashboardId, operatorCaller, type Caller } from '../../domain/roles.ts';
import { OPERATOR_NAME } from '../../platform/dashboard-keys.ts';
import type { Database } from '../../prisma/client.ts';
import { writeAuditOnce } from '../../store/audit.ts';
import { takeNonce } from '../../store/request-nonces.ts';
import type { SignedRequest } from '../http/signed-request.ts';
import { dashboardCanonicalString } from '../auth/canonical.ts';
import { NONCE, readHeaders, TIMESTAMP } from '../auth/credentials.ts';
import { createRefusalRecorder } from '../auth/record-refusal.ts';
import { AuthenticationError } from '../auth/refusal.ts';
import { assertKnown, assertSigned } from '../auth/verify.ts';
import type { Nonces } from './nonces.ts';
import type { OperatorKey, OperatorKeys } from './operators.ts';

/** The second way to authenticate a reader: by a session. */
export interface SessionReader {
  /** Returns whether a request carries a session, valid or not. */
  claims(request: SignedRequest): boolean;
  /**
   * Returns the session's caller; null without a session. Throws `unauthenticated` for an invalid
   * session. Without `isUse` the read does not keep the session from its idle timeout.
   */
  read(request: SignedRequest, isUse: boolean): Promise<Caller | null>;
}

export interface OperatorAuthenticationOptions {
  readonly db: Database;
  readonly log: Logger;
  readonly keys: OperatorKeys;
  readonly sessions?: SessionReader;
  readonly nonces: Nonces;
  readonly maxSkewSeconds: number;
  /** Current time in milliseconds since the epoch. */
  readonly now?: () => number;
}

/** The caller of a request and how the caller was authenticated: a session may only read. */
export interface Authenticated {
  readonly caller: Caller;
  readonly by: 'signature' | 'session';
}

/**
 * Each method throws `unauthenticated`, or `dashboard_writes_disabled` for a write when no operator
 * has a key.
 */
export interface OperatorAuthentication {
  /**
   * Refuses a request that cannot be validly signed, whatever its body; called before the body is
   * read.
   */
  recognise(request: Pick<SignedRequest, 'method' | 'headers' | 'request_id'>): Promise<void>;
  /**
   * Returns the operator who signed. `issued`: the nonce must be one that the service issued;
   * enrolled keys always need such a nonce.
   */
  signed(request: SignedRequest, nonces: { readonly issued: boolean }): Promise<Caller>;
  /** Returns the operator who signed, with the key that was used. */
  signedWith(request: SignedRequest, nonces: { readonly issued: boolean }): Promise<Signed>;
  /** Refuses a request that is not signed with this secret, whatever operator it names. */
  signedBy(request: SignedRequest, secret: KeyObject): Promise<void>;
  /** Returns whether a request carries a signature or a session, valid or not. */
  claims(request: SignedRequest): boolean;
  /**
   * Returns the operator who signed, with an issued nonce unless `issued` is false (see
   * {@link signed}), or whose session a GET carries. A signature takes precedence over a session.
   * With `isUse: false`, or with `X-SVC-Background` (no person caused the read), the read does not
   * keep the session from its idle timeout.
   */
  known(
    request: SignedRequest,
    options?: { readonly isUse?: boolean; readonly issued?: boolean },
  ): Promise<Authenticated>;
  /** Returns an operator with the rights of now; null for one who has no confirmed key. */
  present(operator: string): Promise<Caller | null>;
}

/** The operator who signed, and the key that was used. */
export interface Signed {
  readonly caller: Caller;
  readonly key: OperatorKey;
}

export function createOperatorAuthentication({
  db,
  log,
  keys,
  sessions = { claims: () => false, read: () => Promise.resolve(null) },
  nonces,
  maxSkewSeconds,
  now = Date.now,
}: OperatorAuthenticationOptions): OperatorAuthentication {
  const record = createRefusalRecorder({
    log,
    write: (eventId, entry) => writeAuditOnce(db, eventId, entry),
  });
  const clock = () => ({ maxSkewSeconds, now: now() });
  const recorded = async <T>(
    { method, request_id }: Pick<SignedRequest, 'method' | 'request_id'>,
    work: () => Promise<T>,
  ): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof AuthenticationError)) throw error;
      // Without any operator key no write is possible, so the bad signature is not the problem to
      // report.
      if (method !== 'GET' && !(await keys.any()))
        throw new ServiceError('dashboard_writes_disabled', { cause: error });
      record(error, request_id);
      throw error;
    }
  };
  /**
   * Checks the signature with the secret that `find` returns, takes the nonce, and returns the
   * operator's name and when the nonce was taken, by the database's clock.
   */
  const verify = async (
    { method, target, headers, body }: SignedRequest,
    find: (operator: string) => Promise<Pick<OperatorKey, 'secret' | 'enrolled'> | null>,
    issued: boolean,
  ): Promise<{ readonly operator: string; readonly at: string }> => {
    const { operator, timestamp, nonce, signature } = credentialsOf(headers);
    const key = await find(operator);
    const text = dashboardCanonicalString({ method, ...target, body, timestamp, nonce, operator });
    const keyId = dashboardId(operator);
    assertSigned({ keyId, secret: key?.secret ?? null, text, signature, timestamp }, clock());
    const worth = nonces.check(nonce);
    if (worth !== 'good' && (issued || key?.enrolled !== null))
      throw new AuthenticationError(
        worth === 'expired' ? 'nonce_expired' : 'nonce_not_issued',
        keyId,
      );
    // All operators share the issued nonces, also expired ones: under another name, one could be
    // used a second time. Any other nonce is used once by each operator.
    const at = await takeNonce(db, { key_id: worth === 'foreign' ? keyId : ISSUED, nonce });
    if (at === null) throw new AuthenticationError('nonce_replayed', keyId);
    return { operator, at };
  };
  const verified = async (
    request: SignedRequest,
    { issued }: { readonly issued: boolean },
  ): Promise<Signed> => {
    let key: OperatorKey | null = null;
    const find = async (operator: string) => (key = await keys.find(operator));
    const { operator, at } = await verify(request, find, issued);
    const { secret } = found(key);
    // Read again, since the key may have been ended before the nonce was taken.
    const used = found(await keys.find(operator));
    if (!used.secret.equals(secret)) throw new AuthenticationError('key_unknown');
    // Only the holder of the key may learn this; all other requests were refused before.
    if (used.enrolled?.pending === true) throw new ServiceError('dashboard_key_pending');
    return { caller: { ...callerOf(operator, used), checked_at: at }, key: used };
  };
  const signedWith: OperatorAuthentication['signedWith'] = (request, options) =>
    recorded(request, () => verified(request, options));
  const signed: OperatorAuthentication['signed'] = async (request, options) =>
    (await signedWith(request, options)).caller;
  return {
    recognise: (request) =>
      recorded(request, async () => {
        const { operator, timestamp } = credentialsOf(request.headers);
        const secret = (await keys.find(operator))?.secret ?? null;
        assertKnown({ keyId: dashboardId(operator), secret, timestamp }, clock());
      }),
    signed,
    signedWith,
    signedBy: async (request, secret) => {
      try {
        await verify(request, () => Promise.resolve({ secret, enrolled: null }), true);
      } catch (error) {
        if (!(error instanceof AuthenticationError)) throw error;
        // The request chose the operator's name, which may belong to no key, so log and audit do
        // not repeat the name.
        const refused = new AuthenticationError(error.reason);
        record(refused, request.request_id);
        throw refused;
      }
    },
    claims: (request) => isSigned(request.headers) || sessions.claims(request),
    known: async (request, { isUse = true, issued = true } = {}) => {
      const session =
        request.method !== 'GET' || isSigned(request.headers)
          ? null
          : await recorded(request, () => sessions.read(request, isUse && !isBackground(request)));
      return session === null
        ? { caller: await signed(request, { issued }), by: 'signature' }
        : { caller: session, by: 'session' };
    },
    present: async (operator) => {
      const key = await keys.find(operator);
      return key === null || key.enrolled?.pending === true ? null : callerOf(operator, key);
    },
  };
}

/** Returns the operator as a caller, with the role and allowlist right of the operator's key. */
export function callerOf(operator: string, { role, allowlist }: OperatorKey): Caller {
  return operatorCaller(role, { operator, allowlist });
}

/** Returns the key; {@link assertSigned} has already refused a request without one. */
function found(key: OperatorKey | null): OperatorKey {
  if (key === null) throw new AuthenticationError('key_unknown');
  return key;
}

/** The id under which used issued nonces are stored. */
const ISSUED = dashboardId('');

const FORMS = {
  'x-svc-dashboard-operator': OPERATOR_NAME,
  'x-svc-dashboard-timestamp': TIMESTAMP,
  'x-svc-dashboard-nonce': NONCE,
  'x-svc-dashboard-signature': /^v3=[0-9a-f]{64}$/,
} as const;

/**
 * Returns whether the page declares that no person caused the read; this only lowers the effect of
 * a read.
 */
function isBackground({ headers }: SignedRequest): boolean {
  return headers['x-svc-background'] !== undefined;
}

/** Returns whether a request carries a signature, valid or not. */
function isSigned(headers: SignedRequest['headers']): boolean {
  return Object.keys(FORMS).some((name) => headers[name] !== undefined);
}

function credentialsOf(headers: SignedRequest['headers']) {
  const read = readHeaders(headers, FORMS);
  return {
    operator: read['x-svc-dashboard-operator'],
    timestamp: read['x-svc-dashboard-timestamp'],
    nonce: read['x-svc-dashboard-nonce'],
    signature: Buffer.from(read['x-svc-dashboard-signature'].slice('v3='.length), 'hex'),
  };
}
