/** Estimates the gas of a call and the fees to offer for it. */
import { parseGwei } from 'viem';
import { ExecutorFault, type EvmUnsignedTransaction } from '../../domain/executor.ts';
import { rejected } from '../node-plan.ts';
import { readBlock, type EvmConnection } from './client.ts';
import { layer1Fee } from './layer1-fee.ts';
import { isInsufficientFunds, isRevert, rpcMessage } from './errors.ts';
import type { EvmCall } from './call.ts';
import { revertReason } from './revert-reason.ts';
import type { Address } from 'viem';

/** Gas and fees of one call, in wei or gas units. */
export interface GasQuote {
  readonly gas: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  /** Upper bound of the rollup's layer-1 charge; 0 if there is none. */
  readonly layer1Fee: bigint;
}

/**
 * Margin over the estimate, which is exact only for the latest block: a busy token may need more.
 */
export const HEADROOM_PERCENT = 120n;
/** Margin over the layer-1 charge, which may rise until the transaction is mined. */
const LAYER1_HEADROOM_PERCENT = 150n;

/**
 * Estimates gas on the latest block and offers twice the base fee plus the usual tip, so that the
 * transaction stays minable through several full blocks. Throws `rejected` faults
 * `TRANSACTION_WOULD_REVERT`, `INSUFFICIENT_FUNDS`, `FEE_MARKET_MISSING` and `L1_FEE_UNKNOWN`;
 * throws the retryable `FEE_ABOVE_CAP` above one of the venue's caps.
 */
export async function quoteGas(
  connection: EvmConnection,
  from: Address,
  call: EvmCall,
): Promise<GasQuote> {
  const [gas, head, tip] = await Promise.all([
    estimateGas(connection, from, call),
    readBlock(connection, 'latest'),
    connection.ask((client) => client.estimateMaxPriorityFeePerGas()),
  ]);
  if (head.baseFeePerGas === null) {
    throw rejected(
      'FEE_MARKET_MISSING',
      `chain ${connection.venue.chain_id} has no EIP-1559 fee market`,
    );
  }
  const { max_fee_per_gas_gwei: cap, max_gas_cost_wei: allowed } = connection.venue;
  const least = head.baseFeePerGas + tip;
  if (cap !== undefined && least > parseGwei(cap)) throw aboveCap(`the venue's ${cap} gwei`);
  const limit = (gas * HEADROOM_PERCENT) / 100n;
  const wanted = head.baseFeePerGas * 2n + tip;
  const offered = cap === undefined || wanted < parseGwei(cap) ? wanted : parseGwei(cap);
  const unsigned = {
    chain_id: connection.venue.chain_id,
    to: call.to,
    value: call.value.toString(),
    data: call.data,
    gas: limit.toString(),
    max_fee_per_gas: offered.toString(),
    max_priority_fee_per_gas: tip.toString(),
  };
  const beneath = await layer1Allowance(connection, unsigned);
  // The check before signing (the fence) refuses a cost above the cap, so the offer stays below it.
  const affordable = (BigInt(allowed) - beneath) / limit;
  if (least > affordable) throw aboveCap(`the ${allowed} wei that the venue allows a transaction`);
  return {
    gas: limit,
    maxFeePerGas: offered < affordable ? offered : affordable,
    maxPriorityFeePerGas: tip,
    layer1Fee: beneath,
  };
}

/** Returns the upper bound, in wei, of the rollup's layer-1 charge; 0 if there is none. */
export async function layer1Allowance(
  connection: EvmConnection,
  unsigned: EvmUnsignedTransaction,
): Promise<bigint> {
  return ((await layer1Fee(connection, unsigned)) * LAYER1_HEADROOM_PERCENT) / 100n;
}

function aboveCap(limit: string): ExecutorFault {
  return new ExecutorFault(
    'server_error',
    'FEE_ABOVE_CAP',
    `the chain requires more than ${limit}`,
    { retryAfterSeconds: 30 },
  );
}

async function estimateGas(
  connection: EvmConnection,
  from: Address,
  call: EvmCall,
): Promise<bigint> {
  try {
    return await connection.raw((client) => client.estimateGas({ account: from, ...call }));
  } catch (error) {
    if (isRevert(error))
      throw rejected(
        'TRANSACTION_WOULD_REVERT',
        `the transfer would revert: ${revertReason(error) ?? rpcMessage(error)}`,
      );
    if (isInsufficientFunds(error))
      throw rejected('INSUFFICIENT_FUNDS', 'the signer cannot pay for the transfer and its gas');
    return connection.ask(() => Promise.reject(error));
  }
}
