/** The addresses of a plan's signers. */
import type { Signer } from '../domain/signer.ts';
import type { SignerBinding } from '../domain/plan/types.ts';

/**
 * Asked afresh. A signer that is not here or tells nothing has none, and then its address is asked
 * for like any other.
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
  const told = await Promise.all(
    keys.map(
      async (key) =>
        (await get(key)
          ?.identity()
          .catch(() => null)) ?? null,
    ),
  );
  return told.filter((address) => address !== null);
}
