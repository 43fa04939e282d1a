/** The metrics page of a real stack: every figure, and the page itself while Postgres is away. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { METRICS } from '../../tools/monitoring/contract.ts';
import { RUNTIME_METRICS, SDK_METRICS } from '../../tools/monitoring/known-names.ts';
import { eventually, ownStack } from '../support/own-stack.ts';

/** Of the dynamic ports, so that hardly anything has it; the SDK cannot say which one it took. */
const SDK_PORT = String(49_152 + Math.floor(Math.random() * 16_000));

const folder = mkdtempSync(join(tmpdir(), 'metrics-'));
const venuesFile = join(folder, 'venues.json');
writeFileSync(
  venuesFile,
  JSON.stringify({
    venues: [
      {
        ...{ venue_key: 'never-read', provider: 'paper', account_role: 'sub', account: 'wrong' },
        // No server can be called at this port.
        ...{ url: 'http://127.0.0.1:9', fetch_interval_seconds: 1 },
      },
    ],
  }),
);
const own = ownStack({
  env: {
    SVC_REGISTRY_HEALTH_INTERVAL_SECONDS: '1',
    SVC_SDK_METRICS_PORT: SDK_PORT,
    SVC_VENUES_FILE: venuesFile,
  },
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

async function page(): Promise<string> {
  const answer = await fetch(`${own.stack.opsUrl}/metrics`, { signal: AbortSignal.timeout(8_000) });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    200,
    expect.stringContaining('text/plain'),
  ]);
  return answer.text();
}

/** The value of a series, null when the page has none. */
function valueOf(text: string, series: string): number | null {
  const line = text.split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? null : Number(line.slice(series.length + 1));
}

/** The metrics of a page by name, with their types. */
function typesOn(text: string): ReadonlyMap<string, string> {
  return new Map(
    [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name = '', type = '']) => [name, type]),
  );
}

test('shows what waits, what is held, what signers have and how long phases took', async () => {
  const gated = await own.api.create('starter/withdraw-with-gate', { amount: '40.5' });
  // Without blocks the venue says for a while that it has not arrived yet.
  await own.chainFaults({ mining: 'paused' });
  await own.api.approve(gated);
  await eventually(async () =>
    (await page()).includes('executor_kind="remote",outcome="not_yet"') ? true : null,
  );
  await own.chainFaults(null);
  await own.api.reaches(gated.movement_id, 'WAITING_MANUAL_ACTION');
  const swept = await own.api.create('starter/treasury-transfer', { amount: '10' });
  await own.api.approve(swept);
  await own.api.reaches(swept.movement_id, 'COMPLETED');
  // More digits than the token has.
  const tooFine = await own.api.create('starter/treasury-transfer', { amount: '10.0000001' });
  await own.api.approve(tooFine);
  await own.api.reaches(tooFine.movement_id, 'FAILED');
  // No host is allowed here, so its callback is a dead letter from the start.
  const callback = {
    template_key: 'starter/treasury-transfer',
    template_version: 1,
    intent: { asset: 'USDC', amount: '1' },
  };
  const rejected = await own.api.expect(201, 'POST', '/movements', {
    ...callback,
    callback_url: 'http://127.0.0.1:9/',
  });
  await own.api.expect(200, 'POST', `/movements/${String(rejected['movement_id'])}/reject`);
  await own.api.create('starter/treasury-transfer', { amount: '1' });

  const text = await eventually(
    async () => {
      const now = await page();
      return valueOf(now, 'svc_movements{state="PENDING_APPROVAL"}') === 1 &&
        now.includes('svc_signer_native_balance{')
        ? now
        : null;
    },
    { timeoutMs: 20_000, what: () => 'the figures to be renewed' },
  );
  const value = (series: string): number | null => valueOf(text, series);
  expect(value('svc_metrics_up')).toBe(1);
  expect(value('svc_movements{state="WAITING_MANUAL_ACTION"}')).toBe(1);
  expect(value('svc_movements{state="COMPLETED"}')).toBe(1);
  expect(value('svc_movements{state="FAILED"}')).toBe(1);
  expect(value('svc_approval_oldest_seconds')).toBeGreaterThan(0);
  expect(value('svc_approval_wait_seconds_count')).toBe(3);
  expect(value('svc_callbacks{status="dead_letter"}')).toBe(1);
  expect(value('svc_callbacks{status="pending"}')).toBe(0);
  expect(value('svc_relay_lag_seconds{relay="callbacks"}')).toBe(0);
  expect(value('svc_relay_lag_seconds{relay="commands"}')).not.toBeNull();
  expect(value('svc_reservations_held{venue="paper-main",account_type="SPOT",asset="USDC"}')).toBe(
    0,
  ); // it was sent
  const { address } = own.stack.chain.accounts.signer;
  const native = value(
    `svc_signer_native_balance{signer_key="dev-treasury",address="${address}",chain_id="${own.stack.chain.chainId}"}`,
  );
  // It may have been read before the first gas was paid.
  expect(native).toBeGreaterThan(9_999);
  expect(native).toBeLessThanOrEqual(10_000);
  for (const [phase, kind] of [
    ['prepare', 'remote'],
    ['submit', 'remote'],
    ['observe', 'remote'],
    ['submit', 'local'],
    ['prepare', 'local'],
  ])
    expect([
      phase,
      kind,
      value(
        `svc_phase_duration_seconds_count{phase="${phase}",executor_kind="${kind}",outcome="done"}`,
      ),
    ]).toEqual([phase, kind, expect.any(Number)]);
  expect(text).toMatch(
    /svc_phase_duration_seconds_count\{phase="observe",executor_kind="remote",outcome="not_yet"\} \d/,
  );
  expect(text).toMatch(
    /svc_http_requests_total\{method="POST",route="createMovement",status="201"\} 5/,
  );
  for (const reason of ['approval', 'manual_gate', 'failed'])
    expect([reason, value(`svc_attention{reason="${reason}"}`)]).toEqual([reason, 1]);
  expect(value('svc_attention{reason="unknown_outcome"}')).toBe(0);
  expect(value('svc_cutover_mode{mode="normal"}')).toBe(1);
  expect(value('svc_cutover_mode{mode="frozen"}')).toBe(0);
  expect(value(`svc_chain_gas_cost_limit{chain_id="${own.stack.chain.chainId}"}`)).toBe(0.05);
  expect(value('svc_database_synchronous')).toBe(0);
  // Each of the movements that were approved has woken its run.
  expect(
    value('svc_temporal_requests_total{operation="SignalWithStartWorkflowExecution"}'),
  ).toBeGreaterThanOrEqual(3);
  // The sealer comes by each second; the age of what it has not reached is small.
  expect(value('svc_audit_unsealed_oldest_seconds')).toBeLessThan(20);
}, 90_000);

