/**
 * The graph of a movement in Chromium, by role and label alone: every state, kind, edge type and
 * action type that the domain knows. States that no script brings about quickly are written into
 * this stack's own database, for drawing only. What is expected is written by hand, so something
 * new in the domain fails here until somebody has looked at how it is drawn.
 */
import type { Locator, Page } from 'playwright-core';
import pg from 'pg';
import { BUILT_IN_ACTIONS } from '../../../domain/actions/built-in.ts';
import {
  EDGE_TYPES,
  NODE_KINDS,
  type EdgeType,
  type NodeKind,
} from '../../../domain/graph/types.ts';
import { NODE_STATES, type NodeState } from '../../../domain/states/node.ts';
import { accessible, PATIENCE, startConsole } from './operators.ts';
import { started } from '../../support/started.ts';

/** Its sign and word. */
const STATES: Readonly<Record<string, string>> = {
  BLOCKED: '○ blocked',
  READY: '◔ ready',
  SUBMITTING: '◑ submitting',
  SUBMITTED: '◕ submitted',
  OBSERVING: '◉ observing',
  COMPLETED: '✓ completed',
  FAILED: '✗ failed',
  UNKNOWN: '? unknown',
  SKIPPED: '↷ skipped',
  CANCELLED: '⊘ cancelled',
};
/** Its word, how its outline is drawn, and which corners of its box are within, from top left. */
const KINDS: Readonly<Record<string, readonly [word: string, path: string, corners: string]>> = {
  action: ['action', 'MLLLZ', 'yes yes yes yes'],
  observe: ['observes', 'MLALAZ', 'no no no no'],
  manual_gate: ['gate', 'MLLLLLZ', 'no no no no'],
  compensation: ['compensation', 'MLLLZMLLLZ', 'yes yes yes yes'],
  post_action: ['afterwards', 'MLLLZ', 'no yes no yes'],
};
const TYPES: Readonly<Record<string, string>> = {
  on_success: 'on success',
  on_failure: 'on failure',
  on_timeout: 'on time-out',
  on_cancel: 'on cancel',
  on_manual_resume: 'on manual resume',
};
/** Width and dashes of a line, by what became of the edge. */
const STROKES: Readonly<Record<string, string>> = {
  fired: '3.5px none',
  pending: '1px none',
  dead: '1px 2px, 4px',
  'not said': '1px 8px, 5px',
};
const CONDITION = 'dec(intent.amount) > dec("1")';
/** What an edge of each type has become, by its source; the rest of a settled source's are dead. */
const FIRED: Readonly<Record<string, readonly EdgeType[]>> = {
  start: ['on_success', 'on_manual_resume'],
  late: ['on_timeout'],
  broke: ['on_failure'],
  waits: [],
};
const SOURCES = Object.keys(FIRED);

interface Drawn {
  readonly node_key: string;
  readonly state: NodeState;
  readonly node_kind?: NodeKind;
  readonly action_type?: string;
  readonly attempt?: number;
  readonly resumed?: boolean;
  readonly error_code?: string;
}
const desk = started(() => startConsole());

afterEach(() => desk.afterEach());

const target = (source: string, type: EdgeType): string => `${source}_${type}`;
const NODES: readonly Drawn[] = [
  { node_key: 'start', state: 'COMPLETED', node_kind: 'manual_gate', resumed: true },
  { node_key: 'late', state: 'FAILED', error_code: 'NODE_TIMED_OUT' },
  { node_key: 'broke', state: 'FAILED', error_code: 'ONCHAIN_REVERT' },
  { node_key: 'waits', state: 'BLOCKED' },
  ...SOURCES.flatMap((source) => EDGE_TYPES.map((type) => target(source, type))).map(
    (node_key, index) => ({
      node_key,
      state: NODE_STATES[index % NODE_STATES.length] ?? 'BLOCKED',
      node_kind: NODE_KINDS[index % NODE_KINDS.length] ?? 'action',
      attempt: index < NODE_STATES.length ? 1 : 12,
    }),
  ),
];
interface Line {
  readonly from: string;
  readonly to: string;
  readonly edge_type: EdgeType;
  readonly condition_expr?: string;
}

