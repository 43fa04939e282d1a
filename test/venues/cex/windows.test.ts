import fc from 'fast-check';
import { windows } from '../../../venues/cex/windows.ts';

const limits = { longest: 1_000, keeps: 50_000 };

test('windows cover every moment of a period once, and none is as long as the exchange forbids', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 1_000_000 }),
      fc.integer({ min: 0, max: 50_000 }),
      (from, length) => {
        const parts = windows({ from, to: from + length }, limits);
        expect(parts[0]?.from).toBe(from);
        expect(parts.at(-1)?.to).toBe(from + length);
        for (const [index, part] of parts.entries()) {
          expect(part.to - part.from).toBeLessThan(limits.longest);
          expect(part.to).toBeGreaterThanOrEqual(part.from);
          if (index > 0) expect(part.from).toBe((parts[index - 1]?.to ?? 0) + 1);
        }
      },
    ),
  );
});

test('windows that overlap start earlier, except the first, and end where they would end', () => {
  expect(windows({ from: 0, to: 2_500 }, { ...limits, overlap: 10 })).toEqual([
    { from: 0, to: 999 },
    { from: 990, to: 1_999 },
    { from: 1_990, to: 2_500 },
  ]);
});

test('a period that begins before what is kept proves nothing', () => {
  expect(() => windows({ from: 0, to: 50_001 }, limits)).toThrow('keeps no history');
  expect(() => windows({ from: 0, to: 1 }, limits, 50_001)).toThrow('keeps no history');
  expect(windows({ from: 1, to: 2 }, limits, 50_001)).toEqual([{ from: 1, to: 2 }]);
});
