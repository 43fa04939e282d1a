/** Amounts in a condition: exact decimals that can be ordered. Only `dec()` makes them. */
import { add, compare, isDecimal, subtract } from '../money.ts';

/** A value of type `Decimal` in the condition language. */
export class Decimal {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Implements `dec(text)`. Throws for anything but an amount in the notation of the API. */
export function toDecimal(value: unknown): Decimal {
  if (value instanceof Decimal) return value;
  if (typeof value === 'string' && isDecimal(value)) return new Decimal(value);
  const shown =
    typeof value === 'string'
      ? JSON.stringify(value.slice(0, 40))
      : `a value whose type is not string`;
  throw new Error(`dec() takes a decimal string, not ${shown}`);
}

/** Implements the operators of `Decimal` for the condition language; `!=` follows from `==`. */
export const DECIMAL_OPERATORS: Readonly<
  Record<string, (a: Decimal, b: Decimal) => boolean | Decimal>
> = {
  'Decimal == Decimal': (a, b) => compare(a.text, b.text) === 0,
  'Decimal < Decimal: bool': (a, b) => compare(a.text, b.text) < 0,
  'Decimal <= Decimal: bool': (a, b) => compare(a.text, b.text) <= 0,
  'Decimal > Decimal: bool': (a, b) => compare(a.text, b.text) > 0,
  'Decimal >= Decimal: bool': (a, b) => compare(a.text, b.text) >= 0,
  'Decimal + Decimal': (a, b) => new Decimal(add(a.text, b.text)),
  'Decimal - Decimal': (a, b) => new Decimal(subtract(a.text, b.text)),
};
