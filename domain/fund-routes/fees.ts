/** What a route would cost, as far as its fee policy says it in units of the asset. */
import type { JsonObject, JsonValue } from '../json.ts';
import { compare, multiply, normalize, readDecimal } from '../money.ts';

export type FeeBasis = 'expected_fee' | 'max_fee_abs' | 'max_fee_pct' | 'bridge_max_fee';

export interface FeeEstimate {
  readonly fee: string;
  /** The key that it was read from. */
  readonly basis: FeeBasis;
}

const PERCENT = '0.01';

/**
 * `expected_fee`; without one the smallest of what `max_fee_abs`, `max_fee_pct` (per cent of the
 * amount) and the bridges of the route (`bridgeFee`) allow. Null when none of them is known.
 * `max_fee_usd` is in another unit and is ignored.
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

/** Fee keys are free-form: a decimal string, or a number in its shortest notation. */
function decimalOf(value: JsonValue | undefined): string | null {
  return readDecimal(typeof value === 'number' ? normalize(String(value)) : value);
}
