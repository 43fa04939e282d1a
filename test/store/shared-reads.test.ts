/** Concurrent callers share statements, and none of them gets what was read before its call. */
import type { Database } from '../../prisma/client.ts';
import { registeredStatuses } from '../../store/registry.ts';
import { shared } from '../../store/shared-reads.ts';

/** No statement runs here: a database is only what readers are kept by. */
const database = (): Database => ({}) as never;

interface Statement {
  readonly asks: readonly string[];
  readonly answer: () => void;
  readonly fail: () => void;
}

/**
 * A read whose statements end when the test says so; each returns the words of its callers with
 * the value at its start.
 */
function reading() {
  const statements: Statement[] = [];
  const state = { value: 1 };
  const read = shared<string, string>(
    (_db, asks) =>
      new Promise((resolve, reject) => {
        const { value } = state;
        statements.push({
          asks,
          answer: () => resolve(asks.map((ask) => `${ask} ${String(value)}`)),
          fail: () => reject(new Error('the statement failed')),
        });
      }),
  );
  return { read, statements, state };
}

/** Lets all that does not wait for a statement happen. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

test('a call gets what is there at its time, though a statement for the same is under way', async () => {
  const { read, statements, state } = reading();
  const db = database();
  const early = read(db, 'a');
  await settle();
  state.value = 2;
  const late = read(db, 'a');
  await settle();
  expect(statements.map(({ asks }) => asks)).toEqual([['a'], ['a']]);
  for (const { answer } of statements) answer();
  expect(await Promise.all([early, late])).toEqual(['a 1', 'a 2']);
  const last = read(db, 'a');
  await settle();
  statements[2]?.answer();
  expect(await last).toBe('a 2');
});

test('at most two statements run; who comes meanwhile shares the next, and each gets its own', async () => {
  const { read, statements, state } = reading();
  const db = database();
  const first = [read(db, 'a')];
  await settle();
  first.push(read(db, 'b'));
  await settle();
  const waiting = ['c', 'd', 'c'].map((ask) => read(db, ask));
  await settle();
  expect(statements.map(({ asks }) => asks)).toEqual([['a'], ['b']]);
  state.value = 2;
  statements[0]?.answer();
  await settle();
  expect(statements[2]?.asks).toEqual(['c', 'd', 'c']);
  statements[1]?.answer();
  statements[2]?.answer();
  expect(await Promise.all([...first, ...waiting])).toEqual(['a 1', 'b 1', 'c 2', 'd 2', 'c 2']);
});

test('a statement that failed fails its callers alone', async () => {
  const { read, statements } = reading();
  const db = database();
  const failed = read(db, 'a');
  await settle();
  const other = read(db, 'b');
  await settle();
  statements[0]?.fail();
  statements[1]?.answer();
  await expect(failed).rejects.toThrow('the statement failed');
  expect(await other).toBe('b 1');
  const next = read(db, 'a');
  await settle();
  statements[2]?.answer();
  expect(await next).toBe('a 1');
});

test('callers of two databases share nothing', async () => {
  const { read, statements } = reading();
  const both = [read(database(), 'a'), read(database(), 'a')];
  await settle();
  expect(statements.map(({ asks }) => asks)).toEqual([['a'], ['a']]);
  for (const { answer } of statements) answer();
  await Promise.all(both);
});

test('an executor that was switched off is off for each review from then on', async () => {
  let status = 'active';
  const ends: (() => void)[] = [];
  const db = {
    sql: () => {
      const rows = [{ kind: 'executor', key: 'pays', status }];
      return new Promise((resolve) => ends.push(() => resolve(rows)));
    },
  } as never;
  const before = registeredStatuses(db);
  await settle();
  status = 'disabled';
  const after = [registeredStatuses(db), registeredStatuses(db)];
  await settle();
  // One statement for both.
  expect(ends).toHaveLength(2);
  for (const end of ends) end();
  expect((await before).executors.get('pays')).toBe('active');
  for (const each of after) expect((await each).executors.get('pays')).toBe('disabled');
});
