/**
 * Finds the signer that an inventory, allowance scan or retirement is about: its row, address and
 * chains.
 */
import { ServiceError } from '../../domain/errors.ts';
import type { AccountReader } from '../../domain/signer-lifecycle.ts';
import type { SignerDescriptor } from '../../domain/signer.ts';
import { readSignerRow } from '../../store/registry.ts';
import { readSignerPast } from '../../store/signer-lifecycle.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { invalidRequest } from '../http/issues.ts';
import { liveIdentity } from '../registries/live-identity.ts';

const NO_ACCOUNTS: AccountReader = {
  chainIds: () => [],
  holdings: () => Promise.resolve({ balances: [], used_nonces: [] }),
  allowances: () => Promise.resolve({ allowances: [], unsupported_spender_not_checked: false }),
};

/** Returns the reader of accounts; without bound chains, one that reads nothing. */
export function accountsOf({ accounts = NO_ACCOUNTS }: ApiDependencies): AccountReader {
  return accounts;
}

export interface FoundSigner {
  readonly signer_key: string;
  readonly status: string;
  readonly chain_family: string;
  readonly replaced_by: string | null;
  /** The signer's descriptor in this process's memory; a missing row is created from it. */
  readonly declared: readonly SignerDescriptor[];
  /** Known addresses in lower case: pinned, observed, or recorded at a rotation. */
  readonly known: readonly string[];
}

/** Returns the stored or declared signer, or throws `signer_not_found`. */
export async function findSigner(
  signer_key: string,
  { db, signers }: ApiDependencies,
): Promise<FoundSigner> {
  const declared = signers.list().filter((each) => each.signer_key === signer_key);
  const [row, past] = await Promise.all([
    readSignerRow(db, signer_key),
    readSignerPast(db, signer_key),
  ]);
  const chain_family = row?.chain_family ?? declared[0]?.chain_family;
  if (chain_family === undefined)
    throw new ServiceError('signer_not_found', { context: { signer_key } });
  return {
    signer_key,
    status: row?.status ?? 'active',
    chain_family,
    replaced_by: past.replaced_by,
    declared,
    known: past.addresses,
  };
}

/** Returns the address to read: the one that the signer reports, otherwise the pinned one. */
export async function addressToLookAt(
  { signer_key, chain_family, known }: FoundSigner,
  { signers }: ApiDependencies,
): Promise<string> {
  if (chain_family !== 'evm')
    throw new ServiceError('signer_identity_not_applicable', { context: { signer_key } });
  const live = await liveIdentity(signers.get(signer_key));
  const address = live.address ?? known[0];
  if (address === undefined)
    throw new ServiceError('signer_runtime_identity_unavailable', { context: { signer_key } });
  return address;
}

/** Returns the named chains, or all bound chains when none is named; an unknown chain is 422. */
export function chainsToLookAt(
  chains: readonly string[] | undefined,
  accounts: AccountReader,
): readonly number[] {
  const bound = accounts.chainIds();
  const unknown = (chains ?? []).flatMap((chain, index) =>
    bound.includes(Number(chain))
      ? []
      : [{ path: `chains[${index}]`, code: 'invalid_value', message: 'no such chain is bound' }],
  );
  if (unknown.length > 0) throw invalidRequest(unknown);
  return chains === undefined ? bound : [...new Set(chains.map(Number))];
}
