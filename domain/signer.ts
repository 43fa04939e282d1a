/**
 * The contract between the service and a signer, which holds a key. Signing keys never leave a
 * signer.
 */
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
  /** 0x-prefixed serialized transaction. It is a secret until it is broadcast, and never logged. */
  readonly raw_tx: string;
  /** 0x-prefixed hash of the raw bytes, lower case. */
  readonly tx_hash: string;
}

/**
 * Why a signer returned nothing usable: no answer in time, a refusal, or an answer that does not
 * match the request.
 */
export type SignerFaultCode = 'SIGNER_UNREACHABLE' | 'SIGNER_REFUSED' | 'SIGNER_ANSWER_INVALID';

/**
 * A fault of a signer. The message names the fault and never contains signed bytes, a token or an
 * answer.
 */
export class SignerFault extends Error {
  override readonly name: string = 'SignerFault';
  readonly code: SignerFaultCode;
  constructor(code: SignerFaultCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** The signer returned an identity that is no address. */
export class IdentityFault extends SignerFault {
  override readonly name = 'IdentityFault';
  constructor(message: string) {
    super('SIGNER_ANSWER_INVALID', message);
  }
}

/** Largest age in milliseconds of a recent identity. */
export const RECENT_IDENTITY_MS = 10_000;

/**
 * One signing key, wherever it is stored. Every call may throw {@link SignerFault}. A backend with
 * a connection returns or throws within its own time limit.
 */
export interface Signer {
  readonly descriptor: SignerDescriptor;
  /**
   * Reads the live identity anew at each call: the checksummed address for EVM, null when not
   * applicable. Used for every decision: the send fence, pinned addresses, observed facts of a
   * signer, own addresses that the allowlist permits, and balances.
   */
  identity(): Promise<string | null>;
  /**
   * Returns the identity, up to {@link RECENT_IDENTITY_MS} old. Used for reads and preparation: the
   * phases of a node before its send fence, which are much more frequent than sends.
   */
  recentIdentity(): Promise<string | null>;
  /**
   * Returns the transaction of exactly these fields and this nonce, signed by `address`, or by the
   * key's present address if none is passed. A backend that holds no key itself verifies the
   * transaction that it receives; the code that stores the bytes verifies them again
   * (`signers/verify.ts`).
   */
  signEvmTransaction(
    unsigned: EvmUnsignedTransaction,
    nonce: number,
    address?: string,
  ): Promise<SignedTransaction>;
  /**
   * Signs EIP-712 typed data. Returns 65 bytes in hex that recover to `address`, or to the key's
   * present address.
   */
  signEvmTypedData(payload: JsonObject, address?: string): Promise<{ readonly signature: string }>;
  /** Closes the signer's connections. */
  close?(): Promise<void>;
}
