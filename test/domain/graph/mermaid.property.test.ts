import fc from 'fast-check';
import { mermaidText, shortened } from '../../../domain/graph/mermaid-text.ts';
import { toMermaid, type Drawing } from '../../../domain/graph/mermaid.ts';
import { EDGE_TYPES, NODE_KINDS } from '../../../domain/graph/types.ts';
import { NODE_STATES } from '../../../domain/states/node.ts';

/**
 * What would end a string, begin a statement, or mean something to Markdown, HTML or Mermaid
 * itself.
 */
const HOSTILE = [
  '"',
  '"]',
  '"]-->x',
  ']-->',
  '|',
  '}}',
  '/"]',
  '\\',
  ';',
  '`**x**`',
  '#quot;',
  '#35;',
  '&lt;',
  '1. x',
  '- x',
  '$$x$$',
  '~~~',
  'end',
  'click',
  'click n0 href "javascript:alert(1)"',
  'subgraph',
  'direction LR',
  'graph TD',
  'classDef a:b#1;',
  'style: x#35;',
  '%% x',
  '%%{init: {"theme":"dark"}}%%',
  '---',
  'a\nb',
  'a\r\nend',
  '<img src=x onerror=alert(1)>',
  'fa:fa-car',
  '@{ shape: x }',
  ':::x',
  '__proto__',
  'constructor',
  'n0',
  '\u202eabc',
  'a\u200bb',
  '\ud800',
  '😀',
  'ü ß',
  ' ',
  'ﬂ°°35¶ß',
];
const anyText = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc
    .array(fc.constantFrom(...HOSTILE, 'a', '_', '-', ' '), { minLength: 1, maxLength: 4 })
    .map((parts) => parts.join('')),
);

const drawings: fc.Arbitrary<Drawing> = fc
  .uniqueArray(anyText, { minLength: 1, maxLength: 8 })
  .chain((keys) =>
    fc.record({
      nodes: fc.tuple(
        ...keys.map((key) =>
          fc.record({
            node_key: fc.constant(key),
            node_kind: fc.constantFrom(...NODE_KINDS),
            action_type: anyText,
            state: fc.constantFrom(null, ...NODE_STATES),
            attempt: fc.constantFrom(null, 1, 2),
            executor: fc.option(anyText),
            signer: fc.option(anyText),
          }),
        ),
      ),
      edges: fc.array(
        fc.record({
          from: fc.constantFrom(...keys),
          to: fc.constantFrom(...keys),
          edge_type: fc.constantFrom(...EDGE_TYPES),
          priority: fc.integer({ min: -3, max: 3 }),
          join_key: fc.option(anyText),
          condition_expr: fc.option(anyText),
          status: fc.constantFrom(null, 'fired', 'pending', 'dead'),
        }),
        { maxLength: 10 },
      ),
    }),
  );

const LABEL = '(?:[A-Za-z0-9_-]|#[0-9]+;|<br/>)*';
const NODE = new RegExp(
  `^  (n[0-9]+)(?:\\["|\\(\\["|\\{\\{"|\\[\\["|\\[/")(${LABEL})(?:"\\]|"\\]\\)|"\\}\\}|"\\]\\]|"/\\])$`,
);
const EDGE = new RegExp(`^  (n[0-9]+) (==>|-->|-\\.->)\\|"(${LABEL})"\\| (n[0-9]+)$`);
const REST = [
  /^flowchart TD$/,
  /^ {2}subgraph legend\["Legend"\]$/,
  new RegExp(`^    (?:state(?:${NODE_STATES.join('|')})|arrows)key\\["${LABEL}"\\]$`),
  /^ {2}end$/,
  /^ {2}classDef state[A-Z]+ fill:#[0-9a-f]{6},stroke:#[0-9a-f]{6},color:#[0-9a-f]{6}$/,
  /^ {2}class (?:n[0-9]+,)+state[A-Z]+key state[A-Z]+$/,
];

