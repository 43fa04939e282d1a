/** Clocks as a worker measures them, and what of its sends waits for them. */
import { ApplicationFailure } from '@temporalio/common';
import { pino } from 'pino';
import { register } from 'prom-client';
import type { PhaseDependencies } from '../../activities/phases/context.ts';
import { submit } from '../../activities/phases/submit.ts';
import { createClocks } from '../../activities/relays/clocks.ts';
import { transferAttention } from '../../domain/capital-transfers/attention.ts';
import { ExecutorFault } from '../../domain/executor.ts';
import type { VenueClock } from '../../domain/send/clocks.ts';
import { listTransfers, readTransfer } from '../../store/capital-transfers.ts';
import { readFigures } from '../../store/metrics.ts';
import { transferDesk, type TransferDesk } from './capital-transfer-desk.ts';
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

/** Makes the wait of a transfer older, or longer unseen. */
const aged = (id: string, column: 'since' | 'last_seen', ago: string): Promise<unknown> =>
  bench.sql(
    `UPDATE transfer_clock_waits SET ${column} = svc_now() - $2::interval
     WHERE transfer_id = $1::uuid`,
    id,
    ago,
  );

/** Why a person is shown the transfer: in its record, in the list, and in the metric. */
async function needs(desk: TransferDesk, id: string) {
  const record = await readTransfer(bench.db, id);
  if (record === null) throw new Error(`no transfer ${id}`);
  const { source_venue } = await desk.row(id);
  const filter = { needs_attention: true, source_venue } as const;
  const listed = await listTransfers(bench.db, filter, { limit: 10, after: null });
  const attention = transferAttention(record);
  const found = listed.map((each) => [each.transfer_id, transferAttention(each)]);
  expect(found).toEqual(attention === null ? [] : [[id, attention]]);
  const { attention: counted } = await readFigures(bench.db, 300);
  expect(counted['clock_difference'] ?? 0).toBe(attention?.reason === 'clock_difference' ? 1 : 0);
  return attention;
}

test('a capital transfer that waits for clocks needs a person after ten minutes, until it goes on', async () => {
  const differences = new Map<string, number>();
  const provider = { submit: () => Promise.resolve({ status: 'pending' } as const) };
  const desk = transferDesk(bench, provider, 900, differences);
  const id = await desk.made();
  expect(await needs(desk, id)).toBeNull();
  const { source_venue } = await desk.row(id);
  differences.set(source_venue, MINUTES);
  const waits = () => expect(desk.submit(id)).rejects.toMatchObject({ type: 'CLOCK_DIFFERENCE' });
  await waits();
  await aged(id, 'since', '9 minutes');
  expect(await needs(desk, id)).toBeNull();
  await aged(id, 'since', '10 minutes');
  const shown = {
    reason: 'clock_difference',
    message: expect.stringMatching(/^The transfer is not sent: .*moved nothing\.$/),
    last_answer: expect.stringContaining(`the clock of ${source_venue} is 120 seconds ahead`),
    actions: [],
  };
  expect(await needs(desk, id)).toEqual(shown);
  // A turn goes on with the wait that it finds; one that no worker sees does not count, and what
  // comes after it is another one.
  await aged(id, 'last_seen', '4 minutes');
  await waits();
  expect(await needs(desk, id)).toEqual(shown);
  await aged(id, 'last_seen', '6 minutes');
  expect(await needs(desk, id)).toBeNull();
  await waits();
  expect(await needs(desk, id)).toBeNull();
  await aged(id, 'since', '10 minutes');
  expect(await needs(desk, id)).toEqual(shown);
  differences.clear();
  await desk.submit(id);
  expect((await desk.row(id)).state).toBe('PENDING_PROVIDER_CONFIRMATION');
  expect(await needs(desk, id)).toBeNull();
  expect(
    await bench.sql('SELECT FROM transfer_clock_waits WHERE transfer_id = $1::uuid', id),
  ).toEqual([]);
});

test('one that did not land and may not be sent again needs a person in the same way', async () => {
  const differences = new Map<string, number>();
  const provider = {
    submit: () => Promise.reject(new ExecutorFault('unreachable', 'LOST', 'no answer')),
    find: () => Promise.resolve(null),
  };
  const desk = transferDesk(bench, provider, 900, differences);
  const id = await desk.made();
  await desk.submit(id);
  differences.set('database', MINUTES);
  await expect(desk.look(id)).rejects.toBeInstanceOf(ApplicationFailure);
  await aged(id, 'since', '10 minutes');
  expect(await needs(desk, id)).toMatchObject({
    reason: 'clock_difference',
    message: expect.stringMatching(/did not land.*a person must state the outcome\.$/),
    actions: [],
  });
  // From its time on it is the outcome that a person is needed for.
  await bench.sql(
    `UPDATE capital_transfers SET pending_until = svc_now() WHERE transfer_id = $1::uuid`,
    id,
  );
  await desk.look(id);
  expect(await needs(desk, id)).toMatchObject({ reason: 'observed_long' });
});

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
  await aged(id, 'since', '10 minutes');
  expect((await needs(desk, id))?.reason).toBe('clock_difference');
  await after(901);
  expect(await needs(desk, id)).toBeNull();
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
