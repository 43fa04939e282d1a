/** Who is asked for the balances of which venue. */
import type { BalanceFetcher } from '../domain/balances.ts';
import type { Signer } from '../domain/signer.ts';
import type { VenueBinding } from './bindings.ts';
import { createCexBalances } from './cex/balances.ts';
import { createEvmBalances } from './evm/balances.ts';
import type { EvmChains } from './evm/client.ts';
import { createPaperBalances } from './paper/balances.ts';
import { createPerpBalances } from './perp/balances.ts';
import type { PerpClient } from './perp/client.ts';

/** A fetcher for each bound account, and for each signer on each bound chain. */
export function balanceFetchers(
  bindings: readonly VenueBinding[],
  onChain?: { readonly chains: EvmChains; readonly signers: readonly Signer[] },
  perp?: PerpClient,
): readonly BalanceFetcher[] {
  return [
    ...bindings.flatMap((binding) =>
      binding.provider === 'paper' ? [createPaperBalances(binding)] : [],
    ),
    ...bindings.flatMap((binding) =>
      binding.provider === 'perp' && perp !== undefined ? [createPerpBalances(binding, perp)] : [],
    ),
    ...createCexBalances(bindings.filter((binding) => binding.provider === 'ccxt')),
    ...(onChain === undefined
      ? []
      : createEvmBalances(
          bindings.filter((binding) => binding.provider === 'evm'),
          onChain,
        )),
  ];
}
