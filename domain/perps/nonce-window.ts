/**
 * How long an action signed with a nonce of the perps venue can be carried out. Nonces are
 * milliseconds since 1970. The venue accepts nonces from two days ago to one day ahead. Source:
 * DOC:nonces-and-api-wallets (docs/perps-venue-facts.md 2).
 */

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * Largest age in milliseconds of a nonce at its first send. An older nonce is not sent, so that the
 * repeats have a whole day.
 */
export const FIRST_SEND_MS = HOUR_MS;

/** Milliseconds for which the same bytes are repeated; well within what the venue accepts. */
export const REPEAT_MS = DAY_MS;

/**
 * Age of a nonce in milliseconds after which the venue refuses every call with it, and its lists
 * show every call with it that was carried out.
 */
export const WINDOW_MS = 2 * DAY_MS + HOUR_MS;

/**
 * How many milliseconds before the time in its nonce the venue may have accepted an action, by the
 * venue's clock.
 */
export const FIRST_TAKEN_MS = DAY_MS;

export type NonceAge = 'repeatable' | 'open' | 'over';

/** Returns what the age of a nonce allows; both arguments are in milliseconds since 1970. */
export function ageOf(nonce: number, now: number): NonceAge {
  const age = now - nonce;
  if (age < REPEAT_MS) return 'repeatable';
  return age > WINDOW_MS ? 'over' : 'open';
}

/** Returns whether an action that was never sent may be sent with this nonce. */
export function isFresh(nonce: number, now: number): boolean {
  return now - nonce <= FIRST_SEND_MS;
}

/**
 * Bounds of the pause between two looks at an action's outcome; the pause is a quarter of the
 * action's age.
 */
const SOONEST_SECONDS = 5;
const LATEST_SECONDS = 60;

/**
 * Returns the seconds until the next look at an account's ledger, by the age of the action. A look
 * costs 20 of the 1,200 request weight that the venue allows an address each minute, and a
 * withdrawal is paid after four minutes (docs/perps-venue-facts.md 0.3, 8).
 */
export function nextLookSeconds(ageMs: number): number {
  return Math.round(Math.max(SOONEST_SECONDS, Math.min(LATEST_SECONDS, ageMs / 4_000)));
}
