import fc from 'fast-check';
import { edgeStatuses } from '../../../domain/graph/edge-status.ts';
import { onCancelTargets } from '../../../domain/graph/edges.ts';
import { rootNodes } from '../../../domain/graph/shape.ts';
import type { WalkInput } from '../../../domain/graph/walk-types.ts';
import { plans, turns } from './arbitrary.ts';
import { edge, node, Run } from './build.ts';
import { drive } from './drive.ts';

const statuses = (input: WalkInput): readonly unknown[] => edgeStatuses(input);

describe('the edges of a movement', () => {
  const nodes = [node('a'), node('b'), node('c'), node('undo:compensation')];
  const edges = [edge('a>b'), edge('a>c:on_failure'), edge('a>undo:on_cancel')];

  it('all wait before the approval', () => {
    expect(statuses({ state: 'PENDING_APPROVAL', nodes, edges })).toEqual([
      'pending',
      'pending',
      'pending',
    ]);
  });

  it('all are dead after a rejection', () => {
    expect(statuses({ state: 'REJECTED', nodes, edges })).toEqual(['dead', 'dead', 'dead']);
    expect(statuses({ state: 'EXPIRED', nodes, edges })).toEqual(['dead', 'dead', 'dead']);
  });

  it('fire or die as their source settles, and one for a cancel waits as long as a cancel may come', () => {
    const after = [
      node('a', { state: 'COMPLETED' }),
      node('b', { state: 'READY' }),
      node('c', { state: 'SKIPPED' }),
      nodes[3]!,
    ];
    expect(statuses({ state: 'EXECUTING', nodes: after, edges })).toEqual([
      'fired',
      'dead',
      'pending',
    ]);
    expect(statuses({ state: 'COMPLETED', nodes: after, edges })).toEqual([
      'fired',
      'dead',
      'dead',
    ]);
  });

  it('are known of a cancelled movement by what had started', () => {
    const after = (b: 'CANCELLED' | 'COMPLETED') => [
      node('a', { state: 'COMPLETED' }),
      node('b', { state: b }),
      node('c', { state: 'CANCELLED' }),
      node('undo:compensation', { state: 'READY' }),
    ];
    expect(statuses({ state: 'CANCELLED', nodes: after('CANCELLED'), edges })).toEqual([
      'dead',
      'dead',
      'fired',
    ]);
    expect(statuses({ state: 'CANCELLED', nodes: after('COMPLETED'), edges })).toEqual([
      'fired',
      'dead',
      'fired',
    ]);
  });

  it('are unknown where both a cancel and another edge lead to what has started', () => {
    const both = [edge('a>undo'), edge('a>undo:on_cancel')];
    const after = [
      node('a', { state: 'COMPLETED' }),
      node('undo:compensation', { state: 'COMPLETED' }),
    ];
    expect(statuses({ state: 'CANCELLED', nodes: after, edges: both })).toEqual([null, 'fired']);
  });
});

describe('the edges of any plan with any outcomes', () => {
  it('have one that fired into every node that has started, none from what has not settled, and none open at the end', () => {
    fc.assert(
      fc.property(plans('none'), turns, (plan, hand) => {
        const run = new Run(plan.nodes, plan.edges);
        const roots = rootNodes(plan);
        const judge = (): void => {
          const seen = statuses(run.input);
          const wrong = run.nodes.filter((each) => {
            const into = plan.edges.flatMap((one, at) =>
              one.to === each.node_key ? [seen[at]] : [],
            );
            const started = !['BLOCKED', 'SKIPPED', 'CANCELLED'].includes(each.state);
            return (
              started &&
              !roots.includes(each.node_key) &&
              !into.some((one) => one === 'fired' || one === null)
            );
          });
          const early = plan.edges.filter((one, at) => {
            const from = run.at(one.from).state;
            return seen[at] === 'fired' && from !== 'COMPLETED' && from !== 'FAILED';
          });
          const untold = plan.edges.filter(
            (one, at) =>
              seen[at] === null &&
              (run.state !== 'CANCELLED' || !onCancelTargets(plan.edges).has(one.to)),
          );
          const open = run.ended ? seen.filter((one) => one === 'pending') : [];
          expect({ wrong, early, untold, open }).toEqual({
            wrong: [],
            early: [],
            untold: [],
            open: [],
          });
        };
        run.watch = judge;
        drive(run, hand);
        judge();
      }),
      { numRuns: 300 },
    );
  });
});
