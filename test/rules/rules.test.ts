/** The table of rules is true to the code: every test and every place to break exists, once. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../dev/stack/ports.ts';
import { functionBodies } from '../../prisma/functions-migration.ts';
import { plainName } from './rule.ts';
import { RULES } from './rules.ts';
import { sampleOf, SAMPLES } from './sample.ts';
import { table, TABLE_FILE } from './table.ts';

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

test('every rule has a name of its own', () => {
  const ids = RULES.map((rule) => rule.id);
  expect(ids).toEqual([...new Set(ids)]);
});

test.each(RULES.map((rule) => [rule.id, rule] as const))(
  '%s names a test that exists and one place to break',
  (_id, rule) => {
    const { test: proof, broken } = rule;
    expect(plainName(rule)).not.toBe('');
    const text = read(proof.file);
    expect(text).toContain(plainName(rule));
    // `test/slow` holds no rule alone.
    expect(proof.file).not.toMatch(/^test\/slow\//);
    expect(read(broken.file).split(broken.find)).toHaveLength(2);
    expect(broken.replace).not.toBe(broken.find);
  },
);

test('the page is as the rules say; `npm run rules:table` writes it', () => {
  expect(read(TABLE_FILE)).toBe(table());
});

// A migration may hold a definition that was replaced, and breaking it would prove nothing; tables
// and triggers stand in one each.
const ONCE =
  /^prisma\/migrations\/\d+_(?:tables|triggers_and_views|dashboard_keys|fee_caps_need_people)\//;
const inSql = RULES.filter(({ broken: { file } }) => file.endsWith('.sql') && !ONCE.test(file));
test.each(inSql.map((rule) => [rule.id, rule] as const))(
  '%s is broken in a function that the database runs',
  (_id, { broken }) => {
    expect(broken.file).toMatch(/^prisma\/functions\//);
    const within = functionBodies().filter(
      ({ file, definition }) => file === broken.file && definition.includes(broken.find),
    );
    expect(within).toHaveLength(1);
    const comment = broken.find.split('\n').every((line) => /^\s*(--|$)/.test(line));
    expect(comment).toBe(false);
  },
);

test('CI draws a fiftieth at every commit, and no rule is passed by whatever the commits are', () => {
  const commits = Array.from({ length: 800 }, (_, index) => `commit ${String(index * 10)}`);
  const drawn = commits.map((commit) => sampleOf(RULES, commit).map(({ id }) => id));
  for (const ids of drawn) expect(ids).toHaveLength(Math.ceil(RULES.length / SAMPLES));
  expect([...new Set(drawn.flat())].sort()).toEqual(RULES.map(({ id }) => id).sort());
  expect(sampleOf([...RULES].reverse(), 'a').reverse()).toEqual(sampleOf(RULES, 'a'));
});
