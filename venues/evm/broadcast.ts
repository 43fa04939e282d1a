/** Sends signed bytes to the network, once. */
import { ExecutorFault } from '../../domain/executor.ts';
import type { Held } from '../../domain/send/stops.ts';
import { checkLimits, limitedByStops } from '../../platform/deadline.ts';
import type { EvmConnection } from './client.ts';
import { isAlreadyKnown, isRpcAnswer, rpcMessage, toFault } from './errors.ts';
import type { SignedTransaction } from './signed-bytes.ts';

export type BroadcastOutcome =
  | { readonly kind: 'accepted' }
  /** The endpoint refused the bytes for now. The bytes stay valid and may still be mined. */
  | { readonly kind: 'refused'; readonly message: string }
  /** A freeze, pause or other stop forbids the send; this endpoint did not get the bytes. */
  | { readonly kind: 'held'; readonly held: Held };

/** Returns the stop (a freeze, a pause) that forbids the send now; null if none does. */
export type AskStops = () => Promise<Held | null>;

/** For transactions that move nothing or were mined before: no stop forbids their send. */
export const NO_STOPS: AskStops = () => Promise.resolve(null);

/**
 * Sends one `eth_sendRawTransaction`, repeated at the next endpoint if one does not answer. Reads
 * the stops right before each send, and sends nothing if that took too long. "Already known" counts
 * as accepted. Throws {@link ExecutorFault} when the answer is lost: the network may have received
 * the bytes.
 */
export async function broadcast(
  connection: EvmConnection,
  signed: Pick<SignedTransaction, 'raw_tx' | 'tx_hash'>,
  stops: AskStops,
): Promise<BroadcastOutcome> {
  let stopsFault: unknown;
  try {
    checkLimits(connection.call);
    const hash = await connection.raw(async (client) => {
      const limits = limitedByStops(connection.call);
      const held = await stops().catch((error: unknown) => {
        stopsFault = error;
        throw error;
      });
      if (held !== null) throw new HeldBack(held);
      checkLimits(limits);
      return client.sendRawTransaction({ serializedTransaction: signed.raw_tx });
    });
    if (hash.toLowerCase() === signed.tx_hash) return { kind: 'accepted' };
    throw new ExecutorFault(
      'protocol',
      'EVM_HASH_MISMATCH',
      'the chain endpoint answered a send with another transaction hash',
    );
  } catch (error) {
    if (error instanceof HeldBack) return { kind: 'held', held: error.held };
    // A failure to read the stops is not an answer of an endpoint.
    if (stopsFault !== undefined) throw stopsFault;
    if (isAlreadyKnown(error)) return { kind: 'accepted' };
    if (isRpcAnswer(error) && !connection.call.signal.aborted)
      return { kind: 'refused', message: rpcMessage(error) };
    throw toFault(error, connection.call);
  }
}

class HeldBack extends Error {
  readonly held: Held;
  constructor(held: Held) {
    super(held.why);
    this.held = held;
  }
}
