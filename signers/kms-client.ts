/**
 * The key service behind AWS KMS. Credentials are the SDK's own affair: the environment, a file of
 * the account, or the role of the machine; none is in our settings.
 */
import type { KMSClient } from '@aws-sdk/client-kms';
import { SignerFault } from '../domain/signer.ts';
import { TimeLimitError, within } from '../platform/time-limit.ts';

/** Whatever holds a secp256k1 key and signs digests with it. Both throw {@link SignerFault}. */
export interface KeyService {
  /** DER SubjectPublicKeyInfo of the key as it is now. */
  publicKey(): Promise<Uint8Array>;
  /** DER ECDSA signature over the 32 bytes. */
  sign(digest: Uint8Array): Promise<Uint8Array>;
  close(): Promise<void>;
}

export interface KmsKey {
  /** Id, ARN or `alias/…`. */
  readonly key_id: string;
  readonly region: string;
  readonly endpoint?: string;
}

/** For one call with the SDK's own repetitions; below what a look at a signer's health may take. */
const ANSWER_LIMIT_MS = 4_000;

/** Loads the SDK, which is large, and asks nothing yet: a service that is down stops no start. */
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
          'the key is none of ECC_SECG_P256K1 for SIGN_VERIFY',
        );
      return bytesOf(answer.PublicKey);
    },
    sign: async (digest) => {
      const answer = await withLimit((abortSignal) =>
        client.send(
          new SignCommand({
            KeyId: key_id,
            Message: digest,
            // Not to be hashed again: it is Keccak's, which the service does not know.
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
 * The signal ends the request; the limit also covers what precedes it, such as finding credentials.
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

/** Names and numbers alone: the SDK's messages tell accounts, roles and keys. */
function faultOf(error: unknown): SignerFault {
  if (error instanceof TimeLimitError)
    return new SignerFault('SIGNER_UNREACHABLE', `the key service gave ${error.message}`);
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
  throw new SignerFault('SIGNER_ANSWER_INVALID', 'the key service left a field out of its answer');
}
