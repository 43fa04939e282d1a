/**
 * Which tests are most likely to notice a break: those of rules that name its file, those that
 * stand beside it, those that name the function it is in, and then by how many imports lie between.
 */
import { basename, dirname, join } from 'node:path';
import { RULES } from '../rules/rules.ts';
import type { Break } from './break.ts';

/** Every file of the project that is read, by its name. */
export type Texts = ReadonlyMap<string, string>;

/** Who runs what is built of `main.ts` and imports none of it. */
const RUN_THE_BUILD = ['test/support/own-stack.ts', 'test/support/http.ts'];
/** Imports count as nothing beside a rule or a neighbour, and less than a name. */
const WEIGHT = { rule: -40, neighbour: -30, named: -20, import: 2 } as const;

/** For each file, who uses it: imports of TypeScript, and calls of SQL functions by their names. */
export function usersOf(texts: Texts): ReadonlyMap<string, ReadonlySet<string>> {
  const users = new Map<string, Set<string>>();
  const use = (used: string, user: string): void => {
    if (used === user) return;
    const known = users.get(used) ?? new Set();
    users.set(used, known.add(user));
  };
  const homes = new Map<string, string>();
  for (const [file, text] of texts)
    for (const name of file.endsWith('.sql') ? functionNames(text) : []) homes.set(name, file);
  for (const [file, text] of texts) {
    if (file.endsWith('.ts'))
      for (const [, path = ''] of text.matchAll(/from '(\.[^']+)'|import\('(\.[^']+)'\)/g))
        use(join(dirname(file), path), file);
    if (!/^(prisma\/functions|store|activities|test\/store|tools|service)\//.test(file)) continue;
    for (const [, name = ''] of text.matchAll(/\b([a-z_]{6,})\(/g)) {
      const home = homes.get(name);
      if (home !== undefined) use(home, file);
    }
  }
  for (const support of RUN_THE_BUILD) use('main.ts', support);
  return users;
}

/** Test files, the likeliest first. */
export function likelyTests(
  slip: Break,
  texts: Texts,
  users: ReadonlyMap<string, ReadonlySet<string>>,
): readonly string[] {
  const scores = new Map<string, number>();
  const near = distances(slip.file, users);
  const around = enclosingName(slip, texts.get(slip.file) ?? '');
  const own = basename(slip.file).replace(/\.\w+$/, '');
  for (const [file, text] of texts) {
    if (!/^test\/(?!breaks|rules|growth|browser|bridges|slow|fuzz|chaos).*\.test\.ts$/.test(file))
      continue;
    const distance = near.get(file);
    const rule = RULES.some(({ broken, test }) => broken.file === slip.file && test.file === file);
    const neighbour = basename(file).startsWith(own);
    const named = around !== null && new RegExp(`\\b${around}\\b`).test(text);
    if (distance === undefined && !rule && !neighbour && !named) continue;
    scores.set(
      file,
      (rule ? WEIGHT.rule : 0) +
        (neighbour ? WEIGHT.neighbour : 0) +
        (named ? WEIGHT.named : 0) +
        WEIGHT.import * (distance ?? 12),
    );
  }
  return [...scores].sort((a, b) => a[1] - b[1] || (a[0] < b[0] ? -1 : 1)).map(([file]) => file);
}

/** How many steps lie between a file and those that use it, directly or through others. */
function distances(
  from: string,
  users: ReadonlyMap<string, ReadonlySet<string>>,
): ReadonlyMap<string, number> {
  const found = new Map([[from, 0]]);
  for (const [file, steps] of found)
    for (const user of users.get(file) ?? []) if (!found.has(user)) found.set(user, steps + 1);
  return found;
}

/** The function, in SQL or TypeScript, that the break stands in. */
function enclosingName({ file, at }: Break, text: string): string | null {
  const before = text.slice(0, at);
  if (file.endsWith('.sql')) return functionNames(before).at(-1) ?? null;
  const names = [...before.matchAll(/\b(?:function|const|class) (\w+)/g)].filter(
    ({ index }) =>
      index === 0 || before[index - 1] === '\n' || before.slice(0, index).endsWith('export '),
  );
  return names.at(-1)?.[1] ?? null;
}

function functionNames(sql: string): string[] {
  return [...sql.matchAll(/CREATE OR REPLACE FUNCTION (\w+)/g)].map(([, name = '']) => name);
}
