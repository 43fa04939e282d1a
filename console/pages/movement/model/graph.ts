/**
 * Lays out a movement's graph: dagre computes positions; node and edge types decide words and
 * shapes.
 */
import { graphlib, layout } from '@dagrejs/dagre';
import { groupBy } from '../../../../domain/graph/paths.ts';
import type { EdgeType, NodeKind } from '../../../../domain/graph/types.ts';
import type { NodeState } from '../../../../domain/states/node.ts';
import { visibleText } from '../../../parts/visible.ts';
import type { Graph } from './answers.ts';

type Node = Graph['nodes'][number];
type Edge = Graph['edges'][number];

/** The graph of a movement, or of a template, which has no node states and no edge statuses. */
export interface Drawable {
  readonly nodes: readonly (Pick<Node, 'node_key' | 'node_kind' | 'action_type'> & Partial<Node>)[];
  readonly edges: readonly (Omit<Edge, 'status'> & Partial<Edge>)[];
}

/** Shape of a node's outline, by the kind of the node. */
export type Outline = 'box' | 'pill' | 'hexagon' | 'double_box' | 'slanted';
/** Line style of an edge, by the edge's status. */
export type Stroke = 'thick' | 'thin' | 'dotted' | 'open';

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface PlacedNode extends Point {
  readonly node_key: string;
  /** Size in drawing units; `x` and `y` are the centre. */
  readonly width: number;
  readonly height: number;
  readonly outline: Outline;
  /** State of the node; null in a template. */
  readonly state: NodeState | null;
  /** Symbol shown before the state's word; empty for a template's node. */
  readonly sign: string;
  readonly stateWord: string;
  readonly kindWord: string;
  readonly action_type: string;
  readonly attempt: number;
}

export interface PlacedEdge {
  readonly from: string;
  readonly to: string;
  readonly edge_type: EdgeType;
  /** The edge type, such as `on failure`, with its condition, priority and join if it has them. */
  readonly words: string;
  readonly stroke: Stroke;
  /** The edge's status in a word. */
  readonly statusWord: string;
  readonly points: readonly Point[];
  /** Position of the words. */
  readonly label: Point;
}

export interface Placed {
  readonly width: number;
  readonly height: number;
  /** Nodes from top to bottom, then from left to right: the reading order. */
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly PlacedEdge[];
}

export const OUTLINES: Readonly<
  Record<NodeKind, { readonly outline: Outline; readonly word: string }>
> = {
  action: { outline: 'box', word: 'action' },
  observe: { outline: 'pill', word: 'observes' },
  manual_gate: { outline: 'hexagon', word: 'gate' },
  compensation: { outline: 'double_box', word: 'compensation' },
  post_action: { outline: 'slanted', word: 'afterwards' },
};

export const STATE_SIGNS: Readonly<
  Record<NodeState, { readonly sign: string; readonly word: string }>
> = {
  BLOCKED: { sign: '○', word: 'blocked' },
  READY: { sign: '◔', word: 'ready' },
  SUBMITTING: { sign: '◑', word: 'submitting' },
  SUBMITTED: { sign: '◕', word: 'submitted' },
  OBSERVING: { sign: '◉', word: 'observing' },
  COMPLETED: { sign: '✓', word: 'completed' },
  FAILED: { sign: '✗', word: 'failed' },
  UNKNOWN: { sign: '?', word: 'unknown' },
  SKIPPED: { sign: '↷', word: 'skipped' },
  CANCELLED: { sign: '⊘', word: 'cancelled' },
};

const STATUSES: Readonly<
  Record<
    'fired' | 'pending' | 'dead' | 'unsaid' | 'planned',
    { readonly stroke: Stroke; readonly word: string }
  >
> = {
  fired: { stroke: 'thick', word: 'fired' },
  pending: { stroke: 'thin', word: 'pending' },
  dead: { stroke: 'dotted', word: 'dead' },
  unsaid: { stroke: 'open', word: 'not said' },
  planned: { stroke: 'thin', word: 'planned' },
};

