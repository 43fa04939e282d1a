/** Exact amounts of USDC in millionths. JSON has them as decimal strings, like the venue. */

/** Decimals of a perp balance. Source: docs/perps-venue-facts.md 1.3, "More than 6 decimals". */
const DECIMALS = 6;
const ONE = 10n ** BigInt(DECIMALS);

/** Fee of a withdrawal, taken from its amount. Source: DOC:exchange-endpoint, `withdraw3`. */
export const WITHDRAWAL_FEE = ONE;
/** Fee of a send to an address without account. Source: DOC:activation-gas-fee. */
export const ACTIVATION_FEE = ONE;
/**
 * Smallest deposit; a smaller one is lost. Source: DOC:for-developers/api/usdc, "minimum deposit
 * amount is 5 USDC".
 */
export const LEAST_DEPOSIT = 5n * ONE;

/** Returns a decimal string in millionths, or why it cannot be read. */
export function readUsd(text: string): bigint | 'not_decimal' | 'too_precise' {
  const match = /^(\d{1,20})(?:\.(\d+))?$/.exec(text);
  if (match === null) return 'not_decimal';
  const [, whole = '', rest = ''] = match;
  const fraction = rest.replace(/0+$/, '');
  if (fraction.length > DECIMALS) return 'too_precise';
  return BigInt(whole) * ONE + BigInt(fraction.padEnd(DECIMALS, '0'));
}

/**
 * Returns millionths as a decimal string with at least one decimal, as in `"usdc":"50.0"` of the
 * ledger's rows (facts, part 4).
 */
export function writeUsd(micro: bigint): string {
  const sign = micro < 0n ? '-' : '';
  const size = micro < 0n ? -micro : micro;
  const fraction = (size % ONE).toString().padStart(DECIMALS, '0').replace(/0+$/, '');
  return `${sign}${(size / ONE).toString()}.${fraction === '' ? '0' : fraction}`;
}
