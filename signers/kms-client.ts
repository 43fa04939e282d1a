/**
 * The key service on AWS KMS. The SDK finds its credentials itself: in the environment, a file of
 * the user account, or the role of the machine. The service's settings hold none.
 */
import type { KMSClient } from '@aws-sdk/client-kms';
import { SignerFault } from '../domain/signer.ts';
import { TimeLimitError, within } from '../platform/time-limit.ts';

/** A service that holds a secp256k1 key and signs digests. Both calls throw {@link SignerFault}. */
export interface KeyService {
  /** Returns the present public key as DER SubjectPublicKeyInfo. */
  publicKey(): Promise<Uint8Array>;
  /** Returns a DER ECDSA signature over the 32 bytes. */
  sign(digest: Uint8Array): Promise<Uint8Array>;
  close(): Promise<void>;
}

export interface KmsKey {
  /** Id, ARN or `alias/…` of the key in KMS. */
  readonly key_id: string;
  readonly region: string;
  readonly endpoint?: string;
}

/**
 * Limit of one call, including the SDK's own retries; less than the time of a signer health check.
 */
const ANSWER_LIMIT_MS = 4_000;

/**
 * Loads the SDK, which is large, but calls nothing yet, so a start does not fail while the key
 * service is down.
 */
export async function openKms({ key_id, region, endpoint }: KmsKey): Promise<KeyService> {
  const { GetPublicKeyCommand, KMSClient, SignCommand } = await import('@aws-sdk/client-kms');
  const client = new KMSClient({ region, ...(endpoint === undefined ? {} : { endpoint }) });
  return {
    publicKey: async () => {
      const answer = await withLimit((abortSignal) =>
        client.send(new GetPublicKeyCommand({ KeyId: key_id }), { abortSignal }),
      );
      if (answer.KeySpec !== 'ECC_SECG_P256K1' || answer.KeyUsage !== 'SIGN_VERIFY')
        throw new SignerFault(
          'SIGNER_ANSWER_INVALID',
          'the key must be of type ECC_SECG_P256K1 for SIGN_VERIFY',
        );
      return bytesOf(answer.PublicKey);
    },
    sign: async (digest) => {
      const answer = await withLimit((abortSignal) =>
        client.send(
          new SignCommand({
            KeyId: key_id,
            Message: digest,
            // The key service must not hash again: the digest is Keccak-256, which KMS does not
            // offer.
            MessageType: 'DIGEST',
            SigningAlgorithm: 'ECDSA_SHA_256',
          }),
          { abortSignal },
        ),
      );
      return bytesOf(answer.Signature);
    },
    close: () => ended(client),
  };
}

function ended(client: KMSClient): Promise<void> {
  client.destroy();
  return Promise.resolve();
}

/**
 * Runs a call within the time limit. The signal ends the request; the limit also covers earlier
 * steps, such as finding credentials.
 */
async function withLimit<T>(send: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const limit = new AbortController();
  try {
    return await within(send(limit.signal), ANSWER_LIMIT_MS);
  } catch (error) {
    throw faultOf(error);
  } finally {
    limit.abort();
  }
}

/**
 * Returns a fault with only the error's name and status: messages of the SDK contain accounts,
 * roles and keys.
 */
function faultOf(error: unknown): SignerFault {
  if (error instanceof TimeLimitError)
    return new SignerFault('SIGNER_UNREACHABLE', `the key service returned ${error.message}`);
  const { name, status, isOurs } = readError(error);
  if (status === null)
    return new SignerFault('SIGNER_UNREACHABLE', `the key service cannot be reached (${name})`);
  return new SignerFault(
    isOurs ? 'SIGNER_REFUSED' : 'SIGNER_UNREACHABLE',
    `the key service answered ${String(status)} (${name})`,
  );
}

interface ServiceFault {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly $fault?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: unknown };
}

function readError(error: unknown): {
  readonly name: string;
  readonly status: number | null;
  readonly isOurs: boolean;
} {
  const fault: ServiceFault = typeof error === 'object' && error !== null ? error : {};
  const name = [fault.code, fault.name].find(
    (each): each is string => typeof each === 'string' && /^[A-Za-z0-9_]{1,64}$/.test(each),
  );
  const status = fault.$metadata?.httpStatusCode;
  return {
    name: name ?? 'unknown fault',
    status: typeof status === 'number' ? status : null,
    isOurs: fault.$fault === 'client' && name !== 'ThrottlingException',
  };
}

function bytesOf(field: Uint8Array | undefined): Uint8Array {
  if (field !== undefined) return field;
  throw new SignerFault('SIGNER_ANSWER_INVALID', 'the answer of the key service lacks a field');
}