const EDGES: readonly Line[] = [
  ...SOURCES.slice(1).map((to) => ({ from: 'start', to, edge_type: 'on_success' as const })),
  ...SOURCES.flatMap((from) =>
    EDGE_TYPES.flatMap((edge_type) => [
      { from, to: target(from, edge_type), edge_type },
      { from, to: target(from, edge_type), edge_type, condition_expr: CONDITION },
    ]),
  ),
  { from: 'start', to: target('start', 'on_cancel'), edge_type: 'on_success' },
];

/** A movement that waits for its approval, and looks as if its nodes were so far. */
async function drawn(
  name: string,
  nodes: readonly Drawn[],
  edges: readonly Line[],
): Promise<string> {
  const { own } = desk;
  await own.api.expect(201, 'POST', '/plan-templates', {
    template_key: `test/${name}`,
    version: 1,
    name,
    edges,
    completion_policy: { completion_assurance: 'provider_completed' },
    nodes: nodes.map(({ node_key }) => ({
      node_key,
      node_kind: 'action',
      action_type: 'noop',
      timeout_policy: { execution_seconds: 3_600 },
    })),
  });
  const { movement_id } = await own.api.create(`test/${name}`, { amount: '2.5' });
  await looks(movement_id, nodes);
  return movement_id;
}

async function looks(movement_id: string, nodes: readonly Drawn[], state = 'PENDING_APPROVAL') {
  await desk.own.query(`BEGIN; SET LOCAL session_replication_role = replica;
    UPDATE movement_nodes n SET state = d.state, node_kind = coalesce(d.node_kind, n.node_kind),
      action_type = coalesce(d.action_type, n.action_type), attempt = coalesce(d.attempt, 1),
      resumed = coalesce(d.resumed, false), error_code = d.error_code
    FROM jsonb_to_recordset(${pg.escapeLiteral(JSON.stringify(nodes))}::jsonb) AS d(node_key text,
      state text, node_kind text, action_type text, attempt int, resumed boolean, error_code text)
    WHERE n.movement_id = '${movement_id}' AND n.node_key = d.node_key;
    UPDATE movements SET request_state = '${state}' WHERE movement_id = '${movement_id}'; COMMIT`);
}

async function opened(page: Page, movement_id: string): Promise<Locator> {
  await page.goto(`${desk.origin}/console/movements/${movement_id}`);
  const region = page.getByRole('region', { name: 'Graph of the movement' });
  await region.getByRole('group', { name: /^Graph of/ }).waitFor({ timeout: PATIENCE });
  return region;
}

interface Seen {
  readonly name: string;
  /** Every text in it. */
  readonly texts: readonly string[];
  /** The letters of its outline or line. */
  readonly path: string;
  readonly corners: string;
  readonly stroke: string;
}

/** What these tests use of the browser's own objects; the functions below run there. */
interface Spot {
  readonly x: number;
  readonly y: number;
}
interface Box extends Spot {
  readonly width: number;
  readonly height: number;
}
interface Shape {
  readonly textContent: string;
  getBBox(): Box;
  getAttribute(name: 'd'): string;
  isPointInFill(at: Spot): boolean;
  getTotalLength(): number;
  getPointAtLength(at: number): Spot;
}
interface Thing {
  querySelector(of: 'path' | 'title'): Shape;
  querySelectorAll(of: 'text'): Iterable<Shape>;
  readonly ownerDocument: {
    readonly defaultView: {
      getComputedStyle(of: Shape): { strokeWidth: string; strokeDasharray: string };
    };
  };
}

/** What is drawn, by the role of each thing. */
const seen = (region: Locator): Promise<readonly Seen[]> =>
  region.getByRole('img').evaluateAll((things: readonly Thing[]) =>
    things.map((thing) => {
      const path = thing.querySelector('path');
      const { x, y, width, height } = path.getBBox();
      const within = (dx: number, dy: number): string =>
        path.isPointInFill({ x: x + 1 + dx * (width - 2), y: y + 1 + dy * (height - 2) })
          ? 'yes'
          : 'no';
      const { strokeWidth, strokeDasharray } =
        thing.ownerDocument.defaultView.getComputedStyle(path);
      return {
        name: thing.querySelector('title').textContent,
        texts: [...thing.querySelectorAll('text')].map(({ textContent }) => textContent),
        path: path.getAttribute('d').replace(/[^A-Z]/g, ''),
        corners: [within(0, 0), within(1, 0), within(1, 1), within(0, 1)].join(' '),
        stroke: `${strokeWidth} ${strokeDasharray}`,
      };
    }),
  );

