/** The clocks of the bound venues, by the names that `clocksOfNode` gives them. */
import type { VenueClock } from '../activities/relays/clocks.ts';
import { PERP_CLOCK } from '../domain/send/clocks.ts';
import { readBlockTime } from '../venues/evm/client.ts';
import type { Registries } from './registries.ts';

export function venueClocks({
  chains,
  chainAssets,
  exchangeClocks,
  perp,
  developers,
}: Registries): Readonly<Record<string, VenueClock>> {
  const ofChains = chainAssets.map(({ venue_key, chain_id }): [string, VenueClock] => [
    venue_key,
    {
      read: (signal) => readBlockTime(chains, chain_id, { signal, requestId: 'clocks' }),
      counts: developers.includes(chain_id) ? 'never' : 'ahead',
    },
  ]);
  const ofExchanges = Object.entries(exchangeClocks).map(([key, read]): [string, VenueClock] => [
    key,
    { read: (signal) => read({ signal, requestId: 'clocks' }), counts: 'either' },
  ]);
  return {
    ...Object.fromEntries([...ofChains, ...ofExchanges]),
    ...(perp === null
      ? {}
      : { [PERP_CLOCK]: { read: (signal) => perp.client.time({ signal }), counts: 'either' } }),
  };
}
