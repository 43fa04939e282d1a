import fc from 'fast-check';
import { storable } from '../../domain/text.ts';

describe('text from elsewhere', () => {
  test('is kept as it is where nothing is wrong with it', () => {
    expect(storable('Nicht genug Guthaben: 5 € < 7 € 💸', 100)).toBe(
      'Nicht genug Guthaben: 5 € < 7 € 💸',
    );
  });

  test('comes out short and without what a database or a terminal cannot take, whatever it is', () => {
    fc.assert(
      fc.property(
        fc.string({
          unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
        }),
        fc.nat(20),
        (text, max) => {
          const kept = storable(text, max);
          expect(kept.length).toBeLessThanOrEqual(max);
          expect(kept).not.toMatch(/\p{Surrogate}/u);
          expect(kept).not.toMatch(/\p{Cc}/u);
        },
      ),
    );
    expect(storable('a💸', 2)).toBe('a');
  });
});
