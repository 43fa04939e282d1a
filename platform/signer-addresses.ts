/** The addresses of a plan's signers. */
import type { Signer } from '../domain/signer.ts';
import type { SignerBinding } from '../domain/plan/types.ts';
import { within } from './time-limit.ts';

/** Milliseconds that one signer may take to report its address. */
const ANSWER_LIMIT_MS = 5_000;

interface SignerAddresses {
  readonly addresses: readonly string[];
  /** Keys of the signers that are unknown here or did not answer in time. */
  readonly silent: readonly string[];
}

/**
 * Returns the signers' addresses, read now and not from a cache. Without the address of a silent
 * signer, that address looks like any other, which must be on the allowlist.
 */
export async function signerAddresses(
  nodes: readonly { readonly signer_binding: SignerBinding | null }[],
  get: (key: string) => Signer | undefined,
): Promise<SignerAddresses> {
  const keys = [
    ...new Set(
      nodes.flatMap(({ signer_binding }) =>
        signer_binding === null ? [] : [signer_binding.signer_key],
      ),
    ),
  ];
  const read = await Promise.all(
    keys.map(async (key) => ({ key, address: await addressOf(get(key)) })),
  );
  return {
    addresses: read.flatMap(({ address }) => address ?? []),
    silent: read.flatMap(({ key, address }) => (address === undefined ? [key] : [])),
  };
}

/** Returns the signer's address; null when it has none, undefined when it is silent. */
async function addressOf(signer: Signer | undefined): Promise<string | null | undefined> {
  if (signer === undefined) return undefined;
  return within(signer.identity(), ANSWER_LIMIT_MS).catch(() => undefined);
}
