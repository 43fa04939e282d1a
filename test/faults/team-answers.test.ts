/**
 * What the service believes that arrives over Temporal: a team's worker answers the questions that
 * were put to it, and a client that has only Temporal's address ends nothing.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NativeConnection, Worker } from '@temporalio/worker';
import { TASK_QUEUE, type AskResult, type RecordArgs } from '../../domain/messages.ts';
import { openQueueCaller, type QueueCaller } from '../../executor-kit/check/queue-caller.ts';
import { completed, failed, notNow, pending } from '../../executor-kit/define.ts';
import { installRuntime } from '../../executor-kit/runtime.ts';
import {
  executorActivities,
  runExecutorWorker,
  signedResult,
  type RunningExecutorWorker,
} from '../../executor-kit/task-queue.ts';
import { optionsOf } from '../executor-kit/support/check.ts';
import { memoryExecutor } from '../executor-kit/support/memory-executor.ts';
import { eventually, startOwnStack, type OwnStack } from '../support/own-stack.ts';
import { storeTemplate, withdrawal, type PlanNode } from '../support/plans.ts';

const SECRET = 'the secret of the desk';
const KINDS = ['signed', 'plain', 'unsafe'] as const;
type Kind = (typeof KINDS)[number];

let own: OwnStack;
let data: string;
let stranger: QueueCaller;
const workers: RunningExecutorWorker[] = [];
const templates = new Map<Kind, string>();
/** Movements that observe, or submit, ends as failed. */
const failing = new Map<string, 'submit' | 'observe'>();
const waiting = new Set<string>();
const submits: string[] = [];
/** Movements that this phase makes wait. */
const suspended = new Map<string, 'preflight' | 'prepare'>();
/** Every call of preflight and prepare. */
const checks: string[] = [];

const team = memoryExecutor((_, sound) => ({
  preflight: async (context, call) => {
    checks.push(`${context.movement_id} preflight`);
    return suspended.get(context.movement_id) === 'preflight'
      ? notNow('VENUE_SUSPENDED', 'the desk opens at noon', 5)
      : sound.preflight(context, call);
  },
  prepare: async (context, call) => {
    checks.push(`${context.movement_id} prepare`);
    return suspended.get(context.movement_id) === 'prepare'
      ? notNow('VENUE_SUSPENDED', 'the desk opens at noon', 5)
      : sound.prepare(context, call);
  },
  submit: (submission, call) => {
    submits.push(submission.context.idempotency_key);
    return failing.get(submission.context.movement_id) === 'submit'
      ? Promise.resolve(failed('DESK_CLOSED', 'the desk is closed'))
      : sound.submit(submission, call);
  },
  observe: async ({ movement_id }) => {
    if (failing.get(movement_id) === 'observe') return failed('WITHDRAWN', 'it was withdrawn');
    return waiting.has(movement_id) ? pending(0.5) : completed();
  },
}));

const node = (kind: Kind): PlanNode => ({
  node_key: 'pay',
  node_kind: 'action',
  action_type: `team_${kind}`,
  executor_selector: { action_type: `team_${kind}` },
  has_side_effect: true,
  retry_policy: { max_attempts: 3, initial_interval_seconds: 0.2 },
});

beforeAll(async () => {
  installRuntime('ERROR');
  data = mkdtempSync(join(tmpdir(), 'team-answers-'));
  const secretFile = join(data, 'result.secret');
  writeFileSync(secretFile, `${SECRET}\n`, { mode: 0o600 });
  own = await startOwnStack({
    executors: () =>
      KINDS.map((kind) => ({
        executor_key: `team.${kind}`,
        kind: 'task_queue',
        task_queue: kind,
        action_types: [`team_${kind}`],
        timeout_seconds: 2,
        settle_seconds: 0,
        same_key_safe: kind !== 'unsafe',
        payees: [],
        ...(kind === 'signed' ? { result_secret_file: secretFile } : {}),
      })),
  });
  const to = { address: own.stack.temporalAddress, namespace: 'default' };
  for (const kind of KINDS) {
    const secret = kind === 'signed' ? { resultSecret: SECRET } : {};
    if (kind !== 'unsafe')
      workers.push(await runExecutorWorker(team, { ...to, taskQueue: kind, ...secret }));
    const plan = [node(kind)];
    templates.set(kind, await storeTemplate(own.api, plan, { assurance: 'provider_completed' }));
  }
  stranger = await openQueueCaller(optionsOf('the service', { temporalAddress: to.address }));
}, 120_000);
afterAll(async () => {
  await stranger?.close();
  await Promise.all(workers.map((worker) => worker.stop()));
  await own?.close();
  rmSync(data, { recursive: true, force: true });
});

