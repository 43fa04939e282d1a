/**
 * What SQL has to know of an action type stands on the node's row (domain/plan/node-facts.ts), so
 * that no type can be added and be unknown to a guard. Only a venue's own SQL names types.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ACTION_NAMES } from '../../domain/actions/spec.ts';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** SQL of one venue, by its file's name. */
const OF_A_VENUE = /\/(?:bridge|perp)-[a-z-]+\.(?:sql|ts)$/;
/** Past rows are read as they were written, by names that nothing else may come to mean. */
const OF_PAST_ROWS = 'prisma/migrations/20261126000400_claims_of_before/migration.sql';
/** Indexes stand with the tables: these serve the perps venue's SQL alone. */
const INDEXES_OF_A_VENUE = /CREATE INDEX movement_nodes_perp_\w+ [^;]*;/g;

/** Names that mean something else too: a kind of nodes, an outcome. */
const AMBIGUOUS: readonly string[] = ['manual_gate', 'noop'];
const NAMES = ACTION_NAMES.filter((name) => !AMBIGUOUS.includes(name));
const NAMED = new RegExp(`'(?:${NAMES.join('|')})'`);
const COMPARED = new RegExp(
  `action_type\\b[^;,]{0,40}'(?:${AMBIGUOUS.join('|')})'|'(?:${AMBIGUOUS.join('|')})'[^;,]{0,20}action_type`,
);

const filesIn = (folder: string, ending: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => `${folder}/${name}`);

/** SQL by the file that it stands in. */
function statements(): Map<string, string> {
  const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
  const sql = ['prisma/functions', 'prisma/migrations']
    .flatMap((folder) => filesIn(folder, '.sql'))
    // It is made of the functions' texts.
    .filter((file) => file !== OF_PAST_ROWS && !file.endsWith('_functions/migration.sql'))
    .map((file) => [file, read(file).replaceAll(INDEXES_OF_A_VENUE, '')] as const);
  const code = ['activities', 'api', 'platform', 'service', 'store', 'tools']
    .flatMap((folder) => filesIn(folder, '.ts'))
    .map((file) => [file, sqlIn(read(file))] as const)
    .filter(([, text]) => text !== '');
  return new Map([...sql, ...code].filter(([file]) => !OF_A_VENUE.test(file)));
}

/** What a source sends to the database. */
function sqlIn(source: string): string {
  return [...source.matchAll(/`[^`]*`/g)]
    .map(([text]) => text)
    .filter((text) => /\b(?:SELECT|UPDATE|INSERT|DELETE)\b/.test(text))
    .join('\n');
}

const naming = (texts: ReadonlyMap<string, string>): string[] =>
  [...texts].flatMap(([file, text]) => {
    // A comment decides nothing.
    const lines = text.replaceAll(/--.*$/gm, '');
    const found = NAMED.exec(lines) ?? COMPARED.exec(lines);
    return found === null ? [] : [`${file}: ${found[0]}`];
  });

test('no SQL outside of a venue’s own names an action type', () => {
  const texts = statements();
  expect(texts.size).toBeGreaterThan(60);
  expect([...texts.keys()]).toEqual(
    expect.arrayContaining(['prisma/functions/fence.sql', 'store/claims.ts']),
  );
  expect(naming(texts)).toEqual([]);
});

test('the search would find one', () => {
  for (const text of [
    "WHERE n.action_type = 'cctp_mint'",
    "CASE action_type WHEN 'evm_erc20_approve' THEN 1 END",
    "n.action_type NOT IN ('noop', 'manual_gate')",
    "'noop' = n.action_type",
  ])
    expect({ text, found: naming(new Map([['x.sql', text]])).length }).toEqual({ text, found: 1 });
  const good = "-- as a 'cctp_mint'\nWHEN n.node_kind = 'manual_gate' THEN 'manual_gate'";
  expect(naming(new Map([['x.sql', good]]))).toEqual([]);
  expect(sqlIn("f('cctp_mint', `SELECT 1 WHERE a = 'noop'`)")).toBe("`SELECT 1 WHERE a = 'noop'`");
});
