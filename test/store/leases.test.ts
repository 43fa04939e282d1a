/** What one worker does for all: who holds a lease, and who follows. */
import { pino } from 'pino';
import { register } from 'prom-client';
import { startLeases } from '../../activities/relays/leases.ts';
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
  await eventually(async () => ((await second.work()) === undefined ? null : true), {
    timeoutMs: 5_000,
    what: () => 'the second worker to have the lease',
  });
  await first.work();
  expect(done.at(-1)).toBe('second');

  // Taken over: from the end on whoever had it does nothing, also without a notice.
  await bench.db.$executeRaw`
    UPDATE leases SET holder = 'third', ends_at = svc_now() + interval '1 hour' WHERE name = 'work'`;
  await eventually(async () => ((await second.work()) === undefined ? true : null), {
    timeoutMs: 5_000,
    what: () => 'the second worker to lose the lease',
  });
  await second.leases.loop.stop();
});
