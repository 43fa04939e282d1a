/**
 * What a nonce lane needs that no run of a movement does, because the nodes have ended or no node
 * owns the nonce. Pure; activities/relays/lanes.ts carries it out.
 */
import { hasBytes, type JournaledTransaction, type StoredTransaction } from '../executor.ts';
import type { NodeState } from '../states/node.ts';

/** A claimed nonce that no final block was seen to use. */
export interface OpenClaim {
  readonly transaction_id: string;
  readonly nonce: number;
  readonly signer_key: string;
  /** Null where it fills a gap and belongs to no node. */
  readonly movement_id: string | null;
  readonly node_key: string | null;
  readonly attempt: number | null;
  readonly node_state: NodeState | null;
  /** Its node's run no longer works on it. */
  readonly ended: boolean;
  /** Its node ended because its payment was seen in a block. */
  readonly proven: boolean;
  /** Why its node's run cannot use the nonce up; null where the run reports nothing. */
  readonly stuck: string | null;
  /** Its block was seen to be gone. */
  readonly reorged: boolean;
  /** Oldest first; the first is the claim itself, which may be unsigned. */
  readonly versions: readonly JournaledTransaction[];
}

/** How many transactions the account has on the chain. */
export interface Counted {
  readonly latest: number;
  readonly final: number;
}

export type Duty =
  /** A final block has used the nonce: which version was it? */
  | { readonly kind: 'settle'; readonly claim: OpenClaim }
  /** Its payment was mined and its block is gone: it has to be mined again. */
  | { readonly kind: 'send_again'; readonly claim: OpenClaim; readonly newest: StoredTransaction }
  /** Nothing that was signed for it may land. */
  | { readonly kind: 'close'; readonly claim: OpenClaim; readonly newest: StoredTransaction }
  /** Never signed, or not even claimed, and later nonces wait behind it. */
  | { readonly kind: 'fill'; readonly nonce: number; readonly claim: OpenClaim | null };

/**
 * The duties of a nonce lane, lowest nonce first. `claims` are its lowest, in order. What a run
 * still works on is left to that run; a nonce that is mined but not final needs nothing.
 */
export function dutiesOf(claims: readonly OpenClaim[], counted: Counted): readonly Duty[] {
  const settled = claims
    .filter(({ nonce }) => nonce < counted.final)
    .map((claim): Duty => ({ kind: 'settle', claim }));
  const waiting = claims.filter(({ nonce }) => nonce >= counted.latest);
  return [...settled, ...gapsBefore(waiting, counted.latest), ...waiting.flatMap(tended(waiting))];
}

/** How long a signed nonce waits before what is missing below it is filled. */
const GAP_SECONDS = 30;
/**
 * Most nonces that are filled in one turn: a wrong count of the endpoint must not cost thousands.
 */
const MOST_FILLED = 16;

/** Unclaimed nonces below the lowest nonce that has a signed transaction. */
function gapsBefore(waiting: readonly OpenClaim[], latest: number): readonly Duty[] {
  const claimed = new Set(waiting.map(({ nonce }) => nonce));
  const signed = waiting.find(({ versions }) => newestOf(versions) !== null);
  // A count that lags behind catches up meanwhile.
  const isOld = (signed?.versions.at(-1)?.age_seconds ?? 0) >= GAP_SECONDS;
  const count = signed === undefined || !isOld ? 0 : signed.nonce - latest;
  const length = Math.min(Math.max(0, count), MOST_FILLED);
  return Array.from({ length }, (_, index) => latest + index)
    .filter((nonce) => !claimed.has(nonce))
    .map((nonce) => ({ kind: 'fill', nonce, claim: null }));
}

function tended(waiting: readonly OpenClaim[]): (claim: OpenClaim) => readonly Duty[] {
  return (claim) => {
    if (!claim.ended) return [];
    // For a completed payment only a payment may be mined again, whatever was signed after it.
    const { versions, proven } = claim;
    const newest = newestOf(proven ? versions.filter(({ kind }) => kind === 'payment') : versions);
    if (newest !== null) return [{ kind: proven ? 'send_again' : 'close', claim, newest } as const];
    // The next send takes the nonce over; it is filled only if something already waits for it.
    const isWaitedFor = waiting.some(
      ({ nonce, versions }) => nonce > claim.nonce && newestOf(versions) !== null,
    );
    return isWaitedFor ? [{ kind: 'fill', nonce: claim.nonce, claim }] : [];
  };
}

function newestOf(versions: readonly JournaledTransaction[]): StoredTransaction | null {
  const last = versions.at(-1);
  return last !== undefined && hasBytes(last) ? last : null;
}
