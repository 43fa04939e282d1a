import fc from 'fast-check';
import { triggers } from '../../../domain/graph/edges.ts';
import { isRetryable, reopened } from '../../../domain/graph/retry.ts';
import { validateGraph } from '../../../domain/graph/validate.ts';
import { walk } from '../../../domain/graph/walk.ts';
import { isSettled } from '../../../domain/states/node.ts';
import { outputs, plans, turns, type Plan } from './arbitrary.ts';
import { Run, type Conditions } from './build.ts';
import { drive } from './drive.ts';
import { judge, openedBy } from './oracle.ts';

const CEL: Conditions = { amount: '75', input_params: { flag: false } };
/** Plans with drawn results of their conditions, and plans whose conditions are CEL. */
const either = fc.oneof(
  plans('none').map((plan) => ({ plan, conditions: null })),
  plans('ancestors').map((plan) => ({ plan, conditions: CEL })),
);

function runOf({
  plan,
  conditions,
}: {
  readonly plan: Plan;
  readonly conditions: Conditions | null;
}): Run {
  const run = new Run(plan.nodes, plan.edges, conditions);
  run.onWalk = judge;
  return run;
}

/** One expectation in all: made for every run, each would cost more than the run. */
function expectOver(run: Run): void {
  const over = {
    ended: run.ended,
    state: ['COMPLETED', 'FAILED', 'CANCELLED'].includes(run.state),
    unsettled: run.nodes.filter((each) => !isSettled(each.state)),
    twice: run.started.filter((key, index) => run.started.indexOf(key) !== index),
    failureNamed: (run.state === 'FAILED') === (run.failure !== null),
  };
  expect(over).toEqual({ ended: true, state: true, unsettled: [], twice: [], failureNamed: true });
}

/**
 * Nodes of which an edge that their outcome triggers has a condition that could not be evaluated.
 */
function conditionErrors(run: Run): string[] {
  return run.nodes
    .filter((node) => node.node_kind !== 'post_action')
    .filter((node) => {
      const out = run.edges.filter((edge) => edge.from === node.node_key);
      return out.some(
        (edge) =>
          edge.edge_type !== 'on_cancel' && edge.condition === 'error' && triggers(edge, node, out),
      );
    })
    .map((node) => node.node_key);
}

