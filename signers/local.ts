/**
 * The development signer: a private key from a file. The key lives only in viem's closure, never on
 * an object, so that no log, inspection or JSON of a signer can show it.
 */
import { isHex, keccak256, type Hex } from 'viem';
import { privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts';
import { z } from 'zod';
import type { EvmUnsignedTransaction } from '../domain/executor.ts';
import type { JsonObject } from '../domain/json.ts';
import type { SignedTransaction, Signer, SignerDescriptor } from '../domain/signer.ts';
import { readUnsignedTransaction } from './unsigned-transaction.ts';

const typedData = z.strictObject({
  domain: z.record(z.string(), z.unknown()),
  types: z.record(z.string(), z.array(z.strictObject({ name: z.string(), type: z.string() }))),
  primaryType: z.string(),
  message: z.record(z.string(), z.unknown()),
});

/**
 * A signer over `privateKey` (0x and 64 hex digits). Throws an Error that names the signer, and
 * nothing of the key, when it is no valid secp256k1 key.
 */
export function createLocalSigner(
  identity: Omit<SignerDescriptor, 'backend'>,
  privateKey: string,
): Signer {
  const account = accountOf(identity.signer_key, privateKey);
  return Object.freeze({
    descriptor: Object.freeze({ ...identity, backend: 'local' as const }),
    identity: () => Promise.resolve(account.address),
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
    // The cause is dropped on purpose: the library's message may repeat its input.
    throw new Error(
      `signer ${signerKey}: the private key must be 0x and 64 hex digits of a valid secp256k1 key`,
    );
  }
}

async function sign(
  account: PrivateKeyAccount,
  payload: EvmUnsignedTransaction,
  nonce: number,
): Promise<SignedTransaction> {
  const reading = readUnsignedTransaction(payload);
  if (!reading.ok) throw new Error(`the unsigned transaction is malformed: ${reading.problem}`);
  if (!Number.isSafeInteger(nonce) || nonce < 0)
    throw new Error('the nonce must be a whole number');
  const { unsigned } = reading;
  const raw_tx = await account.signTransaction({
    type: 'eip1559',
    chainId: unsigned.chain_id,
    nonce,
    to: unsigned.to as Hex,
    value: BigInt(unsigned.value),
    data: unsigned.data as Hex,
    gas: BigInt(unsigned.gas),
    maxFeePerGas: BigInt(unsigned.max_fee_per_gas),
    maxPriorityFeePerGas: BigInt(unsigned.max_priority_fee_per_gas),
  });
  return { raw_tx, tx_hash: keccak256(raw_tx) };
}

async function signTyped(
  account: PrivateKeyAccount,
  payload: JsonObject,
): Promise<{ readonly signature: string }> {
  const parsed = typedData.safeParse(payload);
  if (!parsed.success)
    throw new Error('typed data needs domain, types, primaryType and message, and nothing else');
  return { signature: await account.signTypedData(parsed.data) };
}
