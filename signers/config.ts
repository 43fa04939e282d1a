/** Reads the `signers` array of the registry file. */
import { z } from 'zod';
import { SIGNER_BACKENDS, type SignerBackend } from '../domain/signer.ts';
import { describeIssues } from '../platform/issues.ts';
import { isLoopbackUrl, serviceUrl } from '../platform/outgoing/url.ts';

const signerKey = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, 'must be 1 to 128 of letters, digits and . _ -');
const chainFamily = z
  .string()
  .regex(/^[a-z][a-z0-9_-]{0,31}$/, 'must be a chain family such as evm');
const shared = { signer_key: signerKey, profile: z.string().min(1).max(128).optional() };
const evm = z.literal('evm', 'a signer of this backend holds an EVM key: chain_family must be evm');
const path = z.string().min(1).max(4_096);

const local = z.strictObject({
  ...shared,
  chain_family: evm,
  backend: z.literal('local'),
  private_key_file: path,
});

const kms = z.strictObject({
  ...shared,
  chain_family: evm,
  backend: z.literal('managed_kms_evm'),
  key_id: z.string().regex(/^[\x21-\x7e]{1,2048}$/, 'must be the id, ARN or alias/… of a key'),
  region: z.string().regex(/^[a-z0-9-]{1,64}$/, 'must be a region such as eu-central-1'),
  endpoint: serviceUrl.optional(),
});

const remote = z.strictObject({
  ...shared,
  chain_family: evm,
  backend: z.literal('remote'),
  // The token gives access to the key, so it must not cross a network unencrypted.
  url: serviceUrl.refine(
    (url) => url.startsWith('https:') || isLoopbackUrl(url),
    'must be https, unless the proxy is on this machine',
  ),
  auth_token_file: path,
  timeout_seconds: z.number().min(0.1).max(30).default(4),
});

const noop = z.strictObject({
  ...shared,
  chain_family: chainFamily.refine(
    (family) => family !== 'evm',
    'a noop signer signs nothing and cannot serve evm',
  ),
  backend: z.literal('noop'),
});

const entry = z.discriminatedUnion('backend', [local, kms, remote, noop], {
  error: `must be ${SIGNER_BACKENDS.join(', ')}`,
});

export type LocalSignerConfig = z.infer<typeof local>;
export type KmsSignerConfig = z.infer<typeof kms>;
export type RemoteSignerConfig = z.infer<typeof remote>;
export type NoopSignerConfig = z.infer<typeof noop>;
export type SignerConfig = z.infer<typeof entry>;

/** All faults of the `signers` array, one line for each place. */
export class SignerConfigError extends Error {
  override readonly name = 'SignerConfigError';
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(
      `the signers of the registry file have ${faults.length} fault(s):\n${faults.map((fault) => `  ${fault}`).join('\n')}`,
    );
    this.faults = faults;
  }
}

export interface SignerRules {
  /** `SVC_LOCAL_SIGNER_BACKEND`: the backend of entries that name no backend. */
  readonly backend: SignerBackend | undefined;
  /** Why keys on disk are not accepted, from {@link whyNotLocal}; null if they are accepted. */
  readonly whyNotLocal: string | null;
}

/**
 * Reads the array. Throws {@link SignerConfigError} with every fault, each with its place:
 * `signers[1].backend: …`.
 */
export function parseSignerConfigs(
  signers: readonly unknown[],
  { backend, whyNotLocal: reason }: SignerRules,
): readonly SignerConfig[] {
  const parsed = z
    .object({ signers: z.array(entry) })
    .safeParse({ signers: signers.map((each) => withBackend(each, backend)) });
  if (!parsed.success)
    throw new SignerConfigError(describeIssues(parsed.error, { whole: 'the file' }));
  const configs = parsed.data.signers;
  const faults = configs.flatMap((config, index) => [
    ...(config.backend === 'local' && reason !== null
      ? [`signers[${index}].backend: ${reason}`]
      : []),
    ...(configs.findIndex((other) => other.signer_key === config.signer_key) < index
      ? [`signers[${index}].signer_key: ${config.signer_key} is already used above`]
      : []),
  ]);
  if (faults.length > 0) throw new SignerConfigError(faults);
  return configs;
}

function withBackend(signer: unknown, backend: SignerBackend | undefined): unknown {
  const isBare =
    typeof signer === 'object' &&
    signer !== null &&
    !Array.isArray(signer) &&
    !Object.hasOwn(signer, 'backend');
  return isBare && backend !== undefined ? { ...signer, backend } : signer;
}

/** Facts about the process that opens the signers. */
export interface Surroundings {
  readonly backend: SignerBackend | undefined;
  readonly forced: boolean;
  /** The address on which the API listens. */
  readonly host: string;
  /** The endpoints of the bound chains. */
  readonly chains: readonly { readonly venue_key: string; readonly rpc_url: string }[];
}

const LOCAL = 'local signers keep a key in a file and are for development only';
const HOSTS = ['127.0.0.1', '::1', 'localhost'];

/**
 * Returns why this process accepts no signer with its key in a file; null if it does. Required: the
 * settings declare development, and the API and all chains are on this machine. Otherwise real
 * money may depend on the file.
 */
export function whyNotLocal({ backend, forced, host, chains }: Surroundings): string | null {
  if (backend !== 'local') return `${LOCAL}; set SVC_LOCAL_SIGNER_BACKEND=local there`;
  if (forced) return null;
  const far = chains.find(({ rpc_url }) => !isLoopbackUrl(rpc_url));
  const sign = !HOSTS.includes(host)
    ? `the API listens on ${host}`
    : far === undefined
      ? null
      : `the chain ${far.venue_key} is not on this machine`;
  return sign === null
    ? null
    : `${LOCAL}, but ${sign}. Use managed_kms_evm or remote; SVC_LOCAL_SIGNER_FORCED=true accepts a local signer here`;
}
