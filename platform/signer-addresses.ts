/** The addresses of a plan's signers. */
import type { Signer } from '../domain/signer.ts';
import type { SignerBinding } from '../domain/plan/types.ts';
import { within } from './time-limit.ts';

/** Milliseconds that one signer may take to report its address. */
const ANSWER_LIMIT_MS = 5_000;

/**
 * Returns the signers' addresses, read now and not from a cache. A signer that is unknown or does
 * not answer in time is left out; its address then must be on the allowlist like any other.
 */
export async function signerAddresses(
  nodes: readonly { readonly signer_binding: SignerBinding | null }[],
  get: (key: string) => Signer | undefined,
): Promise<readonly string[]> {
  const keys = [
    ...new Set(
      nodes.flatMap(({ signer_binding }) =>
        signer_binding === null ? [] : [signer_binding.signer_key],
      ),
    ),
  ];
  const addresses = await Promise.all(keys.map((key) => addressOf(get(key))));
  return addresses.filter((address) => address !== null);
}

async function addressOf(signer: Signer | undefined): Promise<string | null> {
  if (signer === undefined) return null;
  return within(signer.identity(), ANSWER_LIMIT_MS).catch(() => null);
}
