/** What one worker does for all: who holds a lease, and who follows. */
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { register } from 'prom-client';
import { startLeases } from '../../activities/relays/leases.ts';
import { SKIPPED } from '../../platform/loop.ts';
import { takeLeases } from '../../store/leases.ts';
import { eventually } from '../support/eventually.ts';
import { storeBench } from './support.ts';

const bench = storeBench();

const log = pino({ level: 'silent' });
const take = (holder: string, ...names: readonly string[]): Promise<readonly string[]> =>
  takeLeases(bench.db, { names, holder, seconds: 30 });

test('a lease is one holder’s until its end, whoever asks', async () => {
  expect([...(await take('a', 'x', 'y'))].sort()).toEqual(['x', 'y']);
  const others = await Promise.all(['b', 'c', 'd'].map((holder) => take(holder, 'x', 'y', 'z')));
  // One of them has what was free.
  expect(others.flat()).toEqual(['z']);
  expect([...(await take('a', 'x', 'y'))].sort()).toEqual(['x', 'y']);
  await bench.db.$executeRaw`UPDATE leases SET ends_at = svc_now() WHERE name = 'x'`;
  expect(await take('b', 'x', 'y')).toEqual(['x']);
  expect(await take('a', 'x', 'y')).toEqual(['y']);
});

test('of several workers one does the work, and another when it stops or its lease is over', async () => {
  const done: string[] = [];
  const worker = (holder: string) => {
    const names = ['work'];
    const leases = startLeases({ db: bench.db, log, holder, names, renewMs: 50, seconds: 1 });
    const work = leases.under('work', () => Promise.resolve(done.push(holder)));
    return { leases, work };
  };
  const first = worker('first');
  await first.work();
  const second = worker('second');
  for (let turn = 0; turn < 5; turn += 1) await Promise.all([first.work(), second.work()]);
  expect(new Set(done)).toEqual(new Set(['first']));
  expect(await register.getSingleMetricAsString('svc_lease_held')).toContain('lease="work"');

  // Released, another takes it immediately.
  await first.leases.loop.stop();
  await eventually(async () => ((await second.work()) === SKIPPED ? null : true), {
    timeoutMs: 5_000,
    what: () => 'the second worker to have the lease',
  });
  await first.work();
  expect(done.at(-1)).toBe('second');

  // Taken over: from the end on whoever had it does nothing, also without a notice.
  await bench.db.$executeRaw`
    UPDATE leases SET holder = 'third', ends_at = svc_now() + interval '1 hour' WHERE name = 'work'`;
  await eventually(async () => ((await second.work()) === SKIPPED ? true : null), {
    timeoutMs: 5_000,
    what: () => 'the second worker to lose the lease',
  });
  await second.leases.loop.stop();
});

test('a holder whose work fails twice leaves it to another for a while, and goes on when alone', async () => {
  let skippedMs = 0;
  const now = (): number => performance.now() + skippedMs;
  const worker = (holder: string, work: () => Promise<number>) => {
    const names = ['failing'];
    const { loop, under } = startLeases({ db: bench.db, log, holder, names, renewMs: 50, now });
    return { loop, turn: under('failing', work) };
  };
  let failed = 0;
  const blind = worker('blind', () => {
    failed += 1;
    return Promise.reject(new Error('Temporal does not answer'));
  });
  const tried = (): Promise<unknown> => blind.turn().catch(() => 'failed');
  expect(await tried()).toBe('failed');
  const other = worker('other', () => Promise.resolve(1));
  // One failure proves nothing.
  expect(await other.turn()).toBe(SKIPPED);
  expect(await tried()).toBe('failed');
  // Sooner than the lease ends.
  await eventually(async () => ((await other.turn()) === 1 ? true : null), {
    timeoutMs: 5_000,
    what: () => 'the other worker to have the lease',
  });
  await other.loop.stop();

  await sleep(500);
  expect(await tried()).toBe(SKIPPED);
  expect(failed).toBe(2);
  skippedMs = 15_000;
  await eventually(async () => ((await tried()) === 'failed' ? true : null), {
    timeoutMs: 5_000,
    what: () => 'the blind worker to go on',
  });
  await blind.loop.stop();
});

test('work that fails beside work that succeeds under the same lease keeps it', async () => {
  const leases = startLeases({ db: bench.db, log, holder: 'one', names: ['shared'], renewMs: 50 });
  const fails = leases.under('shared', () => Promise.reject(new Error('this venue is down')));
  const succeeds = leases.under('shared', () => Promise.resolve('done'));
  for (let turn = 0; turn < 3; turn += 1) {
    await expect(fails()).rejects.toThrow('this venue is down');
    expect(await succeeds()).toBe('done');
  }
  await leases.loop.stop();
});