async function approved(
  kind: Kind,
  prepare: (id: string) => unknown = () => null,
): Promise<string> {
  const movement = await own.api.create(templates.get(kind) ?? '', { amount: '5' });
  prepare(movement.movement_id);
  await own.api.approve(movement);
  return movement.movement_id;
}

/** What any client of Temporal can do: schedule an activity on the service's own queue. */
async function calls(activity: 'ask' | 'record', input: unknown): Promise<unknown> {
  const call = { phase: activity, input, task_queue: TASK_QUEUE };
  const outcome = await stranger.call({ ...call, timeout_ms: 20_000, pickup_ms: 20_000 });
  return outcome.ok ? outcome.answer : outcome;
}

interface Standing {
  readonly state: string;
  readonly attempt: number;
  readonly epoch: number;
  readonly questions: Readonly<Record<string, { readonly id: string }>> | null;
}

async function standing(id: string): Promise<Standing> {
  const [row] = await own.query<Standing>(
    `SELECT state, attempt, submit_epoch AS epoch, questions FROM movement_nodes
      WHERE movement_id = $1`,
    [id],
  );
  if (row === undefined) throw new Error(`no node of ${id}`);
  return row;
}

const FAILED = { next_state: 'FAILED', error_code: 'FORGED', error_message: 'made up' } as const;
const COMPLETED = { next_state: 'COMPLETED', output: {} } as const;

function madeUp(id: string, node_key: string, at: Standing, more: Partial<RecordArgs>): RecordArgs {
  const { attempt, epoch } = at;
  const outcome = { answer: FAILED };
  return { movement_id: id, node_key, attempt, epoch, phase: 'observe', given: outcome, ...more };
}

test('nothing is recorded of a node whose executor is no team, whatever a client of Temporal says', async () => {
  await own.venueFaults({ processing_ms: 6_000 });
  const plan = [withdrawal(own.stack.chain, 'pay')];
  const movement = await own.api.create(await storeTemplate(own.api, plan), { amount: '5' });
  await own.api.approve(movement);
  const id = movement.movement_id;
  await own.api.nodeReaches(id, 'pay', ['SUBMITTED', 'OBSERVING']);
  const at = await standing(id);
  for (const phase of ['submit', 'observe', 'recover'] as const)
    for (const answer of [FAILED, COMPLETED]) {
      const input = { movement_id: id, node_key: 'pay', attempt: at.attempt, phase };
      expect(await calls('ask', { ...input, from_observe: true })).toMatchObject({
        result: { next: 'again' },
      });
      const args = madeUp(id, 'pay', at, { phase, from_observe: true, given: { answer } });
      expect(await calls('record', args)).toMatchObject({ next: 'again' });
    }
  expect(await standing(id)).toMatchObject({ epoch: at.epoch, questions: null });
  const end = await own.api.reaches(id, 'COMPLETED');
  await own.venueFaults(null);
  expect(end.nodes).toMatchObject([{ state: 'COMPLETED', attempt: 1 }]);
}, 90_000);

/** The movement's timeline, without requests for a person, whose time is not part of the test. */
const said = async (id: string): Promise<readonly string[]> =>
  (await own.api.timeline(id))
    .map(({ event_type }) => event_type)
    .filter((type) => type !== 'request_attention');

test('an answer without a question changes nothing, and one to an open question is the team’s', async () => {
  const id = await approved('signed', (movement) => waiting.add(movement));
  await own.api.nodeReaches(id, 'pay', ['OBSERVING']);
  const before = await standing(id);
  const earlier = await said(id);
  for (const answer of [FAILED, COMPLETED])
    for (const question of [undefined, '00000000-0000-4000-8000-000000000000'])
      for (const phase of ['submit', 'observe', 'recover', 'cancel'] as const) {
        const named = question === undefined ? {} : { question };
        const args = madeUp(id, 'pay', before, { phase, given: { answer }, ...named });
        await calls('record', { ...args, from_observe: true });
      }
  expect(await standing(id)).toMatchObject({ state: 'OBSERVING', epoch: before.epoch });
  expect(await said(id)).toEqual(earlier);
  waiting.delete(id);
  await own.api.reaches(id, 'COMPLETED');
}, 90_000);

