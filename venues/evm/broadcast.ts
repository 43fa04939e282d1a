/** Handing signed bytes to the network, once. */
import { ExecutorFault } from '../../domain/executor.ts';
import type { EvmConnection } from './client.ts';
import { isAlreadyKnown, isRpcAnswer, rpcMessage, toFault } from './errors.ts';
import type { SignedTransaction } from './signed-bytes.ts';

export type BroadcastOutcome =
  | { readonly kind: 'accepted' }
  /** The node answered, and does not take the bytes now. They stay valid and may still be mined. */
  | { readonly kind: 'refused'; readonly message: string };

/**
 * One `eth_sendRawTransaction`. A node that has the bytes already has accepted them. Throws
 * {@link ExecutorFault} when the answer was lost or never came: the bytes may be on their way.
 */
export async function broadcast(
  connection: EvmConnection,
  signed: Pick<SignedTransaction, 'raw_tx' | 'tx_hash'>,
): Promise<BroadcastOutcome> {
  try {
    connection.call.signal.throwIfAborted();
    const hash = await connection.raw((client) =>
      client.sendRawTransaction({ serializedTransaction: signed.raw_tx }),
    );
    if (hash.toLowerCase() === signed.tx_hash) return { kind: 'accepted' };
    throw new ExecutorFault(
      'protocol',
      'EVM_HASH_MISMATCH',
      'the chain endpoint answered a send with another transaction hash',
    );
  } catch (error) {
    if (isAlreadyKnown(error)) return { kind: 'accepted' };
    if (isRpcAnswer(error) && !connection.call.signal.aborted)
      return { kind: 'refused', message: rpcMessage(error) };
    throw toFault(error, connection.call);
  }
}
