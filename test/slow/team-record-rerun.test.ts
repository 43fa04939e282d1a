/**
 * The second half of a team's phase, `record`, runs twice: our own worker is killed after it has
 * committed and before its workflow task has ended, so the next worker gets the same answer once
 * more.
 */
import { Unavailable } from '../../executor-kit/answers.ts';
import { completed, pending } from '../../executor-kit/define.ts';
import { installRuntime } from '../../executor-kit/runtime.ts';
import { runExecutorWorker, type RunningExecutorWorker } from '../../executor-kit/task-queue.ts';
import { memoryExecutor, type Payments } from '../executor-kit/support/memory-executor.ts';
import { assertConsistent } from '../support/evidence.ts';
import { holdWrites, type HeldPoint, type HeldWrites } from '../support/held-writes.ts';
import { startOwnStack, type OwnStack } from '../support/own-stack.ts';
import { storeTemplate } from '../support/plans.ts';

const QUEUE = 'team rerun';

let own: OwnStack;
let held: HeldWrites;
let team: RunningExecutorWorker;
let payments: Payments;
/** Movements of which the first submit is carried out and its answer lost. */
const lost = new Set<string>();
/** Movements whose payment is not there at the first look. */
const slow = new Map<string, number>();

beforeAll(async () => {
  installRuntime('ERROR');
  own = await startOwnStack({
    split: true,
    executors: () => [
      {
        executor_key: 'team.rerun',
        kind: 'task_queue',
        task_queue: QUEUE,
        action_types: ['team_rerun'],
        timeout_seconds: 5,
        settle_seconds: 0,
        same_key_safe: true,
        payees: [],
      },
    ],
  });
  held = await holdWrites(own.stack.databaseUrl);
  const executor = memoryExecutor((made, sound) => {
    payments = made;
    return {
      submit: async (submission, call) => {
        const answer = await sound.submit(submission, call);
        if (lost.has(submission.context.movement_id)) throw new Unavailable('the answer is lost');
        return answer;
      },
      observe: async (context, call) => {
        const looks = slow.get(context.movement_id) ?? 0;
        slow.set(context.movement_id, looks - 1);
        return looks > 0 ? pending(0.1) : ((await sound.observe(context, call)) ?? completed());
      },
    };
  });
  team = await runExecutorWorker(executor, {
    address: own.stack.temporalAddress,
    namespace: 'default',
    taskQueue: QUEUE,
  });
}, 120_000);
afterAll(async () => {
  await held?.close();
  await team?.stop();
  await own?.close();
});

interface Case {
  readonly phase: string;
  readonly point: HeldPoint;
  readonly lost?: true;
  readonly slow?: true;
  /** The event that the timeline must have once. */
  readonly event: string;
}

const CASES: readonly Case[] = [
  { phase: 'preflight', point: 'passed', event: 'node_preflight_passed' },
  { phase: 'prepare', point: 'prepared', event: 'node_prepared' },
  { phase: 'submit', point: 'answer', event: 'node_submitted' },
  { phase: 'recover', point: 'answer', lost: true, event: 'node_recovered' },
  { phase: 'observe, not there yet', point: 'look', slow: true, event: 'node_observing' },
  { phase: 'observe', point: 'end', event: 'node_completed' },
];

test('whichever phase it is of, the movement goes on with what was recorded, and pays once', async () => {
  const pay = {
    node_key: 'pay',
    node_kind: 'action',
    action_type: 'team_rerun',
    executor_selector: { action_type: 'team_rerun' },
    has_side_effect: true,
  };
  const template = await storeTemplate(own.api, [pay], { assurance: 'provider_completed' });
  const started = await Promise.all(
    CASES.map(async (each, index) => {
      const movement = await own.api.create(template, { amount: String(index + 1) });
      const { movement_id } = movement;
      if (each.lost === true) lost.add(movement_id);
      if (each.slow === true) slow.set(movement_id, 1);
      await held.hold(each.point, movement_id);
      await own.api.approve(movement);
      return { ...each, movement_id };
    }),
  );
  await held.waiting(CASES.length);
  await own.stack.kill('worker');
  // Their clients are gone; the writes commit all the same.
  await held.release();
  await own.stack.startChild('worker');
  const found = await Promise.all(
    started.map(async ({ phase, movement_id, event }) => {
      const end = await own.api.reaches(movement_id, 'COMPLETED', 240_000);
      const timeline = await own.api.timeline(movement_id);
      assertConsistent(end, timeline);
      const times = timeline.filter(({ event_type }) => event_type === event).length;
      return { phase, event, times, paid: payments.count(`${movement_id}:pay:1`) };
    }),
  );
  expect(found).toEqual(CASES.map(({ phase, event }) => ({ phase, event, times: 1, paid: 1 })));
}, 400_000);
