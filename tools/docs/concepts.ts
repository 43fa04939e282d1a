/** Draws the pictures of docs/concepts.md: a plan, and the phases of a node. */
import { toMermaid } from '../../domain/graph/mermaid.ts';
import type { GraphEdge } from '../../domain/graph/types.ts';
import type { TemplateNode } from '../../domain/plan/types.ts';
import { NODE_STATES, NODE_TABLE, type NodeState } from '../../domain/states/node.ts';
import { between } from './between.ts';

export const CONCEPTS_FILE = 'docs/concepts.md';

/** The drawn fields of a template, a body of `POST plan-templates`. */
export interface DrawnTemplate {
  readonly nodes: readonly Pick<TemplateNode, 'node_key' | 'node_kind' | 'action_type'>[];
  readonly edges: readonly Pick<GraphEdge, 'from' | 'to' | 'edge_type'>[];
}

/** Returns `page` with its up-to-date pictures. Throws when the page has no place for a picture. */
export function withPictures(page: string, template: DrawnTemplate): string {
  const pictures = {
    'drawn plan': drawnPlan(template),
    phases: phases(),
  };
  return Object.entries(pictures).reduce(
    (all, [name, lines]) => between(all, name, ['```mermaid', ...lines, '```']),
    page,
  );
}

/** Draws the plan like the response of `GET plan-templates/{template_id}/graph?format=mermaid`. */
function drawnPlan({ nodes, edges }: DrawnTemplate): readonly string[] {
  const notRun = { state: null, attempt: null, executor: null, signer: null };
  const plain = { condition_expr: null, join_key: null, priority: 0, status: null };
  const drawing = toMermaid({
    nodes: nodes.map((node) => ({ ...node, ...notRun })),
    edges: edges.map((edge) => ({ ...plain, ...edge })),
  });
  return drawing.trimEnd().split('\n');
}

interface Step {
  readonly from: NodeState;
  readonly to: NodeState;
  readonly says: string;
}

/** The moves of a node, and the phase that decides each; all are in the transition table. */
const STEPS: readonly Step[] = [
  { from: 'BLOCKED', to: 'READY', says: 'its edges have fired' },
  { from: 'READY', to: 'FAILED', says: 'preflight or prepare refuse' },
  { from: 'READY', to: 'SUBMITTING', says: 'the fence: state, attempt, hold, allowlist, registry' },
  { from: 'SUBMITTING', to: 'SUBMITTED', says: 'submit is answered' },
  { from: 'SUBMITTING', to: 'READY', says: 'recover: proven unsent, key safe' },
  { from: 'SUBMITTING', to: 'UNKNOWN', says: 'recover: still unknown' },
  { from: 'SUBMITTED', to: 'OBSERVING', says: 'observe looks' },
  { from: 'OBSERVING', to: 'COMPLETED', says: 'shown as required' },
  { from: 'OBSERVING', to: 'FAILED', says: 'proven that nothing landed' },
  { from: 'UNKNOWN', to: 'OBSERVING', says: 'found after all' },
];

function phases(): readonly string[] {
  const illegal = STEPS.find(({ from, to }) => !NODE_TABLE.moves[from].includes(to));
  if (illegal !== undefined) throw new Error(`no node goes from ${illegal.from} to ${illegal.to}`);
  const states = NODE_STATES.filter((state) =>
    STEPS.some(({ from, to }) => [from, to].includes(state)),
  );
  const beyond = states.filter((state) => !BEFORE_THE_FENCE.includes(state) && state !== 'FAILED');
  return [
    'flowchart LR',
    '  subgraph before["nothing has been sent"]',
    ...BEFORE_THE_FENCE.map((state) => `    ${state}`),
    '  end',
    '  subgraph beyond["something may have been sent"]',
    ...beyond.map((state) => `    ${state}`),
    '  end',
    ...STEPS.map(({ from, to, says }) => `  ${from} -->|"${says}"| ${to}`),
  ];
}

const BEFORE_THE_FENCE: readonly NodeState[] = ['BLOCKED', 'READY'];
