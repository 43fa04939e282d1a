/**
 * A node whose executor is a team's own worker on its own task queue: away, killed, and back again.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { NativeConnection, Worker } from '@temporalio/worker';
import { built } from '../../dev/bootstrap/programs.mjs';
import { movementWorkflowId } from '../../domain/messages.ts';
import { installRuntime } from '../../executor-kit/runtime.ts';
import { executorActivities, withPayloadKeys } from '../../executor-kit/task-queue.ts';
import { memoryExecutor } from '../executor-kit/support/memory-executor.ts';
import { assertConsistent } from '../support/evidence.ts';
import { eventually, startOwnStack, type OwnStack } from '../support/own-stack.ts';

const PAYOUTS = 'team payouts';
const HALF = 'team half';
const UNPOLLED = 'team unpolled';
/**
 * A team's calls pass through Temporal: here encrypted, as they should be in production.
 */
const KEYS = `tests:${randomBytes(32).toString('base64')}`;

let own: OwnStack;
let data: string;
let desk: ChildProcess | undefined;

const onQueue = (key: string, task_queue: string, payees: readonly object[] = []) => ({
  executor_key: `team.${key}`,
  kind: 'task_queue',
  task_queue,
  action_types: [`team_${key}`],
  timeout_seconds: 2,
  settle_seconds: 1,
  same_key_safe: true,
  payees,
});

const node = (node_key: string, action: string, max_attempts: number) => ({
  node_key,
  node_kind: 'action',
  action_type: `team_${action}`,
  executor_selector: { action_type: `team_${action}` },
  has_side_effect: true,
  config: { payee: 'grocer' },
  retry_policy: { max_attempts, initial_interval_seconds: 0.2 },
});

async function template(
  name: string,
  nodes: readonly object[],
  edges: readonly object[] = [],
): Promise<string> {
  await own.api.expect(201, 'POST', '/plan-templates', {
    template_key: `test/${name}`,
    version: 1,
    name,
    nodes,
    edges,
    completion_policy: { completion_assurance: 'provider_completed' },
  });
  return `test/${name}`;
}

beforeAll(async () => {
  installRuntime('ERROR');
  data = mkdtempSync(join(tmpdir(), 'team-worker-'));
  writeFileSync(join(data, 'keys'), KEYS, { mode: 0o600 });
  own = await startOwnStack({
    allow: ['grocer'],
    executors: () => [
      // Somebody to ask the allowlist for: the fence goes another way then.
      onQueue('payouts', PAYOUTS, [{ field: 'payee', family: 'cex' }]),
      onQueue('half', HALF),
      onQueue('unpolled', UNPOLLED),
    ],
    env: { SVC_REGISTRY_HEALTH_INTERVAL_SECONDS: '1', SVC_PAYLOAD_KEYS: KEYS },
  });
}, 120_000);
afterAll(async () => {
  await stopDesk('SIGTERM');
  await own?.close();
  rmSync(data, { recursive: true, force: true });
});

/** The example's own program, as its team would run it. */
async function startDesk(): Promise<void> {
  const { temporalAddress } = own.stack;
  const args = [
    '--task-queue',
    PAYOUTS,
    '--temporal-address',
    temporalAddress,
    '--data',
    data,
    '--delay-ms',
    '200',
    '--payload-keys-file',
    join(data, 'keys'),
  ];
  const child = spawn(process.execPath, [built('executor-task-queue'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  desk = child;
  await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'exit').then(([code]) =>
      Promise.reject(new Error(`the desk ended with ${String(code)}`)),
    ),
  ]);
}

async function stopDesk(signal: NodeJS.Signals): Promise<void> {
  const child = desk;
  desk = undefined;
  if (child === undefined || child.exitCode !== null) return;
  const gone = once(child, 'exit');
  child.kill(signal);
  await gone;
}

/** Every order that the desk ever took down, by its key. */
function orders(): Map<string, number> {
  const taken = new Map<string, number>();
  for (const line of readFileSync(join(data, 'orders.jsonl'), 'utf8').split('\n').filter(Boolean)) {
    const { key, state } = JSON.parse(line) as { key: string; state: string };
    if (state === 'INTENDED') taken.set(key, (taken.get(key) ?? 0) + 1);
  }
  return taken;
}

/** Every byte string of a history. */
function bytesIn(value: unknown): Uint8Array[] {
  if (value instanceof Uint8Array) return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(bytesIn) : [];
}

