/**
 * Exact sums of decimal strings for the models of the tests, which must not lean on the product's
 * own arithmetic.
 */

const DIGITS = 18;

function units(amount: string): bigint {
  const [, sign = '', whole = '', fraction = ''] =
    /^(-?)(\d+)(?:\.(\d{1,18}))?$/.exec(amount) ?? [];
  if (whole === '') throw new Error(`${amount} is no amount`);
  const value = BigInt(whole + fraction.padEnd(DIGITS, '0'));
  return sign === '' ? value : -value;
}

function text(value: bigint): string {
  const digits = (value < 0n ? -value : value).toString().padStart(DIGITS + 1, '0');
  const fraction = digits.slice(-DIGITS).replace(/0+$/, '');
  return `${value < 0n ? '-' : ''}${digits.slice(0, -DIGITS)}${fraction === '' ? '' : `.${fraction}`}`;
}

/** `a + b`, without trailing zeros. */
export const add = (a: string, b: string): string => text(units(a) + units(b));

/** `a - b`, without trailing zeros; may be negative. */
export const subtract = (a: string, b: string): string => text(units(a) - units(b));

/** Negative, zero or positive as `a` is less than, equal to or more than `b`. */
export function compare(a: string, b: string): number {
  const [left, right] = [units(a), units(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** The sum of all. */
export const total = (amounts: readonly string[]): string => amounts.reduce(add, '0');

/** The smaller one. */
export const least = (a: string, b: string): string => (compare(a, b) <= 0 ? a : b);

/** The larger one. */
export const most = (a: string, b: string): string => (compare(a, b) >= 0 ? a : b);
