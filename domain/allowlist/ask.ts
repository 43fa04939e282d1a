/** Converts the payee of a node to the form in which the allowlist is searched. */
import { ADDRESS_PROBLEMS, normalAddress, type ReadEvmAddress } from './address.ts';
import type { Destination } from './destination.ts';
import type { PayeeAddress } from './match.ts';

/** `problem`: the address has no normal form, so no allowlist row can ever match it. */
export type Question = { readonly payee: PayeeAddress } | { readonly problem: string };

export function questionOf(
  { chain_family, address, chain_id, strict, problem }: Destination,
  readEvm: ReadEvmAddress,
): Question {
  if (problem !== undefined) return { problem };
  if (address === '') return { problem: 'the node names no destination address' };
  const normal = normalAddress(chain_family, address, readEvm);
  if (!normal.ok) return { problem: `${address} ${ADDRESS_PROBLEMS[normal.problem]}` };
  return { payee: { chain_family, address: normal.address, chain_id, strict } };
}
