/**
 * What a process is bound to is written down soon after its start, whatever fails at first, and the
 * log says why an executor is down.
 */
import { pino } from 'pino';
import { createHealthRefresher } from '../../activities/relays/health.ts';
import type { ExecutorHealth } from '../../domain/executor.ts';
import { createNoopExecutor } from '../../executors/local/noop.ts';
import { eventually } from '../support/eventually.ts';
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
