/**
 * A node whose venue has a task queue: where its calls run, and where they go when no worker takes
 * them there. The workflow code as it is built, without a server.
 */
import { defaultPayloadConverter } from '@temporalio/common';
import proto from '@temporalio/proto';
import { TASK_QUEUE, type LoadedMovement, type PhaseResult } from '../../domain/messages.ts';
import { Execution, type ActivityEnd } from '../simulation/runtime/execution.ts';
import { Sandbox } from '../simulation/runtime/sandbox.ts';

const QUEUE = 'fund-movements/venue/rated';
const VIEW: LoadedMovement = {
  movement_id: 'm',
  state: 'EXECUTING',
  reservation_status: 'held',
  version: 1,
  template_key: 't',
  template_version: 1,
  strategy_id: null,
  asset: 'USDC',
  ended: false,
  error_code: null,
  frontier: ['pay'],
  ttl_ms: 600_000,
  edges: [],
  conduct: 4,
  nodes: [
    {
      node_key: 'pay',
      node_kind: 'action',
      state: 'READY',
      attempt: 1,
      resumed: false,
      recover_first: false,
      error_code: null,
      settled_order: 0,
      executor_key: 'x',
      chained: true,
      venue_queue: QUEUE,
    },
  ],
};
const SUBMITTED: PhaseResult = { state: 'SUBMITTED', next: 'observe', error_code: null };

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await Sandbox.open();
});
afterAll(() => sandbox.close());

const answer = (value: unknown): ActivityEnd => ({
  completed: defaultPayloadConverter.toPayload(value),
});
const { TimeoutType } = proto.temporal.api.enums.v1;
const late = (timeoutType: number): ActivityEnd => ({
  timedOut: { message: 'late', timeoutFailureInfo: { timeoutType } },
});
const NOT_TAKEN = late(TimeoutType.TIMEOUT_TYPE_SCHEDULE_TO_START);
const LOST = late(TimeoutType.TIMEOUT_TYPE_HEARTBEAT);

/** A run of the movement, whose local activities are answered by their names. */
class Run {
  readonly #execution: Execution;
  readonly #locals: Readonly<Record<string, unknown>>;
  /** The local activities that were called, in order. */
  readonly called: string[] = [];
  constructor(view: LoadedMovement, locals: Readonly<Record<string, unknown>> = {}) {
    this.#locals = { load: view, ...locals };
    this.#execution = new Execution(sandbox, {
      workflowId: 'movement/m',
      runId: 'r',
      workflowType: 'movementWorkflow',
      taskQueue: TASK_QUEUE,
      startedAt: 0,
      args: [defaultPayloadConverter.toPayload('m')],
    });
    this.#execution.scheduleFirstTask();
  }

  /** Runs the workflow until it waits; returns the activities that are under way. */
  async work() {
    while (this.#execution.taskIsScheduled) {
      await this.#execution.startTask(0);
      for (let call = this.#execution.localCalls[0]; call !== undefined;) {
        this.called.push(call.type);
        await this.#execution.endLocals([[call.seq, answer(this.#locals[call.type])]], 0);
        [call] = this.#execution.localCalls;
      }
      await this.#execution.completeTask();
    }
    return this.#execution.calls.map(({ seq, type, options }) => ({
      seq,
      type,
      queue: options.taskQueue,
      waits: options.scheduleToStartMs,
    }));
  }

  end(seq: number, end: ActivityEnd): void {
    this.#execution.endActivity(seq, end, end !== NOT_TAKEN);
  }

  async forget(): Promise<void> {
    await this.#execution.forget();
  }
}

const seqOf = ([call]: Awaited<ReturnType<Run['work']>>): number => call?.seq ?? -1;
const MINUTES_15 = 15 * 60_000;

test('each phase of the node runs on the queue of its venue', async () => {
  const run = new Run(VIEW);
  const sent = await run.work();
  expect(sent).toEqual([
    { seq: expect.any(Number), type: 'submit', queue: QUEUE, waits: MINUTES_15 },
  ]);
  run.end(seqOf(sent), answer({ ...SUBMITTED, phase: 'submit' }));
  expect(await run.work()).toEqual([
    expect.objectContaining({ type: 'observe', queue: QUEUE, waits: MINUTES_15 }),
  ]);
  await run.forget();
});

test('a node without it waits on the queue of the workers, without a limit', async () => {
  const nodes = VIEW.nodes.map(({ venue_queue: _, ...node }) => node);
  const run = new Run({ ...VIEW, nodes });
  expect(await run.work()).toEqual([
    expect.objectContaining({ type: 'submit', queue: TASK_QUEUE, waits: null }),
  ]);
  await run.forget();
});

test('a send that no worker took is scheduled again while the venue has its queue', async () => {
  const run = new Run(VIEW, { queueOf: QUEUE });
  run.end(seqOf(await run.work()), NOT_TAKEN);
  expect(await run.work()).toEqual([expect.objectContaining({ type: 'submit', queue: QUEUE })]);
  expect(run.called).toEqual(['load', 'queueOf']);
  await run.forget();
});

test('once the venue has no queue, all goes to the queue of the workers', async () => {
  const run = new Run(VIEW, { queueOf: null });
  run.end(seqOf(await run.work()), NOT_TAKEN);
  const sent = await run.work();
  expect(sent).toEqual([
    expect.objectContaining({ type: 'submit', queue: TASK_QUEUE, waits: null }),
  ]);
  run.end(seqOf(sent), answer({ ...SUBMITTED, phase: 'submit' }));
  expect(await run.work()).toEqual([
    expect.objectContaining({ type: 'observe', queue: TASK_QUEUE }),
  ]);
  expect(run.called).toEqual(['load', 'queueOf']);
  await run.forget();
});

test('a send that a worker took and lost is never sent again: recovery looks for it', async () => {
  const run = new Run(VIEW, { queueOf: QUEUE });
  run.end(seqOf(await run.work()), LOST);
  expect(await run.work()).toEqual([expect.objectContaining({ type: 'recover', queue: QUEUE })]);
  expect(run.called).toEqual(['load']);
  await run.forget();
});
