/** Reads the stored terms of an order. */
import { toBaseUnits } from '../../../../domain/money.ts';
import type { Terms } from '../events.ts';

/** Returns a field that the action wrote into the terms; throws when the field is missing. */
export function field(terms: Terms, name: string): string {
  const value = terms[name];
  if (value === undefined) throw new Error(`the stored order has no field ${name}`);
  return value;
}

/** Returns a checked amount in the asset's smallest unit; throws when it has too many decimals. */
export function units(amount: string, decimals: number): string {
  const exact = toBaseUnits(amount, decimals);
  if (exact === null) throw new Error(`${amount} has more than ${decimals} decimals`);
  return exact.toString();
}
