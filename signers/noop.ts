/** A signer for chain families that need a signer in their plan but no signature. */
import type { Signer, SignerDescriptor } from '../domain/signer.ts';

/** Makes a signer without identity (null). Every attempt to sign throws. */
export function createNoopSigner(identity: Omit<SignerDescriptor, 'backend'>): Signer {
  const refuse = () =>
    Promise.reject(new Error(`signer ${identity.signer_key} is a noop signer and signs nothing`));
  return Object.freeze({
    descriptor: Object.freeze({ ...identity, backend: 'noop' as const }),
    identity: () => Promise.resolve(null),
    recentIdentity: () => Promise.resolve(null),
    signEvmTransaction: refuse,
    signEvmTypedData: refuse,
  });
}
