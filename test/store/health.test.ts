/**
 * What a process is bound to is written down soon after its start, whatever fails at first, and the
 * log says why an executor is down. One process that cannot reach it calls it down for no other,
 * and one whose registry file lacks a signer takes no address from those that have it.
 */
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { register } from 'prom-client';
import { createHealthRefresher } from '../../activities/relays/health.ts';
import type { ExecutorDescriptor, ExecutorHealth } from '../../domain/executor.ts';
import { createNoopExecutor } from '../../executors/local/noop.ts';
import { noteAttention, readEndedBadly, readReasonsForRuns } from '../../store/attention.ts';
import { saveExecutorHealth, saveObservedIdentity } from '../../store/registry.ts';
import { eventually } from '../support/eventually.ts';
import { turnSecondsOf } from '../support/loop-figures.ts';
import { storeBench } from './support.ts';

const bench = storeBench();

test('a database that takes no record at a start is not left alone for the usual pause', async () => {
  const { db } = bench;
  await db.$executeRaw`ALTER FUNCTION save_executor_health RENAME TO away`;
  const noop = createNoopExecutor();
  const said: string[] = [];
  const health = createHealthRefresher({
    db,
    log: pino({}, { write: (line) => said.push(line) }),
    intervalSeconds: 3_600,
    checkedBy: 'worker',
    signers: { list: () => [], get: () => null },
    executors: { list: () => [noop.descriptor], get: () => noop },
    temporal: { hasPollers: () => Promise.resolve(true) },
  });
  health.start();
  try {
    await eventually(() => Promise.resolve(said.length > 0 || null));
    expect(said[0]).toContain('a health refresh was not recorded');
    await db.$executeRaw`ALTER FUNCTION away RENAME TO save_executor_health`;
    const found = await eventually(() => db.executor.findFirst(), { timeoutMs: 20_000 });
    expect(found).toMatchObject({ executor_key: noop.descriptor.executor_key, health_state: 'up' });
  } finally {
    await health.stop();
  }
});

test('why an executor is down is logged once until it is up again', async () => {
  const noop = createNoopExecutor();
  const down: ExecutorHealth = { state: 'down', detail: 'health answered 503' };
  let answer: () => Promise<ExecutorHealth> = () => Promise.resolve(down);
  const said: Record<string, unknown>[] = [];
  const health = createHealthRefresher({
    db: bench.db,
    log: pino({}, { write: (line) => said.push(JSON.parse(line) as Record<string, unknown>) }),
    intervalSeconds: 3_600,
    checkedBy: 'worker',
    signers: { list: () => [], get: () => null },
    executors: {
      list: () => [noop.descriptor],
      get: () => ({ ...noop, health: () => answer() }),
    },
    temporal: { hasPollers: () => Promise.resolve(true) },
  });
  await health.refreshOnce();
  await health.refreshOnce();
  answer = () => Promise.resolve({ state: 'up' });
  await health.refreshOnce();
  await health.refreshOnce();
  answer = () => Promise.reject(new Error('the socket is closed'));
  await health.refreshOnce();
  const { executor_key } = noop.descriptor;
  expect(said).toEqual([
    expect.objectContaining({ level: 40, executor_key, ...down }),
    expect.objectContaining({ level: 30, executor_key, state: 'up' }),
    expect.objectContaining({
      ...{ level: 40, executor_key, state: 'down' },
      err: expect.objectContaining({ message: 'the socket is closed' }) as unknown,
    }),
  ]);
});

test('a refresh that waits for its answers is shown as a turn until it has ended', async () => {
  const noop = createNoopExecutor();
  let answer: (health: ExecutorHealth) => void = () => undefined;
  const held = new Promise<ExecutorHealth>((resolve) => (answer = resolve));
  const health = createHealthRefresher({
    db: bench.db,
    log: pino({ level: 'silent' }),
    intervalSeconds: 3_600,
    checkedBy: 'worker',
    signers: { list: () => [], get: () => null },
    executors: { list: () => [noop.descriptor], get: () => ({ ...noop, health: () => held }) },
    temporal: { hasPollers: () => Promise.resolve(true) },
  });
  health.start();
  try {
    await eventually(async () => ((await turnSecondsOf('health')) ?? 0) > 0 || null);
    answer({ state: 'up' });
    await eventually(async () => (await turnSecondsOf('health')) === 0 || null);
  } finally {
    await health.stop();
  }
});

