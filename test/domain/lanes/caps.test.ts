/** What a raise does to the caps of its chain: the larger of both, and never without bound. */
import fc from 'fast-check';
import { capsInForce, isWithinBounds, mostOf } from '../../../domain/lanes/caps.ts';

const CHAIN = { max_gas_cost_wei: '50000000000000000', max_fee_per_gas_gwei: '80.5' };

test.each([
  ['no raise', null, null, '50000000000000000', '80.5'],
  ['of the cost alone', '200000000000000000', null, '200000000000000000', '80.5'],
  ['of the fee alone', null, '300', '50000000000000000', '300'],
  ['that is smaller', '1', '0.5', '50000000000000000', '80.5'],
  ['beyond its bound', '500000000000000001', '805.000000001', '500000000000000000', '805'],
])('a raise %s', (_what, max_gas_cost_wei, max_fee_per_gas_gwei, cost, fee) => {
  const raise = { max_gas_cost_wei, max_fee_per_gas_gwei };
  expect(capsInForce(CHAIN, raise)).toEqual({
    max_gas_cost_wei: cost,
    max_fee_per_gas_gwei: fee,
  });
});

test('without a raise the caps are those of the chain', () => {
  expect(capsInForce(CHAIN, null)).toEqual(CHAIN);
});

test('a cap that the chain has not cannot be raised', () => {
  const chain = { ...CHAIN, max_fee_per_gas_gwei: null };
  const raise = { max_gas_cost_wei: null, max_fee_per_gas_gwei: '1' };
  expect(isWithinBounds(chain, raise)).toBe(false);
  expect(capsInForce(chain, raise)).toEqual(chain);
});

test('what is within its bounds is in force as it was requested, and nothing goes beyond them', () => {
  const wei = fc.bigInt({ min: 1n, max: 10n ** 29n });
  let refused = 0;
  fc.assert(
    fc.property(wei, fc.bigInt({ min: 0n, max: 30n }), wei, (own, times, rest) => {
      const raised = own * times + (rest % own) + 1n;
      const chain = { max_gas_cost_wei: String(own), max_fee_per_gas_gwei: null };
      const raise = { max_gas_cost_wei: String(raised), max_fee_per_gas_gwei: null };
      const within = raised <= 10n * own;
      if (!within) refused += 1;
      expect(isWithinBounds(chain, raise)).toBe(within);
      expect(mostOf(String(own))).toBe(String(10n * own));
      const inForce = BigInt(capsInForce(chain, raise).max_gas_cost_wei);
      expect(inForce).toBe(raised < own ? own : within ? raised : 10n * own);
    }),
    { numRuns: 500 },
  );
  expect(refused).toBeGreaterThan(100);
});
