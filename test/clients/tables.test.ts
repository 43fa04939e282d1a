/** Tables are drawn as `cli-table3` draws them, also where it is not used. */
import Table from 'cli-table3';
import fc from 'fast-check';
import { painter, TONES, type Paint } from '../../clients/command-line/paint.ts';
import { printable } from '../../clients/command-line/printable.ts';
import { table, type Cell } from '../../clients/command-line/table.ts';

interface Drawn {
  readonly titles: readonly string[];
  readonly right: readonly boolean[];
  readonly rows: readonly (readonly Cell[])[];
}

function shown(cell: Cell, paint: Paint): string {
  if (cell === null || cell === undefined || cell === '') return '-';
  if (typeof cell !== 'object') return printable(String(cell));
  return cell.text === '' ? '-' : paint(cell.tone, printable(cell.text));
}

const SIDES = ['', '-mid', '-left', '-right'].flatMap((end) => [`top${end}`, `bottom${end}`]);
const FRAME = [...SIDES, 'left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid', 'middle'];

function byLibrary({ titles, right, rows }: Drawn, paint: Paint): string {
  const drawn = new Table({
    head: titles.map((title) => paint('dim', title)),
    chars: Object.fromEntries(FRAME.map((name) => [name, ''])),
    colAligns: titles.map((_, at) => (right[at] === true ? 'right' : 'left')),
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 2 },
  });
  for (const row of rows) drawn.push(titles.map((_, at) => shown(row[at], paint)));
  const lines = drawn.toString().split('\n');
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}

const byUs = ({ titles, right, rows }: Drawn, paint: Paint): Promise<string> =>
  table(
    rows,
    titles.map((title, at) => ({
      title,
      of: (row: readonly Cell[]) => row[at],
      ...(right[at] === true ? { right: true as const } : {}),
    })),
    paint,
  );

const COLUMNS = 3;
const each = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T[]> =>
  fc.array(of, { minLength: COLUMNS, maxLength: COLUMNS });
const drawn = (text: fc.Arbitrary<string>): fc.Arbitrary<Drawn> => {
  const tone = fc.constantFrom(undefined, ...TONES);
  const cell: fc.Arbitrary<Cell> = fc.oneof(
    text,
    fc.record({ text, tone }),
    fc.constantFrom(null, undefined, '', ' ', 0, 1.5, true, false),
    fc.constantFrom('x'.repeat(300), '#*0123456789', '\\u001b[31m', '\u001b[31mred', 'a\r\nb\t'),
  );
  return fc.record({
    titles: each(fc.string({ unit: 'grapheme-ascii', maxLength: 12 })),
    right: each(fc.boolean()),
    rows: fc.array(each(cell), { minLength: 1, maxLength: 6 }),
  });
};

test.each([
  ['ASCII text', 'grapheme-ascii'],
  ['ASCII text with control characters', 'binary-ascii'],
  ['text of all kinds', 'grapheme'],
] as const)('%s, with and without colours', async (_, unit) => {
  await fc.assert(
    fc.asyncProperty(drawn(fc.string({ unit })), fc.boolean(), async (wanted, colours) => {
      const paint = painter(colours);
      expect(await byUs(wanted, paint)).toBe(byLibrary(wanted, paint));
    }),
  );
});

const OTHER = ['東京', 'Zürich', 'e\u0301', '🚀', '\u00a0'];

test.each(OTHER)('one cell of "%s" among ASCII', async (text) => {
  const wanted = {
    titles: ['NAME', 'AMOUNT', 'STATE'],
    right: [false, true, false],
    rows: [
      ['plain', '1.5', { text: 'FAILED', tone: 'bad' }],
      [text, '1000', { text, tone: 'good' }],
    ],
  } satisfies Drawn;
  for (const paint of [painter(false), painter(true)])
    expect(await byUs(wanted, paint)).toBe(byLibrary(wanted, paint));
});
