/**
 * Finds the transaction that used a nonce: the only proof that other transactions with this nonce
 * can never be mined.
 */
import { isAddressEqual, type Address, type Hash } from 'viem';
import { ExecutorFault } from '../../domain/executor.ts';
import { finalizedNumber, type EvmConnection } from './client.ts';
import { RPC_FAULTS } from './errors.ts';

export type NonceFate =
  /** No finalized block has used the nonce: transactions signed with it may still be mined. */
  | { readonly kind: 'open' }
  /** In a finalized block, this transaction of the account used the nonce. */
  | { readonly kind: 'used'; readonly by: Hash }
  /** The nonce is used, but the endpoint does not show by which transaction. */
  | { readonly kind: 'unprovable' };

/**
 * Returns the fate on which enough endpoints agree: `used` only if each endpoint reports the same
 * transaction.
 */
export async function agreedFate(
  connection: EvmConnection,
  address: Address,
  nonce: number,
): Promise<NonceFate> {
  const first = await nonceFate(connection, address, nonce);
  if (first.kind !== 'used') return first;
  const fates = await connection.witnesses((one) => nonceFate(one, address, nonce));
  const other = fates.find((fate) => fate.kind !== 'used' || fate.by !== first.by);
  if (other === undefined) return first;
  return other.kind === 'used' ? { kind: 'unprovable' } : other;
}

/**
 * Finds the finalized block in which the account's nonce count passed `nonce`, and in that block
 * the account's transaction with that nonce, which is the proof. A count alone may be wrong:
 * machines behind one URL can report counts at different heights. Costs about forty reads in the
 * worst case, which is rare.
 */
export async function nonceFate(
  connection: EvmConnection,
  address: Address,
  nonce: number,
): Promise<NonceFate> {
  // Every endpoint keeps the newest state; some endpoints drop the state of the newest final block.
  const latest = await connection.ask((client) => client.getTransactionCount({ address }));
  if (latest <= nonce) return { kind: 'open' };
  const last = await finalizedNumber(connection);
  if (last < 0n || (await countAt(connection, address, last)) <= nonce) return { kind: 'open' };
  try {
    const block = await firstPast(connection, { address, nonce, last });
    const by = block === null ? null : await userOf(connection, { address, nonce, block });
    return by === null ? { kind: 'unprovable' } : { kind: 'used', by };
  } catch (error) {
    if (error instanceof ExecutorFault && error.code === RPC_FAULTS.refused)
      return { kind: 'unprovable' };
    throw error;
  }
}

/**
 * Returns the account's transaction with this nonce in the block; null when there is none, for
 * example if code that the account delegates to used the nonce (EIP-7702).
 */
async function userOf(
  connection: EvmConnection,
  of: { readonly address: Address; readonly nonce: number; readonly block: bigint },
): Promise<Hash | null> {
  const { transactions } = await connection.ask((client) =>
    client.getBlock({ blockNumber: of.block, includeTransactions: true }),
  );
  const used = transactions.find(
    ({ from, nonce }) => nonce === of.nonce && isAddressEqual(from, of.address),
  );
  return used?.hash ?? null;
}

/**
 * Returns the first block after which the count exceeds `nonce`; null when the count already does
 * after block 0. The caller knows that the count exceeds `nonce` after `last`.
 */
async function firstPast(
  connection: EvmConnection,
  of: { readonly address: Address; readonly nonce: number; readonly last: bigint },
): Promise<bigint | null> {
  const isPast = async (block: bigint) => (await countAt(connection, of.address, block)) > of.nonce;
  let past = of.last;
  let before = -1n;
  // Searches backwards in growing steps: usually the nonce was used recently, and old state costs
  // more.
  for (let step = 1n; before < 0n; step *= 2n) {
    const probe = past > step ? past - step : 0n;
    if (!(await isPast(probe))) before = probe;
    else if (probe === 0n) return null;
    else past = probe;
  }
  while (past - before > 1n) {
    const middle = (past + before) / 2n;
    if (await isPast(middle)) past = middle;
    else before = middle;
  }
  return past;
}

function countAt(
  connection: EvmConnection,
  address: Address,
  blockNumber: bigint,
): Promise<number> {
  return connection.ask((client) => client.getTransactionCount({ address, blockNumber }));
}
