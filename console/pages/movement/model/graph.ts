/** The movement's graph, laid out: positions by dagre, words and shapes by what each node is. */
import { graphlib, layout } from '@dagrejs/dagre';
import type { EdgeType, NodeKind } from '../../../../domain/graph/types.ts';
import type { NodeState } from '../../../../domain/states/node.ts';
import { visibleText } from '../../../parts/visible.ts';
import type { Graph } from './answers.ts';

type Node = Graph['nodes'][number];
type Edge = Graph['edges'][number];

/** A graph of a movement, or of a template, where nothing has happened: no states, no statuses. */
export interface Drawable {
  readonly nodes: readonly (Pick<Node, 'node_key' | 'node_kind' | 'action_type'> & Partial<Node>)[];
  readonly edges: readonly (Omit<Edge, 'status'> & Partial<Edge>)[];
}

/** Its outline: what kind of node it is. */
export type Outline = 'box' | 'pill' | 'hexagon' | 'double_box' | 'slanted';
/** How a line is drawn: what became of the edge. */
export type Stroke = 'thick' | 'thin' | 'dotted' | 'open';

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface PlacedNode extends Point {
  readonly node_key: string;
  /** Centre `x`, `y`; units are those of the drawing. */
  readonly width: number;
  readonly height: number;
  readonly outline: Outline;
  /** Null in a template. */
  readonly state: NodeState | null;
  /** A sign for the state, beside its word; of a template's node there is none. */
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
  /** `on failure`, with its condition, priority and join where it has them. */
  readonly words: string;
  readonly stroke: Stroke;
  /** What became of it, in a word. */
  readonly statusWord: string;
  readonly points: readonly Point[];
  /** Where its words stand. */
  readonly label: Point;
}

export interface Placed {
  readonly width: number;
  readonly height: number;
  /** From top to bottom, then from left to right: the order of reading. */
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
const LETTER_WIDTH = 7;
const LONGEST_LABEL = 40;

/** Places every node and edge; the same graph is always placed the same. */
export function placed({ nodes, edges }: Drawable): Placed {
  const drawing = new graphlib.Graph({ multigraph: true });
  drawing.setGraph({ rankdir: 'TB', nodesep: 36, ranksep: 56, marginx: 12, marginy: 12 });
  // Keys are others' text, and dagre has names of its own: nodes are named by their position.
  const ids = new Map(nodes.map(({ node_key }, index) => [node_key, `n${String(index)}`]));
  for (const id of ids.values()) drawing.setNode(id, { width: NODE_WIDTH, height: NODE_HEIGHT });
  const words = edges.map(wordsOf);
  edges.forEach((edge, index) => {
    drawing.setEdge(
      { v: idOf(ids, edge.from), w: idOf(ids, edge.to), name: String(index) },
      { width: (words[index] ?? '').length * LETTER_WIDTH, height: LABEL_HEIGHT, labelpos: 'c' },
    );
  });
  layout(drawing);
  const size = drawing.graph() as { readonly width?: number; readonly height?: number };
  const placedNodes = nodes.map((node) =>
    placedNode(node, drawing.node(idOf(ids, node.node_key)) as Point),
  );
  return {
    width: size.width ?? 0,
    height: size.height ?? 0,
    nodes: placedNodes.sort((one, other) => one.y - other.y || one.x - other.x),
    edges: edges.map((edge, index) => {
      const at = drawing.edge({
        ...{ v: idOf(ids, edge.from), w: idOf(ids, edge.to), name: String(index) },
      }) as Point & { readonly points: readonly Point[] };
      const { stroke, word } =
        STATUSES[edge.status === undefined ? 'planned' : (edge.status ?? 'unsaid')];
      return {
        ...{ from: edge.from, to: edge.to, edge_type: edge.edge_type },
        words: words[index] ?? '',
        ...{ stroke, statusWord: word, points: at.points, label: { x: at.x, y: at.y } },
      };
    }),
  };
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
    ...{ node_key, action_type, attempt, state },
    ...{ x, y, width: NODE_WIDTH, height: NODE_HEIGHT, outline, kindWord, sign, stateWord },
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

/** Others' text in a label, where there is no room for all of it. */
export function short(text: string, most = LONGEST_LABEL): string {
  const shown = visibleText(text);
  return shown.length > most ? `${shown.slice(0, most)}…` : shown;
}