test('a signer that only another worker has keeps its address until that has not seen it for three turns', async () => {
  const address = `0x${'a1'.repeat(20)}`;
  const signer_key = randomUUID();
  const declared = { signer_key, backend: 'remote', chain_family: 'evm', profile: 'p' } as const;
  const older = createHealthRefresher({
    db: bench.db,
    log: pino({ level: 'silent' }),
    intervalSeconds: 30,
    checkedBy: 'older',
    signers: { list: () => [], get: () => null },
    executors: { list: () => [], get: () => undefined },
    temporal: { hasPollers: () => Promise.resolve(true) },
  });
  const after = async (seconds: number): Promise<string | null | undefined> => {
    await saveObservedIdentity(bench.db, declared, address);
    await bench.sql(
      `UPDATE signers SET observed_at = observed_at - make_interval(secs => $2::double precision)
       WHERE signer_key = $1`,
      signer_key,
      seconds,
    );
    expect(await older.refreshOnce()).toBe(true);
    return (await bench.db.signer.findUnique({ where: { signer_key } }))?.observed_signer_address;
  };
  expect(await after(0)).toBe(address);
  // A turn is the interval and the 5 seconds of an answer.
  expect(await after(100)).toBe(address);
  expect(await after(106)).toBeNull();
});

interface StoredHealth {
  readonly state: string;
  readonly provider: string | null;
  /** Seconds for which the answer stands, from its check on. */
  readonly stands: number | null;
}

async function healthOf(key: string): Promise<StoredHealth | undefined> {
  const [row] = await bench.sql<StoredHealth>(
    `SELECT health_state AS state, provider,
       extract(epoch FROM health_stands_until - health_checked_at)::integer AS stands
     FROM executors WHERE executor_key = $1`,
    key,
  );
  return row;
}

describe('one worker reaches the executor of an open movement, and another one does not', () => {
  const KEY = 'acme.payouts';
  const answers: Record<string, ExecutorHealth['state']> = { blind: 'down', sound: 'up' };

  /** A worker whose checks have this answer. */
  const worker = (checkedBy: 'blind' | 'sound') => {
    const noop = createNoopExecutor();
    const descriptor = { ...noop.descriptor, executor_key: KEY };
    const health = () => Promise.resolve({ state: answers[checkedBy] ?? 'unknown' });
    return createHealthRefresher({
      db: bench.db,
      log: pino({ level: 'silent' }),
      intervalSeconds: 30,
      checkedBy,
      signers: { list: () => [], get: () => null },
      executors: { list: () => [descriptor], get: () => ({ ...noop, descriptor, health }) },
      temporal: { hasPollers: () => Promise.resolve(true) },
    });
  };
  let blind: ReturnType<typeof worker>;
  let sound: ReturnType<typeof worker>;
  let movement = '';
  beforeAll(async () => {
    blind = worker('blind');
    sound = worker('sound');
    ({ movement_id: movement } = await bench.movement({ unheld: true }));
    for (const text of [
      "UPDATE movements SET request_state = 'EXECUTING' WHERE movement_id = $1::uuid",
      "UPDATE movement_nodes SET state = 'READY' WHERE movement_id = $1::uuid",
    ])
      await bench.sql(text, movement);
  });

  /** A turn of a worker and of the attention teller; returns the state that is stored then. */
  async function turnOf(refresher: typeof blind): Promise<string | undefined> {
    expect(await refresher.refreshOnce()).toBe(true);
    const { db } = bench;
    await noteAttention(db, await readReasonsForRuns(db, 100), await readEndedBadly(db, 100));
    return (await healthOf(KEY))?.state;
  }
  async function calledBack(): Promise<number> {
    const rows = await bench.sql(
      `SELECT event_id FROM timeline_events
       WHERE movement_id = $1::uuid AND event_type = 'request_attention'`,
      movement,
    );
    return rows.length;
  }
  const figure = () => register.getSingleMetricAsString('svc_executor_unreachable');

  test('it stays up, its movements need no person, and each worker shows what it found', async () => {
    // Whichever comes first: at most once it is down.
    await turnOf(blind);
    for (let turn = 0; turn < 4; turn += 1) {
      expect(await turnOf(sound)).toBe('up');
      expect(await figure()).toContain(`{executor_key="${KEY}"} 0`);
      expect(await turnOf(blind)).toBe('up');
      expect(await figure()).toContain(`{executor_key="${KEY}"} 1`);
    }
    expect(await calledBack()).toBeLessThanOrEqual(1);
    // An interval and the 5 seconds of an answer, twice.
    expect(await healthOf(KEY)).toMatchObject({ stands: 70 });
  });

  test('it is down once the one that reached it does not, and up again with either', async () => {
    const before = await calledBack();
    answers['sound'] = 'down';
    for (const each of [sound, blind, sound, blind]) expect(await turnOf(each)).toBe('down');
    expect(await calledBack()).toBe(before + 1);
    answers['blind'] = 'up';
    expect(await turnOf(blind)).toBe('up');
    expect(await turnOf(sound)).toBe('up');
  });

  test('what a worker found that has died stands no longer than two of its turns', async () => {
    answers['blind'] = 'up';
    answers['sound'] = 'down';
    expect(await turnOf(blind)).toBe('up');
    const until = (set: string) =>
      bench.sql(`UPDATE executors SET health_stands_until = ${set} WHERE executor_key = $1`, KEY);
    await until("svc_now() + interval '1 minute'");
    expect(await turnOf(sound)).toBe('up');
    await until('svc_now()');
    expect(await turnOf(sound)).toBe('down');
  });
});

