/**
 * Runs whose history grows while they only wait, on a Temporal server that ends a run at a few
 * hundred events:
 * they continue as new in time, never in the middle of a send, and lose nothing that anybody tells
 * them.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { temporal } from '@temporalio/proto';
import { failed, pending, Unavailable } from '../../executor-kit/answers.ts';
import { installRuntime } from '../../executor-kit/runtime.ts';
import { runExecutorWorker, type RunningExecutorWorker } from '../../executor-kit/task-queue.ts';
import { movementWorkflowId } from '../../domain/messages.ts';
import { memoryExecutor, type Payments } from '../executor-kit/support/memory-executor.ts';
import { assertConsistent, type TimelineView } from '../support/evidence.ts';
import {
  eventually,
  startOwnStack,
  Stop,
  type Created,
  type OwnStack,
} from '../support/own-stack.ts';
import {
  compensation,
  edge,
  noop,
  storeTemplate,
  type PlanEdge,
  type PlanNode,
} from '../support/plans.ts';
import { replayed } from '../support/replays.ts';

const QUEUE = 'team that is observed for long';
/** Events of a history: where the server asks for a new run, and where it ends the run. */
const SUGGESTED_AT = 60;
const TERMINATED_AT = 600;
/** The pause before a send that did not land is made again; a run lasts for far less. */
const PAUSE_SECONDS = 12;
const UNHANDLED_COMMAND =
  temporal.api.enums.v1.WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND;

let own: OwnStack;
let team: RunningExecutorWorker;
let payments: Payments;
/** With it the team signs that a send was refused; unsigned it would not be believed. */
const SECRET = 'what only the team has';
const folder = mkdtempSync(join(tmpdir(), 'continued-'));
const secretFile = join(folder, 'secret');
/** Looks at each movement's `watch`, which goes on until the movement is let go. */
const looks = new Map<string, number>();
const letGo = new Set<string>();
/**
 * Movements whose `pay` is refused in its first attempt, and those whose send is lost until
 * recovery looks for it.
 */
const refused = new Set<string>();
const lost = new Set<string>();
/** What a movement's `pay` waits for before it is carried out. */
const held = new Map<string, () => Promise<void>>();

beforeAll(async () => {
  writeFileSync(secretFile, SECRET);
  installRuntime('ERROR');
  own = await startOwnStack({
    temporalConfig: [
      `limit.historyCount.suggestContinueAsNew=${SUGGESTED_AT}`,
      `limit.historyCount.warn=${TERMINATED_AT - 1}`,
      `limit.historyCount.error=${TERMINATED_AT}`,
    ],
    executors: () => [entry('team_brief', 5), entry('team_quick', 8), entry('team_slow', 90)],
  });
  const executor = memoryExecutor((made, sound) => {
    payments = made;
    return {
      submit: async (submission, call) => {
        const { movement_id, node_key, attempt } = submission.context;
        if (node_key === 'pay') {
          await held.get(movement_id)?.();
          if (refused.has(movement_id) && attempt === 1) return failed('NOT_TODAY', 'refused');
          if (lost.has(movement_id)) throw new Unavailable('it went nowhere');
        }
        return sound.submit(submission, call);
      },
      observe: async (context, call) => {
        const { movement_id, node_key } = context;
        if (node_key === 'pay' || node_key === 'undo') return sound.observe(context, call);
        looks.set(movement_id, looksAt(movement_id) + 1);
        return letGo.has(movement_id) ? sound.observe(context, call) : pending(0.05);
      },
      recover: async (context, call) => {
        lost.delete(context.movement_id);
        return sound.recover!(context, call);
      },
    };
  });
  team = await runExecutorWorker(executor, {
    address: own.stack.temporalAddress,
    namespace: 'default',
    taskQueue: QUEUE,
    resultSecret: SECRET,
  });
}, 120_000);
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await team?.stop();
  await own?.close();
});

function entry(type: string, timeout_seconds: number): object {
  return {
    executor_key: type,
    kind: 'task_queue',
    task_queue: QUEUE,
    action_types: [type],
    payees: [],
    timeout_seconds,
    settle_seconds: 0,
    same_key_safe: true,
    result_secret_file: secretFile,
  };
}

function looksAt(movementId: string): number {
  return looks.get(movementId) ?? 0;
}

function paying(node_key: string, type = 'team_quick', more: object = {}): PlanNode {
  return {
    node_key,
    node_kind: 'action',
    action_type: type,
    executor_selector: { action_type: type },
    has_side_effect: true,
    config: { amount: '1' },
    ...more,
  };
}

const BESIDE: readonly PlanEdge[] = [edge('begin', 'watch'), edge('begin', 'pay')];

/** `watch` and, if any, a parallel `pay`. */
function template(pay?: PlanNode, edges: readonly PlanEdge[] = BESIDE): Promise<string> {
  const nodes = pay === undefined ? [paying('watch')] : [noop('begin'), paying('watch'), pay];
  return storeTemplate(own.api, nodes, {
    assurance: 'provider_completed',
    edges: pay === undefined ? [] : edges,
  });
}