export const EDGE_WORDS: Readonly<Record<EdgeType, string>> = {
  on_success: 'on success',
  on_failure: 'on failure',
  on_timeout: 'on time-out',
  on_cancel: 'on cancel',
  on_manual_resume: 'on manual resume',
};

const NODE_WIDTH = 220;
const NODE_HEIGHT = 72;
const LABEL_HEIGHT = 18;
const LONGEST_LABEL = 40;
/** Length of the straight part at the top and bottom of the pill, the narrowest outline. */
const STRAIGHT = NODE_WIDTH - NODE_HEIGHT;
const PORT_DISTANCE = 24;

/** Returns the positions of all nodes and edges. The same graph always gets the same positions. */
export function placed({ nodes, edges }: Drawable): Placed {
  const words = edges.map(wordsOf);
  const at = layoutOf({
    keys: nodes.map(({ node_key }) => node_key),
    lines: edges.map(({ from, to }, index) => ({ from, to, words: words[index] ?? '' })),
  });
  return {
    width: at.width,
    height: at.height,
    nodes: nodes
      .map((node, index) => placedNode(node, at.nodes[index] ?? NOWHERE))
      .sort((one, other) => one.y - other.y || one.x - other.x),
    edges: edges.map((edge, index) => {
      const { stroke, word } =
        STATUSES[edge.status === undefined ? 'planned' : (edge.status ?? 'unsaid')];
      return {
        from: edge.from,
        to: edge.to,
        edge_type: edge.edge_type,
        words: words[index] ?? '',
        stroke,
        statusWord: word,
        ...(at.lines[index] ?? { points: [], label: NOWHERE }),
      };
    }),
  };
}

interface Shape {
  readonly keys: readonly string[];
  readonly lines: readonly { readonly from: string; readonly to: string; readonly words: string }[];
}

interface Layout {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly Point[];
  readonly lines: readonly { readonly points: readonly Point[]; readonly label: Point }[];
}

const NOWHERE: Point = { x: 0, y: 0 };

/**
 * The last layout, kept because states change while a movement runs but the shape does not. A
 * layout of 200 nodes takes up to a second.
 */
let last: { readonly of: string; readonly found: Layout } | null = null;

function layoutOf(shape: Shape): Layout {
  const of = JSON.stringify(shape);
  if (last?.of !== of) last = { of, found: freshLayout(shape) };
  return last.found;
}

function freshLayout({ keys, lines }: Shape): Layout {
  const drawing = new graphlib.Graph({ multigraph: true });
  drawing.setGraph({ rankdir: 'TB', nodesep: 36, ranksep: 56, marginx: 12, marginy: 12 });
  // Node keys may collide with dagre's internal names, so nodes get ids by their position.
  const ids = new Map(keys.map((key, index) => [key, `n${String(index)}`]));
  for (const id of ids.values()) drawing.setNode(id, { width: NODE_WIDTH, height: NODE_HEIGHT });
  const ends = lines.map(({ from, to }, index) => ({
    v: idOf(ids, from),
    w: idOf(ids, to),
    name: String(index),
  }));
  ends.forEach((end, index) => {
    const width = widthOf(lines[index]?.words ?? '') + 8;
    drawing.setEdge(end, { width, height: LABEL_HEIGHT, labelpos: 'c' });
  });
  layout(drawing);
  const size = drawing.graph() as { readonly width?: number; readonly height?: number };
  const places = new Map([...ids.values()].map((id) => [id, drawing.node(id) as Point]));
  const rows = new Set([...places.values()].map(({ y }) => y));
  const placeOf = (id: string): Point => places.get(id) ?? NOWHERE;
  const drawn = ends.map((end) => {
    const { x, y, points } = drawing.edge(end) as Point & { readonly points: readonly Point[] };
    // Drops the first and last point, where dagre ends a line at a box. Our outlines have other
    // shapes, so the ends are computed below.
    return { ...end, label: { x, y }, bends: points.slice(1, -1) };
  });
  const leaves = ports(drawn.map(({ v, bends }) => ({ at: v, towards: bends.at(0)?.x ?? 0 })));
  const enters = ports(drawn.map(({ w, bends }) => ({ at: w, towards: bends.at(-1)?.x ?? 0 })));
  return {
    width: size.width ?? 0,
    height: size.height ?? 0,
    nodes: [...places.values()],
    lines: drawn.map(({ v, w, label, bends }, index) => {
      const [from, to] = [placeOf(v), placeOf(w)];
      return {
        label,
        points: [
          { x: from.x + (leaves[index] ?? 0), y: from.y + NODE_HEIGHT / 2 },
          ...bends.flatMap(({ x, y }) => straightThrough({ x, y }, rows.has(y))),
          { x: to.x + (enters[index] ?? 0), y: to.y - NODE_HEIGHT / 2 },
        ],
      };
    }),
  };
}

