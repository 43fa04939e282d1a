/** The contract between the service and whatever holds a key. Keys never leave a signer. */
import type { EvmUnsignedTransaction } from './executor.ts';
import type { JsonObject } from './json.ts';

export const SIGNER_BACKENDS = ['local', 'managed_kms_evm', 'remote', 'noop'] as const;
export type SignerBackend = (typeof SIGNER_BACKENDS)[number];

export interface SignerDescriptor {
  readonly signer_key: string;
  readonly backend: SignerBackend;
  readonly chain_family: string;
  readonly profile?: string;
}

export interface SignedTransaction {
  /** 0x-prefixed serialized transaction; it is a secret until broadcast and never logged. */
  readonly raw_tx: string;
  /** 0x-prefixed hash of the raw bytes, lower case. */
  readonly tx_hash: string;
}

export interface Signer {
  readonly descriptor: SignerDescriptor;
  /**
   * The live identity, asked afresh at each call: the checksummed address for EVM, null where it
   * does not apply.
   */
  identity(): Promise<string | null>;
  signEvmTransaction(unsigned: EvmUnsignedTransaction, nonce: number): Promise<SignedTransaction>;
  signEvmTypedData(payload: JsonObject): Promise<{ readonly signature: string }>;
}
