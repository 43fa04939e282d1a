/**
 * Pays out accepted orders: signs each once, records the bytes, then broadcasts them until they are
 * mined.
 */
import type { Order } from './book.ts';
import type { PayingChain } from './chain.ts';
import type { Ledger } from './ledger.ts';

const PASS_INTERVAL_MS = 250;
const REBROADCAST_MS = 2_000;

export interface Sender {
  /**
   * Runs a pass over the open orders now (or once more after the running pass) and resolves when
   * that pass is finished.
   */
  wake(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Creates the sender, the only code that signs and sends payments. Passes never overlap, so no
 * nonce is used twice. Signed bytes are in the journal before they are sent, so a process killed at
 * any moment later sends the same bytes again.
 */
export function createSender(ledger: Ledger, chain: PayingChain): Sender {
  const sentAt = new Map<string, number>();
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let failing = false;

  const broadcast = async (order: Order): Promise<void> => {
    if (order.signed === undefined) return;
    sentAt.set(order.order_id, Date.now());
    await chain.broadcast(order.signed.raw_tx);
  };

  const signDue = async (mined: number): Promise<void> => {
    const due = ledger.book
      .open()
      .filter((order) => order.state === 'accepted' && order.not_before <= Date.now());
    if (due.length === 0) return;
    const baseFee = await chain.baseFee();
    for (const order of due) {
      if (order.transfer === null) continue;
      const nonce = Math.max(mined, ledger.book.nextNonce());
      const signed = await chain.sign(order.transfer, nonce, baseFee);
      // The order may have been cancelled while it was signed; then these bytes are dropped and the
      // nonce stays free.
      if (order.state !== 'accepted' || stopped) continue;
      ledger.record({ type: 'signed', order_id: order.order_id, nonce, ...signed });
      await broadcast(order);
    }
  };

  const settle = async (order: Order): Promise<void> => {
    if (order.signed === undefined) return;
    const receipt = await chain.receipt(order.signed.tx_hash);
    // Passes do not overlap, so nothing else can have recorded this result.
    if (receipt === null || stopped) return;
    ledger.record({ type: 'mined', order_id: order.order_id, succeeded: receipt.succeeded });
  };

  const pass = async (): Promise<void> => {
    const mined = await chain.minedCount();
    // Uses the chain's nonce count, not the journal's: a chain restored to an older state lost some
    // transactions.
    for (const order of ledger.book.signedFrom(mined)) {
      if (Date.now() - (sentAt.get(order.order_id) ?? 0) >= REBROADCAST_MS) await broadcast(order);
    }
    await signDue(mined);
    await Promise.all(ledger.book.open().map(settle));
  };

  const guarded = async (): Promise<void> => {
    try {
      await pass();
      failing = false;
    } catch (error) {
      // The chain is unreachable; the orders stay in the journal until it is back.
      if (!failing)
        process.stderr.write(
          `paper venue: chain not usable, will go on trying: ${String(error)}\n`,
        );
      failing = true;
    }
    schedule();
  };

  const schedule = (): void => {
    if (stopped || timer !== undefined || ledger.book.open().length === 0) return;
    timer = setTimeout(() => {
      timer = undefined;
      void wake();
    }, PASS_INTERVAL_MS);
    timer.unref();
  };

  const begin = (): Promise<void> => {
    running = guarded().finally(() => {
      running = undefined;
    });
    return running;
  };

  const wake = (): Promise<void> => {
    if (stopped) return Promise.resolve();
    if (next !== undefined) return next;
    if (running === undefined) return begin();
    // The running pass may have started before this caller's order: one more pass follows, shared
    // by all callers.
    next = running.then(() => {
      next = undefined;
      return stopped ? undefined : (running ?? begin());
    });
    return next;
  };

  return {
    wake,
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await (next ?? running);
    },
  };
}
