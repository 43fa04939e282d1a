/** The `signers` array of the registry file, as it is written. */
import { z } from 'zod';
import { describeIssues } from '../platform/issues.ts';

const signerKey = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, 'must be 1 to 128 of letters, digits and . _ -');
const chainFamily = z
  .string()
  .regex(/^[a-z][a-z0-9_-]{0,31}$/, 'must be a chain family such as evm');
const shared = { signer_key: signerKey, profile: z.string().min(1).max(128).optional() };

const local = z.strictObject({
  ...shared,
  chain_family: z.literal('evm', 'a local signer holds an EVM key: chain_family must be evm'),
  backend: z.literal('local'),
  private_key_file: z.string().min(1),
});

const noop = z.strictObject({
  ...shared,
  chain_family: chainFamily.refine(
    (family) => family !== 'evm',
    'a noop signer signs nothing and cannot serve evm',
  ),
  backend: z.literal('noop'),
});

const unavailable = (backend: 'managed_kms_evm' | 'remote') =>
  z
    .looseObject({ ...shared, chain_family: chainFamily, backend: z.literal(backend) })
    .refine(() => false, {
      path: ['backend'],
      message: `${backend} signers are not available in this release; use local (development) or noop`,
    });

const entry = z.discriminatedUnion(
  'backend',
  [local, noop, unavailable('managed_kms_evm'), unavailable('remote')],
  {
    error: 'must be local, managed_kms_evm, remote or noop',
  },
);

export type LocalSignerConfig = z.infer<typeof local>;
export type NoopSignerConfig = z.infer<typeof noop>;
export type SignerConfig = LocalSignerConfig | NoopSignerConfig;

/** Everything wrong with the `signers` array, one line a place. */
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

/**
 * Reads the array. `allowLocal` is true only where keys on disk are acceptable, which is
 * development. Throws {@link SignerConfigError} with every fault, placed as
 * `signers[1].backend: …`.
 */
export function parseSignerConfigs(
  signers: unknown,
  options: { readonly allowLocal: boolean },
): readonly SignerConfig[] {
  const parsed = z.object({ signers: z.array(entry) }).safeParse({ signers });
  if (!parsed.success)
    throw new SignerConfigError(describeIssues(parsed.error, { whole: 'the file' }));
  // The refused backends never reach this line; the filter is what tells the compiler so.
  const configs = parsed.data.signers.filter(
    (config) => config.backend === 'local' || config.backend === 'noop',
  );
  const faults = configs.flatMap((config, index) => [
    ...(config.backend === 'local' && !options.allowLocal
      ? [
          `signers[${index}].backend: local signers keep a key in a file and are for development only; they are not allowed here`,
        ]
      : []),
    ...(configs.findIndex((other) => other.signer_key === config.signer_key) < index
      ? [`signers[${index}].signer_key: ${config.signer_key} is already used above`]
      : []),
  ]);
  if (faults.length > 0) throw new SignerConfigError(faults);
  return configs;
}
