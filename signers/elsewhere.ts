/** Signers in a process that opens none: described by their declarations, read through a worker. */
import type { Signer } from '../domain/signer.ts';
import type { SignerConfig } from './config.ts';
import { createNoopSigner } from './noop.ts';

/** `ask` answers the live address of a signer, or throws as the signer itself would. */
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
    // It holds nothing that could be left to a worker.
    if (backend === 'noop') return createNoopSigner(shown);
    const identity = (): Promise<string | null> => ask(signer_key);
    const refuse = () =>
      Promise.reject(
        new Error(`signer ${signer_key} is not open in this process: it takes no work`),
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
