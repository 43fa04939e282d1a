/**
 * The development signer: a private key from a file. The key is only in viem's closure, never on an
 * object, so no log, inspection or JSON of a signer can show it.
 */
import { isHex, keccak256 } from 'viem';
import { privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts';
import type { EvmUnsignedTransaction } from '../domain/executor.ts';
import type { JsonObject } from '../domain/json.ts';
import type { SignedTransaction, Signer, SignerDescriptor } from '../domain/signer.ts';
import { evmTransaction } from './evm-transaction.ts';
import { readTypedData } from './typed-data.ts';

/**
 * Makes a signer with `privateKey` (0x and 64 hex digits). Throws an Error that names the signer,
 * but nothing of the key, if the key is not a valid secp256k1 key.
 */
export function createLocalSigner(
  identity: Omit<SignerDescriptor, 'backend'>,
  privateKey: string,
): Signer {
  const account = accountOf(identity.signer_key, privateKey);
  const address = (): Promise<string> => Promise.resolve(account.address);
  return Object.freeze({
    descriptor: Object.freeze({ ...identity, backend: 'local' as const }),
    identity: address,
    recentIdentity: address,
    signEvmTransaction: (unsigned: EvmUnsignedTransaction, nonce: number) =>
      sign(account, unsigned, nonce),
    signEvmTypedData: (payload: JsonObject) => signTyped(account, payload),
  });
}

function accountOf(signerKey: string, privateKey: string): PrivateKeyAccount {
  try {
    if (!isHex(privateKey) || privateKey.length !== 66) throw new Error('not a key');
    return privateKeyToAccount(privateKey);
  } catch {
    // The cause is dropped on purpose: the library's message may repeat the key.
    throw new Error(
      `signer ${signerKey}: the private key must be 0x and 64 hex digits of a valid secp256k1 key`,
    );
  }
}

async function sign(
  account: PrivateKeyAccount,
  unsigned: EvmUnsignedTransaction,
  nonce: number,
): Promise<SignedTransaction> {
  const raw_tx = await account.signTransaction(evmTransaction(unsigned, nonce));
  return { raw_tx, tx_hash: keccak256(raw_tx) };
}

async function signTyped(
  account: PrivateKeyAccount,
  payload: JsonObject,
): Promise<{ readonly signature: string }> {
  return { signature: await account.signTypedData(readTypedData(payload)) };
}
