/** Reports the true state of an order, read from the chain at each call. */
import type { CompletionAssurance, ExecutionResult } from '../../../domain/executor.ts';
import type { VenueAction } from './actions/action.ts';
import type { Order } from './book.ts';
import type { VenueChain } from './chain.ts';
import type { Sender } from './sender.ts';

const MINING_RETRY_SECONDS = 0.3;
const FINALITY_RETRY_SECONDS = 0.5;
/** Assurances that only a finalized block gives. */
export const NEEDS_FINALITY: readonly CompletionAssurance[] = [
  'destination_finalized',
  'protocol_finalized',
];

/** Returns an order's state. Rejects when the chain is unreachable. */
export type Reporter = (order: Order, assurance: CompletionAssurance) => Promise<ExecutionResult>;

/**
 * Creates a reporter that reads the receipt at each call: a chain restored to an older state has
 * lost the receipt, and then the order is in progress again.
 */
export function createReporter(parts: {
  readonly chain: VenueChain;
  readonly sender: Sender;
  readonly actions: readonly VenueAction[];
}): Reporter {
  const completed = (
    order: Order,
    block: bigint | null,
    assurance: CompletionAssurance,
  ): ExecutionResult => {
    const txHash = order.signed?.tx_hash ?? null;
    const action = parts.actions.find((one) => one.actionType === order.action_type);
    const transaction =
      block === null || txHash === null ? null : { tx_hash: txHash, block_number: Number(block) };
    return {
      next_state: 'COMPLETED',
      external_ref: order.order_id,
      output: action?.output(order.terms, txHash) ?? {},
      // A change of the venue's own books is final immediately.
      assurance:
        block === null || NEEDS_FINALITY.includes(assurance)
          ? 'destination_finalized'
          : 'destination_credited',
      ...(transaction === null ? {} : { artifacts: [{ kind: 'transaction', data: transaction }] }),
    };
  };
  const waiting = (order: Order, retry_after_seconds: number): ExecutionResult => ({
    next_state: 'OBSERVING',
    external_ref: order.order_id,
    retry_after_seconds,
  });

  return async (order, assurance) => {
    if (order.state === 'accepted' || order.state === 'signed') await parts.sender.wake();
    if (order.state === 'completed') return completed(order, null, assurance);
    if (order.state === 'cancelled')
      return failed(order, 'CANCELLED', 'the order was cancelled before it was sent');
    if (order.state === 'reverted')
      return failed(order, 'TRANSFER_REVERTED', 'the transfer was mined but reverted');
    if (order.signed === undefined) return waiting(order, MINING_RETRY_SECONDS);
    const receipt = await parts.chain.receipt(order.signed.tx_hash);
    if (receipt === null || !receipt.succeeded) {
      // The transaction was lost with the chain's newer state, is not mined yet, or has just
      // reverted: a pass of the sender finds out.
      void parts.sender.wake();
      return waiting(order, MINING_RETRY_SECONDS);
    }
    if (
      NEEDS_FINALITY.includes(assurance) &&
      receipt.block > (await parts.chain.finalizedBlock())
    ) {
      return waiting(order, FINALITY_RETRY_SECONDS);
    }
    return completed(order, receipt.block, assurance);
  };
}

function failed(order: Order, error_code: string, error_message: string): ExecutionResult {
  return { next_state: 'FAILED', external_ref: order.order_id, error_code, error_message };
}
