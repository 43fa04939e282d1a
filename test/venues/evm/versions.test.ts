/** What is offered for a nonce that is not mined: enough to take its place, and never too much. */
import fc from 'fast-check';
import { nextFees, raised } from '../../../venues/evm/versions.ts';

const wei = fc.bigInt({ min: 0n, max: 10n ** 24n });

test('a later version pays an eighth more of both fees, what the market asks, and no more than allowed', () => {
  let offered = 0;
  let refused = 0;
  fc.assert(
    fc.property(
      fc.record({ max: wei, tip: wei, base: wei, market: wei, most: fc.option(wei) }),
      ({ max, tip, base, market, most }) => {
        const before = { maxFeePerGas: max, maxPriorityFeePerGas: tip };
        const fees = nextFees(before, { baseFee: base, tip: market }, most);
        // Compared without dividing, so that nothing is rounded in its favour.
        if (fees !== null) {
          offered += 1;
          expect(fees.maxFeePerGas * 8n).toBeGreaterThanOrEqual(max * 9n);
          expect(fees.maxPriorityFeePerGas * 8n).toBeGreaterThanOrEqual(tip * 9n);
          expect(fees.maxFeePerGas).toBeGreaterThan(max);
          expect(fees.maxPriorityFeePerGas).toBeGreaterThan(tip);
          expect(fees.maxPriorityFeePerGas).toBeGreaterThanOrEqual(market);
          expect(fees.maxFeePerGas).toBeGreaterThanOrEqual(base + fees.maxPriorityFeePerGas);
          if (most !== null) expect(fees.maxFeePerGas).toBeLessThanOrEqual(most);
          return;
        }
        refused += 1;
        const more = (fee: bigint) => (fee / 8n) * 9n + 10n;
        // There was no room: whatever an eighth more and the market come to is above the cap.
        const tipThen = more(tip) > market ? more(tip) : market;
        const least = more(max) > base + tipThen ? more(max) : base + tipThen;
        expect(least).toBeGreaterThan(most ?? -1n);
      },
    ),
    { numRuns: 2_000 },
  );
  expect(Math.min(offered, refused)).toBeGreaterThan(100);
});

test.each([
  [0n, 1n],
  [1n, 2n],
  [8n, 9n],
  [9n, 11n],
  [80n, 90n],
])('%s is raised to %s', (fee, more) => {
  expect(raised(fee)).toBe(more);
});
