/**
 * Draws a plan or a movement as a Mermaid flowchart: https://mermaid.js.org/syntax/flowchart.html.
 * Nodes are named by their position and never by their key. All text from callers is escaped. Only
 * the simple syntax of that page is used: quoted labels, node shapes, three kinds of arrow, a
 * subgraph, classes.
 */
import { NODE_STATES, type NodeState } from '../states/node.ts';
import type { EdgeStatus } from './edges.ts';
import { mermaidText, shortened } from './mermaid-text.ts';
import type { GraphEdge, GraphNode, NodeKind } from './types.ts';

export interface DrawnNode extends GraphNode {
  readonly action_type: string;
  /** Null for a plan without a movement. */
  readonly state: NodeState | null;
  readonly attempt: number | null;
  /** Keys of the executor and the signer; null when the diagram shows none. */
  readonly executor: string | null;
  readonly signer: string | null;
}

export interface DrawnEdge extends GraphEdge {
  /** Null for a plan without a movement, and when the status is unknown. */
  readonly status: EdgeStatus | null;
}

export interface Drawing {
  readonly nodes: readonly DrawnNode[];
  readonly edges: readonly DrawnEdge[];
}

/** What opens and closes the label, by kind of node. */
const SHAPES: Readonly<Record<NodeKind, readonly [string, string]>> = {
  action: ['["', '"]'],
  observe: ['(["', '"])'],
  manual_gate: ['{{"', '"}}'],
  compensation: ['[["', '"]]'],
  post_action: ['[/"', '"/]'],
};

const ARROWS: Readonly<Record<EdgeStatus, string>> = { fired: '==>', pending: '-->', dead: '-.->' };
const ARROWS_EXPLAINED = 'thick: fired, thin: pending, dotted: dead';

const COLOURS: Readonly<Record<NodeState, string>> = {
  BLOCKED: 'fill:#eceff1,stroke:#90a4ae,color:#000000',
  READY: 'fill:#e3f2fd,stroke:#1e88e5,color:#000000',
  SUBMITTING: 'fill:#fff8e1,stroke:#ffb300,color:#000000',
  SUBMITTED: 'fill:#ffecb3,stroke:#ffa000,color:#000000',
  OBSERVING: 'fill:#ffe082,stroke:#ff8f00,color:#000000',
  COMPLETED: 'fill:#c8e6c9,stroke:#2e7d32,color:#000000',
  FAILED: 'fill:#ffcdd2,stroke:#c62828,color:#000000',
  UNKNOWN: 'fill:#e1bee7,stroke:#6a1b9a,color:#000000',
  SKIPPED: 'fill:#fafafa,stroke:#bdbdbd,color:#616161',
  CANCELLED: 'fill:#d7ccc8,stroke:#5d4037,color:#000000',
};

const LONGEST_CONDITION = 80;

/** Returns the diagram's text, which ends with a newline. */
export function toMermaid({ nodes, edges }: Drawing): string {
  const ids = new Map(nodes.map((node, index) => [node.node_key, `n${String(index)}`]));
  const idOf = (key: string): string => {
    const id = ids.get(key);
    if (id === undefined) throw new Error(`an edge names ${key}, which is no node of the graph`);
    return id;
  };
  const lines = [
    'flowchart TD',
    ...nodes.map((node) => `  ${idOf(node.node_key)}${labelled(node)}`),
    ...edges.map(
      (edge) => `  ${idOf(edge.from)} ${arrowOf(edge)}|"${edgeLabel(edge)}"| ${idOf(edge.to)}`,
    ),
    ...legend(nodes, idOf),
  ];
  return `${lines.join('\n')}\n`;
}

function labelled(node: DrawnNode): string {
  const [open, close] = SHAPES[node.node_kind];
  const attempt =
    node.attempt !== null && node.attempt > 1 ? `, attempt ${String(node.attempt)}` : '';
  const parts = [
    node.node_key,
    `${node.node_kind}: ${node.action_type}`,
    ...(node.state === null ? [] : [node.state + attempt]),
    ...(node.executor === null ? [] : [`executor ${node.executor}`]),
    ...(node.signer === null ? [] : [`signer ${node.signer}`]),
  ];
  return open + parts.map(mermaidText).join('<br/>') + close;
}

function arrowOf({ status }: DrawnEdge): string {
  return ARROWS[status ?? 'pending'];
}

function edgeLabel(edge: DrawnEdge): string {
  const parts = [
    edge.edge_type,
    ...(edge.condition_expr === null
      ? []
      : [`if ${shortened(edge.condition_expr, LONGEST_CONDITION)}`]),
    ...(edge.priority === 0 ? [] : [`priority ${String(edge.priority)}`]),
    ...(edge.join_key === null ? [] : [`join ${edge.join_key}`]),
  ];
  return parts.map(mermaidText).join('<br/>');
}

/** Returns the legend of states and arrows; empty for a plan without a movement. */
function legend(nodes: readonly DrawnNode[], idOf: (key: string) => string): readonly string[] {
  const states = NODE_STATES.filter((state) => nodes.some((node) => node.state === state));
  if (states.length === 0) return [];
  return [
    '  subgraph legend["Legend"]',
    ...states.map((state) => `    ${classOf(state)}key["${state}"]`),
    `    arrowskey["${mermaidText(ARROWS_EXPLAINED)}"]`,
    '  end',
    ...states.map((state) => `  classDef ${classOf(state)} ${COLOURS[state]}`),
    ...states.map((state) => {
      const members = nodes
        .filter((node) => node.state === state)
        .map((node) => idOf(node.node_key));
      return `  class ${[...members, `${classOf(state)}key`].join(',')} ${classOf(state)}`;
    }),
  ];
}

function classOf(state: NodeState): string {
  return `state${state}`;
}