/** What a reader sees of an escaped text. */
function read(text: string): string {
  return text.replace(/#([0-9]+);/g, (_all, code: string) => String.fromCodePoint(Number(code)));
}
const shown = (text: string): string =>
  [...text].map((one) => (/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(one) ? '\ufffd' : one)).join('');

describe('a Mermaid diagram of any graph', () => {
  it('has nothing but its own few kinds of line, with escaped text between quotes alone', () => {
    fc.assert(
      fc.property(drawings, (drawing) => {
        const text = toMermaid(drawing);
        expect(text.endsWith('\n')).toBe(true);
        const strange = text
          .slice(0, -1)
          .split('\n')
          .filter((line) => ![NODE, EDGE, ...REST].some((kind) => kind.test(line)));
        expect(strange).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('has every node and every edge exactly once, in order, with its own text', () => {
    fc.assert(
      fc.property(drawings, (drawing) => {
        const lines = toMermaid(drawing).split('\n');
        const nodes = lines.flatMap((line) => {
          const [, id, label = ''] = NODE.exec(line) ?? [];
          return id === undefined ? [] : [[id, read(label.split('<br/>')[0] ?? '')]];
        });
        expect(nodes).toEqual(drawing.nodes.map((node, at) => [`n${at}`, shown(node.node_key)]));
        const idOf = (key: string) =>
          `n${drawing.nodes.findIndex((node) => node.node_key === key)}`;
        const arrows = { fired: '==>', pending: '-->', dead: '-.->' };
        const edges = lines.flatMap((line) => {
          const [, from, arrow, label = '', to] = EDGE.exec(line) ?? [];
          return from === undefined ? [] : [[from, arrow, read(label.split('<br/>')[0] ?? ''), to]];
        });
        expect(edges).toEqual(
          drawing.edges.map((edge) => [
            idOf(edge.from),
            arrows[edge.status ?? 'pending'],
            edge.edge_type,
            idOf(edge.to),
          ]),
        );
      }),
      { numRuns: 500 },
    );
  });

  it('colours every node by its state, and explains those colours alone', () => {
    fc.assert(
      fc.property(drawings, (drawing) => {
        const text = toMermaid(drawing);
        for (const state of NODE_STATES) {
          const members = drawing.nodes.flatMap((node, at) =>
            node.state === state ? [`n${at},`] : [],
          );
          const line = `  class ${members.join('')}state${state}key state${state}\n`;
          expect([
            state,
            text.includes(line),
            text.includes(`state${state}key["${state}"]`),
          ]).toEqual([state, members.length > 0, members.length > 0]);
        }
        expect(text.includes('Legend')).toBe(drawing.nodes.some((node) => node.state !== null));
      }),
      { numRuns: 200 },
    );
  });
});

describe('text in a diagram', () => {
  it.each([
    ['withdraw-with_gate2', 'withdraw-with_gate2'],
    ['end', 'end'],
    ['a"]-->b', 'a#34;#93;#45;#45;#62;b'],
    ['<b>', '#60;b#62;'],
    ['a--b', 'a#45;#45;b'],
    ['_a_', '#95;a#95;'],
    // Mermaid takes every line that holds this for a statement, in a string too.
    ['direction LR', 'direction#32;LR'],
    ['#35;', '#35;35#59;'],
    ['😀', '#128512;'],
    ['a\nb\u202e', 'a#65533;b#65533;'],
  ])('%j is %s', (text, escaped) => {
    expect(mermaidText(text)).toBe(escaped);
  });

  it('reads as it was, but for what cannot be shown', () => {
    fc.assert(fc.property(anyText, (text) => expect(read(mermaidText(text))).toBe(shown(text))));
  });

  it('is shortened between characters', () => {
    expect([shortened('😀😀😀', 3), shortened('😀😀😀', 2)]).toEqual(['😀😀😀', '😀…']);
  });

  it('refuses an edge to nowhere', () => {
    const edge = {
      from: 'a',
      to: 'b',
      edge_type: 'on_success',
      priority: 0,
      join_key: null,
      condition_expr: null,
      status: null,
    } as const;
    expect(() => toMermaid({ nodes: [], edges: [edge] })).toThrow(/no node/);
  });
});
