/**
 * Decides which nonces are admitted. Source: DOC:nonces-and-api-wallets (window and the 100
 * highest), and docs/perps-venue-facts.md part 2 for the measured facts: the margin, the memory and
 * the texts.
 */
import type { Hex } from '../kit/hex.ts';
import type { Book } from './book.ts';

const DAY_MS = 86_400_000;
const BEHIND_MS = 2 * DAY_MS;
const AHEAD_MS = DAY_MS;
/** Milliseconds by which the measured window is smaller at each end than the documented one. */
export const MARGIN_MS = 120_000;
const KEPT = 100;

/** Returns why this nonce is refused, in the venue's words; null when it is admitted. */
export function refusalOfNonce(
  book: Book,
  { signer, nonce, now }: { signer: Hex; nonce: number; now: number },
): string | null {
  const least = now - BEHIND_MS + MARGIN_MS;
  if (nonce <= least) return tooLow(nonce, least);
  const most = now + AHEAD_MS - MARGIN_MS;
  if (nonce >= most) return `Invalid nonce: nonce too high ${String(nonce)} > ${String(most)}`;
  const seen = book.nonces.get(signer) ?? new Set<number>();
  // Checked before the floor: a known nonce below the floor is still reported as a duplicate.
  if (seen.has(nonce)) return `Invalid nonce: duplicate nonce ${String(nonce)}`;
  const floor = seen.size < KEPT ? undefined : [...seen].sort((a, b) => b - a)[KEPT - 1];
  return floor !== undefined && nonce < floor ? tooLow(nonce, floor) : null;
}

function tooLow(nonce: number, bound: number): string {
  return `Invalid nonce: nonce too low ${String(nonce)} < ${String(bound)}`;
}
