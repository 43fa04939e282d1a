/**
 * Another transaction with the nonce of one that is not mined: the same payment for higher fees, or
 * one that moves nothing. Only one of them can ever be mined.
 */
import { parseGwei, type Address } from 'viem';
import {
  ExecutorFault,
  type EvmUnsignedTransaction,
  type NextVersion,
  type StoredTransaction,
} from '../../domain/executor.ts';
import { readBlock, type EvmConnection } from './client.ts';
import { HEADROOM_PERCENT, layer1Allowance } from './fees.ts';

/** The caps of the venue leave no room for what the market asks. */
export const FEE_ABOVE_CAP = 'FEE_ABOVE_CAP';

type Fields = Pick<EvmUnsignedTransaction, 'max_fee_per_gas' | 'max_priority_fee_per_gas'>;

/** Wei per gas. */
export interface Fees {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/**
 * An eighth more, rounded up, and more in any case. Nodes ask a tenth (geth's `txpool.pricebump`,
 * go-ethereum core/txpool/legacypool) or an eighth (Nethermind and rollups' sequencers) of both
 * fees before they let one transaction take the place of another.
 */
export function raised(fee: bigint): bigint {
  const more = (fee * 9n + 7n) / 8n;
  return more > fee ? more : fee + 1n;
}

/**
 * What is offered next: an eighth more of both fees and at least what the market asks, within the
 * caps of the venue; null when the caps leave no room for that. `most`: the venue's caps as wei per
 * gas.
 */
export function nextFees(
  before: Fees,
  market: { readonly baseFee: bigint; readonly tip: bigint },
  most: bigint | null,
): Fees | null {
  const tip = larger(raised(before.maxPriorityFeePerGas), market.tip);
  const least = larger(raised(before.maxFeePerGas), market.baseFee + tip);
  if (most !== null && least > most) return null;
  const wanted = larger(least, 2n * market.baseFee + tip);
  return {
    maxFeePerGas: most === null || wanted < most ? wanted : most,
    maxPriorityFeePerGas: tip,
  };
}

function larger(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}

/**
 * The same payment for higher fees than `than` offers; than its own when that is left out.
 *
 * @throws ExecutorFault `server_error` `FEE_ABOVE_CAP` when the venue's caps leave no room.
 */
export function dearer(
  connection: EvmConnection,
  over: StoredTransaction,
  than: Fields = over.unsigned,
): Promise<NextVersion> {
  return priced(connection, over, { kind: over.kind, unsigned: over.unsigned, than });
}

/** A transaction to the account itself that moves nothing. Throws as {@link dearer}. */
export async function selfTransfer(
  connection: EvmConnection,
  over: StoredTransaction,
): Promise<NextVersion> {
  const unsigned = { ...over.unsigned, ...(await toItself(connection, over.from as Address)) };
  return priced(connection, over, { kind: 'cancel', unsigned, than: over.unsigned });
}

/** Where it goes and what it takes, whatever it is offered for. */
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

/** What the chain asks now, in wei per gas. */
export async function marketOf(
  connection: EvmConnection,
): Promise<{ readonly baseFee: bigint; readonly tip: bigint }> {
  const [head, tip] = await Promise.all([
    readBlock(connection, 'latest'),
    connection.ask((client) => client.estimateMaxPriorityFeePerGas()),
  ]);
  return { baseFee: head.baseFeePerGas ?? 0n, tip };
}

/** The venue's caps as wei per gas of this transaction, what the chain beneath charges included. */
export async function mostPerGas(
  connection: EvmConnection,
  unsigned: EvmUnsignedTransaction,
): Promise<bigint> {
  const { max_fee_per_gas_gwei: cap, max_gas_cost_wei: allowed } = connection.venue;
  const beneath = await layer1Allowance(connection, unsigned);
  const affordable = (BigInt(allowed) - beneath) / BigInt(unsigned.gas);
  return cap === undefined || affordable < parseGwei(cap) ? affordable : parseGwei(cap);
}

async function priced(
  connection: EvmConnection,
  over: StoredTransaction,
  next: Pick<NextVersion, 'kind' | 'unsigned'> & { readonly than: Fields },
): Promise<NextVersion> {
  const before = {
    maxFeePerGas: BigInt(next.than.max_fee_per_gas),
    maxPriorityFeePerGas: BigInt(next.than.max_priority_fee_per_gas),
  };
  const [market, most] = await Promise.all([
    marketOf(connection),
    mostPerGas(connection, next.unsigned),
  ]);
  const fees = nextFees(before, market, most);
  if (fees === null)
    throw new ExecutorFault(
      'server_error',
      FEE_ABOVE_CAP,
      `nonce ${over.nonce} is not mined, and what the venue allows leaves no room for higher fees`,
    );
  return { over, kind: next.kind, unsigned: { ...next.unsigned, ...feeFields(fees) } };
}

export function feeFields(fees: Fees): Fields {
  return {
    max_fee_per_gas: fees.maxFeePerGas.toString(),
    max_priority_fee_per_gas: fees.maxPriorityFeePerGas.toString(),
  };
}
