/**
 * Who waits for a connection, and what it gets: a full pool, a share that is used up and a lost
 * database are three things.
 */
import { createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { connectDatabase, shareConnections, type Database } from '../../prisma/client.ts';
import { PoolBusyError } from '../../prisma/pool.ts';
import { databaseFault, mayBeWritten } from '../../store/faults.ts';
import { startOwnDatabase } from '../support/own-database.ts';
import { started } from '../support/started.ts';

const open: Database[] = [];
const own = started(() => startOwnDatabase());
afterEach(async () => {
  await Promise.all(open.splice(0).map((db) => db.$disconnect()));
});

const connected = (
  poolSize: number,
  more: { url?: string; connectTimeoutMs?: number } = {},
): Database => {
  const db = connectDatabase({ url: own.url, poolSize, ...more });
  open.push(db);
  return db;
};
/**
 * Statements that wait for a lock which only `let go` gives back: connections at work for exactly
 * as long as a test wants.
 */
async function occupied(db: Database, connections: number): Promise<() => Promise<void>> {
  const holder = connected(1);
  await holder.sql`SELECT pg_advisory_lock(7)`;
  const waiting = Array.from(
    { length: connections },
    () => db.sql`SELECT pg_advisory_lock_shared(7), pg_advisory_unlock_shared(7)`,
  );
  for (let stuck = 0; stuck < connections;) {
    const [row] = await holder.sql<{ n: number }>`
      SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock'
        AND wait_event = 'advisory'`;
    stuck = row?.n ?? 0;
  }
  return async () => {
    await holder.sql`SELECT pg_advisory_unlock(7)`;
    await Promise.all(waiting);
  };
}
const faultOf = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'none',
    (error: unknown) => error,
  );

test('when all connections are at work, calls of sql and of Prisma both fail as busy', async () => {
  const db = connected(2, { connectTimeoutMs: 2_000 });
  const letGo = await occupied(db, 2);
  const plain = await faultOf(db.sql`SELECT 1`);
  expect(plain).toBeInstanceOf(PoolBusyError);
  expect(databaseFault(plain)).toBe('busy');
  expect(databaseFault(await faultOf(db.executor.findMany()))).toBe('busy');
  await letGo();
  // Whoever gave up has taken no connection with it.
  expect(
    await Promise.all([db.sql`SELECT 1 AS one`, db.sql`SELECT 1 AS one`, db.executor.findMany()]),
  ).toHaveLength(3);
});

describe('a pool makes few connections', () => {
  const made = async (): Promise<number> => {
    const [row] = await connected(1).sql<{ n: number }>`
      SELECT count(*)::int AS n FROM pg_stat_activity
      WHERE datname = current_database() AND backend_type = 'client backend'
        AND pid <> pg_backend_pid()`;
    return row?.n ?? 0;
  };

  test('for a burst of short statements', async () => {
    const grown: number[] = [];
    // A machine that stands still lets requests wait, which makes more connections; not each time.
    while (grown.length < 8 && !grown.some((more) => more < 8)) {
      const db = connected(20);
      await Promise.all(Array.from({ length: 4 }, () => db.sql`SELECT pg_sleep(0.1)`));
      const before = await made();
      const burst = Array.from({ length: 24 }, () => db.sql<{ one: number }>`SELECT 1 AS one`);
      expect(await Promise.all(burst)).toEqual(burst.map(() => [{ one: 1 }]));
      grown.push((await made()) - before);
      await db.$disconnect();
    }
    // Without the wait for one that exists there would be 16 more each time.
    expect(Math.min(...grown)).toBeLessThan(8);
  });

  test('and all that it may where statements are held up', async () => {
    const db = connected(9);
    const letGo = await occupied(db, 9);
    await letGo();
  });
});

test('a full share leaves others their connections, and says that it is full', async () => {
  const whole = connected(3, { connectTimeoutMs: 2_000 });
  const share = shareConnections(whole, 2);
  const letGo = await occupied(share, 2);
  expect(databaseFault(await faultOf(share.sql`SELECT 1`))).toBe('busy');
  expect(databaseFault(await faultOf(share.executor.findMany()))).toBe('busy');
  for (let index = 0; index < 20; index += 1)
    expect(await whole.sql`SELECT 1 AS one`).toEqual([{ one: 1 }]);
  await letGo();
  expect(await share.sql`SELECT 1 AS one`).toEqual([{ one: 1 }]);
});

test('those who wait are served in their order, and all of them', async () => {
  const db = shareConnections(connected(2), 1);
  const order: number[] = [];
  const numbers = Array.from({ length: 50 }, (_, index) => index);
  await Promise.all(
    numbers.map(async (index) => {
      await db.sql`SELECT ${index}::integer`;
      order.push(index);
    }),
  );
  expect(order).toEqual(numbers);
});

test('a statement that fails gives its place back', async () => {
  const db = shareConnections(connected(1), 1);
  for (let index = 0; index < 5; index += 1)
    await expect(db.sql`SELECT 1 / 0`).rejects.toThrow('division by zero');
  expect(await db.sql`SELECT 1 AS one`).toEqual([{ one: 1 }]);
});

