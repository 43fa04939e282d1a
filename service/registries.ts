/** Executors, signers, chains and venues, as the registry and venues files declare them. */
import { exchangeClocks } from '../venues/cex/clock.ts';
import { createCexExecutors } from '../venues/cex/executors.ts';
import { z } from 'zod';
import { isDevelopment } from '../domain/chains/finality.ts';
import { createNoopExecutor } from '../executors/local/noop.ts';
import { createExecutorRegistry } from '../executors/registry.ts';
import { readRegistryFile, RegistryFileError } from '../executors/registry-file.ts';
import type { Config } from '../platform/config.ts';
import { isLoopbackUrl } from '../platform/outgoing/url.ts';
import { parseSignerConfigs, SignerConfigError, whyNotLocal } from '../signers/config.ts';
import { createSignerRegistry, openSigners } from '../signers/registry.ts';
import { createSignersElsewhere } from '../signers/elsewhere.ts';
import { bridgeCActs, createBridgeCExecutors } from '../venues/bridge-c/lane.ts';
import { burnMintActs, createBurnMintExecutors } from '../venues/burn-mint/lane.ts';
import { createMintReader } from '../venues/burn-mint/named-mint.ts';
import { balanceFetchers } from '../venues/balances.ts';
import { chainAssets, loadVenueBindings, VenueBindingsError } from '../venues/bindings.ts';
import { createEvmApproveExecutor } from '../venues/evm/approve.ts';
import { createEvmBalanceObserveExecutor } from '../venues/evm/balance-observe.ts';
import { createEvmBridgeReader } from '../venues/evm/bridge-reader.ts';
import { createEvmChains } from '../venues/evm/client.ts';
import { createEvmTransferExecutor } from '../venues/evm/transfer.ts';
import { openPerpVenue } from '../venues/perp/access.ts';
import { createPerpExecutors, perpActs } from '../venues/perp/lane.ts';
import { transferProviders } from '../venues/capital-transfers.ts';

/** The settings that say what is declared, and whether a key may lie in a file here. */
export type Declaring = Pick<
  Config,
  'registryFile' | 'venuesFile' | 'signerBackend' | 'localSignersForced' | 'host' | 'duties'
>;

/** Asks a worker who a signer is, since this process opens none. */
export type AskIdentity = (signerKey: string) => Promise<string | null>;

/** Everything wrong with the two files and the keys that they name, one line a place. */
export class RegistriesError extends Error {
  override readonly name = 'RegistriesError';
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(
      ['What is declared cannot be used:', ...faults.map((fault) => `  - ${fault}`)].join('\n'),
    );
    this.faults = faults;
  }
}

/**
 * What the files declare. Only a process that takes work opens signers and looks at the other
 * secrets that the files name. Throws {@link RegistriesError} with all faults of both.
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
  const evmVenues = bindings.filter((binding) => binding.provider === 'evm');
  const signers = await tried('SVC_REGISTRY_FILE', [], () => {
    const configs = parseSignerConfigs(file.signers, {
      backend: config.signerBackend,
      whyNotLocal: whyNotLocal({
        backend: config.signerBackend,
        forced: config.localSignersForced,
        host: config.host,
        chains: evmVenues,
      }),
    });
    return works
      ? openSigners(configs, { baseDir: file.folder })
      : createSignersElsewhere(configs, askIdentity);
  });
  if (faults.length > 0) throw new RegistriesError(faults);
  return { file, bindings, evmVenues, signers };
}

function placesOf(error: unknown): readonly string[] {
  if (error instanceof RegistryFileError) return error.problems;
  if (error instanceof VenueBindingsError || error instanceof SignerConfigError)
    return error.faults;
  throw error;
}

/**
 * Throws {@link RegistriesError} where a file does not fit or a signer cannot be opened. A process
 * that opens no signers needs `askIdentity`.
 */
export async function openRegistries(
  config: Declaring,
  askIdentity: AskIdentity = () => Promise.resolve(null),
) {
  const { file, bindings, evmVenues, signers } = await readDeclared(config, askIdentity);
  const exchanges = bindings.filter((binding) => binding.provider === 'ccxt');
  const chains = createEvmChains(evmVenues);
  const perp = openPerpVenue(bindings);
  const executors = createExecutorRegistry({
    locals: [
      createNoopExecutor(),
      createEvmTransferExecutor(chains),
      createEvmApproveExecutor(chains),
      createEvmBalanceObserveExecutor(chains),
      ...createBurnMintExecutors(chains, evmVenues),
      ...createBridgeCExecutors(chains, evmVenues),
      ...(perp === null ? [] : createPerpExecutors({ ...perp, chains, evmVenues })),
      ...createCexExecutors(exchanges),
    ],
    remotes: file.executors,
  });
  return {
    executors,
    signers: createSignerRegistry(signers),
    chains,
    /** What nodes of lanes of their own may have signed. */
    lanes: [burnMintActs(evmVenues), bridgeCActs(evmVenues), perpActs(perp?.venue, evmVenues)],
    chainAssets: chainAssets(bindings),
    bridge: createEvmBridgeReader({ chains, venues: evmVenues }),
    mints: createMintReader({ chains, venues: evmVenues }),
    exchangeClocks: exchangeClocks(exchanges),
    /** Chains of a developer's own. */
    developers: evmVenues
      .filter(({ chain_id, rpc_url }) => isDevelopment(chain_id, isLoopbackUrl(rpc_url)))
      .map(({ chain_id }) => chain_id),
    /** The perps venue; null where none is bound. */
    perp,
    fetchers: balanceFetchers(bindings, { chains, signers }, perp?.client),
    transferProviders: transferProviders(bindings),
  };
}

export type Registries = Awaited<ReturnType<typeof openRegistries>>;
