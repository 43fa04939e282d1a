/** Who moves funds between accounts of which venues. */
import type { TransferProvider } from '../domain/capital-transfers/provider.ts';
import type { VenueBinding } from './bindings.ts';
import { createCexTransfers } from './cex/account-transfers.ts';
import { createPaperTransfers } from './paper/account-transfers.ts';

/**
 * The providers of all bound venues that can move funds between their accounts, one for each scope.
 */
export function transferProviders(bindings: readonly VenueBinding[]): readonly TransferProvider[] {
  return [
    ...createPaperTransfers(bindings.filter((binding) => binding.provider === 'paper')),
    ...createCexTransfers(bindings.filter((binding) => binding.provider === 'ccxt')),
  ];
}
