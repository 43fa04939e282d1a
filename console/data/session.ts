/**
 * Who this browser acts for. A key signs every write; reads go by a session that it opens and that
 * can do nothing else. A session of someone else is never used.
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
  /** The key waits for its confirmation. */
  | { readonly kind: 'pending'; readonly key: KeptKey }
  /** The key is here, and the service does not take it: it has ended, or was never filled. */
  | { readonly kind: 'key_refused'; readonly key: KeptKey }
  | { readonly kind: 'clock'; readonly seconds: number }
  | { readonly kind: 'other_operator'; readonly operator: string; readonly other: string }
  | { readonly kind: 'unreachable'; readonly error: unknown }
  | { readonly kind: 'signed_out'; readonly key: KeptKey }
  /** `ended`: the session is over; what is on the page stays there. */
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

/** Reads by session, and signs with this browser's key. */
export function theClient(): DashboardClient {
  return client;
}

/** Sends each write once: whoever sent it looks before it is offered again. */
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

/** Looks for a key, and opens a session with it where the browser has none of it. */
export async function startSession(mayHaveOne = true): Promise<void> {
  sessionStore.set(await nextSession(mayHaveOne));
}

/**
 * Opens another session after one has ended. Throws why there is none yet where that may pass: what
 * is on the page stays meanwhile.
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

/** Whose session it is, by what the service says. */
export function operatorOf({ dashboard, client_id }: Whoami): string {
  return dashboard?.operator ?? (client_id ?? '').replace(/^dashboard:/, '');
}

export function isUnauthenticated(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401;
}

/** Called for each failed read: an ended session is shown, and nothing on the page is lost. */
export function noteFailure(error: unknown): void {
  const state = sessionStore.get();
  if (isUnauthenticated(error) && state.kind === 'open' && !state.ended)
    sessionStore.set({ ...state, ended: true });
}

/** Ends the session here and at the service; the key stays in this browser. */
export async function signOut(): Promise<void> {
  const state = sessionStore.get();
  if (state.kind !== 'open') return;
  // It is ended by its cookie, whatever the clock says.
  const anyTime = clientOf(state.key, () => undefined);
  await anyTime.send({ method: 'DELETE', target: '/dashboard/session' });
  sessionStore.set({ kind: 'signed_out', key: state.key });
}

/** Takes the key out of this browser. */
export async function forgetThisBrowser(): Promise<void> {
  await forgetKey();
  client = clientOf(null);
  sessionStore.set({ kind: 'no_key' });
}
