/** Clocks as a worker measures them, and what of its sends waits for them. */
import { ApplicationFailure } from '@temporalio/common';
import { pino } from 'pino';
import { register } from 'prom-client';
import type { PhaseDependencies } from '../../activities/phases/context.ts';
import { submit } from '../../activities/phases/submit.ts';
import { createClocks } from '../../activities/relays/clocks.ts';
import { ExecutorFault } from '../../domain/executor.ts';
import type { VenueClock } from '../../domain/send/clocks.ts';
import { transferDesk } from './capital-transfer-desk.ts';
import { storeBench } from './support.ts';

const bench = storeBench();

const MINUTES = 120_000;
const reads = (ms: number, counts: VenueClock['counts']): VenueClock => ({
  read: () => Promise.resolve(Date.now() + ms),
  counts,
});

test('every clock is a metric, those that count stop sends, and one that is silent is named', async () => {
  let silent = true;
  const clocks = createClocks({
    db: bench.db,
    log: pino({ level: 'silent' }),
    venues: {
      'chain-ahead': reads(MINUTES, 'ahead'),
      'chain-idle': reads(-MINUTES, 'ahead'),
      'chain-of-a-developer': reads(MINUTES, 'never'),
      'exchange-behind': reads(-MINUTES, 'either'),
      'exchange-away': {
        read: () => (silent ? Promise.reject(new Error('away')) : Promise.resolve(Date.now())),
        counts: 'either',
      },
    },
  });
  await clocks.measure();
  const apart = [...clocks.differences].filter(([, ms]) => Math.abs(ms) > 60_000);
  expect(apart.map(([clock]) => clock).sort()).toEqual(['chain-ahead', 'exchange-behind']);
  expect(clocks.differences.has('exchange-away')).toBe(false);
  expect(clocks.unread()).toEqual(['exchange-away']);
  const metric = await register.getSingleMetricAsString('svc_clock_difference_seconds');
  for (const clock of ['database', 'chain-ahead', 'chain-idle', 'chain-of-a-developer'])
    expect(metric).toContain(`clock="${clock}"`);
  const stopping = [...metric.matchAll(/clock="([^"]+)"\} (\S+)$/gm)].filter(
    ([, , seconds]) => Math.abs(Number(seconds)) > 60,
  );
  expect(stopping.map(([, clock]) => clock).sort()).toEqual(['chain-ahead', 'exchange-behind']);
  expect(metric).not.toContain('exchange-away');
  silent = false;
  await clocks.measure();
  expect(clocks.unread()).toEqual([]);
});

test('a clock that was wrong and cannot be read agrees with none yet', async () => {
  let readClock: () => Promise<number> = () => Promise.resolve(Date.now() + MINUTES);
  const clocks = createClocks({
    db: bench.db,
    log: pino({ level: 'silent' }),
    venues: { exchange: { read: () => readClock(), counts: 'either' } },
  });
  await clocks.measure();
  readClock = () => Promise.reject(new Error('away'));
  await clocks.measure();
  expect([clocks.differences.get('exchange')! > 60_000, clocks.unread()]).toEqual([
    true,
    ['exchange'],
  ]);
  const shown = async (): Promise<number | undefined> => {
    const metric = await register.getSingleMetric('svc_clock_difference_seconds')?.get();
    return metric?.values.find(({ labels }) => labels['clock'] === 'exchange')?.value;
  };
  // What stops sends stays in the figure that the alert reads.
  expect(await shown()).toBeGreaterThan(60);
  readClock = () => Promise.resolve(Date.now());
  await clocks.measure();
  expect(Math.abs(clocks.differences.get('exchange')!)).toBeLessThan(60_000);
  readClock = () => Promise.reject(new Error('away'));
  await clocks.measure();
  expect([clocks.differences.has('exchange'), await shown()]).toEqual([false, undefined]);
});

test('one that did not land is not sent again while clocks differ: it is looked for', async () => {
  const differences = new Map<string, number>();
  const provider = {
    submit: () => Promise.reject(new ExecutorFault('unreachable', 'LOST', 'no answer')),
    find: () => Promise.resolve(null),
  };
  const desk = transferDesk(bench, provider, 900, differences);
  const id = await desk.made();
  await desk.submit(id);
  differences.set('database', MINUTES);
  const fault = await desk.look(id).catch((error: unknown) => error);
  expect(fault).toBeInstanceOf(ApplicationFailure);
  expect((fault as Error).message).toContain('clock');
  differences.clear();
  expect(await desk.look(id)).toMatchObject({ next: 'submit' });
});