const approved = async (key: string): Promise<string> => {
  const movement = await own.api.create(key, { amount: '5' });
  await own.api.approve(movement);
  return movement.movement_id;
};
const consistent = async (id: string): Promise<void> =>
  assertConsistent(await own.api.movement(id), await own.api.timeline(id));

test('every order is paid once, however often the worker of the team is killed', async () => {
  const key = await template(
    'team-chain',
    [node('first', 'payouts', 40), node('second', 'payouts', 40)],
    [{ from: 'first', to: 'second', edge_type: 'on_success' }],
  );
  await startDesk();
  const ids = await Promise.all(Array.from({ length: 6 }, () => approved(key)));
  let over = false;
  const storm = (async () => {
    for (let kill = 0; kill < 6 && !over; kill += 1) {
      await sleep(400 + 250 * kill);
      await stopDesk('SIGKILL');
      await startDesk();
    }
  })();
  const ends = Promise.all(ids.map((id) => own.api.reaches(id, 'COMPLETED', 150_000)));
  await ends.finally(() => {
    over = true;
  });
  await storm;
  const wanted = ids.flatMap((id) => ['first', 'second'].map((each) => `${id}:${each}:1`)).sort();
  const taken = orders();
  expect([...taken.keys()].sort()).toEqual(wanted);
  expect([...taken.values()].every((times) => times === 1)).toBe(true);
  for (const id of ids) await consistent(id);
  const [first = ''] = ids;
  const payloads = Buffer.concat(
    bytesIn(await own.temporal.workflow.getHandle(movementWorkflowId(first)).fetchHistory()),
  ).toString();
  expect(payloads).toContain('binary/encrypted');
  expect(payloads).not.toContain('grocer');
}, 200_000);

test('a submit that no worker takes never started, and is sent once a worker polls', async () => {
  const key = await template('team-half', [node('pay', 'half', 5)]);
  const effects: string[] = [];
  const executor = memoryExecutor((_, sound) => ({
    submit: (submission, call) => {
      effects.push(submission.context.idempotency_key);
      return sound.submit(submission, call);
    },
  }));
  const all = executorActivities(executor, () => undefined);
  const connection = await NativeConnection.connect({ address: own.stack.temporalAddress });
  const worker = (activities: object) =>
    Worker.create({
      connection,
      namespace: 'default',
      taskQueue: HALF,
      activities,
      ...withPayloadKeys(KEYS),
    });
  // One call at a time and gone after its prepare: no worker is left to take the submit.
  const { preflight, prepare } = all;
  let prepared = false;
  const first = await worker({
    preflight,
    prepare: async (context: Parameters<typeof prepare>[0]) => {
      prepared = true;
      first.shutdown();
      return prepare(context);
    },
  });
  const firstDone = first.run();
  const id = await approved(key);
  await firstDone;
  expect(prepared).toBe(true);
  await eventually(
    async () =>
      (await own.api.timeline(id)).some(({ event_type }) => event_type === 'node_recovered')
        ? true
        : null,
    {
      timeoutMs: 40_000,
      what: () => 'a submit that no worker took to return',
    },
  );
  expect(effects).toEqual([]);
  const second = await worker(all);
  const secondDone = second.run();
  try {
    await own.api.reaches(id, 'COMPLETED');
    expect(effects).toEqual([`${id}:pay:1`]);
    await consistent(id);
  } finally {
    second.shutdown();
    await secondDone;
    await connection.close();
  }
}, 120_000);

test('without a worker on the queue a node fails after its attempts, before anything was sent', async () => {
  const key = await template('team-unpolled', [node('pay', 'unpolled', 2)]);
  const id = await approved(key);
  const ended = await own.api.reaches(id, 'FAILED', 60_000);
  expect(ended.nodes).toMatchObject([{ state: 'FAILED', error_code: 'EXECUTOR_NOT_POLLING' }]);
  expect((await own.api.timeline(id)).some(({ to_state }) => to_state === 'SUBMITTING')).toBe(
    false,
  );
  await consistent(id);
}, 90_000);

test('the registry tells whose queue is polled', async () => {
  await eventually(async () => {
    const executors = (await own.api.expect(
      200,
      'GET',
      '/executors',
    )) as unknown as readonly Record<string, string>[];
    const state = (executor: string) =>
      executors.find((each) => each['executor_key'] === executor)?.['health_state'];
    return state('team.payouts') === 'up' && state('team.unpolled') === 'down' ? true : null;
  });
});