/** What a reader could not read: text outside its outline, overlaps, lines through other parts. */
const unreadable = (region: Locator): Promise<readonly string[]> =>
  region.getByRole('img').evaluateAll((all: readonly Thing[]) => {
    const faults: string[] = [];
    const things = all.map((thing) => ({
      name: thing.querySelector('title').textContent,
      path: thing.querySelector('path'),
      texts: [...thing.querySelectorAll('text')].map((text) => text.getBBox()),
    }));
    const nodes = things
      .filter(({ name }) => name.startsWith('Node '))
      .map((node) => ({ ...node, box: node.path.getBBox() }));
    const edges = things.filter(({ name }) => name.startsWith('Edge '));
    const boxes = [
      ...nodes.map(({ name, box }) => ({ name, box })),
      ...edges.flatMap(({ name, texts }) => texts.map((box) => ({ name, box }))),
    ];
    for (const { name, path, texts } of nodes)
      for (const { x, y, width, height } of texts)
        for (const dx of [0, width])
          for (const dy of [0, height])
            if (!path.isPointInFill({ x: x + dx, y: y + dy })) faults.push(`text leaves ${name}`);
    boxes.forEach((one, index) => {
      for (const other of boxes.slice(index + 1)) {
        const [a, b] = [one.box, other.box];
        const beside = a.x >= b.x + b.width || b.x >= a.x + a.width;
        if (!beside && a.y < b.y + b.height && b.y < a.y + a.height)
          faults.push(`${one.name} overlaps ${other.name}`);
      }
    });
    for (const { name, path } of edges) {
      const length = path.getTotalLength();
      const [, from = '', to = ''] = /^Edge (\S+) to (\S+): /.exec(name) ?? [];
      for (const [key, at, below] of [
        [from, 0, -2],
        [to, length, 2],
      ] as const) {
        const { x, y } = path.getPointAtLength(at);
        const node = nodes.find((other) => other.name.startsWith(`Node ${key}:`));
        if (node?.path.isPointInFill({ x, y: y + below }) !== true)
          faults.push(`${name} does not meet ${key}`);
      }
      for (let at = 0; at <= length; at += 4) {
        const { x, y } = path.getPointAtLength(at);
        const through = boxes.find(
          ({ name: other, box }) =>
            other !== name &&
            x > box.x + 1 &&
            x < box.x + box.width - 1 &&
            y > box.y + 1 &&
            y < box.y + box.height - 1,
        );
        if (through !== undefined) {
          faults.push(`${name} goes through ${through.name}`);
          break;
        }
      }
    }
    return faults.slice(0, 10);
  });

