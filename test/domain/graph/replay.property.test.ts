/** A new run sees only what is recorded; it must decide what the live one did. */
import fc from 'fast-check';
import { withConditions } from '../../../domain/conditions/apply.ts';
import type { WalkEdge, WalkNode } from '../../../domain/graph/walk-types.ts';
import { walk, type WalkResult } from '../../../domain/graph/walk.ts';
import { plans, turns } from './arbitrary.ts';
import { Run, type Conditions, type Recorded } from './build.ts';
import { drive } from './drive.ts';

const CEL: Conditions = { amount: '75', input_params: { flag: true } };

/**
 * Walks from what is recorded until nothing changes, as a new run would; the record is what JSON
 * keeps of it.
 */
function replay(
  recorded: Recorded,
  edges: readonly WalkEdge[],
): { last: WalkResult; states: string[] } {
  const kept: Recorded = JSON.parse(JSON.stringify(recorded));
  let { nodes, state } = kept;
  for (let rounds = 0; rounds < nodes.length + 4; rounds += 1) {
    const next = walk({ state, nodes, edges: withConditions(edges, kept.results) });
    const moved = next.state !== state || next.ready.length + next.skip.length > 0;
    if (!moved) return { last: next, states: nodes.map((node) => node.state) };
    state = next.state;
    nodes = nodes.map((node): WalkNode => {
      if (next.ready.includes(node.node_key)) return { ...node, state: 'READY' };
      return next.skip.includes(node.node_key) ? { ...node, state: 'SKIPPED' } : node;
    });
  }
  throw new Error('the walk does not come to rest');
}

/**
 * As toEqual, which is too slow for tens of thousands of comparisons, and called only to tell the
 * difference.
 */
function same(found: unknown, expected: unknown): void {
  if (JSON.stringify(found) !== JSON.stringify(expected)) expect(found).toEqual(expected);
}

describe('a replay', () => {
  it('from any prefix of outcomes gives the frontier of the live run', () => {
    let prefixes = 0;
    fc.assert(
      fc.property(plans('ancestors'), turns, (plan, hand) => {
        const run = new Run(plan.nodes, plan.edges, CEL);
        run.watch = (before, live, at) => {
          prefixes += 1;
          const { last, states } = replay(before, plan.edges);
          same(last, live);
          same(
            states,
            at.nodes.map((node) => node.state),
          );
          // And once more from what the live run has decided by now.
          same(replay(at.recorded, plan.edges), { last, states });
        };
        drive(run, hand);
      }),
      { numRuns: 1_000 },
    );
    expect(prefixes).toBeGreaterThan(3_000);
  });

  it('does not depend on the waiting state that was written last', () => {
    fc.assert(
      fc.property(plans('ancestors'), turns, (plan, hand) => {
        const run = new Run(plan.nodes, plan.edges, CEL);
        run.watch = (before, live) => {
          if (!['EXECUTING', 'WAITING_MANUAL_ACTION', 'MANUAL_INTERVENTION'].includes(before.state))
            return;
          for (const state of [
            'EXECUTING',
            'WAITING_MANUAL_ACTION',
            'MANUAL_INTERVENTION',
          ] as const) {
            same(replay({ ...before, state }, plan.edges).last, live);
          }
        };
        drive(run, hand);
      }),
      { numRuns: 300 },
    );
  });

  it('of the same outcomes evaluates every condition to the same', () => {
    fc.assert(
      fc.property(plans('ancestors'), turns, (plan, hand) => {
        const [one, other] = [
          new Run(plan.nodes, plan.edges, CEL),
          new Run(plan.nodes, plan.edges, CEL),
        ];
        drive(one, hand);
        drive(other, hand);
        expect(other.recorded).toEqual(one.recorded);
        expect(other.started).toEqual(one.started);
      }),
      { numRuns: 300 },
    );
  });
});
