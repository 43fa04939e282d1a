/**
 * A signer whose key never leaves a key service. The service signs digests; this code computes the
 * digest, the low s and the recovery id.
 */
import { createPublicKey } from 'node:crypto';
import {
  bytesToHex,
  hashTypedData,
  hexToBytes,
  keccak256,
  serializeSignature,
  serializeTransaction,
  type Hex,
  type Signature,
} from 'viem';
import { publicKeyToAddress } from 'viem/utils';
import { SignerFault, type Signer, type SignerDescriptor } from '../domain/signer.ts';
import { readDerSignature, signatureOf } from './ecdsa.ts';
import { evmTransaction } from './evm-transaction.ts';
import type { KeyService } from './kms-client.ts';
import { cachedIdentity } from './recent.ts';
import { readTypedData } from './typed-data.ts';

/**
 * Makes a signer of the backend `managed_kms_evm` over `service`, and closes the service with the
 * signer.
 */
export function createKmsSigner(
  identity: Omit<SignerDescriptor, 'backend'>,
  service: KeyService,
): Signer {
  const addresses = cachedIdentity(async () => addressOf(await service.publicKey()));
  const sign = async (hash: Hex, address: string | undefined): Promise<Signature> => {
    const by = address ?? (await addresses.identity()) ?? '';
    const parts = readDerSignature(await service.sign(hexToBytes(hash)));
    if (parts === null)
      throw new SignerFault('SIGNER_ANSWER_INVALID', 'the key service returned no ECDSA signature');
    const signature = await signatureOf(by, hash, parts);
    if (signature !== null) return signature;
    throw new SignerFault(
      'SIGNER_ANSWER_INVALID',
      'the key service signed with another key than that of the address',
    );
  };
  return Object.freeze({
    descriptor: Object.freeze({ ...identity, backend: 'managed_kms_evm' as const }),
    ...addresses,
    signEvmTransaction: async (unsigned, nonce, address) => {
      const transaction = evmTransaction(unsigned, nonce);
      const hash = keccak256(serializeTransaction(transaction));
      const raw_tx = serializeTransaction(transaction, await sign(hash, address));
      return { raw_tx, tx_hash: keccak256(raw_tx) };
    },
    signEvmTypedData: async (payload, address) => ({
      signature: serializeSignature(await sign(hashTypedData(readTypedData(payload)), address)),
    }),
    close: () => service.close(),
  } satisfies Signer);
}

/**
 * Returns the address of a public key in DER. OpenSSL parses the key and refuses points that are
 * not on the curve.
 *
 * @throws SignerFault `SIGNER_ANSWER_INVALID` for anything but one secp256k1 key.
 */
export function addressOf(spki: Uint8Array): string {
  const point = pointOf(spki);
  if (point !== null) return publicKeyToAddress(point);
  throw new SignerFault(
    'SIGNER_ANSWER_INVALID',
    'the key service returned no secp256k1 public key',
  );
}

function pointOf(spki: Uint8Array): Hex | null {
  try {
    const key = createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' });
    const { crv, x = '', y = '' } = key.export({ format: 'jwk' });
    const point = Buffer.concat([Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
    return crv === 'secp256k1' && point.length === 64 ? `0x04${bytesToHex(point).slice(2)}` : null;
  } catch {
    return null;
  }
}
