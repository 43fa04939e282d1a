/** Random plans, and random hands that drive them. */
import fc from 'fast-check';
import type { JsonObject } from '../../../domain/json.ts';
import { ancestorsOf } from '../../../domain/graph/paths.ts';
import { EDGE_TYPES, NODE_KINDS, type EdgeType } from '../../../domain/graph/types.ts';
import type { WalkEdge, WalkNode } from '../../../domain/graph/walk-types.ts';
import { edge, node, type Outcome } from './build.ts';

export interface Plan {
  readonly nodes: readonly WalkNode[];
  /**
   * Without CEL the result of each condition is drawn with the edge; with it, nothing is known
   * before.
   */
  readonly edges: readonly WalkEdge[];
}

/** What the conditions of a plan may say about an ancestor; some of them cannot be evaluated. */
const EXPRESSIONS: readonly ((key: string) => string)[] = [
  () => 'true',
  () => 'intent.asset == "USDC"',
  (key) => `nodes['${key}'].state != 'BLOCKED'`,
  () => 'dec(intent.amount) > dec("50")',
  () => 'input_params.flag || intent.asset == "ETH"',
  (key) => `nodes['${key}'].state == 'COMPLETED'`,
  (key) => `nodes['${key}'].state in ['FAILED', 'SKIPPED']`,
  (key) => `nodes['${key}'].error_code == null`,
  (key) => `has(nodes['${key}'].output.fee) && dec(nodes['${key}'].output.fee) >= dec("2")`,
  (key) => `nodes['${key}'].output.yes`,
  (key) => `nodes['${key}'].output.fee > nodes['${key}'].output.fee`,
  (key) => `nodes['${key}'].output.absent == 1`,
];

interface Drawn {
  readonly from: number;
  readonly to: number;
  readonly pick: number;
  readonly parts: Partial<WalkEdge>;
}

/** Were all types as likely, most plans would be over after two nodes. */
const SUCCESSES = Array<EdgeType>(6).fill('on_success');

function drawnEdge(from: number, to: number): fc.Arbitrary<Drawn> {
  const parts = fc.record({
    edge_type: fc.constantFrom(...SUCCESSES, ...EDGE_TYPES),
    priority: fc.integer({ min: 0, max: 2 }),
    join_key: fc.constantFrom(null, null, 'x', 'y'),
    condition: fc.constantFrom(null, null, null, null, null, true, true, false, 'error' as const),
  });
  return fc.record({ from: fc.constant(from), to: fc.constant(to), pick: fc.nat(), parts });
}

/**
 * A DAG: edges lead from lower to higher numbers, and each node but the first has one from before
 * it.
 */
function drawnEdges(size: number): fc.Arbitrary<Drawn[]> {
  const spine = Array.from({ length: size - 1 }, (_, index) =>
    fc.integer({ min: 0, max: index }).chain((from) => drawnEdge(from, index + 1)),
  );
  if (size < 2) return fc.constant([]);
  const anyEdge = fc
    .tuple(fc.integer({ min: 0, max: size - 2 }), fc.nat())
    .chain(([from, step]) => drawnEdge(from, from + 1 + (step % (size - 1 - from))));
  return fc
    .tuple(fc.tuple(...spine), fc.array(anyEdge, { maxLength: size * 2 }))
    .map(([first, more]) => [...first, ...more]);
}

function planOf(
  kinds: readonly WalkNode['node_kind'][],
  drawn: readonly Drawn[],
  cel: 'none' | 'own' | 'ancestors',
): Plan {
  const bare = drawn.map(({ from, to }) => edge(`n${from}>n${to}`));
  const edges = drawn.map(({ from, to, pick, parts }) => {
    if (cel === 'none')
      return edge(`n${from}>n${to}`, {
        ...parts,
        condition_expr: parts.condition === null ? null : `c${to}`,
      });
    if (parts.condition === null) return edge(`n${from}>n${to}`, parts);
    const visible =
      cel === 'own' ? [`n${from}`] : [`n${from}`, ...ancestorsOf({ edges: bare }, `n${from}`)];
    const about = visible[pick % visible.length] ?? '';
    const condition_expr =
      EXPRESSIONS[Math.floor(pick / 16) % EXPRESSIONS.length]?.(about) ?? 'true';
    return edge(`n${from}>n${to}`, { ...parts, condition: null, condition_expr });
  });
  const seen = new Set<string>();
  const unique = edges.filter((each) => {
    const name = JSON.stringify([each.from, each.to, each.edge_type, each.condition_expr]);
    return seen.has(name) ? false : seen.add(name) !== undefined;
  });
  return {
    nodes: kinds.map((node_kind, index) => node(`n${index}`, { node_kind })),
    edges: unique,
  };
}

/**
 * Plans of every kind of node and edge. `own`: conditions read their source alone, so that no order
 * can matter to them.
 */
export function plans(cel: 'none' | 'own' | 'ancestors'): fc.Arbitrary<Plan> {
  return fc
    .nat({ max: 11 })
    .map((drawn) => (drawn < 9 ? drawn + 1 : 9))
    .chain((size) =>
      fc
        .tuple(
          fc.array(fc.constantFrom('action', 'action', 'action', ...NODE_KINDS), {
            minLength: size,
            maxLength: size,
          }),
          drawnEdges(size),
        )
        .map(([kinds, drawn]) => planOf(kinds, drawn, cel)),
    );
}

/** One thing that happens: the chosen open node comes to an outcome, or an operator acts. */
export interface Turn {
  readonly pick: number;
  readonly outcome: Outcome;
  readonly output: JsonObject | null;
  /** An operator does this first, where it is allowed. */
  readonly hand: 'none' | 'resume' | 'retry' | 'cancel';
}

const OUTPUTS: readonly (JsonObject | null)[] = [
  null,
  {},
  { fee: '1' },
  { fee: '9', yes: true },
  { yes: 'no' },
];
const OUTCOMES: readonly Outcome[] = [
  ...Array<Outcome>(7).fill('COMPLETED'),
  'FAILED',
  'TIMED_OUT',
  'UNKNOWN',
];
const HANDS: readonly Turn['hand'][] = ['resume', 'retry', 'retry', 'cancel', 'cancel', 'cancel'];

export const outputs: fc.Arbitrary<JsonObject | null> = fc.constantFrom(...OUTPUTS);

/** One number a turn: drawing each part by itself would take most of the time of a run. */
function turnOf(drawn: number): Turn {
  const part = (by: number, of: number): number => ((drawn - (drawn % by)) / by) % of;
  return {
    pick: part(1, 256),
    outcome: OUTCOMES[part(256, 10)] ?? 'COMPLETED',
    output: OUTPUTS[part(256 * 10, 5)] ?? null,
    hand: HANDS[part(256 * 10 * 5, 60)] ?? 'none',
  };
}

/**
 * More turns than most plans need; what is open after them completes. Small numbers are no likelier
 * than others.
 */
export const turns: fc.Arbitrary<Turn[]> = fc
  .noBias(
    fc.array(fc.integer({ min: 0, max: 256 * 10 * 5 * 60 - 1 }), { minLength: 50, maxLength: 50 }),
  )
  .map((drawn) => drawn.map(turnOf));