/**
 * Returns the points at which a line passes a row: straight down beside its nodes or labels, so
 * that lines slant only between rows.
 */
function straightThrough({ x, y }: Point, isRowOfNodes: boolean): readonly Point[] {
  const half = (isRowOfNodes ? NODE_HEIGHT : LABEL_HEIGHT) / 2;
  return [
    { x, y: y - half },
    { x, y: y + half },
  ];
}

/**
 * Returns where each line meets its node, as the distance from the node's middle: side by side,
 * ordered by the direction from which the lines come.
 */
function ports(
  ends: readonly { readonly at: string; readonly towards: number }[],
): readonly number[] {
  const found = ends.map(() => 0);
  for (const of of groupBy([...ends.keys()], (index) => ends[index]?.at).values()) {
    const ordered = of.toSorted((a, b) => (ends[a]?.towards ?? 0) - (ends[b]?.towards ?? 0));
    const apart = Math.min(PORT_DISTANCE, STRAIGHT / ordered.length);
    ordered.forEach((index, place) => {
      found[index] = (place - (ordered.length - 1) / 2) * apart;
    });
  }
  return found;
}

function idOf(ids: ReadonlyMap<string, string>, key: string): string {
  const id = ids.get(key);
  if (id === undefined) throw new Error(`an edge names ${key}, which is no node of the graph`);
  return id;
}

function placedNode(node: Drawable['nodes'][number], { x, y }: Point): PlacedNode {
  const { outline, word: kindWord } = OUTLINES[node.node_kind];
  const { node_key, action_type, attempt = 1, state = null } = node;
  const { sign, word: stateWord } =
    state === null ? { sign: '', word: kindWord } : STATE_SIGNS[state];
  return {
    node_key,
    action_type,
    attempt,
    state,
    x,
    y,
    width: NODE_WIDTH,
    height: NODE_HEIGHT,
    outline,
    kindWord,
    sign,
    stateWord,
  };
}

function wordsOf({
  edge_type,
  condition_expr,
  priority,
  join_key,
}: Drawable['edges'][number]): string {
  return [
    EDGE_WORDS[edge_type],
    ...(condition_expr === null ? [] : [`if ${short(condition_expr)}`]),
    ...(priority === 0 ? [] : [`priority ${String(priority)}`]),
    ...(join_key === null ? [] : [`join ${short(join_key)}`]),
  ].join(', ');
}

/** Returns untrusted text shortened for a label. */
export function short(text: string, most = LONGEST_LABEL): string {
  const shown = [...visibleText(text.slice(0, 4 * most))];
  return shown.length > most ? `${shown.slice(0, most).join('')}…` : shown.join('');
}

/**
 * Returns text shortened to a width. Both ends are kept, since names often differ in their last
 * characters.
 */
export function fitting(text: string, width: number): string {
  const shown = [...visibleText(text)];
  if (widthOf(shown.join('')) <= width) return shown.join('');
  for (let kept = Math.min(shown.length - 1, LONGEST_LABEL); kept > 1; kept -= 1) {
    const head = Math.ceil(kept / 2);
    const cut = [...shown.slice(0, head), '…', ...shown.slice(head - kept)].join('');
    if (widthOf(cut) <= width) return cut;
  }
  return '…';
}

/** Returns an upper bound of the text's width at 12 pixels font size, for any font and for bold. */
function widthOf(text: string): number {
  let width = 0;
  for (const letter of text)
    width += /[a-z0-9 .,:_-]/.test(letter) && !/[mw]/.test(letter) ? 7.6 : 12.5;
  return width;
}