describe('any plan with any outcomes', () => {
  it('is valid', () => {
    fc.assert(
      fc.property(either, ({ plan }) => expect(validateGraph(plan)).toEqual([])),
      { numRuns: 300 },
    );
  });

  it('ends with every node settled, none run twice in an attempt, and each step as the rules say', () => {
    const met = { cancelled: 0, retried: 0, COMPLETED: 0, FAILED: 0 };
    fc.assert(
      fc.property(either, turns, (drawn, hand) => {
        const run = runOf(drawn);
        const { cancelled, retries } = drive(run, hand);
        expectOver(run);
        if (cancelled !== (run.state === 'CANCELLED'))
          throw new Error(`cancelled and ${run.state}`);
        met.cancelled += cancelled ? 1 : 0;
        met.retried += retries > 0 ? 1 : 0;
        if (run.state === 'COMPLETED' || run.state === 'FAILED') met[run.state] += 1;
      }),
      { numRuns: 2_000 },
    );
    // What is drawn must reach all of it, or the property says little.
    expect(Math.min(...Object.values(met))).toBeGreaterThan(100);
  });

  it('is COMPLETED only where no failure outside post-actions went unhandled and every condition was evaluated', () => {
    fc.assert(
      fc.property(either, turns, (drawn, hand) => {
        const run = runOf(drawn);
        drive(run, hand, ['resume', 'retry']);
        if (conditionErrors(run).length > 0) expect(run.state).toBe('FAILED');
        if (run.state !== 'COMPLETED') return;
        for (const failed of run.nodes.filter(
          (each) => each.state === 'FAILED' && each.node_kind !== 'post_action',
        )) {
          const taken = run.edges.some(
            (each) =>
              each.from === failed.node_key &&
              ['on_failure', 'on_timeout'].includes(each.edge_type),
          );
          expect(taken).toBe(true);
        }
      }),
      { numRuns: 1_500 },
    );
  });

  it('names a failure that took place', () => {
    fc.assert(
      fc.property(either, turns, (drawn, hand) => {
        const run = runOf(drawn);
        drive(run, hand, ['resume', 'retry']);
        if (run.state !== 'FAILED') return;
        const codes = run.nodes
          .filter((each) => each.state === 'FAILED' && each.node_kind !== 'post_action')
          .map((each) => each.error_code);
        expect([
          ...codes,
          ...(conditionErrors(run).length > 0 ? ['CONDITION_ERROR'] : []),
        ]).toContain(run.failure);
      }),
      { numRuns: 1_000 },
    );
  });

  it('gives the same answer when called again, and nothing once it has ended', () => {
    fc.assert(
      fc.property(either, turns, (drawn, hand) => {
        const run = runOf(drawn);
        drive(run, hand);
        expect(walk(run.input)).toEqual(walk(run.input));
        expect(walk(run.input)).toMatchObject({
          ready: [],
          skip: [],
          run: [],
          frontier: [],
          state: run.state,
          ended: true,
        });
      }),
      { numRuns: 500 },
    );
  });

  it('can be retried until it completes, where a node has failed whose failure no edge took', () => {
    fc.assert(
      fc.property(either, turns, (drawn, hand) => {
        const run = runOf(drawn);
        drive(run, hand, ['resume']);
        for (let turn = 0; turn < 40 && run.state === 'FAILED'; turn += 1) {
          const retried = run.nodes.find((each) => isRetryable(run.input, each));
          if (retried === undefined) return;
          run.retry(retried.node_key);
          while (!run.ended) {
            const open = run.nodes.find(
              (each) => each.state !== 'BLOCKED' && !isSettled(each.state),
            );
            if (open !== undefined)
              run.settle(open.node_key, 'COMPLETED', { resumed: open.node_kind === 'manual_gate' });
          }
          expectOver(run);
        }
        const failed = run.nodes.filter((each) => isRetryable(run.input, each));
        if (run.state === 'FAILED') expect(failed).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });
});

/** Everything open completes, but for one node the first time it runs. */
function finishWith(run: Run, failing: string | null): Run {
  for (let left = failing; !run.ended;) {
    const open = run.nodes.find((each) => each.state !== 'BLOCKED' && !isSettled(each.state));
    if (open === undefined) throw new Error('nothing is open and the movement has not ended');
    const fails = open.node_key === left && open.node_kind !== 'manual_gate';
    if (fails) left = null;
    run.settle(open.node_key, fails ? 'FAILED' : 'COMPLETED', {
      resumed: open.node_kind === 'manual_gate',
    });
  }
  return run;
}

describe('a retry', () => {
  it('opens again what was skipped because of the node, and nothing else', () => {
    let opened = 0;
    fc.assert(
      fc.property(either, turns, (drawn, hand) => {
        const run = runOf(drawn);
        drive(run, hand, ['resume']);
        if (run.state !== 'FAILED') return;
        for (const node of run.nodes.filter((each) => isRetryable(run.input, each))) {
          const back = reopened(run.input, node.node_key);
          expect(back).toEqual(openedBy(run.input, node.node_key));
          opened += back.length;
        }
      }),
      { numRuns: 1_500 },
    );
    expect(opened).toBeGreaterThan(100);
  });

  it('that succeeds leaves the movement as if the node had never failed', () => {
    let retried = 0;
    fc.assert(
      fc.property(plans('own'), fc.nat({ max: 8 }), (plan, index) => {
        const failing = plan.nodes[index % plan.nodes.length]?.node_key ?? '';
        const fresh = (): Run => {
          const run = new Run(plan.nodes, plan.edges, CEL);
          run.step();
          return run;
        };
        const failed = finishWith(fresh(), failing);
        if (failed.state !== 'FAILED' || !isRetryable(failed.input, failed.at(failing))) return;
        failed.retry(failing);
        const straight = finishWith(fresh(), null);
        // Where a condition cannot be evaluated the main lane stops, and who began before it does
        // matter.
        if (straight.state !== 'COMPLETED') return;
        retried += 1;
        const { state, failure } = finishWith(failed, null);
        expect([state, failure, failed.states()]).toEqual([
          straight.state,
          straight.failure,
          straight.states(),
        ]);
      }),
      { numRuns: 1_500 },
    );
    expect(retried).toBeGreaterThan(200);
  });
});

describe('the order of outcomes that do not depend on each other', () => {
  it('does not matter: whoever is first, the same nodes run and come to the same', () => {
    const fates = fc.array(
      fc.tuple(fc.constantFrom('COMPLETED', 'COMPLETED', 'FAILED', 'TIMED_OUT' as const), outputs),
      {
        minLength: 9,
        maxLength: 9,
      },
    );
    const order = fc.array(fc.nat(), { minLength: 10, maxLength: 10 });
    let completed = 0;
    fc.assert(
      fc.property(plans('own'), fates, order, order, (plan, ends, first, second) => {
        const play = (picks: readonly number[]): Run => {
          const run = new Run(plan.nodes, plan.edges, CEL);
          run.step();
          for (const pick of picks) {
            const open = run.nodes.filter(
              (each) => each.state !== 'BLOCKED' && !isSettled(each.state),
            );
            const chosen = open[pick % Math.max(1, open.length)];
            if (chosen === undefined) break;
            const [outcome, output] = ends[
              plan.nodes.findIndex((each) => each.node_key === chosen.node_key)
            ] ?? ['COMPLETED', null];
            if (chosen.node_kind === 'manual_gate')
              run.settle(chosen.node_key, 'COMPLETED', { resumed: true }, output);
            else run.settle(chosen.node_key, outcome, {}, output);
          }
          return run;
        };
        const [one, other] = [play(first), play(second)];
        expect([one.ended, other.ended]).toEqual([true, true]);
        expect(other.state).toBe(one.state);
        // After an unhandled failure it does matter who began before it; without one, nothing
        // differs.
        if (one.state !== 'COMPLETED') return;
        completed += 1;
        expect(other.states()).toEqual(one.states());
        expect(other.results).toEqual(one.results);
        expect([...other.started].sort()).toEqual([...one.started].sort());
      }),
      { numRuns: 1_500 },
    );
    expect(completed).toBeGreaterThan(200);
  });
});