test.each(['database', 'source', 'destination'])(
  'a capital transfer is not sent while the clock of its %s differs, and is once they agree',
  async (which) => {
    const differences = new Map<string, number>();
    let sent = 0;
    const provider = {
      submit: () => {
        sent += 1;
        return Promise.resolve({ status: 'completed' } as const);
      },
    };
    const desk = transferDesk(bench, provider, 900, differences);
    const id = await desk.made();
    const { source_venue: source, destination_venue: destination } = await desk.row(id);
    const clock = { database: 'database', source, destination }[which] ?? '';
    differences.set(clock, MINUTES);
    const fault = await desk.submit(id).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(ApplicationFailure);
    expect(fault).toMatchObject({ type: 'CLOCK_DIFFERENCE' });
    expect([sent, (await desk.row(id)).state]).toEqual([0, 'CREATED']);
    differences.clear();
    differences.set('another venue', MINUTES);
    await desk.submit(id);
    expect([sent, (await desk.row(id)).state]).toEqual([1, 'COMPLETED']);
  },
);

test('a capital transfer that was never sent fails when clocks have differed for too long', async () => {
  const differences = new Map<string, number>();
  const desk = transferDesk(bench, {}, 900, differences);
  const id = await desk.made();
  differences.set((await desk.row(id)).source_venue, MINUTES);
  const after = async (seconds: number): Promise<void> => {
    await bench.sql(
      `UPDATE capital_transfers SET created_at = svc_now() - interval '${String(seconds)} seconds'
        WHERE transfer_id = $1::uuid`,
      id,
    );
    await desk.submit(id);
  };
  const shown = async () => {
    const [hold] = await bench.sql<{ status: string }>(
      'SELECT status FROM reservations WHERE transfer_id = $1::uuid',
      id,
    );
    const { state, sends, error_code } = await desk.row(id);
    return { state, sends, error_code, hold: hold?.status };
  };
  await expect(after(800)).rejects.toMatchObject({ type: 'CLOCK_DIFFERENCE' });
  expect(await shown()).toEqual({ state: 'CREATED', sends: 0, error_code: null, hold: 'held' });
  await after(901);
  const error_code = 'CLOCK_DIFFERENCE';
  expect(await shown()).toEqual({ state: 'FAILED', sends: 0, error_code, hold: 'released' });
});

test('one that may have been sent does not fail by that', async () => {
  const differences = new Map<string, number>();
  const provider = {
    submit: () => Promise.reject(new ExecutorFault('unreachable', 'LOST', 'no answer')),
    find: () => Promise.resolve(null),
  };
  const desk = transferDesk(bench, provider, 900, differences);
  const id = await desk.made();
  await desk.submit(id);
  await bench.sql(
    `UPDATE capital_transfers SET created_at = svc_now() - interval '901 seconds'
      WHERE transfer_id = $1::uuid`,
    id,
  );
  differences.set('database', MINUTES);
  await expect(desk.submit(id)).rejects.toMatchObject({ type: 'CLOCK_DIFFERENCE' });
  expect(await desk.row(id)).toMatchObject({ state: 'PENDING_PROVIDER_CONFIRMATION', sends: 1 });
});

test.each([
  [61_000, 'read_phase'],
  [60_000, 'try_fence'],
])('with clocks %d ms apart the fence of an unsigned node begins with %s', async (ms, first) => {
  const queries: string[] = [];
  const db = {
    mayBegin: () => true,
    sql: (texts: readonly string[]) => {
      queries.push(texts.join('?'));
      return Promise.reject(new Error('no database here'));
    },
  };
  const deps = {
    db,
    executors: {
      describe: () => ({ executor_key: 'x', kind: 'local', action_types: [], timeout_seconds: 1 }),
    },
    clocks: { differences: new Map([['database', ms]]) },
  } as unknown as PhaseDependencies;
  const args = { movement_id: 'm', node_key: 'n', attempt: 1, epoch: 0, executor_key: 'x' };
  await submit.begin(deps, args as never).catch(() => undefined);
  expect(queries[0]).toContain(first);
});
