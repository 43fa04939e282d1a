/** Authenticates requests, limits their rate and records refusals. */
import type { Logger } from 'pino';
import type { Caller } from '../../domain/roles.ts';
import { openSecret, type SecretsKeys } from '../../platform/secrets.ts';
import type { Database } from '../../prisma/client.ts';
import { writeAuditOnce } from '../../store/audit.ts';
import { readSealedSecret } from '../../store/keys.ts';
import { takeCountedNonces, takeNonces } from '../../store/request-nonces.ts';
import type { SignedRequest } from '../http/signed-request.ts';
import type { Route } from '../http/route.ts';
import { admit } from './admit.ts';
import { createAuthenticator, createRecogniser } from './authenticate.ts';
import { createKeyRing } from './key-ring.ts';
import { createNonceDesk } from './nonce-desk.ts';
import { createRateLimit, createSharedRateLimit, type RateLimits } from './rate-limit.ts';
import { createRefusalRecorder } from './record-refusal.ts';
import { AuthenticationError } from './refusal.ts';

export interface Guard {
  /**
   * Throws `unauthenticated` for a request that cannot be validly signed, whatever its body; called
   * before the body is read.
   */
  recognise(request: Pick<SignedRequest, 'headers' | 'request_id'>): Promise<void>;
  /** Returns the authenticated caller, or throws `unauthenticated`. */
  authenticate(request: SignedRequest): Promise<Caller>;
  /** Returns after how many seconds the caller may try again; null when the caller may now. */
  limit(caller: Caller): Promise<number | null>;
  /**
   * Throws unless the caller's role and namespace fit the route; a denial is audited before the
   * caller gets it.
   */
  admit(
    route: Route,
    params: Readonly<Record<string, string>>,
    request: { readonly caller: Caller; readonly request_id: string },
  ): Promise<void>;
}

export interface GuardOptions {
  readonly db: Database;
  readonly log: Logger;
  readonly secretsKeys: SecretsKeys;
  readonly maxSkewSeconds: number;
  /**
   * Requests per minute for each key by tier, null for no limit. `shared`: counted by all processes
   * that share the database, not by each process.
   */
  readonly rateLimits: (RateLimits & { readonly shared?: boolean }) | null;
}

/** Returns the guard of a service whose requests are signed. */
export function createGuard({
  db,
  log,
  secretsKeys,
  maxSkewSeconds,
  rateLimits,
}: GuardOptions): Guard {
  const keys = createKeyRing({
    read: async (keyId) => {
      const sealed = await readSealedSecret(db, keyId);
      return sealed === null ? null : openSecret(secretsKeys, sealed, keyId);
    },
  });
  const shared = rateLimits?.shared === true ? createSharedRateLimit(rateLimits) : null;
  const take = shared === null ? takeNonces : takeCountedNonces;
  const authenticate = createAuthenticator({
    keys,
    nonces: createNonceDesk((nonces) => take(db, nonces)),
    ...(shared === null ? {} : { counted: shared.note }),
    maxSkewSeconds,
  });
  const record = createRefusalRecorder({
    log,
    write: (eventId, entry) => writeAuditOnce(db, eventId, entry),
  });
  const limit =
    rateLimits === null
      ? () => Promise.resolve(null)
      : (shared?.limit ?? createRateLimit(rateLimits));
  const recognise = createRecogniser({ keys, maxSkewSeconds });
  const recorded = async <T>(request_id: string, work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      if (error instanceof AuthenticationError) record(error, request_id);
      throw error;
    }
  };
  return {
    recognise: ({ headers, request_id }) => recorded(request_id, recognise(headers)),
    authenticate: (request) => recorded(request.request_id, authenticate(request)),
    limit,
    admit: (route, params, requester) => admit(db, route, params, requester),
  };
}
