/**
 * How long what is signed with a nonce of the perps venue can be carried out. Nonces are
 * milliseconds since 1970; a venue takes those from two days ago to a day ahead.
 * Source: DOC:nonces-and-api-wallets (docs/perps-venue-facts.md 2).
 */

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A first send with an older one is left alone, so that repeats of it have their whole day. */
export const FIRST_SEND_MS = HOUR_MS;

/** For so long the same bytes are sent again: well within what the venue takes. */
export const REPEAT_MS = DAY_MS;

/** After this the venue refuses every call with that nonce, and reports what it has carried out. */
export const WINDOW_MS = 2 * DAY_MS + HOUR_MS;

/** So long before the time that a nonce says a venue may have taken it, by its own clock. */
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

/** Between two looks at what an action came to: a quarter of its age, between these. */
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
