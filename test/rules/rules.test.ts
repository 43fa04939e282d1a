/** The table of rules is true to the code: every test and every place to break exists, once. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../dev/ports.ts';
import { RULES } from './rules.ts';
import { table, TABLE_FILE } from './table.ts';

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

test('every rule has a name of its own', () => {
  const ids = RULES.map((rule) => rule.id);
  expect(ids).toEqual([...new Set(ids)]);
});

test.each(RULES.map((rule) => [rule.id, rule] as const))(
  '%s names a test that exists and one place to break',
  (_id, { test: proof, broken }) => {
    // Names built by test.each stand in the file with their placeholders; what comes before is enough.
    const [plain = ''] = proof.name.split('%');
    expect(read(proof.file)).toContain(plain);
    expect(read(broken.file).split(broken.find)).toHaveLength(2);
    expect(broken.replace).not.toBe(broken.find);
  },
);

test('the page is as the rules say; `npm run rules:table` writes it', () => {
  expect(read(TABLE_FILE)).toBe(table());
});
