/**
 * The work on a nonce lane that no movement's run does, because its node has ended or no node owns
 * the nonce. This module is pure; activities/relays/lanes.ts does the work.
 */
import { hasBytes, type JournaledTransaction, type StoredTransaction } from '../executor.ts';
import type { NodeState } from '../states/node.ts';

/** A claimed nonce that is not known to be used in a final block. */
export interface OpenClaim {
  readonly transaction_id: string;
  readonly nonce: number;
  readonly signer_key: string;
  /** Null when the claim fills a gap and belongs to no node. */
  readonly movement_id: string | null;
  readonly node_key: string | null;
  readonly attempt: number | null;
  readonly node_state: NodeState | null;
  /** Whether the workflow run of the claim's node no longer works on the nonce. */
  readonly ended: boolean;
  /** Whether a person abandoned the claim's node, and it was not seen to land. */
  readonly abandoned: boolean;
  /** Whether the claim's node ended because the node's payment was seen in a block. */
  readonly proven: boolean;
  /** The reference of the claim's node at its venue: for a transfer, the hash of what was mined. */
  readonly node_ref: string | null;
  /**
   * The transaction that completed the claim's attempt, as a person named it in the node's output,
   * or before the node ran again, as an allowance does. Lower case; null when none is known.
   */
  readonly completed_by: string | null;
  /**
   * Why the workflow run of the claim's node cannot use up the nonce; null when the run reports no
   * reason.
   */
  readonly stuck: string | null;
  /** Whether a reorganisation has removed the block of the claim's transaction. */
  readonly reorged: boolean;
  /** The signed versions, oldest first. The first is the claim itself, which may be unsigned. */
  readonly versions: readonly JournaledTransaction[];
}

/**
 * Returns whether the claim's node was completed by a transaction of another account, as a bridge
 * transfer that somebody else minted. Then nothing is missing when another transaction uses the
 * nonce.
 */
export function isDoneByOthers({ proven, node_ref, versions }: OpenClaim): boolean {
  const isHash = node_ref !== null && /^0x[0-9a-f]{64}$/.test(node_ref);
  return proven && isHash && versions.every(({ tx_hash }) => tx_hash !== node_ref);
}

/** Transaction counts of the account on the chain. */
export interface Counted {
  readonly latest: number;
  readonly final: number;
}

export type Duty =
  /** A final block has used the nonce; find out which version was mined. */
  | { readonly kind: 'settle'; readonly claim: OpenClaim }
  /**
   * The payment was mined, but a reorganisation removed its block: the payment must be mined again.
   */
  | { readonly kind: 'send_again'; readonly claim: OpenClaim; readonly newest: StoredTransaction }
  /** No transaction that was signed with the nonce may land. */
  | { readonly kind: 'close'; readonly claim: OpenClaim; readonly newest: StoredTransaction }
  /** Later nonces wait for this nonce, which was never signed or never claimed. */
  | { readonly kind: 'fill'; readonly nonce: number; readonly claim: OpenClaim | null };

/**
 * Returns the duties of a nonce lane, lowest nonce first. `claims` are its lowest claims, in order.
 * A nonce that a run still works on is left to that run. A nonce that is mined but not final needs
 * nothing.
 */
export function dutiesOf(claims: readonly OpenClaim[], counted: Counted): readonly Duty[] {
  const settled = claims
    .filter(({ nonce }) => nonce < counted.final)
    .map((claim): Duty => ({ kind: 'settle', claim }));
  const waiting = claims.filter(({ nonce }) => nonce >= counted.latest);
  return [...settled, ...gapsBefore(waiting, counted.latest), ...waiting.flatMap(tended(waiting))];
}

/** Seconds that a signed nonce waits before the missing nonces below it are filled. */
const GAP_SECONDS = 30;
/**
 * Largest number of nonces filled at a time: a wrong nonce count that the endpoint reports must not
 * cost thousands of transactions.
 */
const MOST_FILLED = 16;

/** Returns duties to fill unclaimed nonces below the lowest nonce with a signed transaction. */
function gapsBefore(waiting: readonly OpenClaim[], latest: number): readonly Duty[] {
  const claimed = new Set(waiting.map(({ nonce }) => nonce));
  const signed = waiting.find(({ versions }) => newestOf(versions) !== null);
  // An endpoint's nonce count that lags behind is correct again after this time.
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
    // After a payment has completed its node, only a payment may be mined again, whatever was
    // signed later.
    const { versions, proven } = claim;
    const newest = newestOf(proven ? versions.filter(({ kind }) => kind === 'payment') : versions);
    if (newest !== null) return [{ kind: proven ? 'send_again' : 'close', claim, newest } as const];
    // The next send reuses the nonce; the nonce is filled only if a later one already waits for it.
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