async function startMovement(
  templateKey: string,
  onStart: (movementId: string) => void = () => undefined,
): Promise<Created> {
  const movement = await own.api.create(templateKey, { amount: '5' });
  onStart(movement.movement_id);
  await own.api.approve(movement);
  return movement;
}

/** How each run of the movement closed, oldest first; the newest may be RUNNING. */
async function runs(movementId: string): Promise<string[]> {
  const found: { readonly status: string; readonly started: number }[] = [];
  for await (const run of own.temporal.workflow.list({
    query: `WorkflowId = "${movementWorkflowId(movementId)}"`,
  }))
    found.push({ status: run.status.name, started: run.startTime.getTime() });
  return found.sort((a, b) => a.started - b.started).map(({ status }) => status);
}

/**
 * Waits until the movement's run has been followed by so many others; a run that ends in another
 * way is an error at once.
 */
async function continued(movementId: string, times: number): Promise<void> {
  let last: readonly string[] = [];
  await eventually(
    async () => {
      last = await runs(movementId);
      if (
        last.some(
          (status) => status === 'TERMINATED' || status === 'TIMED_OUT' || status === 'FAILED',
        )
      )
        throw new Stop(`a run ended otherwise: ${last.join(', ')}`);
      return last.filter((status) => status === 'CONTINUED_AS_NEW').length >= times ? true : null;
    },
    {
      timeoutMs: 120_000,
      what: () => `${movementId} to continue ${String(times)} times; its runs: ${last.join(', ')}`,
    },
  );
}

/**
 * Lets the movement come to its end, which is as it should be, with every run of it closed as it
 * should.
 */
async function ended(movement: Created, state = 'COMPLETED'): Promise<readonly TimelineView[]> {
  const { movement_id } = movement;
  letGo.add(movement_id);
  const view = await own.api.reaches(movement_id, state, 90_000);
  await own.api.nodeReaches(movement_id, 'watch', ['COMPLETED']);
  await eventually(async () => ((await runs(movement_id)).includes('RUNNING') ? null : true), {
    what: () => 'the last run to close',
  });
  const closed = await runs(movement_id);
  expect(closed.at(-1)).toBe('COMPLETED');
  expect(new Set(closed.slice(0, -1))).toEqual(new Set(['CONTINUED_AS_NEW']));
  expect(await refusedTasks(movement_id)).toEqual([]);
  const timeline = await own.api.timeline(movement_id);
  if (view.request_state !== 'CANCELLED') assertConsistent(view, timeline);
  return timeline;
}

/**
 * Tasks of the movement's runs that came to nothing. Only one is in order: what came while the run
 * was about to continue is looked at first.
 */
async function refusedTasks(movementId: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { workflowId, runId } of own.temporal.workflow.list({
    query: `WorkflowId = "${movementWorkflowId(movementId)}"`,
  })) {
    const { events } = await own.temporal.workflow.getHandle(workflowId, runId).fetchHistory();
    for (const {
      workflowTaskFailedEventAttributes: failure,
      workflowTaskTimedOutEventAttributes: late,
    } of events ?? []) {
      if (late) found.push('timed out');
      const cause = failure?.cause ?? UNHANDLED_COMMAND;
      if (cause !== UNHANDLED_COMMAND) found.push(failure?.failure?.message ?? String(cause));
    }
  }
  return found;
}

function sends(timeline: readonly TimelineView[], node: string): number {
  return timeline.filter(
    ({ event_type, node_key }) => event_type === 'node_submitting' && node_key === node,
  ).length;
}

test('a node that is observed for long costs many runs, each of them closed in time, and one send', async () => {
  const movement = await startMovement(await template());
  await continued(movement.movement_id, 5);
  expect(sends(await ended(movement), 'watch')).toBe(1);
  expect(payments.count(`${movement.movement_id}:watch:1`)).toBe(1);
}, 240_000);

test('parallel nodes that are looked at all the time delay no run', async () => {
  const nodes = ['watch', 'second', 'third', 'fourth', 'fifth', 'sixth'];
  const graph = [noop('begin'), ...nodes.map((node) => paying(node))];
  const edges = nodes.map((node) => edge('begin', node));
  const movement = await startMovement(
    await storeTemplate(own.api, graph, { assurance: 'provider_completed', edges }),
  );
  await continued(movement.movement_id, 12);
  await ended(movement);
  for (const node of nodes) expect(payments.count(`${movement.movement_id}:${node}:1`)).toBe(1);
  // Whether a task met the wrong order is chance; a worker that makes the runs again always does.
  expect((await replayed(own.temporal)).faults).toEqual({});
}, 240_000);

