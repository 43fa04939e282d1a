/**
 * The operator for whom this browser acts. The operator's key signs every write; reads use a
 * session, which the key opens and which cannot write. A session of another operator is never used.
 */
import { createDashboardClient, type DashboardClient } from '../../clients/http/dashboard.ts';
import { ApiError, ClientUsageError } from '../../clients/http/errors.ts';
import type { ResultOf } from '../../clients/http/operations.ts';
import { askTime, assertClock, fetchByClock, secondsAhead, wrongClock } from './clock.ts';
import { forgetKey, readKey, type KeptKey } from './keys.ts';
import { isBackground } from './presence.ts';
import { createStore, useStore } from './store.ts';

export type Whoami = ResultOf<'whoami'>;

export type SessionState =
  | { readonly kind: 'loading' }
  | { readonly kind: 'no_key' }
  /** An administrator has not yet confirmed the key. */
  | { readonly kind: 'pending'; readonly key: KeptKey }
  /**
   * This browser has a key, but the service does not accept it: the key was ended, or never became
   * valid.
   */
  | { readonly kind: 'key_refused'; readonly key: KeptKey }
  | { readonly kind: 'clock'; readonly seconds: number }
  | { readonly kind: 'other_operator'; readonly operator: string; readonly other: string }
  | { readonly kind: 'unreachable'; readonly error: unknown }
  | { readonly kind: 'signed_out'; readonly key: KeptKey }
  /** `ended`: the session is over; the page keeps what it shows. */
  | {
      readonly kind: 'open';
      readonly key: KeptKey;
      readonly whoami: Whoami;
      readonly ended: boolean;
    };

export const sessionStore = createStore<SessionState>({ kind: 'loading' });
let client = clientOf(null);

export function useSession(): SessionState {
  return useStore(sessionStore);
}

/** Returns the client, which reads with the session and signs writes with this browser's key. */
export function theClient(): DashboardClient {
  return client;
}

/**
 * Returns a client that sends each write once: the sender reads the present state before it offers
 * the write again.
 */
function clientOf(key: KeptKey | null, beforeSigning = assertClock): DashboardClient {
  return createDashboardClient({
    baseUrl: location.origin,
    fetch: fetchByClock,
    key: key === null ? null : { operator: key.operator, secret: key.key },
    retries: 0,
    timeoutMs: 20_000,
    isBackground,
    beforeSigning,
  });
}

/**
 * Loads the key and opens a session for its operator, unless the browser has one already.
 * `mayHaveOne`: false skips the check for an existing session.
 */
export async function startSession(mayHaveOne = true): Promise<void> {
  sessionStore.set(await nextSession(mayHaveOne));
}

/**
 * Opens another session after one has ended. Throws a temporary failure instead of storing it as
 * the session state, so that the page keeps what it shows.
 */
export async function resumeSession(): Promise<void> {
  const next = await nextSession(true);
  if (next.kind === 'unreachable') throw next.error;
  if (next.kind === 'clock') throw new ClientUsageError(wrongClock(next.seconds));
  sessionStore.set(next);
}

async function nextSession(mayHaveOne: boolean): Promise<SessionState> {
  const key = await readKey();
  client = clientOf(key);
  return key === null ? { kind: 'no_key' } : opened(key, mayHaveOne);
}

async function opened(key: KeptKey, mayHaveOne: boolean): Promise<SessionState> {
  try {
    const known = mayHaveOne ? await whoamiOrNull() : null;
    if (known !== null && operatorOf(known) === key.operator)
      return { kind: 'open', key, whoami: known, ended: false };
    await client.send({ method: 'POST', target: '/dashboard/session' });
    const whoami = await client.call('whoami');
    const other = operatorOf(whoami);
    return other === key.operator
      ? { kind: 'open', key, whoami, ended: false }
      : { kind: 'other_operator', operator: key.operator, other };
  } catch (error) {
    if (error instanceof ApiError && error.rawCode === 'dashboard_key_pending')
      return { kind: 'pending', key };
    if (isUnauthenticated(error)) await askTime();
    const seconds = secondsAhead();
    if (seconds !== 0) return { kind: 'clock', seconds };
    return isUnauthenticated(error) ? { kind: 'key_refused', key } : { kind: 'unreachable', error };
  }
}

async function whoamiOrNull(): Promise<Whoami | null> {
  try {
    return await client.call('whoami');
  } catch (error) {
    if (isUnauthenticated(error)) return null;
    throw error;
  }
}

/** Returns the session's operator, as the service reports it. */
export function operatorOf({ dashboard, client_id }: Whoami): string {
  return dashboard?.operator ?? (client_id ?? '').replace(/^dashboard:/, '');
}

export function isUnauthenticated(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401;
}

/**
 * Called for each failed read: marks the session as ended after a 401. Nothing on the page is lost.
 */
export function noteFailure(error: unknown): void {
  const state = sessionStore.get();
  if (isUnauthenticated(error) && state.kind === 'open' && !state.ended)
    sessionStore.set({ ...state, ended: true });
}

/** Ends the session in this page and at the service; the key stays in this browser. */
export async function signOut(): Promise<void> {
  const state = sessionStore.get();
  if (state.kind !== 'open') return;
  // The request ends the session by its cookie, so a wrong clock must not prevent it.
  const anyTime = clientOf(state.key, () => undefined);
  await anyTime.send({ method: 'DELETE', target: '/dashboard/session' });
  sessionStore.set({ kind: 'signed_out', key: state.key });
}

/** Removes the key from this browser. */
export async function forgetThisBrowser(): Promise<void> {
  await forgetKey();
  client = clientOf(null);
  sessionStore.set({ kind: 'no_key' });
}
