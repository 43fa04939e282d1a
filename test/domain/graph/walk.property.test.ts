import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isRetryable, reopened } from '../../../domain/graph/retry.ts';
import { EDGE_TYPES, NODE_KINDS } from '../../../domain/graph/types.ts';
import { validateGraph } from '../../../domain/graph/validate.ts';
import type { WalkEdge, WalkNode } from '../../../domain/graph/walk-types.ts';
import { walk } from '../../../domain/graph/walk.ts';
import { isSettled } from '../../../domain/states/node.ts';
import { Run, edge, node, type Outcome } from './build.ts';

interface Plan {
  readonly nodes: readonly WalkNode[];
  readonly edges: readonly WalkEdge[];
}

/** A DAG: edges lead from lower to higher numbers, and each node but the first has one from before it. */
const plans: fc.Arbitrary<Plan> = fc.integer({ min: 1, max: 9 }).chain((size) => {
  const keys = Array.from({ length: size }, (_, index) => `n${index}`);
  const edgeBetween = (from: number, to: number): fc.Arbitrary<WalkEdge> =>
    fc
      .record({
        edge_type: fc.constantFrom(...EDGE_TYPES),
        priority: fc.integer({ min: 0, max: 2 }),
        join_key: fc.constantFrom(null, null, 'x', 'y'),
        condition: fc.constantFrom(null, null, true, false, 'error' as const),
      })
      .map((parts) => edge(`${keys[from]}>${keys[to]}`, { ...parts, condition_expr: parts.condition === null ? null : `c${to}` }));
  const spine = keys.slice(1).map((_, index) => fc.integer({ min: 0, max: index }).chain((from) => edgeBetween(from, index + 1)));
  const extra =
    size < 2
      ? fc.constant([])
      : fc.array(
          fc
            .tuple(fc.integer({ min: 0, max: size - 2 }), fc.nat())
            .chain(([from, step]) => edgeBetween(from, from + 1 + (step % (size - 1 - from)))),
          { maxLength: size * 2 },
        );
  return fc.tuple(fc.tuple(...keys.map(() => fc.constantFrom(...NODE_KINDS))), fc.tuple(...spine), extra).map(([kinds, first, more]) => {
    const seen = new Set<string>();
    const edges = [...first, ...more].filter((each) => {
      const name = JSON.stringify([each.from, each.to, each.edge_type, each.condition_expr]);
      return seen.has(name) ? false : seen.add(name) !== undefined;
    });
    return { nodes: keys.map((key, index) => node(key, { node_kind: kinds[index] ?? 'action' })), edges };
  });
});

const choices = fc.array(
  fc.record({ pick: fc.nat(), outcome: fc.constantFrom<Outcome>('COMPLETED', 'COMPLETED', 'COMPLETED', 'FAILED', 'TIMED_OUT', 'UNKNOWN') }),
  { minLength: 60, maxLength: 60 },
);

/** Lets nodes end in a drawn order with drawn outcomes; gates and UNKNOWN nodes get a person's hand. */
function play(run: Run, drawn: readonly { pick: number; outcome: Outcome }[], cancelAt: number | null): number {
  let turns = 0;
  run.step();
  for (const { pick, outcome } of drawn) {
    if (run.ended) return turns;
    if (turns === cancelAt && run.state !== 'CANCELLED') run.cancel();
    const open = run.nodes.filter((each) => each.state !== 'BLOCKED' && !isSettled(each.state));
    const chosen = open[pick % Math.max(1, open.length)];
    if (chosen === undefined) break;
    const gate = chosen.node_kind === 'manual_gate';
    const next = gate || chosen.state === 'UNKNOWN' ? (outcome === 'UNKNOWN' ? 'COMPLETED' : outcome) : outcome;
    run.settle(chosen.node_key, gate ? 'COMPLETED' : next, gate ? { resumed: true } : {});
    turns += 1;
  }
  return turns;
}

describe('any plan with any outcomes', () => {
  it('is valid', () => {
    fc.assert(
      fc.property(plans, (plan) => expect(validateGraph(plan)).toEqual([])),
      { numRuns: 300 },
    );
  });

  it('ends with every node settled and none run twice, with or without a cancel', () => {
    fc.assert(
      fc.property(plans, choices, fc.option(fc.nat({ max: 6 })), (plan, drawn, cancelAt) => {
        const run = new Run(plan.nodes, plan.edges);
        play(run, drawn, cancelAt);
        expect(run.ended).toBe(true);
        expect(['COMPLETED', 'FAILED', 'CANCELLED']).toContain(run.state);
        expect(run.nodes.filter((each) => !isSettled(each.state))).toEqual([]);
        expect(new Set(run.started).size).toBe(run.started.length);
        expect(run.state === 'FAILED').toBe(run.failure !== null);
      }),
      { numRuns: 1_500 },
    );
  });

  it('is COMPLETED only where no failure outside post-actions went unhandled', () => {
    fc.assert(
      fc.property(plans, choices, (plan, drawn) => {
        const run = new Run(plan.nodes, plan.edges);
        play(run, drawn, null);
        fc.pre(run.state === 'COMPLETED');
        for (const failed of run.nodes.filter((each) => each.state === 'FAILED' && each.node_kind !== 'post_action')) {
          const taken = plan.edges.some((each) => each.from === failed.node_key && ['on_failure', 'on_timeout'].includes(each.edge_type));
          expect(taken).toBe(true);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('gives the same answer when asked again, and nothing once it has ended', () => {
    fc.assert(
      fc.property(plans, choices, (plan, drawn) => {
        const run = new Run(plan.nodes, plan.edges);
        play(run, drawn, null);
        expect(walk(run.input)).toEqual(walk(run.input));
        expect(walk(run.input)).toMatchObject({ ready: [], skip: [], run: [], frontier: [], state: run.state, ended: true });
      }),
      { numRuns: 500 },
    );
  });

  it('goes on after a retry and ends again', () => {
    fc.assert(
      fc.property(plans, choices, choices, (plan, drawn, again) => {
        const run = new Run(plan.nodes, plan.edges);
        play(run, drawn, null);
        fc.pre(run.state === 'FAILED');
        const retried = run.nodes.find((each) => isRetryable(run.input, each));
        fc.pre(retried !== undefined);
        if (retried === undefined) return;
        const back = reopened(run.input, retried.node_key);
        for (const key of back) run.set(key, { state: 'BLOCKED' });
        run.set(retried.node_key, { state: 'READY', resumed: false, timed_out: false, error_code: null, settled_order: 0 });
        run.state = 'EXECUTING';
        run.ended = false;
        play(run, again, null);
        expect(run.ended).toBe(true);
        expect(run.nodes.filter((each) => !isSettled(each.state))).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });
});
