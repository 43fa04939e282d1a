/** The slips that `npm run breaks` draws: each is one place, and never in a comment or a text. */
import ts from 'typescript';
import { broken, idOf, isGuarded, type Break } from './break.ts';
import { breaksOf, draw } from './draw.ts';
import { likelyTests, usersOf } from './likely.ts';

const TYPESCRIPT = `// a < b && c
import { x } from './x.ts';
export function may(left: number, most: number): boolean {
  const word = 'a < b && c';
  if (left <= most && word !== '') return check(left, most);
  return left === 0 ? true : false;
}
`;
const SQL = `-- a <= b AND c
CREATE OR REPLACE FUNCTION may_send(a integer, b integer) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  total integer := 0;
BEGIN
  PERFORM 1 FROM lanes WHERE lane = a FOR UPDATE;
  RETURN a <= b AND 'x AND y' IS NOT NULL AND total > 10;
END $$;
`;

test('slips of TypeScript stand in code, and what is broken is still TypeScript', () => {
  const found = breaksOf('domain/a.ts', TYPESCRIPT);
  expect(found.map(({ find, replace }) => `${find} → ${replace}`).sort()).toEqual(
    [
      '&& → ||',
      '<= → <',
      '!== → ===',
      '=== → !==',
      '0 → (0 + 1)',
      'false → true',
      'true → false',
      'true : false → false : true',
      'left, most → most, left',
      "left <= most && word !== '' → false",
      "left <= most && word !== '' → word !== ''",
    ].sort(),
  );
  for (const slip of found) {
    const { diagnostics = [] } = ts.transpileModule(broken(slip, TYPESCRIPT), {
      reportDiagnostics: true,
    });
    expect(diagnostics).toEqual([]);
  }
});

test('slips of SQL stand in code: operators, constants, and locks that are dropped', () => {
  const found = breaksOf('prisma/functions/a.sql', SQL);
  expect(found.map(({ find, replace }) => `${find.trim()} → ${replace}`).sort()).toEqual(
    [
      '<= → <',
      '= → <>',
      '> → >=',
      'AND → OR',
      'AND → OR',
      'FOR UPDATE → ',
      'IS NOT NULL → IS NULL',
      '1 → 2',
      '10 → 11',
    ].sort(),
  );
});

test('a seed draws the same breaks whatever their order, and a third of them are SQL', () => {
  const all: readonly Break[] = [
    ...breaksOf('domain/a.ts', TYPESCRIPT),
    ...breaksOf('prisma/functions/a.sql', SQL),
  ];
  const drawn = draw(all, 'seed', 9);
  expect(draw([...all].reverse(), 'seed', 9).map(idOf)).toEqual(drawn.map(idOf));
  expect(drawn.filter(({ file }) => file.endsWith('.sql'))).toHaveLength(3);
  expect(draw(all, 'another', 9).map(idOf)).not.toEqual(drawn.map(idOf));
  expect(draw(all, 'seed', 1_000)).toHaveLength(all.length);
});

test('tests that reach the place come first, through imports and calls of SQL alike', () => {
  const texts = new Map([
    ['prisma/functions/a.sql', SQL],
    ['store/sends.ts', 'db.sql`SELECT may_send(1, 2)`'],
    ['test/store/sends.test.ts', "import { send } from '../../store/sends.ts';"],
    ['test/store/others.test.ts', "import { other } from '../../store/others.ts';"],
  ]);
  const [slip] = breaksOf('prisma/functions/a.sql', SQL);
  if (slip === undefined) throw new Error('there is no slip');
  expect(likelyTests(slip, texts, usersOf(texts))).toEqual(['test/store/sends.test.ts']);
});

test('generated code and what guards nothing are not drawn from', () => {
  expect(
    ['domain/a.ts', 'prisma/functions/a.sql', 'clients/http/generated/a.ts', 'dev/a.ts'].map(
      isGuarded,
    ),
  ).toEqual([true, true, false, false]);
});
