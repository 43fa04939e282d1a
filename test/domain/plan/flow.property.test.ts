/**
 * What a plan can move at most, against the contract tried out: over every choice of ways, and over
 * every run that a plan may take.
 */
import fc from 'fast-check';
import { add, compare } from '../../../domain/money.ts';
import { flowsOf, outflowIn, outflowOf } from '../../../domain/plan/flow.ts';
import type { CompiledNode, CompiledPlan } from '../../../domain/plan/types.ts';
import { dearestDraw, sourcesOf, type ModelDraw } from '../../support/flow-model.ts';
import { plans } from './flow-arbitrary.ts';

const ASSETS = ['USDC', 'USDT'];

/**
 * What a node may send at most, as the contract says it; the plans here give no limit to all nodes.
 */
function most({ config, asset, risk_patch }: CompiledNode, plan: CompiledPlan): string | null {
  if (typeof config['amount'] === 'string') return config['amount'];
  if (config['amount_ref'] === undefined) return plan.intent.amount;
  const limit = risk_patch?.['max_amount'];
  return asset === plan.intent.asset && typeof limit === 'string' ? limit : null;
}

function drawsOf(plan: CompiledPlan, asset: string): readonly ModelDraw[] {
  const sources = sourcesOf(plan.nodes, plan.edges);
  const drawing = plan.nodes.filter((node) => sources.get(node.node_key) === null);
  return drawing.map((node) => ({
    node_key: node.node_key,
    amount: node.asset === asset ? most(node, plan) : '0',
  }));
}

test('each sending node passes on what its template says that it does, and draws otherwise', () => {
  const seen = { drawn: 0, passed: 0 };
  fc.assert(
    fc.property(plans(7), (plan) => {
      const found = new Map([...flowsOf(plan)].map(([key, { from }]) => [key, from]));
      expect(found).toEqual(sourcesOf(plan.nodes, plan.edges));
      for (const from of found.values()) seen[from === null ? 'drawn' : 'passed'] += 1;
    }),
    { numRuns: 1_000 },
  );
  expect(Math.min(seen.drawn, seen.passed)).toBeGreaterThan(200);
});

test('the outflow is the dearest of all choices of ways, in each asset', () => {
  const seen = { bounded: 0, unknown: 0, excluded: 0 };
  fc.assert(
    fc.property(plans(6), (plan) => {
      const outflow = outflowOf(plan);
      for (const asset of ASSETS) {
        const draws = drawsOf(plan, asset);
        const expected = dearestDraw(draws, plan.nodes, plan.edges);
        expect([asset, outflowIn(outflow, asset)]).toEqual([asset, expected]);
        seen[expected === null ? 'unknown' : 'bounded'] += 1;
        if (
          expected !== null &&
          expected !== draws.reduce((sum, { amount }) => add(sum, amount ?? '0'), '0')
        )
          seen.excluded += 1;
      }
      // Only what is drawn is named, in one order.
      expect(outflow.map(({ asset }) => asset)).toEqual(
        ASSETS.filter((asset) =>
          plan.nodes.some(
            (node) =>
              node.asset === asset && sourcesOf(plan.nodes, plan.edges).get(node.node_key) === null,
          ),
        ),
      );
    }),
    { numRuns: 1_500 },
  );
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(50);
});

/**
 * What the dearest run draws: nodes run where a way that was taken leads to them, and whoever is
 * lost draws nothing.
 */
function dearestRun(plan: CompiledPlan, asset: string): string {
  const amounts = new Map(
    drawsOf(plan, asset).map(({ node_key, amount }) => [node_key, amount ?? '0']),
  );
  const roots = plan.nodes
    .map(({ node_key }) => node_key)
    .filter((key) => !plan.edges.some(({ to }) => to === key));
  const outcomes = [
    ['on_success', 'on_manual_resume', 'on_cancel'],
    ['on_failure'],
    ['on_timeout'],
  ] as const;
  const keys = plan.nodes.map(({ node_key }) => node_key);
  const from = (index: number, running: ReadonlySet<string>): string => {
    const key = keys[index];
    if (key === undefined) return '0';
    if (!running.has(key)) return from(index + 1, running);
    return outcomes
      .flatMap((types, which) => {
        const own = which === 0 ? (amounts.get(key) ?? '0') : '0';
        return takenEdges(plan, key, types).map((edges) =>
          add(own, from(index + 1, new Set([...running, ...edges]))),
        );
      })
      .reduce((a, b) => (compare(a, b) >= 0 ? a : b));
  };
  return from(0, new Set(roots));
}

/**
 * Whom one outcome of a node may lead to: of each type, one of its priorities (a cancel follows
 * all).
 */
function takenEdges(
  plan: CompiledPlan,
  key: string,
  types: readonly string[],
): readonly (readonly string[])[] {
  let taken: readonly (readonly string[])[] = [[]];
  for (const type of types) {
    const edges = plan.edges.filter((edge) => edge.from === key && edge.edge_type === type);
    const priorities =
      type === 'on_cancel' ? [null] : [...new Set(edges.map(({ priority }) => priority))];
    if (edges.length === 0) continue;
    taken = taken.flatMap((before) =>
      priorities.map((one) => [
        ...before,
        ...edges.filter(({ priority }) => one === null || priority === one).map(({ to }) => to),
      ]),
    );
  }
  return taken;
}

test.each([
  ['no run of a plan', false],
  ['no run of a tree, whose dearest draws exactly that,', true],
])('%s draws more than its outflow', (_what, tree) => {
  const seen = { moved: 0, dearer: 0 };
  fc.assert(
    fc.property(plans(6, tree), (plan) => {
      for (const asset of ASSETS) {
        const outflow = outflowIn(outflowOf(plan), asset);
        if (outflow === null) continue;
        const run = dearestRun(plan, asset);
        expect(compare(run, outflow)).toBeLessThanOrEqual(0);
        if (tree) expect(run).toBe(outflow);
        if (run !== '0') seen.moved += 1;
        if (run !== outflow) seen.dearer += 1;
      }
    }),
    { numRuns: 1_000 },
  );
  expect(seen.moved).toBeGreaterThan(300);
  // A tree leaves nothing to be careful about, other graphs do.
  expect(seen.dearer > 0).toBe(!tree);
});
