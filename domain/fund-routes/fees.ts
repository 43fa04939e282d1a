/** The fee of a route, as far as its fee policy and its bridges state it in units of the asset. */
import type { JsonObject, JsonValue } from '../json.ts';
import { compare, multiply, normalize, readDecimal } from '../money.ts';

export type FeeBasis = 'expected_fee' | 'max_fee_abs' | 'max_fee_pct' | 'bridge_max_fee';

export interface FeeEstimate {
  readonly fee: string;
  /** The fact that the fee was read from. */
  readonly basis: FeeBasis;
}

const PERCENT = '0.01';

/**
 * Returns `expected_fee`. Without that key, returns the smallest of `max_fee_abs`, `max_fee_pct`
 * (per cent of the amount) and `bridgeFee` (the largest fee of the route's bridges); null when none
 * of them is known. `max_fee_usd` is in another unit and is ignored.
 */
export function estimateFee(
  policy: JsonObject,
  amount: string,
  bridgeFee: string | null = null,
): FeeEstimate | null {
  const expected = decimalOf(policy['expected_fee']);
  if (expected !== null) return { fee: expected, basis: 'expected_fee' };
  const percent = decimalOf(policy['max_fee_pct']);
  const share = percent === null ? null : multiply(multiply(amount, percent), PERCENT);
  const bounds: readonly (readonly [FeeBasis, string | null])[] = [
    ['max_fee_abs', decimalOf(policy['max_fee_abs'])],
    ['max_fee_pct', share],
    ['bridge_max_fee', bridgeFee],
  ];
  return bounds
    .flatMap(([basis, fee]) => (fee === null ? [] : [{ fee, basis }]))
    .reduce<FeeEstimate | null>(
      (least, each) => (least === null || compare(each.fee, least.fee) < 0 ? each : least),
      null,
    );
}

/** Reads a fee, which a caller may give as a decimal string or as a number. */
function decimalOf(value: JsonValue | undefined): string | null {
  return readDecimal(typeof value === 'number' ? normalize(String(value)) : value);
}
