/** What a route would cost, as far as its fee policy says so in units of the asset. */
import type { JsonObject, JsonValue } from '../json.ts';
import { compare, multiply, normalize, readDecimal } from '../money.ts';

export type FeeBasis = 'expected_fee' | 'max_fee_abs' | 'max_fee_pct';

export interface FeeEstimate {
  readonly fee: string;
  /** The key that it was read from. */
  readonly basis: FeeBasis;
}

const PERCENT = '0.01';

/**
 * `expected_fee`; without one the smaller of what `max_fee_abs` and `max_fee_pct` (per cent of the
 * amount) allow. Null when neither can be read. `max_fee_usd` is in another unit and says nothing
 * here.
 */
export function estimateFee(policy: JsonObject, amount: string): FeeEstimate | null {
  const expected = decimalOf(policy['expected_fee']);
  if (expected !== null) return { fee: expected, basis: 'expected_fee' };
  const fixed = decimalOf(policy['max_fee_abs']);
  const percent = decimalOf(policy['max_fee_pct']);
  const share = percent === null ? null : multiply(multiply(amount, percent), PERCENT);
  if (fixed !== null && (share === null || compare(fixed, share) <= 0))
    return { fee: fixed, basis: 'max_fee_abs' };
  return share === null ? null : { fee: share, basis: 'max_fee_pct' };
}

/**
 * Fee keys are free-form: a decimal string, or a number, which then means what its shortest
 * notation says.
 */
function decimalOf(value: JsonValue | undefined): string | null {
  return readDecimal(typeof value === 'number' ? normalize(String(value)) : value);
}
