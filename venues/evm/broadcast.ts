/** Handing signed bytes to the network, once. */
import { ExecutorFault } from '../../domain/executor.ts';
import type { Held } from '../../domain/send/stops.ts';
import type { EvmConnection } from './client.ts';
import { isAlreadyKnown, isRpcAnswer, rpcMessage, toFault } from './errors.ts';
import type { SignedTransaction } from './signed-bytes.ts';

export type BroadcastOutcome =
  | { readonly kind: 'accepted' }
  /** The node answered, and does not take the bytes now. They stay valid and may still be mined. */
  | { readonly kind: 'refused'; readonly message: string }
  /** A stop holds them back; they were not sent to this endpoint. */
  | { readonly kind: 'held'; readonly held: Held };

/** What holds the bytes back now; null where they may be sent. */
export type AskStops = () => Promise<Held | null>;

/** For transactions that move nothing or were mined before: no stop holds them back. */
export const NO_STOPS: AskStops = () => Promise.resolve(null);

/**
 * One `eth_sendRawTransaction`, repeated at the next endpoint where one is silent. Reads the stops
 * right before each. "Already known" counts as accepted. Throws {@link ExecutorFault} when the
 * answer is lost: the bytes may be on their way.
 */
export async function broadcast(
  connection: EvmConnection,
  signed: Pick<SignedTransaction, 'raw_tx' | 'tx_hash'>,
  stops: AskStops,
): Promise<BroadcastOutcome> {
  let stopsFault: unknown;
  try {
    connection.call.signal.throwIfAborted();
    const hash = await connection.raw(async (client) => {
      const held = await stops().catch((error: unknown) => {
        stopsFault = error;
        throw error;
      });
      if (held !== null) throw new HeldBack(held);
      connection.call.signal.throwIfAborted();
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
    // A failure to read the stops is not an endpoint's answer.
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
