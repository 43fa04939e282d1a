/** Opens the signers of this process, and finds them by signer_key. */
import { access, constants } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Signer, SignerDescriptor } from '../domain/signer.ts';
import { SignerConfigError, type SignerConfig } from './config.ts';
import { readPrivateKeyFile } from './key-file.ts';
import { openKms } from './kms-client.ts';
import { createKmsSigner } from './kms.ts';
import { createLocalSigner } from './local.ts';
import { createNoopSigner } from './noop.ts';
import { createRemoteSigner } from './remote.ts';

export interface SignerRegistry {
  /** Returns every signer's descriptor: always the same array. */
  list(): readonly SignerDescriptor[];
  /** Returns the signer; undefined if none with that key is in memory. */
  get(signerKey: string): Signer | undefined;
  /** Closes the connections of all signers that have any. */
  close(): Promise<void>;
}

/**
 * Makes the registry. Throws an Error that names a key used twice: the order of the entries must
 * never decide which signer signs.
 */
export function createSignerRegistry(signers: readonly Signer[]): SignerRegistry {
  const byKey = new Map<string, Signer>();
  for (const signer of signers) {
    const { signer_key } = signer.descriptor;
    if (byKey.has(signer_key)) throw new Error(`signer_key ${signer_key} is used by two signers`);
    byKey.set(signer_key, signer);
  }
  const descriptors = Object.freeze(signers.map((signer) => signer.descriptor));
  return {
    list: () => descriptors,
    get: (signerKey) => byKey.get(signerKey),
    close: async () => {
      await Promise.all(signers.flatMap((signer) => signer.close?.() ?? []));
    },
  };
}

/**
 * Opens the configured signers. `private_key_file` and `auth_token_file` are relative to `baseDir`,
 * the folder of the registry file. Calls no signer yet, so a signer that is down does not block the
 * start. Throws {@link SignerConfigError} with every file that is missing, readable by others or
 * not a key.
 */
export async function openSigners(
  configs: readonly SignerConfig[],
  options: { readonly baseDir: string },
): Promise<readonly Signer[]> {
  const opened = await Promise.allSettled(
    configs.map((config) => openSigner(config, options.baseDir)),
  );
  const faults = opened.flatMap((result, index) =>
    result.status === 'rejected'
      ? [
          `signers[${index}]: ${result.reason instanceof Error ? result.reason.message : 'cannot be opened'}`,
        ]
      : [],
  );
  if (faults.length > 0) throw new SignerConfigError(faults);
  return opened.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
}

async function openSigner(config: SignerConfig, baseDir: string): Promise<Signer> {
  const identity = {
    signer_key: config.signer_key,
    chain_family: config.chain_family,
    ...(config.profile === undefined ? {} : { profile: config.profile }),
  };
  const at = (file: string): string => resolve(baseDir, file);
  switch (config.backend) {
    case 'local':
      return createLocalSigner(identity, await readPrivateKeyFile(at(config.private_key_file)));
    case 'managed_kms_evm': {
      const { key_id, region, endpoint } = config;
      const key = { key_id, region, ...(endpoint === undefined ? {} : { endpoint }) };
      return createKmsSigner(identity, await openKms(key));
    }
    case 'remote': {
      const { url, timeout_seconds } = config;
      const auth_token_file = at(config.auth_token_file);
      await mustBeReadable(auth_token_file);
      return createRemoteSigner(identity, { url, auth_token_file, timeout_seconds });
    }
    case 'noop':
      return createNoopSigner(identity);
  }
}

async function mustBeReadable(file: string): Promise<void> {
  await access(file, constants.R_OK).catch(() => {
    throw new Error(`auth_token_file ${file} cannot be read`);
  });
}
