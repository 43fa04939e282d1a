/** Who used a nonce: the only proof that a stored transaction can never land any more. */
import type { Address, Hash } from 'viem';
import { ExecutorFault } from '../../domain/executor.ts';
import { finalizedNumber, readBlock, type EvmConnection } from './client.ts';
import { RPC_FAULTS } from './errors.ts';

export type NonceFate =
  /** No finalized block has used the nonce: what was signed with it may still be mined. */
  | { readonly kind: 'open' }
  /** A finalized block has used it; these are all of that block's transactions. */
  | { readonly kind: 'used'; readonly transactions: readonly Hash[] }
  /** It is used, and the endpoint no longer keeps the state that would show where. */
  | { readonly kind: 'unprovable' };

/**
 * Finds the finalized block in which the account's count passed `nonce`. A transaction with that
 * nonce can be in no other block, so a hash that is not in it has not landed and never will. This
 * is stronger than "no receipt and a higher count", which two endpoints behind one address can tell
 * at different heights. Costs some forty reads in the worst case, on a path that is rarely taken.
 */
export async function nonceFate(
  connection: EvmConnection,
  address: Address,
  nonce: number,
): Promise<NonceFate> {
  const last = await finalizedNumber(connection);
  if (last < 0n || (await countAt(connection, address, last)) <= nonce) return { kind: 'open' };
  try {
    const block = await firstPast(connection, { address, nonce, last });
    return block === null
      ? { kind: 'unprovable' }
      : { kind: 'used', transactions: (await readBlock(connection, block)).transactions };
  } catch (error) {
    if (error instanceof ExecutorFault && error.code === RPC_FAULTS.refused)
      return { kind: 'unprovable' };
    throw error;
  }
}

/**
 * The first block after which the count exceeds `nonce`, given that it does after `last`; null when
 * even block 0 does.
 */
async function firstPast(
  connection: EvmConnection,
  of: { readonly address: Address; readonly nonce: number; readonly last: bigint },
): Promise<bigint | null> {
  const isPast = async (block: bigint) => (await countAt(connection, of.address, block)) > of.nonce;
  let past = of.last;
  let before = -1n;
  // Backwards in growing steps: nonces are mostly used a short while ago, and old state costs more.
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
