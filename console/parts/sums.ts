/** Exact sums of decimal amounts. */

/**
 * Returns the sum for each asset, in order of first appearance; null when one of its amounts is
 * unbounded.
 */
export function sumByAsset(
  entries: readonly { readonly asset: string; readonly amount: string | null }[],
): readonly { readonly asset: string; readonly amount: string | null }[] {
  const sums = new Map<string, string | null>();
  for (const { asset, amount } of entries) {
    const before = sums.get(asset);
    sums.set(asset, before === null || amount === null ? null : addAmounts(before ?? '0', amount));
  }
  return [...sums].map(([asset, amount]) => ({ asset, amount }));
}

/** Returns the exact sum of two decimal strings. Throws when one is not a decimal number. */
export function addAmounts(left: string, right: string): string {
  const scale = Math.max(fractionOf(left).length, fractionOf(right).length);
  const sum = (scaled(left, scale) + scaled(right, scale)).toString();
  const sign = sum.startsWith('-') ? '-' : '';
  const digits = sum.replace('-', '').padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  const fraction = digits.slice(digits.length - scale).replace(/0+$/, '');
  return sign + whole + (fraction === '' ? '' : `.${fraction}`);
}

function fractionOf(amount: string): string {
  return amount.split('.')[1] ?? '';
}

function scaled(amount: string, scale: number): bigint {
  if (!/^-?\d+(\.\d+)?$/.test(amount)) throw new Error('An amount is no decimal number.');
  const [whole = ''] = amount.split('.');
  return BigInt(whole + fractionOf(amount).padEnd(scale, '0'));
}