/** Who found what, in order: `old` is a worker of 0.4.0. */
test.each<[string, string]>([
  ['a up, a down', 'down'],
  ['a up, a unknown', 'unknown'],
  ['a up, b down', 'up'],
  ['a up, b unknown', 'up'],
  ['a down, b unknown', 'down'],
  ['a down, b down, a unknown', 'down'],
  ['a down, b up', 'up'],
  ['a unknown, b down', 'down'],
  ['a up, b up, a down', 'up'],
  ['a up, old down', 'down'],
  ['old up, a down', 'down'],
])('after %s the executor is %s', async (checks, expected) => {
  const { descriptor } = createNoopExecutor();
  const declared: ExecutorDescriptor = { ...descriptor, executor_key: randomUUID() };
  for (const check of checks.split(', ')) {
    const [by, state] = check.split(' ') as [string, ExecutorHealth['state']];
    // What a worker is bound to is stored, whether or not its answer counts.
    const own = { ...declared, provider: by };
    if (by === 'old')
      await bench.db.sql`SELECT save_executor_health(${JSON.stringify(own)}::jsonb, ${state})`;
    else await saveExecutorHealth(bench.db, own, { state, by, standsSeconds: 60 });
    expect(await healthOf(declared.executor_key)).toMatchObject({ provider: by });
  }
  expect(await healthOf(declared.executor_key)).toMatchObject({ state: expected });
});

test('a check from a time to come, of a database whose clock was ahead, keeps no executor up', async () => {
  const { descriptor } = createNoopExecutor();
  const declared: ExecutorDescriptor = { ...descriptor, executor_key: randomUUID() };
  const check = (by: string, state: ExecutorHealth['state']) =>
    saveExecutorHealth(bench.db, declared, { state, by, standsSeconds: 60 });
  const ahead = (by: string) =>
    bench.sql(
      `UPDATE executors SET health_checked_at = health_checked_at + $2::interval,
         health_stands_until = health_stands_until + $2::interval WHERE executor_key = $1`,
      declared.executor_key,
      by,
    );
  await check('gone', 'up');
  // As of a check that was made at the same time.
  await ahead('1 second');
  await check('other', 'down');
  expect(await healthOf(declared.executor_key)).toMatchObject({ state: 'up' });
  await ahead('1 hour');
  await check('other', 'down');
  expect(await healthOf(declared.executor_key)).toMatchObject({ state: 'down' });
});