test('every state, kind and edge type is drawn, and each says what it is', async () => {
  const id = await drawn('every-state', NODES, EDGES);
  const page = await desk.pageOf('ada');
  const region = await opened(page, id);
  const shown = new Map((await seen(region)).map((thing) => [thing.name, thing]));
  expect(shown.size).toBe(NODES.length + EDGES.length);
  for (const { node_key, state, node_kind = 'action', attempt = 1 } of NODES) {
    const [kind, path, corners] = KINDS[node_kind] ?? ['not written down', '', ''];
    const word = `${STATES[state] ?? 'not written down'}${attempt === 1 ? '' : `, attempt ${String(attempt)}`}`;
    const name = `Node ${node_key}: ${word.slice(2)}, ${kind}, noop`;
    expect(shown.get(name)).toMatchObject({ path, corners, texts: [node_key, 'noop', word] });
  }
  const expectEdges = (statusOf: (edge: Line) => string): void => {
    for (const edge of EDGES) {
      const { from, to, edge_type, condition_expr } = edge;
      const type = TYPES[edge_type] ?? 'not written down';
      const words = condition_expr === undefined ? type : `${type}, if ${condition_expr}`;
      const status = statusOf(edge);
      expect(shown.get(`Edge ${from} to ${to}: ${words}, ${status}`)).toMatchObject({
        texts: [words],
        stroke: STROKES[status],
      });
    }
  };
  // No condition of these was ever found true.
  expectEdges(({ from, edge_type, condition_expr }) => {
    if (from === 'waits' || edge_type === 'on_cancel') return 'pending';
    return condition_expr === undefined && FIRED[from]?.includes(edge_type) ? 'fired' : 'dead';
  });
  expect(await unreadable(region)).toEqual([]);
  await accessible(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.setViewportSize({ width: 320, height: 800 });
  await accessible(page);
  await page.emulateMedia({ colorScheme: 'light' });

  // Of a cancel it is not stored what had fired before.
  const undone = target('start', 'on_cancel');
  await looks(
    id,
    [{ node_key: undone, state: 'COMPLETED', node_kind: 'compensation' }],
    'CANCELLED',
  );
  const cancelled = await seen(await opened(page, id));
  const edge = (name: string): string | undefined =>
    cancelled.find((thing) => thing.name === `Edge start to ${undone}: ${name}`)?.stroke;
  expect(edge('on cancel, fired')).toBe(STROKES['fired']);
  expect(edge('on success, not said')).toBe(STROKES['not said']);
}, 180_000);

test('200 nodes of every action type, with long names, overlap nowhere, from 320 pixels to 4k', async () => {
  const types = [...Object.keys(BUILT_IN_ACTIONS), 'w'.repeat(128), '算'.repeat(128)];
  const keys = Array.from(
    { length: 200 },
    (_, index) =>
      `${index % 2 === 0 ? 'a_step_of_which_the_name_is_long' : 'W'.repeat(20)}_${String(index)}`,
  );
  const nodes = keys.map((node_key, index): Drawn => ({
    node_key,
    state: index === 150 ? 'OBSERVING' : index < 150 ? 'COMPLETED' : 'BLOCKED',
    node_kind: NODE_KINDS[index % NODE_KINDS.length] ?? 'action',
    action_type: types[index % types.length] ?? '',
  }));
  // Ten rows of twenty, each node led to by three of the row before, and one edge over all rows.
  const edges = keys.flatMap((to, index): readonly Line[] =>
    index < 20
      ? []
      : [0, 3, 11].map((shift) => ({
          from: keys[(Math.floor(index / 20) - 1) * 20 + ((index + shift) % 20)] ?? '',
          to,
          edge_type: shift === 3 ? ('on_failure' as const) : ('on_success' as const),
          ...(shift === 11 ? { condition_expr: CONDITION } : {}),
        })),
  );
  const id = await drawn('two-hundred', nodes, [
    ...edges,
    { from: keys[0] ?? '', to: keys[199] ?? '', edge_type: 'on_cancel' },
  ]);
  const page = await desk.pageOf('ada');
  for (const [width, height] of [
    [320, 700],
    [1280, 900],
    [3840, 2160],
  ] as const) {
    await page.setViewportSize({ width, height });
    const region = await opened(page, id);
    // It opens where something happens.
    const under = region.getByRole('img', { name: `Node ${keys[150] ?? ''}: observing` });
    const [node, frame] = [await under.boundingBox(), await region.boundingBox()];
    if (node === null || frame === null) throw new Error('nothing is drawn');
    expect(node.x).toBeGreaterThanOrEqual(frame.x);
    expect(node.x + node.width).toBeLessThanOrEqual(frame.x + frame.width);
    expect(node.y).toBeGreaterThanOrEqual(frame.y);
    expect(node.y + node.height).toBeLessThanOrEqual(frame.y + frame.height);
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth');
    expect(wide).toBeLessThanOrEqual(width);
    if (width === 1280) {
      const shown = await seen(region);
      const built = Object.keys(BUILT_IN_ACTIONS);
      for (const type of built) expect(shown.some(({ texts }) => texts.includes(type))).toBe(true);
      // What is shortened keeps its end, in which names differ.
      for (const [index, key] of keys.entries())
        expect(shown.find(({ name }) => name.startsWith(`Node ${key}:`))?.texts[0]).toMatch(
          new RegExp(`_${String(index)}$`),
        );
      expect(await unreadable(region)).toEqual([]);
    }
  }
}, 180_000);