test('a venue that was never read has an age, which grows while its reads fail', async () => {
  await eventually(
    async () =>
      (valueOf(await page(), 'svc_balance_age_seconds{venue="never-read"}') ?? 0) > 1 ? true : null,
    { timeoutMs: 30_000, what: () => 'the age of balances that cannot be read' },
  );
}, 60_000);

test('serves the whole contract, with its types, and nothing else', async () => {
  const text = await page();
  const types = typesOn(text);
  const contract = new Map<string, string>(METRICS.map(({ name, type }) => [name, type]));
  for (const [name, type] of types)
    if (name.startsWith('svc_')) expect([name, contract.get(name)]).toEqual([name, type]);
  const always = METRICS.filter(({ condition }) => condition === null);
  expect(always.length).toBeGreaterThan(15);
  const missing = always.filter(({ name }) => !new RegExp(`^${name}(_count)?[ {]`, 'm').test(text));
  expect(missing.map(({ name }) => name)).toEqual([]);
  for (const [name, { type }] of Object.entries(RUNTIME_METRICS))
    expect([name, types.get(name)]).toEqual([name, type]);
});

test('the SDK serves its own metrics on a port of their own', async () => {
  const answer = await fetch(`http://127.0.0.1:${SDK_PORT}/metrics`);
  const text = await answer.text();
  expect(answer.status).toBe(200);
  for (const name of [
    'temporal_workflow_completed_total',
    'temporal_activity_schedule_to_start_latency_seconds_bucket',
    'temporal_worker_task_slots_available',
    'temporal_worker_task_slots_used',
    'temporal_num_pollers',
    'temporal_sticky_cache_size',
    'temporal_workflow_task_schedule_to_start_latency_seconds_bucket',
    'temporal_workflow_task_execution_latency_seconds_bucket',
    'temporal_request_latency_seconds_bucket',
  ])
    expect([name, text.includes(`${name}{`)]).toEqual([name, true]);
  const types = typesOn(text);
  for (const [name, { type, labels }] of Object.entries(SDK_METRICS)) {
    const found = text.matchAll(new RegExp(`^${name}(?:_bucket|_sum|_count)?\\{(.*)\\} `, 'gm'));
    const used = new Set(
      [...found].flatMap(([, pairs = '']) => [...pairs.matchAll(/(\w+)="/g)].map(([, of]) => of)),
    );
    // What did not happen in this stack is not on the page.
    if (used.size === 0) continue;
    expect([name, types.get(name)]).toEqual([name, type]);
    expect([name, [...used].filter((label) => ![...labels, 'le'].includes(label ?? ''))]).toEqual([
      name,
      [],
    ]);
  }
});

test('answers while Postgres is away: its figures are missing, the others stay', async () => {
  await own.stack.kill('postgres');
  const away = await eventually(
    async () => {
      const now = await page();
      return valueOf(now, 'svc_metrics_up') === 0 ? now : null;
    },
    { timeoutMs: 30_000, what: () => 'the page to tell that figures are missing' },
  );
  expect(away).not.toMatch(
    /^svc_(movements|callbacks|relay_lag_seconds|reservations_held|approval_oldest_seconds)[ {]/m,
  );
  expect(away).toContain('svc_approval_wait_seconds_count 3');
  await own.stack.startChild('postgres');
  await eventually(async () => (valueOf(await page(), 'svc_metrics_up') === 1 ? true : null), {
    timeoutMs: 30_000,
  });
}, 90_000);
