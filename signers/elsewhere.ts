/**
 * Signers for a process that opens none: described by their config, with the identity read through
 * a worker.
 */
import type { Signer } from '../domain/signer.ts';
import type { SignerConfig } from './config.ts';
import { createNoopSigner } from './noop.ts';

/**
 * Makes the signers. `ask` returns a signer's live address, or throws the same faults as the
 * signer.
 */
export function createSignersElsewhere(
  configs: readonly SignerConfig[],
  ask: (signerKey: string) => Promise<string | null>,
): readonly Signer[] {
  return configs.map(({ signer_key, chain_family, profile, backend }) => {
    const shown = {
      signer_key,
      chain_family,
      ...(profile === undefined ? {} : { profile }),
    };
    // A noop signer has no key, so no worker is needed for it.
    if (backend === 'noop') return createNoopSigner(shown);
    const identity = (): Promise<string | null> => ask(signer_key);
    const refuse = () =>
      Promise.reject(
        new Error(`signer ${signer_key} cannot sign here: this process takes no work`),
      );
    return Object.freeze({
      descriptor: Object.freeze({ ...shown, backend }),
      identity,
      recentIdentity: identity,
      signEvmTransaction: refuse,
      signEvmTypedData: refuse,
    });
  });
}
