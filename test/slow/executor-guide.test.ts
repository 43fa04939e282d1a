/**
 * What docs/executors.md says that the service sends is what it sends: movements from the example's
 * own files run through the service, over HTTP and on a task queue, and what passed is compared
 * with the page.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { built } from '../../dev/bootstrap/programs.mjs';
import { freePort, ROOT } from '../../dev/stack/ports.ts';
import { EXECUTOR_PHASES } from '../../domain/executor.ts';
import { byForm, examplesOf, sectionOf } from '../executor-kit/support/guide.ts';
import {
  startRecordingProxy,
  type Exchange,
  type RecordingProxy,
} from '../executor-kit/support/recording-proxy.ts';
import { eventually, startOwnStack, type Created, type OwnStack } from '../support/own-stack.ts';
import { compensation, edge } from '../support/plans.ts';

interface Template {
  readonly template_key: string;
  readonly nodes: readonly { readonly node_key: string }[];
}

let folder: string;
let proxy: RecordingProxy;
let own: OwnStack;
const running: ChildProcess[] = [];
const template = example('template.json') as Template;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'executor-guide-'));
  const port = await freePort();
  proxy = await startRecordingProxy(() => `http://127.0.0.1:${port}`);
  const [bank, desk] = [join(folder, 'bank'), join(folder, 'desk')];
  // Long enough for a cancel to find the payment under way.
  const clearing = ['--clearing-ms', '4000'];
  await start('executor-http', '--port', String(port), '--data', bank, ...clearing);
  const { executors } = example('registry.json') as { readonly executors: readonly object[] };
  const queue = {
    executor_key: 'treasury.payouts',
    kind: 'task_queue',
    task_queue: 'payouts',
    action_types: ['payout'],
    same_key_safe: true,
    payees: [{ field: 'payee', family: 'cex' }],
  };
  own = await startOwnStack({
    allow: ['alice'],
    executors: () => [...executors.map((entry) => ({ ...entry, url: proxy.url })), queue],
  });
  const temporal = ['--temporal-address', own.stack.temporalAddress];
  await start('executor-task-queue', ...temporal, '--task-queue', 'payouts', '--data', desk);
  for (const each of [template, withWayOut(), onQueue()])
    await own.api.expect(201, 'POST', '/plan-templates', each);
}, 120_000);
afterAll(async () => {
  await own?.close();
  await proxy?.close();
  for (const child of running) {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
  rmSync(folder, { recursive: true, force: true });
});

function example(name: string): unknown {
  return JSON.parse(readFileSync(join(ROOT, 'examples', 'executor-http', name), 'utf8'));
}

/** Only a plan that says what follows a cancel can be cancelled. */
function withWayOut(): object {
  const nodes = [...template.nodes, compensation('undo')];
  const edges = [edge('pay', 'undo', 'on_cancel')];
  return { ...template, template_key: 'example/way-out', nodes, edges };
}

function onQueue(): object {
  const selector = { executor_selector: { action_type: 'payout' }, action_type: 'payout' };
  const config = { payee: 'alice' };
  const nodes = template.nodes.map((node) => ({ ...node, ...selector, config }));
  return { ...template, template_key: 'example/on-queue', nodes };
}

async function start(program: string, ...args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [built(program), ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  running.push(child);
  await once(child.stdout, 'data');
}

async function begin(template_key: string): Promise<Created> {
  const movement = (await own.api.expect(201, 'POST', '/movements', {
    ...(example('movement.json') as object),
    template_key,
  })) as unknown as Created;
  await own.api.approve(movement);
  return movement;
}

const callsOf = (phase: string): readonly Exchange[] =>
  proxy.exchanges.filter(({ path }) => path === `/${phase}`);

test('over HTTP: each phase as the page shows it, with its headers', async () => {
  const { movement_id } = await begin(template.template_key);
  await own.api.reaches(movement_id, 'COMPLETED');
  proxy.losing.add('/submit');
  await own.api.reaches((await begin(template.template_key)).movement_id, 'COMPLETED');
  const before = callsOf('observe').length;
  const cancelled = await begin('example/way-out');
  await eventually(async () => (callsOf('observe').length > before ? true : null));
  await own.api.expect(200, 'POST', `/movements/${cancelled.movement_id}/actions/cancel`, {});
  await eventually(async () => (callsOf('cancel').length > 0 ? true : null));

  const examples = examplesOf('Over HTTP');
  for (const phase of EXECUTOR_PHASES) {
    const shown = examples.find(({ what }) => what === `POST /${phase}`);
    const real = callsOf(phase).map(({ request }) => byForm(request));
    expect([phase, real]).toEqual([phase, expect.arrayContaining([byForm(shown?.request)])]);
  }
  expect(proxy.exchanges.some(({ path, method }) => `${method} ${path}` === 'GET /health')).toBe(
    true,
  );
  expect(proxy.exchanges.filter(({ path }) => path.startsWith('/effects'))).toEqual([]);
  const [{ headers, request } = { headers: {}, request: {} }] = callsOf('prepare');
  expect(headers).toMatchObject({
    accept: 'application/json',
    'content-type': 'application/json',
    'idempotency-key': Reflect.get(request as object, 'idempotency_key') as unknown,
    'x-request-id': expect.any(String),
  });
}, 120_000);

test('on a task queue: the arguments and results that stand in the history', async () => {
  const { movement_id } = await begin('example/on-queue');
  await own.api.reaches(movement_id, 'COMPLETED');
  const handle = own.temporal.workflow.getHandle(`movement/${movement_id}`);
  const { events = [] } = await handle.fetchHistory();
  const calls = (events ?? []).flatMap(
    ({ eventId, activityTaskScheduledEventAttributes: scheduled }) => {
      if (scheduled?.taskQueue?.name !== 'payouts') return [];
      const ended = (events ?? []).find(
        ({ activityTaskCompletedEventAttributes: end }) =>
          String(end?.scheduledEventId) === String(eventId),
      )?.activityTaskCompletedEventAttributes;
      const pair = { argument: valueOf(scheduled.input), result: valueOf(ended?.result) };
      return [{ name: scheduled.activityType?.name ?? '', pair }];
    },
  );
  const preflights = calls.filter(({ name }) => name === 'preflight');
  expect(preflights.map(({ pair }) => pair.result)).toEqual([null]);
  const examples = examplesOf('On a task queue');
  expect(examples.map(({ what }) => what)).toEqual(['prepare', 'submit', 'observe']);
  for (const { what, request, answer } of examples) {
    const real = calls.filter(({ name }) => name === what).map(({ pair }) => byForm(pair));
    const shown = byForm({ argument: request, result: answer });
    expect([what, real]).toEqual([what, expect.arrayContaining([shown])]);
  }
  const rows = [...sectionOf('On a task queue').matchAll(/^\| `([a-z]+)` \|/gm)];
  expect(rows.map(([, name]) => name)).toEqual([...EXECUTOR_PHASES]);
}, 120_000);

interface Payloads {
  readonly payloads?: readonly { readonly data?: Uint8Array | null }[] | null;
}

/** One value, as it travelled: nothing at all is how Temporal carries null. */
function valueOf(payloads: Payloads | null | undefined): unknown {
  expect(payloads?.payloads).toHaveLength(1);
  const text = Buffer.from(payloads?.payloads?.[0]?.data ?? []).toString('utf8');
  return text === '' ? null : (JSON.parse(text) as unknown);
}
