/** Reads a transaction that a person names as proof of a completion. */
import type { Hash, TransactionReceipt } from 'viem';
import { unprovenClaim, type ReadClaim } from '../../domain/claim-reader.ts';
import { finalizedNumber, readReceipt, type EvmConnection } from './client.ts';
import { isCanonical } from './landed.ts';

type Unproven = Extract<ReadClaim, { readonly ok: false }>;

/** Returns the hash in lower case; null if the value is none. */
export function hashIn(value: unknown): Hash | null {
  return typeof value === 'string' && /^0x[0-9a-f]{64}$/i.test(value)
    ? (value.toLowerCase() as Hash)
    : null;
}

/** Returns the receipt of a transaction that succeeded in a final block, else what it lacks. */
export async function readNamedReceipt(
  one: EvmConnection,
  hash: Hash,
): Promise<{ readonly ok: true; readonly receipt: TransactionReceipt } | Unproven> {
  const receipt = await readReceipt(one, hash);
  if (receipt === null)
    return unprovenClaim('not_found', `no block of chain ${one.venue.chain_id} has ${hash}`);
  if (receipt.blockNumber > (await finalizedNumber(one)) || !(await isCanonical(one, receipt)))
    return unprovenClaim('not_final', `the block of ${hash} is not final yet; try again later`);
  if (receipt.status === 'reverted') return unprovenClaim('failed', `${hash} reverted`);
  return { ok: true, receipt };
}

/** Returns what as many endpoints show alike as an absence needs; else why they prove nothing. */
export async function shownByAll(
  connection: EvmConnection,
  read: (one: EvmConnection) => Promise<ReadClaim>,
): Promise<ReadClaim> {
  const shown = await connection.witnesses(read);
  const [first, ...others] = shown;
  if (first === undefined) throw new Error('no endpoint has answered');
  const refused = shown.find(({ ok }) => !ok);
  if (refused !== undefined) return refused;
  return others.every((other) => JSON.stringify(other) === JSON.stringify(first))
    ? first
    : unprovenClaim('endpoints_differ', 'the endpoints of the chain show it differently');
}
