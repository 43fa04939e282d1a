/**
 * Replaces a transaction that is not mined by another one with the same nonce: the same payment
 * with higher fees, or a zero-value transaction. Only one of the versions can ever be mined.
 */
import { formatGwei, parseGwei, type Address } from 'viem';
import {
  ExecutorFault,
  type EvmUnsignedTransaction,
  type NextVersion,
  type StoredTransaction,
} from '../../domain/executor.ts';
import { capsInForce, type RaisedCaps } from '../../domain/lanes/caps.ts';
import { readBlock, type EvmConnection } from './client.ts';
import { chainCaps } from './config.ts';
import { HEADROOM_PERCENT, layer1Allowance } from './fees.ts';

/** Fault code: the market's fees exceed the caps. */
export const FEE_ABOVE_CAP = 'FEE_ABOVE_CAP';

type Fields = Pick<EvmUnsignedTransaction, 'max_fee_per_gas' | 'max_priority_fee_per_gas'>;

/** The fees of a transaction, in wei per gas. */
export interface Fees {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

interface Market {
  readonly baseFee: bigint;
  readonly tip: bigint;
}

/**
 * Returns the fee plus an eighth, rounded up, and at least 1 more. Chain clients replace a
 * transaction only if both fees rise by a tenth (geth's `txpool.pricebump`, go-ethereum
 * core/txpool/legacypool) or an eighth (Nethermind and rollups' sequencers).
 */
export function raised(fee: bigint): bigint {
  const more = (fee * 9n + 7n) / 8n;
  return more > fee ? more : fee + 1n;
}

/**
 * Returns the next fees: both raised by an eighth, at least the market's, and within the venue's
 * caps; null when the caps are too low. `most`: the venue's caps as wei per gas.
 */
export function nextFees(before: Fees, market: Market, most: bigint | null): Fees | null {
  const { maxFeePerGas: least, maxPriorityFeePerGas: tip } = leastFees(before, market);
  if (most !== null && least > most) return null;
  const wanted = larger(least, 2n * market.baseFee + tip);
  return {
    maxFeePerGas: most === null || wanted < most ? wanted : most,
    maxPriorityFeePerGas: tip,
  };
}

function leastFees(before: Fees, market: Market): Fees {
  const tip = larger(raised(before.maxPriorityFeePerGas), market.tip);
  const least = larger(raised(before.maxFeePerGas), market.baseFee + tip);
  return { maxFeePerGas: least, maxPriorityFeePerGas: tip };
}

function larger(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}

/**
 * Returns the same transaction with fees above those of `than`; by default above its own fees.
 *
 * @throws ExecutorFault `server_error` `FEE_ABOVE_CAP` when the caps leave no room.
 */
export function dearer(
  connection: EvmConnection,
  over: StoredTransaction,
  raise: RaisedCaps | null,
  than: Fields = over.unsigned,
): Promise<NextVersion> {
  return priced(connection, over, { kind: over.kind, unsigned: over.unsigned, than, raise });
}

/** Returns a zero-value version, sent to the account itself. Throws as {@link dearer}. */
export async function selfTransfer(
  connection: EvmConnection,
  over: StoredTransaction,
  raise: RaisedCaps | null,
): Promise<NextVersion> {
  const unsigned = { ...over.unsigned, ...(await toItself(connection, over.from as Address)) };
  return priced(connection, over, { kind: 'cancel', unsigned, than: over.unsigned, raise });
}

/** Returns a zero-value transaction to the account itself, without fees. */
export async function toItself(
  connection: EvmConnection,
  account: Address,
): Promise<Pick<EvmUnsignedTransaction, 'to' | 'value' | 'data' | 'gas'>> {
  const gas = await connection.ask((client) =>
    client.estimateGas({ account, to: account, value: 0n, data: '0x' }),
  );
  const limit = (gas * HEADROOM_PERCENT) / 100n;
  return { to: account, value: '0', data: '0x', gas: limit.toString() };
}

/** Reads the chain's current fees, in wei per gas. */
async function marketOf(connection: EvmConnection): Promise<Market> {
  const [head, tip] = await Promise.all([
    readBlock(connection, 'latest'),
    connection.ask((client) => client.estimateMaxPriorityFeePerGas()),
  ]);
  return { baseFee: head.baseFeePerGas ?? 0n, tip };
}

/**
 * Returns fees above `before` for a nonce that is already reserved. Only this function checks such
 * a transaction against caps: those of its venue, or those to which an operator raised them for the
 * nonce lane.
 *
 * @throws ExecutorFault `server_error` `FEE_ABOVE_CAP` with the required and the allowed fees.
 */
export async function offeredFees(
  connection: EvmConnection,
  of: {
    readonly nonce: number;
    readonly unsigned: EvmUnsignedTransaction;
    readonly before: Fees;
    readonly raise: RaisedCaps | null;
  },
): Promise<Fields> {
  const { unsigned, before } = of;
  const caps = capsInForce(chainCaps(connection.venue), of.raise);
  const [market, beneath] = await Promise.all([
    marketOf(connection),
    layer1Allowance(connection, unsigned),
  ]);
  const gas = BigInt(unsigned.gas);
  const affordable = (BigInt(caps.max_gas_cost_wei) - beneath) / gas;
  const cap = caps.max_fee_per_gas_gwei === null ? null : parseGwei(caps.max_fee_per_gas_gwei);
  const most = cap === null || affordable < cap ? affordable : cap;
  const fees = nextFees(before, market, most);
  if (fees !== null) return feeFields(fees);
  const { maxFeePerGas: least } = leastFees(before, market);
  throw new ExecutorFault(
    'server_error',
    FEE_ABOVE_CAP,
    `nonce ${of.nonce} is not mined, and the caps are too low: it needs at least ${formatGwei(least)} gwei per gas, ` +
      `${least * gas + beneath} wei in all, and ${formatGwei(most)} gwei per gas is allowed`,
  );
}

async function priced(
  connection: EvmConnection,
  over: StoredTransaction,
  next: Pick<NextVersion, 'kind' | 'unsigned'> & {
    readonly than: Fields;
    readonly raise: RaisedCaps | null;
  },
): Promise<NextVersion> {
  const { than, raise, kind, unsigned } = next;
  const before = {
    maxFeePerGas: BigInt(than.max_fee_per_gas),
    maxPriorityFeePerGas: BigInt(than.max_priority_fee_per_gas),
  };
  const { nonce } = over;
  const fees = await offeredFees(connection, { nonce, unsigned, before, raise });
  return { over, kind, unsigned: { ...unsigned, ...fees } };
}

function feeFields(fees: Fees): Fields {
  return {
    max_fee_per_gas: fees.maxFeePerGas.toString(),
    max_priority_fee_per_gas: fees.maxPriorityFeePerGas.toString(),
  };
}
