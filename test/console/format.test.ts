/** How values and what others wrote read on the page. */
import fc from 'fast-check';
import {
  distanceInWords,
  durationInWords,
  groupedAmount,
  shortAddress,
  timeInWords,
} from '../../console/parts/format.ts';
import { visiblePieces, visibleText } from '../../console/parts/visible.ts';

test('an amount keeps every digit, grouped by thousands', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^-?(0|[1-9]\d{0,40})(\.\d{1,30})?$/), (amount) => {
      const shown = groupedAmount(amount);
      expect(shown.replaceAll(',', '')).toBe(amount);
      expect(shown.split('.')[0]).toMatch(/^-?\d{1,3}(,\d{3})*$/);
    }),
  );
  expect(groupedAmount('1234567.8900')).toBe('1,234,567.8900');
  expect(groupedAmount('not a number')).toBe('not a number');
});

test('a time names its zone, and how far it is', () => {
  expect(timeInWords('2026-11-26T17:05:10Z', 'Europe/Berlin')).toBe('26 Nov 2026, 18:05:10 CET');
  expect(timeInWords('never')).toBe('never');
  const now = Date.parse('2026-11-26T17:05:10Z');
  expect(distanceInWords('2026-11-26T17:01:09Z', now)).toBe('4 min ago');
  expect(distanceInWords('2026-11-26T19:05:10Z', now)).toBe('in 2 h');
  expect([0, 59, 60, 86_400].map(durationInWords)).toEqual(['0 s', '59 s', '1 min', '1 d']);
});

test('an address is short by its two ends', () => {
  expect(shortAddress('0x52908400098527886E0F7030069857D2E4169EE7')).toBe('0x529084…169EE7');
  expect(shortAddress('account-1')).toBe('account-1');
});

test('nothing in a text hides or turns what stands around it', () => {
  const hidden = [
    '\u202e',
    '\u200b',
    '\u2066',
    '\ufeff',
    '\u0000',
    '\u00ad',
    '\u{e0041}',
    '\u3164',
  ];
  for (const each of hidden) {
    const code = `U+${(each.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
    expect(visibleText(`a${each}b`)).toBe(`a${code}b`);
    expect(visiblePieces(`a${each}b`).map((piece) => piece.hidden)).toEqual([false, true, false]);
  }
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(visibleText(text)).not.toMatch(/[\p{Cf}\p{Zl}\p{Zp}]/u);
    }),
  );
  expect(visibleText('<b>משרד</b>\n\ttext')).toBe('<b>משרד</b>\n\ttext');
});
