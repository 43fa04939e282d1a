/** Opens executors, signers, chains and venues from the registry and venues files. */
import { z } from 'zod';
import { createNoopExecutor } from '../executors/local/noop.ts';
import { createExecutorRegistry } from '../executors/registry.ts';
import { readRegistryFile, RegistryFileError } from '../executors/registry-file.ts';
import type { RequestDesk } from '../domain/request-desk.ts';
import type { Config } from '../platform/config.ts';
import { parseSignerConfigs, SignerConfigError, whyNotLocal } from '../signers/config.ts';
import { createSignerRegistry, openSigners } from '../signers/registry.ts';
import { createSignersElsewhere } from '../signers/elsewhere.ts';
import { loadVenueBindings, VenueBindingsError } from '../venues/bindings.ts';
import { evm } from '../venues/list.ts';
import { openVenues } from '../venues/open.ts';

/**
 * The settings that name the files, and that decide whether a private key may be in a file here.
 */
export type Declaring = Pick<
  Config,
  'registryFile' | 'venuesFile' | 'signerBackend' | 'localSignersForced' | 'host' | 'duties'
>;

/** Requests a signer's address from a worker, since this process opens no signers. */
export type AskIdentity = (signerKey: string) => Promise<string | null>;

/**
 * All faults of the registry file, the venues file, and the key files that they name, one line
 * each.
 */
export class RegistriesError extends Error {
  override readonly name = 'RegistriesError';
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(
      ['The declared entries cannot be used:', ...faults.map((fault) => `  - ${fault}`)].join('\n'),
    );
    this.faults = faults;
  }
}

/**
 * Reads the registry and venues files. Only a process that takes work opens signers and reads the
 * other secrets that the files name. Throws {@link RegistriesError} with all faults of both files.
 */
async function readDeclared(config: Declaring, askIdentity: AskIdentity) {
  const works = config.duties.includes('worker');
  const looking = { secrets: works ? 'checked' : 'left' } as const;
  const faults: string[] = [];
  const tried = async <T>(setting: string, none: T, read: () => Promise<T> | T): Promise<T> => {
    try {
      return await read();
    } catch (error) {
      faults.push(...placesOf(error).map((place) => `${setting}: ${place}`));
      return none;
    }
  };
  const { registryFile, venuesFile } = config;
  const nothing = { executors: [], signers: [], folder: '.' };
  const file = await tried('SVC_REGISTRY_FILE', nothing, () =>
    registryFile === undefined ? nothing : readRegistryFile(registryFile, z.unknown(), looking),
  );
  const bindings = await tried('SVC_VENUES_FILE', [], () =>
    venuesFile === undefined ? [] : loadVenueBindings(venuesFile, looking),
  );
  const signers = await tried('SVC_REGISTRY_FILE', [], () => {
    const configs = parseSignerConfigs(file.signers, {
      backend: config.signerBackend,
      whyNotLocal: whyNotLocal({
        backend: config.signerBackend,
        forced: config.localSignersForced,
        host: config.host,
        chains: evm.entries(bindings),
      }),
    });
    return works
      ? openSigners(configs, { baseDir: file.folder })
      : createSignersElsewhere(configs, askIdentity);
  });
  if (faults.length > 0) throw new RegistriesError(faults);
  return { file, bindings, signers };
}

function placesOf(error: unknown): readonly string[] {
  if (error instanceof RegistryFileError) return error.problems;
  if (error instanceof VenueBindingsError || error instanceof SignerConfigError)
    return error.faults;
  throw error;
}

/**
 * Opens everything that the files declare. Throws {@link RegistriesError} if a file is invalid or a
 * signer cannot be opened. A process that opens no signers needs `askIdentity`; one that calls
 * exchanges beside other processes needs their `requests`.
 */
export async function openRegistries(
  config: Declaring,
  requests: RequestDesk,
  askIdentity: AskIdentity = () => Promise.resolve(null),
) {
  const { file, bindings, signers } = await readDeclared(config, askIdentity);
  const venues = openVenues(bindings, signers, requests);
  const executors = createExecutorRegistry({
    locals: [createNoopExecutor(), ...venues.executors],
    remotes: file.executors,
  });
  return { venues, executors, signers: createSignerRegistry(signers) };
}

export type Registries = Awaited<ReturnType<typeof openRegistries>>;
