/** What a transfer will cost in gas, and at most. */
import { parseGwei } from 'viem';
import { ExecutorFault } from '../../domain/executor.ts';
import { readBlock, type EvmConnection } from './client.ts';
import { isInsufficientFunds, isRevert, rpcMessage } from './errors.ts';
import type { TransferCall } from './plan.ts';
import type { Address } from 'viem';

/** All in wei or gas units. */
export interface GasQuote {
  readonly gas: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** Estimates are exact for the latest block; a busy token may need a little more when it is mined. */
const HEADROOM_PERCENT = 120n;

/**
 * Estimates gas on the latest block and offers twice the base fee plus the usual tip, so that the
 * transaction stays minable through several full blocks. Throws `rejected` faults
 * `TRANSACTION_WOULD_REVERT`, `INSUFFICIENT_FUNDS` and `FEE_MARKET_MISSING`; above the venue's cap the
 * retryable `FEE_ABOVE_CAP`.
 */
export async function quoteGas(connection: EvmConnection, from: Address, call: TransferCall): Promise<GasQuote> {
  const [gas, head, tip] = await Promise.all([
    estimateGas(connection, from, call),
    readBlock(connection, 'latest'),
    connection.ask((client) => client.estimateMaxPriorityFeePerGas()),
  ]);
  if (head.baseFeePerGas === null) {
    throw new ExecutorFault('rejected', 'FEE_MARKET_MISSING', `chain ${connection.venue.chain_id} has no EIP-1559 fee market`);
  }
  const wanted = head.baseFeePerGas * 2n + tip;
  const cap = connection.venue.max_fee_per_gas_gwei;
  const limit = cap === undefined ? wanted : parseGwei(cap);
  if (head.baseFeePerGas + tip > limit) {
    throw new ExecutorFault('server_error', 'FEE_ABOVE_CAP', `the chain asks for more than the venue's ${cap} gwei`, {
      retryAfterSeconds: 30,
    });
  }
  return { gas: (gas * HEADROOM_PERCENT) / 100n, maxFeePerGas: wanted < limit ? wanted : limit, maxPriorityFeePerGas: tip };
}

async function estimateGas(connection: EvmConnection, from: Address, call: TransferCall): Promise<bigint> {
  try {
    return await connection.client.estimateGas({ account: from, ...call });
  } catch (error) {
    if (isRevert(error)) throw new ExecutorFault('rejected', 'TRANSACTION_WOULD_REVERT', `the transfer would revert: ${rpcMessage(error)}`);
    if (isInsufficientFunds(error))
      throw new ExecutorFault('rejected', 'INSUFFICIENT_FUNDS', 'the signer cannot pay for the transfer and its gas');
    return connection.ask(() => Promise.reject(error));
  }
}
