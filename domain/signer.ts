/** The contract between the service and a signer, which holds a key. Keys never leave a signer. */
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

/**
 * Why a signer returned nothing usable: it did not answer in time or at all, it refused, or its
 * answer does not match the request.
 */
export type SignerFaultCode = 'SIGNER_UNREACHABLE' | 'SIGNER_REFUSED' | 'SIGNER_ANSWER_INVALID';

/** Its message names the signer's fault and never holds what was signed, a token or an answer. */
export class SignerFault extends Error {
  override readonly name: string = 'SignerFault';
  readonly code: SignerFaultCode;
  constructor(code: SignerFaultCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** It returned an identity that is no address. */
export class IdentityFault extends SignerFault {
  override readonly name = 'IdentityFault';
  constructor(message: string) {
    super('SIGNER_ANSWER_INVALID', message);
  }
}

/** A recent identity is at most this old. */
export const RECENT_IDENTITY_MS = 10_000;

/**
 * One key, wherever it is held. Every call may throw {@link SignerFault}; a backend with a
 * connection answers or throws within its own time limit.
 */
export interface Signer {
  readonly descriptor: SignerDescriptor;
  /**
   * The live identity, read anew at each call: the checksummed address for EVM, null where it does
   * not apply. For every decision: the fence, pins, what is observed of a signer, whose address the
   * allowlist spares, whose balances are read.
   */
  identity(): Promise<string | null>;
  /**
   * The same, but up to {@link RECENT_IDENTITY_MS} old. For reads and preparation: the phases of a
   * node before its fence, which are far more frequent than sends.
   */
  recentIdentity(): Promise<string | null>;
  /**
   * The transaction of exactly these fields and this nonce, signed by `address`; without one, by
   * the key's present address. Backends that hold no key themselves verify the transaction that
   * they receive; who stores the bytes verifies them once more (`signers/verify.ts`).
   */
  signEvmTransaction(
    unsigned: EvmUnsignedTransaction,
    nonce: number,
    address?: string,
  ): Promise<SignedTransaction>;
  /** EIP-712: 65 bytes in hex, which recover to `address` or to the key's present address. */
  signEvmTypedData(payload: JsonObject, address?: string): Promise<{ readonly signature: string }>;
  /** Ends its connections. */
  close?(): Promise<void>;
}
