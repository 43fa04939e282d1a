/** Terms of an order as its action reads them again. */
import { toBaseUnits } from '../../../../domain/money.ts';
import type { Terms } from '../events.ts';

/** A field that the action itself has written into the terms. */
export function field(terms: Terms, name: string): string {
  const value = terms[name];
  if (value === undefined) throw new Error(`the order has no ${name}`);
  return value;
}

/** An amount that was checked to fit, in the asset's smallest unit. */
export function units(amount: string, decimals: number): string {
  const exact = toBaseUnits(amount, decimals);
  if (exact === null) throw new Error(`${amount} has more than ${decimals} decimals`);
  return exact.toString();
}
