/** What a bridge took is passed on in no run of a plan before a second leg has brought it. */
import fc from 'fast-check';
import type { EdgeType } from '../../../domain/graph/types.ts';
import { walk } from '../../../domain/graph/walk.ts';
import type { WalkEdge, WalkNode } from '../../../domain/graph/walk-types.ts';
import { flowsOf } from '../../../domain/plan/flow.ts';
import type { CompiledNode } from '../../../domain/plan/types.ts';
import type { MovementState } from '../../../domain/states/movement.ts';
import { isSettled } from '../../../domain/states/node.ts';
import { planOfNodes } from './flow-arbitrary.ts';

const KINDS = ['arrive', 'arrive', 'look', 'idle', 'gate', 'spend', 'spend', 'spend'] as const;
const TYPES: readonly EdgeType[] = [
  ...Array.from({ length: 14 }, () => 'on_success' as const),
  ...(['on_manual_resume', 'on_failure', 'on_timeout', 'on_cancel'] as const),
];
const ACTIONS = {
  send: 'bridge_c_send',
  arrive: 'bridge_c_observe',
  look: 'evm_balance_observe',
  idle: 'noop',
  gate: 'manual_gate',
  spend: 'evm_erc20_transfer',
} as const;

/** All that is named is one send: the second, so that ways lead around it. */
const SEND = 1;
const LEADING = ['idle', 'send', 'arrive'] as const;

const drawnNode = fc.record({
  kind: fc.constantFrom(...KINDS),
  outcome: fc.constantFrom(...Array.from({ length: 10 }, () => 'done' as const), 'failed', 'late'),
});
const drawnEdge = fc.record({
  type: fc.constantFrom(...TYPES),
  from: fc.nat(),
  step: fc.constantFrom(0, 0, 0, 0, 0, 0, 1, 2),
  priority: fc.constantFrom(0, 0, 0, 0, 0, 1),
  join_key: fc.constantFrom(null, null, 'j'),
  condition: fc.constantFrom(...Array.from({ length: 9 }, () => null), false),
});
const runs = fc.record({
  nodes: fc.array(drawnNode, { minLength: 4, maxLength: 7 }),
  spine: fc.array(drawnEdge, { minLength: 7, maxLength: 7 }),
  more: fc.array(drawnEdge, { maxLength: 3 }),
  /** Whose turn it is among those that run. */
  turns: fc.array(fc.nat(), { minLength: 16, maxLength: 16 }),
  cancelAt: fc.option(fc.nat(8), { freq: 3 }),
});
type Run = typeof runs extends fc.Arbitrary<infer R> ? R : never;
type DrawnNode = Run['nodes'][number];

const kindAt = ({ kind }: DrawnNode, index: number): keyof typeof ACTIONS => LEADING[index] ?? kind;

function compiled(drawn: DrawnNode, index: number): CompiledNode {
  const kind = kindAt(drawn, index);
  const named = `n${String(SEND)}`;
  const observes = kind === 'arrive' || kind === 'look';
  return {
    node_key: `n${String(index)}`,
    node_kind: kind === 'gate' ? 'manual_gate' : observes ? 'observe' : 'action',
    action_type: ACTIONS[kind],
    has_side_effect: kind === 'send' || kind === 'spend',
    sends: kind === 'send' || kind === 'spend',
    asset: 'USDC',
    config: observes
      ? { match_from: named }
      : kind === 'spend'
        ? { amount_ref: `nodes.${named}.output.submitted_amount` }
        : {},
    executor_binding: { executor_key: 'e' },
    signer_binding: null,
  };
}

function edgesOf({ nodes, spine, more }: Run): WalkEdge[] {
  const edge = (from: number, to: number, drawn: Run['spine'][number]): WalkEdge => ({
    from: `n${String(from)}`,
    to: `n${String(to)}`,
    edge_type: drawn.type,
    priority: drawn.priority,
    join_key: drawn.join_key,
    condition: drawn.condition,
    condition_expr: drawn.condition === null ? null : String(drawn.condition),
  });
  const last = nodes.length - 1;
  return [
    ...spine.slice(0, last).map((each, at) => edge(Math.max(0, at - each.step), at + 1, each)),
    ...more.map((each) => {
      const from = each.from % last;
      return edge(from, Math.min(last, from + 1 + each.step), each);
    }),
  ];
}

/** Runs the plan, and tells which nodes ran with which completed before them. */
function ranAfter(run: Run, edges: readonly WalkEdge[]): ReadonlyMap<string, ReadonlySet<string>> {
  const ran = new Map<string, ReadonlySet<string>>();
  const plan = run.nodes.map(compiled);
  const targets = new Set(edges.map(({ to }) => to));
  let state: MovementState = 'EXECUTING';
  let nodes = plan.map(({ node_key, node_kind }): WalkNode => {
    const of = { node_key, node_kind, resumed: false, timed_out: false, settled_order: 0 };
    return { ...of, state: targets.has(node_key) ? 'BLOCKED' : 'READY', error_code: null };
  });
  const set = (keys: readonly string[], more: Partial<WalkNode>): void => {
    nodes = nodes.map((node) => (keys.includes(node.node_key) ? { ...node, ...more } : node));
  };
  run.turns.forEach((turn, at) => {
    if (at === run.cancelAt) state = 'CANCELLED';
    const { ready, skip } = walk({ state, nodes, edges });
    set(ready, { state: 'READY' });
    set(skip, { state: 'SKIPPED' });
    const open = nodes.filter((node) => node.state === 'READY' && !isSettled(node.state));
    const next = open[turn % Math.max(1, open.length)];
    if (next === undefined) return;
    const done = nodes.filter((node) => node.state === 'COMPLETED').map(({ node_key }) => node_key);
    ran.set(next.node_key, new Set(done));
    const { outcome } = run.nodes[Number(next.node_key.slice(1))] ?? { outcome: 'done' };
    set([next.node_key], {
      state: outcome === 'done' ? 'COMPLETED' : 'FAILED',
      settled_order: at + 1,
      resumed: next.node_kind === 'manual_gate',
      timed_out: outcome === 'late',
    });
  });
  return ran;
}

test('no run spends as passed on what no second leg has brought', () => {
  let passed = 0;
  fc.assert(
    fc.property(runs, (run) => {
      const nodes = run.nodes.map(compiled);
      const edges = edgesOf(run);
      const flows = flowsOf(planOfNodes(nodes, edges));
      for (const [key, done] of ranAfter(run, edges)) {
        const from = flows.get(key)?.from ?? null;
        const source = nodes.find(({ node_key }) => node_key === from);
        // The fence lets no node spend what is not completed.
        if (source?.action_type !== 'bridge_c_send' || !done.has(source.node_key)) continue;
        passed += 1;
        const brought = nodes.filter(
          ({ action_type, config }) =>
            action_type === 'bridge_c_observe' && config['match_from'] === source.node_key,
        );
        expect(brought.some(({ node_key }) => done.has(node_key))).toBe(true);
      }
    }),
    { numRuns: 6_000 },
  );
  // Else most runs would never come to a spend that passes on.
  expect(passed).toBeGreaterThan(150);
});
