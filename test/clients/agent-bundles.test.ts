/**
 * An agent's programs hold no call that an agent may not make: each built piece is searched for
 * every operation of the API.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { OPERATIONS } from '../../clients/http/generated/operations.ts';
import { built } from '../../dev/bootstrap/programs.mjs';

interface Built {
  readonly text: string;
  readonly sources: readonly string[];
  /** Method and path of every object that has both. */
  readonly requests: readonly string[];
  readonly strings: ReadonlySet<string>;
}

/** A program with every piece that it loads, now or later. */
function piecesOf(program: string): Built {
  const dist = dirname(built(program));
  const found = new Map<string, string>();
  const take = (file: string): void => {
    if (found.has(file)) return;
    const text = readFileSync(join(dist, file), 'utf8');
    found.set(file, text);
    for (const [, next = ''] of text.matchAll(/(?:from|import)\s*\(?\s*["']\.\/([^"']+\.js)["']/g))
      take(next);
  };
  take(`${program}.js`);
  const sources = [...found.keys()].flatMap((file) => {
    const map = join(dist, `${file}.map`);
    if (!existsSync(map)) return [];
    return (JSON.parse(readFileSync(map, 'utf8')) as { sources: string[] }).sources;
  });
  const text = [...found.values()].join('\n');
  return { text, sources, ...literalsOf(text) };
}

function literalsOf(text: string): Pick<Built, 'requests' | 'strings'> {
  const strings = new Set<string>();
  const requests = new Set<string>();
  const look = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node)) strings.add(node.text);
    if (ts.isTemplateExpression(node))
      for (const part of [node.head, ...node.templateSpans.map(({ literal }) => literal)])
        strings.add(part.text);
    if (ts.isObjectLiteralExpression(node)) {
      const of = (name: string): string | null => {
        const property = node.properties.find((each) => each.name?.getText(file) === name);
        return property !== undefined &&
          ts.isPropertyAssignment(property) &&
          ts.isStringLiteralLike(property.initializer)
          ? property.initializer.text
          : null;
      };
      const [method, path] = [of('method'), of('path')];
      if (method !== null && path !== null) requests.add(`${method} ${path}`);
    }
    ts.forEachChild(node, look);
  };
  const file = ts.createSourceFile('bundle.js', text, ts.ScriptTarget.ES2022, true);
  look(file);
  return { strings, requests: [...requests].sort() };
}

const READS = [
  'GET /agent-authorities/{authority_key}',
  'GET /balances',
  'GET /movements',
  'GET /movements/{movement_id}',
  'GET /route-catalog',
  'GET /template-proposals/{proposal_id}',
  'GET /whoami',
  'POST /routes/recommend',
];
const PROPOSE = 'POST /agent-authorities/{authority_key}/template-proposals';
const OF_THE_CLI = [
  'GET /movements/{movement_id}/plan',
  'GET /movements/{movement_id}/timeline',
  'POST /agent-authorities/{authority_key}/bridge-attempt',
  'POST /movements',
];

/** The last words of a path: `/actions/resume` of a movement's, `/promote` of a proposal's. */
const tailOf = (path: string): string => path.split(/\{[^}]+\}/).at(-1) ?? '';

describe.each([
  ['fund-mcp', [...READS, PROPOSE]],
  ['fundagent', [...READS, PROPOSE, ...OF_THE_CLI]],
])('%s', (program, allowed) => {
  const built = piecesOf(program);
  const others = Object.entries(OPERATIONS).filter(
    ([, { method, path }]) => !allowed.includes(`${method} ${path}`),
  );

  test('has the requests of its table, and no other', () => {
    expect(built.requests).toEqual([...allowed].sort());
    // There are others that it could have.
    expect(others.length).toBeGreaterThan(40);
    const writes = [...built.strings].filter((text) => /^(PUT|PATCH|DELETE)$/.test(text));
    expect(writes).toEqual([]);
  });

  test('names no other operation, by its id or by its path', () => {
    const paths = allowed.map((each) => each.split(' ')[1] ?? '');
    for (const [id, { path }] of others) {
      expect([id, new RegExp(`\\b${id}\\b`).test(built.text)]).toEqual([id, false]);
      expect([path, built.strings.has(path) && !paths.includes(path)]).toEqual([path, false]);
      const tail = tailOf(path);
      if (tail.length < 2 || paths.some((each) => each.endsWith(tail))) continue;
      const ends = [...built.strings].filter((text) => text.endsWith(tail));
      expect([path, ends]).toEqual([path, []]);
    }
  });

  test("is made without the client of everything, the operator's commands and the service", () => {
    const ours = built.sources.filter((source) => !/node_modules|^of-node:/.test(source));
    expect(ours.length).toBeGreaterThan(20);
    const strange = ours.filter(
      (source) =>
        !/^\.\.\/(clients\/(agent|mcp|fundagent|http|command-line)\/|domain\/json(-text)?\.ts$|package\.json$)/.test(
          source,
        ) ||
        /http\/(client|groups|operations|index)\.ts$|generated\/(operations|answers|schema)\.ts$/.test(
          source,
        ),
    );
    expect(strange).toEqual([]);
  });
});
