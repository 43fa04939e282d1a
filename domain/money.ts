/**
 * Exact decimal arithmetic on strings. The only module that imports decimal.js: its default
 * precision of 20 digits would round amounts of 20 integer and 18 fractional digits silently,
 * so everything goes through one clone with room for the product of two such amounts.
 */
import { Decimal } from 'decimal.js';

const Exact = Decimal.clone({ precision: 78, toExpNeg: -78, toExpPos: 78, defaults: true });

/** Plain decimal notation: at most 20 integer and 18 fractional digits, no sign, no exponent. */
export const DECIMAL_PATTERN = /^(0|[1-9][0-9]{0,19})(\.[0-9]{1,18})?$/;

/** Returns whether `text` is an amount in the notation of the API (zero included). */
export function isDecimal(text: string): boolean {
  return DECIMAL_PATTERN.test(text);
}

/**
 * Returns the same amount without trailing zeros: `"1.500"` gives `"1.5"`. Throws on anything but a
 * number.
 */
export function normalize(amount: string): string {
  return new Exact(amount).toFixed();
}

/** Reads an amount in another party's answer, without trailing zeros; null if it is none. */
export function readDecimal(value: unknown): string | null {
  return typeof value === 'string' && isDecimal(value) ? normalize(value) : null;
}

/** Returns `a + b`, exactly. */
export function add(a: string, b: string): string {
  return new Exact(a).plus(b).toFixed();
}

/** Returns `a - b`, exactly; may be negative. */
export function subtract(a: string, b: string): string {
  return new Exact(a).minus(b).toFixed();
}

/** Returns `a * b`, exactly for any two amounts. */
export function multiply(a: string, b: string): string {
  return new Exact(a).times(b).toFixed();
}

/** Returns -1, 0 or 1 for `a` less than, equal to or greater than `b`. */
export function compare(a: string, b: string): -1 | 0 | 1 {
  const order = new Exact(a).comparedTo(b);
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

/** Returns whether `amount` is greater than zero. */
export function isPositive(amount: string): boolean {
  return new Exact(amount).greaterThan(0);
}

/** Returns whether `amount` is a whole multiple of `step`, which must be greater than zero. */
export function isMultiple(amount: string, step: string): boolean {
  return new Exact(amount).modulo(step).isZero();
}

/**
 * Returns the amount in the token's smallest unit; null when `decimals` digits cannot represent it
 * exactly.
 */
export function toBaseUnits(amount: string, decimals: number): bigint | null {
  const scaled = new Exact(amount).times(new Exact(10).pow(decimals));
  return scaled.isInteger() ? BigInt(scaled.toFixed(0)) : null;
}

/** Returns the reverse of {@link toBaseUnits}: plain notation without trailing zeros. */
export function fromBaseUnits(value: bigint, decimals: number): string {
  return new Exact(value.toString()).dividedBy(new Exact(10).pow(decimals)).toFixed();
}