test('a team may make its node wait before the send, and preflight is called again', async () => {
  for (const phase of ['preflight', 'prepare'] as const) {
    const id = await approved('plain', (movement) => suspended.set(movement, phase));
    const before = await eventually(
      async () => {
        const [row] = await own.query<{ error_code: string | null; error_count: number }>(
          'SELECT error_code, error_count FROM movement_nodes WHERE movement_id = $1',
          [id],
        );
        return row === undefined || row.error_code === null ? null : row;
      },
      { what: () => 'the wait to be shown' },
    );
    expect(before).toEqual({ error_code: 'VENUE_SUSPENDED', error_count: 0 });
    expect(await standing(id)).toMatchObject({ state: 'READY', attempt: 1, epoch: 0 });
    suspended.delete(id);
    const { nodes } = await own.api.reaches(id, 'COMPLETED');
    expect(nodes).toMatchObject([{ attempt: 1, error_code: null, error_message: null }]);
    const calls = checks.filter((each) => each.startsWith(id)).map((each) => each.slice(37));
    expect(calls.slice(-2)).toEqual(['preflight', 'prepare']);
    expect(calls.filter((each) => each === 'preflight').length).toBeGreaterThan(1);
  }
}, 90_000);

test('FAILED after the submit began is believed with the signature of the entry, and only so', async () => {
  for (const phase of ['submit', 'observe'] as const) {
    const code = phase === 'submit' ? 'DESK_CLOSED' : 'WITHDRAWN';
    const signed = await approved('signed', (id) => failing.set(id, phase));
    expect((await own.api.reaches(signed, 'FAILED')).nodes).toMatchObject([{ error_code: code }]);
    const plain = await approved('plain', (id) => failing.set(id, phase));
    const view = await own.api.reaches(plain, 'MANUAL_INTERVENTION');
    expect(view.nodes).toMatchObject([{ state: 'UNKNOWN', error_code: 'RECOVERY_INCONCLUSIVE' }]);
    expect(view.nodes[0]?.error_message).toMatch(new RegExp(`${code}.*result_secret_file`));
  }
}, 90_000);

test('who reads the question from a history still fails nothing without the secret', async () => {
  const id = await approved('signed', (movement) => waiting.add(movement));
  await own.api.nodeReaches(id, 'pay', ['OBSERVING']);
  const at = await standing(id);
  const input = { movement_id: id, node_key: 'pay', attempt: at.attempt, phase: 'observe' };
  const opened = (await calls('ask', input)) as AskResult;
  if (!('ask' in opened)) throw new Error('no question was opened');
  const { question = '', epoch } = opened.ask;
  const call = { idempotency_key: `${id}:pay:1`, phase: 'recover' } as const;
  const answer = signedResult('a secret of the stranger', call, FAILED);
  const said = await calls(
    'record',
    madeUp(id, 'pay', { ...at, epoch }, { question, given: { answer } }),
  );
  expect(said).toMatchObject({ state: 'UNKNOWN' });
  expect(await standing(id)).toMatchObject({ state: 'UNKNOWN', attempt: 1 });
  waiting.delete(id);
  // The team keeps answering what became of it.
  await own.api.nodeReaches(id, 'pay', ['UNKNOWN']);
}, 90_000);

test('a submit that no worker took is not repeated for an executor that takes a key only once', async () => {
  const all = executorActivities(team, () => undefined);
  const connection = await NativeConnection.connect({ address: own.stack.temporalAddress });
  const worker = (activities: object): Promise<Worker> =>
    Worker.create({ connection, namespace: 'default', taskQueue: 'unsafe', activities });
  const first = await worker({
    preflight: all.preflight,
    prepare: async (context: Parameters<typeof all.prepare>[0]) => {
      first.shutdown();
      return all.prepare(context);
    },
  });
  const firstDone = first.run();
  const id = await approved('unsafe');
  await firstDone;
  await eventually(async () => ((await standing(id)).epoch > 1 ? true : null), {
    timeoutMs: 60_000,
    what: () => 'a look at the submit that no worker took',
  });
  const second = await worker({ ...all });
  const secondDone = second.run();
  try {
    const end = await own.api.reaches(id, 'MANUAL_INTERVENTION', 60_000);
    expect(end.nodes).toMatchObject([{ state: 'UNKNOWN' }]);
    expect(submits).not.toContain(`${id}:pay:1`);
  } finally {
    second.shutdown();
    await secondDone;
    await connection.close();
  }
}, 150_000);
