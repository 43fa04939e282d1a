import fc from 'fast-check';
import { referenceFault, storable, unseenFault } from '../../domain/text.ts';

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

test('what is not seen in a text is a fault, and what is seen is none', () => {
  const unseen = [
    '\u0007',
    '\u200b',
    '\u202e',
    '\ufeff',
    '\u00ad',
    '\u2060',
    '\u3164',
    '\u2800',
    '\ufe0f',
    '\u{e0041}',
  ];
  for (const each of unseen) expect(unseenFault(`a${each}b`)).toContain('cannot be seen');
  for (const text of [' a', 'a ', 'a\u00a0', '\u3000a', ' '])
    expect(unseenFault(text)).toContain('blank');
  for (const text of ['', 'a', 'a b', 'a  b', 'a\u00a0b', 'Überweisung → 💸', 'משרד', '請求書'])
    expect(unseenFault(text)).toBeNull();
});

test('a reference has one way to be written', () => {
  for (const text of ['INV-1', 'Rechnung 7/2026 “ü”', 'счёт № 7', '請求書 12', '송장 7'])
    expect(referenceFault(text)).toBeNull();
  for (const text of ['INV\u00a01', 'INV\u20071', 'INV\u30001', 'INV  1'])
    expect(referenceFault(text)).toContain('single spaces');
  // A letter and its mark as two characters, and the sign for Kelvin in place of a K.
  for (const text of ['Cafe\u0301', '\u212a1']) expect(referenceFault(text)).toContain('NFC');
  expect(referenceFault('INV-1\u200b')).toContain('cannot be seen');
});