test('no run continues as new in the middle of a send, however long its history has become', async () => {
  const seen: { readonly run_id: string; readonly events: number }[] = [];
  const movement = await startMovement(await template(paying('pay', 'team_slow')), (id) => {
    held.set(id, async () => {
      // Only a run that should continue can show that it does not.
      const note = async (): Promise<void> => void seen.push((await own.runOf(id))!);
      await eventually(async () =>
        (await own.runOf(id))!.events > 0 && looksAt(id) > 0 ? true : null,
      );
      await note();
      const from = looksAt(id);
      await eventually(async () => (looksAt(id) >= from + 20 ? true : null), { timeoutMs: 80_000 });
      await note();
    });
  });
  await continued(movement.movement_id, 2);
  expect(seen).toHaveLength(2);
  expect(seen[1]!.events).toBeGreaterThan(SUGGESTED_AT * 2);
  expect(seen[1]!.run_id).toBe(seen[0]!.run_id);
  const timeline = await ended(movement);
  expect([sends(timeline, 'watch'), sends(timeline, 'pay')]).toEqual([1, 1]);
  expect(payments.count(`${movement.movement_id}:pay:1`)).toBe(1);
}, 240_000);

test('a movement that waits for its approval continues too, and the approval around the switch is heard', async () => {
  const key = await template();
  const approved = await Promise.all(
    [1, 2, 3].map(async (times) => {
      const movement = await own.api.create(key, { amount: '5' });
      const handle = own.temporal.workflow.getHandle(movementWorkflowId(movement.movement_id));
      // A wake is all that makes the history of such a run longer.
      await eventually(async () => {
        for (let wake = 0; wake < 5; wake += 1) await handle.signal('wake', null);
        return (await runs(movement.movement_id)).filter((status) => status === 'CONTINUED_AS_NEW')
          .length >= times
          ? true
          : null;
      });
      await own.api.approve(movement);
      return movement;
    }),
  );
  for (const movement of approved) {
    letGo.add(movement.movement_id);
    await ended(movement);
    expect(payments.count(`${movement.movement_id}:watch:1`)).toBe(1);
  }
}, 240_000);

test('a cancel around the switch takes effect: executors get one request, what was sent is observed to its end and undone once', async () => {
  const key = await storeTemplate(own.api, [paying('watch'), compensation('undo')], {
    assurance: 'provider_completed',
    edges: [edge('watch', 'undo', 'on_cancel')],
  });
  await Promise.all(
    [1, 2, 3].map(async (times) => {
      const movement = await startMovement(key);
      await continued(movement.movement_id, times);
      await own.api.act('cancel', movement.movement_id);
      await continued(movement.movement_id, times + 3);
      const timeline = await ended(movement, 'CANCELLED');
      await own.api.nodeReaches(movement.movement_id, 'undo', ['COMPLETED']);
      expect(
        timeline.filter(({ message }) => message === 'Cancel requested from its executor'),
      ).toHaveLength(1);
      expect(payments.count(`${movement.movement_id}:watch:1`)).toBe(1);
    }),
  );
}, 240_000);

test('a retry around the switch is heard once', async () => {
  const key = await template(paying('pay'));
  await Promise.all(
    [1, 2, 3].map(async (times) => {
      const movement = await startMovement(key, (id) => void refused.add(id));
      await own.api.nodeReaches(movement.movement_id, 'pay', ['FAILED']);
      await continued(movement.movement_id, times);
      await own.api.act('retry', movement.movement_id);
      const timeline = await ended(movement);
      expect([sends(timeline, 'watch'), sends(timeline, 'pay')]).toEqual([1, 2]);
      expect(
        [1, 2].map((attempt) => payments.count(`${movement.movement_id}:pay:${attempt}`)),
      ).toEqual([0, 1]);
    }),
  );
}, 240_000);

test('a pause before a send is made again outlasts the runs that it is waited in', async () => {
  const retry_policy = {
    initial_interval_seconds: PAUSE_SECONDS,
    max_interval_seconds: PAUSE_SECONDS,
  };
  const movement = await startMovement(
    await template(paying('pay', 'team_brief', { retry_policy })),
    (id) => void lost.add(id),
  );
  const { movement_id } = movement;
  // The send's own time, the queue's and the question's come before it.
  const recovered = await eventually(
    async () => {
      const at = (await own.api.timeline(movement_id)).find(
        ({ event_type }) => event_type === 'node_recovered',
      );
      return at === undefined ? null : { at, runs: (await runs(movement_id)).length };
    },
    { timeoutMs: 120_000 },
  );
  await own.api.nodeReaches(movement_id, 'pay', ['COMPLETED'], 60_000);
  expect((await runs(movement_id)).length).toBeGreaterThan(recovered.runs);
  const timeline = await ended(movement);
  const again = timeline.filter(
    ({ event_type, node_key }) => event_type === 'node_submitting' && node_key === 'pay',
  )[1];
  const waited = Date.parse(again!.occurred_at) - Date.parse(recovered.at.occurred_at);
  expect(waited).toBeGreaterThanOrEqual(PAUSE_SECONDS * 1000);
  expect([sends(timeline, 'pay'), payments.count(`${movement_id}:pay:1`)]).toEqual([2, 1]);
}, 240_000);

test('every run can be made again by a worker that remembers nothing', async () => {
  const { runs: count, faults } = await replayed(own.temporal);
  expect(faults).toEqual({});
  expect(count).toBeGreaterThan(20);
}, 120_000);