test('a database that takes connections and says nothing is out of reach, also to those who wait behind', async () => {
  const sockets: Socket[] = [];
  const silent: Server = createServer((socket) => sockets.push(socket));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const url = `postgresql://unknown@127.0.0.1:${String((silent.address() as AddressInfo).port)}/nothing`;
  const db = connected(1, { url, connectTimeoutMs: 2_000 });
  const faults = await Promise.all([
    faultOf(db.sql`SELECT 1`),
    faultOf(db.sql`SELECT 2`),
    faultOf(db.executor.findMany()),
  ]);
  expect(faults.map(databaseFault)).toEqual(['unreachable', 'unreachable', 'unreachable']);
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => silent.close(resolve));
});

test('a port without a listener is out of reach', async () => {
  const db = connected(1, { url: 'postgresql://unknown@127.0.0.1:1/nothing' });
  expect(databaseFault(await faultOf(db.sql`SELECT 1`))).toBe('unreachable');
});

test('a login that is cut off has sent no statement; a statement that is, has', async () => {
  const cutting = createServer((socket) => socket.once('data', () => socket.destroy()));
  await new Promise<void>((resolve) => cutting.listen(0, '127.0.0.1', resolve));
  const { port } = cutting.address() as AddressInfo;
  const db = connected(1, { url: `postgresql://unknown@127.0.0.1:${String(port)}/nothing` });
  const faults = [
    await faultOf(db.sql`SELECT 1`),
    await faultOf(connected(1).sql`SELECT pg_terminate_backend(pg_backend_pid())`),
  ];
  expect(faults.map(databaseFault)).toEqual(['unreachable', 'unreachable']);
  expect(faults.map(mayBeWritten)).toEqual([false, true]);
  await new Promise((resolve) => cutting.close(resolve));
});

const settings = async (...texts: readonly string[]): Promise<void> => {
  const owner = connectDatabase({ url: `${own.url}?target_session_attrs=any`, poolSize: 1 });
  for (const text of texts) await owner.$executeRawUnsafe(text);
  await owner.$disconnect();
};
/** Until it is so; a server gets to its settings a moment after the request to read them. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error('it never came to be so');
}
const works = (db: Database): Promise<boolean> =>
  db.sql`SELECT 1`.then(
    () => true,
    () => false,
  );

test('a server that takes no more writes is out of reach, and its connections close', async () => {
  const db = connected(2, { connectTimeoutMs: 2_000 });
  const [before] = await db.sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`;
  await settings('ALTER SYSTEM SET default_transaction_read_only = on', 'SELECT pg_reload_conf()');
  // The connection from before learns it with its next answer, and is not used again.
  await until(async () => !(await works(db)));
  const faults = await Promise.all([
    faultOf(db.sql`CREATE TABLE never (id integer)`),
    faultOf(db.executor.findMany()),
  ]);
  expect(faults.map(databaseFault)).toEqual(['unreachable', 'unreachable']);
  // Whoever only reads may say so.
  const reader = connected(1, { url: `${own.url}?target_session_attrs=any` });
  expect(await reader.sql`SELECT 1 AS one`).toEqual([{ one: 1 }]);
  await settings(
    'SET default_transaction_read_only = off',
    'ALTER SYSTEM RESET default_transaction_read_only',
    'SELECT pg_reload_conf()',
  );
  await until(() => works(db));
  const [after] = await db.sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`;
  expect(after?.pid).not.toBe(before?.pid);
});

test('when a server ends its sessions, none of those that were made before is used again', async () => {
  const db = connected(3);
  const pids = async (): Promise<readonly number[]> =>
    (
      await Promise.all(
        [1, 2, 3].map(
          () => db.sql<{ pid: number }>`SELECT pg_backend_pid() AS pid FROM pg_sleep(0.2)`,
        ),
      )
    ).flatMap((rows) => rows.map(({ pid }) => pid));
  const before = await pids();
  const running = faultOf(db.sql`SELECT pg_sleep(20)`);
  const owner = connected(1);
  await until(async () => {
    const [row] = await owner.sql<{ ended: boolean }>`
      SELECT bool_or(pg_terminate_backend(pid)) AS ended FROM pg_stat_activity
      WHERE query = 'SELECT pg_sleep(20)' AND state = 'active'`;
    return row?.ended === true;
  });
  expect(databaseFault(await running)).toBe('unreachable');
  const after = await pids();
  expect(after.filter((pid) => before.includes(pid))).toEqual([]);
});

test('of several servers the first to answer is taken; a dead one delays no caller', async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => silent.once('listening', resolve));
  const { port } = silent.address() as AddressInfo;
  await new Promise((resolve) => silent.close(resolve));
  const url = own.url.replace('@', `@127.0.0.1:${String(port)},`);
  const db = connected(2, { url, connectTimeoutMs: 4_000 });
  expect(await db.sql`SELECT 1 AS one`).toEqual([{ one: 1 }]);
  expect(await db.executor.findMany()).toEqual([]);
  const nowhere = connected(1, {
    url: `postgresql://unknown@127.0.0.1:${String(port)},127.0.0.1:${String(port)}/nothing`,
  });
  expect(databaseFault(await faultOf(nowhere.sql`SELECT 1`))).toBe('unreachable');
});

test('a statement that takes too long, and one without an answer, are out of reach', async () => {
  const db = connectDatabase({ url: own.url, poolSize: 1, statementTimeoutMs: 300 });
  open.push(db);
  const late = await faultOf(db.sql`SELECT pg_sleep(30)`);
  expect([databaseFault(late), (late as { code?: string }).code]).toEqual(['unreachable', '57014']);
  expect(await db.sql`SELECT 1 AS one`).toEqual([{ one: 1 }]);
  expect(databaseFault(new Error('Query read timeout'))).toBe('unreachable');
});
