/** Executors, signers, chains and venues, as the registry and venues files declare them. */
import { exchangeClocks } from '../venues/cex/clock.ts';
import { createCexExecutors } from '../venues/cex/executors.ts';
import { z } from 'zod';
import { isDevelopment } from '../domain/chains/finality.ts';
import { createNoopExecutor } from '../executors/local/noop.ts';
import { createExecutorRegistry } from '../executors/registry.ts';
import { readRegistryFile } from '../executors/registry-file.ts';
import type { Config } from '../platform/config.ts';
import { isLoopbackUrl } from '../platform/outgoing/url.ts';
import { parseSignerConfigs, whyNotLocal } from '../signers/config.ts';
import { createSignerRegistry, openSigners } from '../signers/registry.ts';
import { bridgeCActs, createBridgeCExecutors } from '../venues/bridge-c/lane.ts';
import { burnMintActs, createBurnMintExecutors } from '../venues/burn-mint/lane.ts';
import { balanceFetchers } from '../venues/balances.ts';
import { chainAssets, loadVenueBindings } from '../venues/bindings.ts';
import { createEvmApproveExecutor } from '../venues/evm/approve.ts';
import { createEvmBalanceObserveExecutor } from '../venues/evm/balance-observe.ts';
import { createEvmBridgeReader } from '../venues/evm/bridge-reader.ts';
import { createEvmChains } from '../venues/evm/client.ts';
import { createEvmTransferExecutor } from '../venues/evm/transfer.ts';
import { openPerpVenue } from '../venues/perp/access.ts';
import { createPerpExecutors, perpActs } from '../venues/perp/lane.ts';
import { transferProviders } from '../venues/capital-transfers.ts';

/** Errors: either file does not fit, or a signer cannot be opened. */
export async function openRegistries(config: Config) {
  const file =
    config.registryFile === undefined
      ? { executors: [], signers: [], folder: '.' }
      : readRegistryFile(config.registryFile, z.unknown());
  const bindings =
    config.venuesFile === undefined ? [] : await loadVenueBindings(config.venuesFile);
  const evmVenues = bindings.filter((binding) => binding.provider === 'evm');
  const exchanges = bindings.filter((binding) => binding.provider === 'ccxt');
  const signers = await openSigners(
    parseSignerConfigs(file.signers, {
      backend: config.signerBackend,
      whyNotLocal: whyNotLocal({
        backend: config.signerBackend,
        forced: config.localSignersForced,
        host: config.host,
        chains: evmVenues,
      }),
    }),
    { baseDir: file.folder },
  );
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
