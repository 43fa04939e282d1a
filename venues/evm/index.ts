/** The EVM venue: transfers, allowances and observed balances, over the endpoints of each chain. */
import { isDevelopment } from '../../domain/chains/finality.ts';
import type { VenueClock } from '../../domain/send/clocks.ts';
import { isLoopbackUrl } from '../../platform/outgoing/url.ts';
import { defineVenue } from '../venue.ts';
import { createEvmApproveExecutor } from './approve.ts';
import { createEvmBalanceObserveExecutor } from './balance-observe.ts';
import { createEvmBalances } from './balances.ts';
import { readBlockTime, type EvmChains } from './client.ts';
import { evmVenueSchemaWith, type EvmVenue } from './config.ts';
import { chainFaults } from './faults.ts';
import { createPaymentReader } from './named-payments.ts';
import type { ChainPart } from './part.ts';
import { createEvmTransferExecutor } from './transfer.ts';

/** Defines the EVM venue with the fields that bridges add to the entries of chains. */
export function evmWith(parts: readonly ChainPart[]) {
  return defineVenue<EvmVenue>({
    entry: { provider: 'evm', schema: evmVenueSchemaWith(parts) },
    faults: (entry, place) => chainFaults(entry, place, parts),
    open: (entries, { chains, signers }) => ({
      executors: [
        createEvmTransferExecutor(chains),
        createEvmApproveExecutor(chains),
        createEvmBalanceObserveExecutor(chains),
      ],
      claims: [createPaymentReader(chains)],
      fetchers: createEvmBalances(entries, { chains, signers }),
      clocks: Object.fromEntries(entries.map((entry) => [entry.venue_key, clockOf(entry, chains)])),
    }),
  });
}

/** Returns whether the venue is a developer's own chain, whose block times are not real times. */
export function isDevelopers({ chain_id, rpc_url }: EvmVenue): boolean {
  return isDevelopment(chain_id, isLoopbackUrl(rpc_url));
}

function clockOf(venue: EvmVenue, chains: EvmChains): VenueClock {
  return {
    read: (signal) => readBlockTime(chains, venue.chain_id, { signal, requestId: 'clocks' }),
    counts: isDevelopers(venue) ? 'never' : 'ahead',
  };
}
