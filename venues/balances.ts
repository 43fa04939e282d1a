/** Who is asked for the balances of which venue. */
import type { BalanceFetcher } from '../domain/balances.ts';
import type { VenueBinding } from './bindings.ts';
import { createCexBalances } from './cex/balances.ts';
import { createPaperBalances } from './paper/balances.ts';

/** A fetcher for each bound venue that holds balances of its own; chains are asked by their executors. */
export function balanceFetchers(bindings: readonly VenueBinding[]): readonly BalanceFetcher[] {
  return [
    ...bindings.flatMap((binding) => (binding.provider === 'paper' ? [createPaperBalances(binding)] : [])),
    ...createCexBalances(bindings.filter((binding) => binding.provider === 'ccxt')),
  ];
}
