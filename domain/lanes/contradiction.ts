/** What a final block shows of a nonce although the claim's node had ended otherwise. */
import type { TransactionKind } from '../executor.ts';
import type { TimelineEntry } from '../transition.ts';
import { isDoneByOthers, type OpenClaim } from './duties.ts';

/** The transaction that used the nonce of a claim, in a final block. */
export interface NonceUser {
  readonly hash: string;
  /** Null: it is none of the claim's versions. */
  readonly kind: TransactionKind | null;
  readonly succeeded: boolean;
}

/**
 * Returns the timeline event that contradicts how the claim's node has ended; null if nothing does.
 * A person reads its message in attention (`said` of the SQL function `unseen_landing`).
 */
export function contradictionOf(
  claim: OpenClaim,
  { hash, kind, succeeded }: NonceUser,
): Pick<TimelineEntry, 'event_type' | 'message' | 'data'> | null {
  const { node_key, node_state, nonce, ended, proven, completed_by, versions } = claim;
  if (node_key === null || node_state === null || !ended) return null;
  const hasPaid = kind === 'payment' && succeeded;
  const data = { nonce, tx_hash: hash };
  if (proven) {
    if (hasPaid || isDoneByOthers(claim)) return null;
    const used =
      kind === 'payment'
        ? `the transaction reverted when it was mined again (${hash})`
        : `nonce ${String(nonce)} was used by ${kind === 'cancel' ? 'the zero-value ' : ''}transaction ${hash}`;
    return {
      event_type: 'transaction_displaced',
      message: `${node_key} sent nothing after all: the block of its transaction is gone, and ${used}. Its amount still counts as sent. If it is owed, pay it in a movement of its own.`,
      data,
    };
  }
  if (!hasPaid || node_state === 'FAILED') return null;
  const isKnown = completed_by !== null && versions.some(({ tx_hash }) => tx_hash === completed_by);
  if (isKnown) return null;
  return {
    event_type: 'transaction_mined_late',
    message: `The payment of ${node_key} with nonce ${String(nonce)} was mined (${hash}) after ${node_key} had ended without it. If ${node_key} was paid in another way too, it was paid a second time: settle that with the payee.`,
    data,
  };
}
