/**
 * How long an action that is signed with a nonce of the perps venue can be carried out. Nonces are
 * milliseconds since 1970; the venue accepts those from two days ago to a day ahead. Source:
 * DOC:nonces-and-api-wallets (docs/perps-venue-facts.md 2).
 */

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * The oldest nonce of a first send; an older one is not sent, so that repeats have their whole day.
 */
export const FIRST_SEND_MS = HOUR_MS;

/** For how long the same bytes are repeated: well within what the venue accepts. */
export const REPEAT_MS = DAY_MS;

/** After this the venue refuses every call with that nonce, and reports what it has carried out. */
export const WINDOW_MS = 2 * DAY_MS + HOUR_MS;

/**
 * How long before the time in its nonce the venue may have accepted an action, by the venue's
 * clock.
 */
export const FIRST_TAKEN_MS = DAY_MS;

export type NonceAge = 'repeatable' | 'open' | 'over';

/** Both in milliseconds since 1970. */
export function ageOf(nonce: number, now: number): NonceAge {
  const age = now - nonce;
  if (age < REPEAT_MS) return 'repeatable';
  return age > WINDOW_MS ? 'over' : 'open';
}

/** Whether what was never sent may be sent with this nonce. */
export function isFresh(nonce: number, now: number): boolean {
  return now - nonce <= FIRST_SEND_MS;
}

/** Pause between two looks at an action's outcome: a quarter of its age, within these bounds. */
const SOONEST_SECONDS = 5;
const LATEST_SECONDS = 60;

/**
 * How long until the next look at an account's ledger, by the age of what is looked for. A look
 * costs 20 of the 1,200 that the venue answers an address in a minute, and a withdrawal is paid
 * after four (docs/perps-venue-facts.md 0.3, 8).
 */
export function nextLookSeconds(ageMs: number): number {
  return Math.round(Math.max(SOONEST_SECONDS, Math.min(LATEST_SECONDS, ageMs / 4_000)));
}
