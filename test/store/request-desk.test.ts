/** Processes that share an API key keep its limits together, by the database. */
import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestBudget, RequestDesk, Turn } from '../../domain/request-desk.ts';
import { createLocalRequestDesk } from '../../platform/request-desk.ts';
import { connectDatabase } from '../../prisma/client.ts';
import { createRequestDesk } from '../../store/request-desk.ts';
import { createRequests, type Requests } from '../../venues/cex/requests.ts';
import { started } from '../support/started.ts';
import { storeBench } from './support.ts';

const bench = storeBench();
/** Four processes, each with connections of its own. */
const processes = started(() => {
  const clients = [1, 2, 3, 4].map(() => connectDatabase({ url: bench.url, poolSize: 4 }));
  return Promise.resolve({
    clients,
    close: () => Promise.all(clients.map((db) => db.$disconnect())),
  });
});

const newKey = (): string => createHash('sha256').update(randomUUID()).digest('hex');
/** Longer than any wait here. */
const ANY_MS = 3_600_000;

type Desks = readonly [RequestDesk, RequestDesk, RequestDesk, RequestDesk];
const onDatabase = (): Desks =>
  processes.clients.map((db) => createRequestDesk(db)) as unknown as Desks;

/** Desks of several processes over one store. */
const DESKS: readonly (readonly [string, () => Desks])[] = [
  ['the database', onDatabase],
  [
    'one process',
    () => {
      const desk = createLocalRequestDesk();
      return [desk, desk, desk, desk];
    },
  ],
];

const paced = (desk: RequestDesk, key: string, budget: RequestBudget, timeoutMs = 9_000) =>
  createRequests(desk, { key, budget, oneAtATime: false, timeoutMs });
const inTurns = (desk: RequestDesk, key: string, timeoutMs: number): Requests =>
  createRequests(desk, {
    key,
    budget: { capacity: 1, units_per_second: 1 },
    oneAtATime: true,
    timeoutMs,
  });

/** What a reservation lets through, and between which times, in milliseconds since 1970. */
interface Reserved {
  readonly from: number;
  readonly to: number;
  readonly cost: number;
}

/** The same desk, which notes each reservation. */
function noted(desk: RequestDesk): RequestDesk & { readonly reserved: Reserved[] } {
  const reserved: Reserved[] = [];
  return {
    ...desk,
    reserved,
    async take(key, cost, budget, withinMs) {
      const before = Date.now();
      const wait = await desk.take(key, cost, budget, withinMs);
      // A wait is rounded up to a millisecond.
      if (wait !== null) reserved.push({ from: before + wait - 1, to: Date.now() + wait, cost });
      return wait;
    },
  };
}

/** The windows, from one request to another, that certainly let more through than allowed. */
function exceeded(reserved: readonly Reserved[], { capacity, units_per_second }: RequestBudget) {
  const windows = reserved.flatMap(({ from }) => reserved.map(({ to }) => ({ from, to })));
  return windows.filter(({ from, to }) => {
    const used = reserved
      .filter((each) => each.from >= from && each.to <= to)
      .reduce((sum, { cost }) => sum + cost, 0);
    return to >= from && used > capacity + ((to - from) / 1_000) * units_per_second;
  });
}

test('processes that reserve at the same time reserve no unit twice and lose none', async () => {
  const key = newKey();
  const budget = { capacity: 5, units_per_second: 10 };
  const wholeAt = async (): Promise<number> => {
    const [row] = await bench.sql<{ ms: number }>(
      'SELECT extract(epoch FROM whole_at)::float8 * 1000 AS ms FROM request_desks WHERE key = $1',
      key,
    );
    return row!.ms;
  };
  // Ten seconds of it are used: what follows adds to them without a gap.
  expect(await onDatabase()[0].take(key, 100, budget, ANY_MS)).toBe(0);
  const start = await wholeAt();
  const desks = onDatabase().map(noted);
  await Promise.all(
    desks.flatMap((desk) =>
      Array.from({ length: 25 }, (_, index) => desk.take(key, 1 + (index % 3), budget, ANY_MS)),
    ),
  );
  const reserved = desks.flatMap((desk) => desk.reserved);
  expect(reserved).toHaveLength(100);
  const total = reserved.reduce((sum, { cost }) => sum + cost, 0);
  const grown = (await wholeAt()) - start;
  expect(Math.abs(grown - (total / budget.units_per_second) * 1_000)).toBeLessThan(1);
  expect(exceeded(reserved, budget)).toEqual([]);
});

describe.each(DESKS)('a desk over %s', (_, open) => {
  test('lets no more through in any time than the budget allows', async () => {
    const budget = { capacity: 5, units_per_second: 40 };
    const key = newKey();
    const desks = open().map(noted);
    const ends: number[] = [];
    await Promise.all(
      desks.map(async (desk) => {
        const requests = paced(desk, key, budget);
        await Promise.all(
          [1, 2, 1, 3, 1].map(async (cost) => {
            await requests.before(cost, AbortSignal.timeout(9_000));
            ends.push(Date.now());
          }),
        );
      }),
    );
    const reserved = desks.flatMap((desk) => desk.reserved);
    expect(reserved).toHaveLength(20);
    expect(exceeded(reserved, budget)).toEqual([]);
    // Each waited for its time: of both lists in order, no end is before its reservation.
    const inOrder = (times: readonly number[]) => [...times].sort((one, other) => one - other);
    const times = inOrder(reserved.map(({ from }) => from));
    expect(inOrder(ends).filter((end, index) => end < times[index]! - 1)).toEqual([]);
  });

  test('makes others wait for what a request cost beyond the capacity', async () => {
    const [one, other] = open();
    const budget = { capacity: 2, units_per_second: 1 };
    const key = newKey();
    expect(await one.take(key, 10, budget, ANY_MS)).toBe(0);
    // 11 units are used then, and 2 of them may be: 9 seconds.
    const wait = (await other.take(key, 1, budget, ANY_MS))!;
    expect(wait).toBeGreaterThan(4_000);
    expect(wait).toBeLessThanOrEqual(9_000);
  });

  test('reserves nothing for a request that would wait too long', async () => {
    const [one, other] = open();
    const budget = { capacity: 1, units_per_second: 0.1 };
    const key = newKey();
    expect(await one.take(key, 1, budget, 0)).toBe(0);
    for (let each = 0; each < 50; each += 1) expect(await one.take(key, 1, budget, 100)).toBeNull();
    const wait = await other.take(key, 1, budget, ANY_MS);
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(10_000);
  });

  test('keeps its budget for those that still wait, when many have stopped waiting', async () => {
    const [one, other] = open();
    const budget = { capacity: 1, units_per_second: 20 };
    const key = newKey();
    const requests = paced(one, key, budget, 400);
    const ends = await Promise.allSettled(
      Array.from({ length: 60 }, () => requests.before(1, AbortSignal.timeout(400))),
    );
    expect(ends.filter(({ status }) => status === 'fulfilled').length).toBeLessThan(60);
    // Half of their time at most is reserved, and 50 ms for the next unit.
    expect(await other.take(key, 1, budget, ANY_MS)).toBeLessThanOrEqual(250);
  });

  test('stops all, never shortens a stop, and stops no other key', async () => {
    const [one, other] = open();
    const [key, free] = [newKey(), newKey()];
    const budget = { capacity: 9, units_per_second: 9 };
    await one.stop(key, 60_000);
    await other.stop(key, 1_000);
    for (const desk of [one, other]) {
      for (const wait of [await desk.stoppedFor(key), await desk.take(key, 1, budget, ANY_MS)]) {
        expect(wait).toBeGreaterThan(50_000);
        expect(wait).toBeLessThanOrEqual(60_000);
      }
      expect(await desk.take(key, 1, budget, 9_000)).toBeNull();
      expect(await desk.stoppedFor(free)).toBe(0);
      expect(await desk.take(free, 1, budget, 0)).toBe(0);
    }
  });

  test('stops also those that wait, and does not let them go together at its end', async () => {
    const [one, other] = open();
    const key = newKey();
    const budget = { capacity: 1, units_per_second: 2 };
    await paced(one, key, budget).before(1, AbortSignal.timeout(9_000));
    const begin = Date.now();
    const waiting = [1, 2, 3].map(async () => {
      const desk = noted(other);
      await paced(desk, key, budget).before(1, AbortSignal.timeout(9_000));
      return { end: Date.now(), last: desk.reserved.at(-1)! };
    });
    await sleep(20);
    await paced(one, key, budget).limited(1_500);
    const sent = await Promise.all(waiting);
    for (const { end, last } of sent) {
      expect(last.from - begin).toBeGreaterThan(1_400);
      expect(end).toBeGreaterThanOrEqual(last.from - 1);
    }
    const reserved = sent.map(({ last }) => last);
    expect(exceeded(reserved, budget)).toEqual([]);
  });

  test('lets nothing through once the caller has left, whatever it waits for', async () => {
    const [one, other] = open();
    const [stopped, held] = [newKey(), newKey()];
    const why = new Error('left');
    const leaving = (ms: number): AbortSignal => {
      const controller = new AbortController();
      setTimeout(() => controller.abort(why), ms);
      return controller.signal;
    };
    const budget = { capacity: 1, units_per_second: 1 };
    await expect(paced(one, stopped, budget).before(1, AbortSignal.abort(why))).rejects.toBe(why);
    await one.stop(stopped, 60_000);
    await expect(paced(one, stopped, budget).before(1, leaving(50))).rejects.toBe(why);
    await other.takeTurn(held, 60_000);
    let worked = 0;
    const work = () => Promise.resolve((worked += 1));
    const requests = inTurns(one, held, 9_000);
    const first = requests.inTurn(work, leaving(100));
    // This one waits behind the first.
    const second = requests.inTurn(work, leaving(50));
    await Promise.all([expect(first).rejects.toBe(why), expect(second).rejects.toBe(why)]);
    expect(worked).toBe(0);
  });

  test('gives the turn to one of many that take it at once', async () => {
    const key = newKey();
    const desks = open();
    for (let round = 0; round < 10; round += 1) {
      const taken = await Promise.all(
        desks.flatMap((desk) => [1, 2, 3, 4].map(() => desk.takeTurn(key, 60_000))),
      );
      const turns = taken.filter((each): each is Turn => each !== null);
      expect(turns).toHaveLength(1);
      await turns[0]!.release();
    }
  });

  test('gives turns one at a time, with nonces that grow in their order', async () => {
    const key = newKey();
    const nonces: bigint[] = [];
    let [running, most] = [0, 0];
    await Promise.all(
      open().flatMap((desk) => {
        const requests = inTurns(desk, key, 20_000);
        return Array.from({ length: 5 }, () =>
          requests.inTurn(async (nonce) => {
            running += 1;
            most = Math.max(most, running);
            nonces.push(BigInt(nonce!));
            await sleep(5);
            running -= 1;
          }, AbortSignal.timeout(20_000)),
        );
      }),
    );
    expect(most).toBe(1);
    expect(nonces).toHaveLength(20);
    expect(nonces.every((each, index) => index === 0 || each > nonces[index - 1]!)).toBe(true);
  });

  test('gives away a turn that is over, and its old holder ends no other', async () => {
    const [one, other] = open();
    const key = newKey();
    const first = (await one.takeTurn(key, 500))!;
    expect(await other.takeTurn(key, 500)).toBeNull();
    await sleep(600);
    const second = (await other.takeTurn(key, 60_000))!;
    expect(BigInt(second.nonce)).toBeGreaterThan(BigInt(first.nonce));
    await first.release();
    expect(await one.takeTurn(key, 500)).toBeNull();
    await second.release();
    expect(await one.takeTurn(key, 500)).not.toBeNull();
  });

  test('releases a turn whose work failed', async () => {
    const [one, other] = open();
    const key = newKey();
    const fails = () => Promise.reject(new Error('refused'));
    const requests = inTurns(one, key, 9_000);
    await expect(requests.inTurn(fails, AbortSignal.timeout(9_000))).rejects.toThrow('refused');
    // Less than the turn would last by itself.
    const next = inTurns(other, key, 9_000).inTurn(
      (nonce) => Promise.resolve(nonce),
      AbortSignal.timeout(5_000),
    );
    expect(await next).toMatch(/^\d{13}$/);
  });

  test('needs no turn where an exchange accepts requests in any order', async () => {
    const [desk] = open();
    const key = newKey();
    await desk.takeTurn(key, 60_000);
    const requests = paced(desk, key, { capacity: 1, units_per_second: 1 });
    const work = (nonce: string | null) => Promise.resolve(nonce);
    expect(await requests.inTurn(work, AbortSignal.timeout(9_000))).toBeNull();
  });
});

test('a desk that cannot release a turn loses no answer of the exchange', async () => {
  const desk: RequestDesk = {
    ...createLocalRequestDesk(),
    takeTurn: () =>
      Promise.resolve({ nonce: '1', release: () => Promise.reject(new Error('no database')) }),
  };
  const requests = inTurns(desk, newKey(), 9_000);
  const answer = requests.inTurn(() => Promise.resolve('answer'), AbortSignal.timeout(9_000));
  expect(await answer).toBe('answer');
});

test('a nonce is larger than the last one, whatever the clock says', async () => {
  const key = newKey();
  const [one, other] = onDatabase();
  const before = Date.now();
  const first = (await one.takeTurn(key, 60_000))!;
  expect(Number(first.nonce)).toBeGreaterThanOrEqual(before);
  expect(Number(first.nonce)).toBeLessThanOrEqual(Date.now());
  await first.release();
  const ahead = String(Date.now() + 3_600_000);
  await bench.sql('UPDATE request_desks SET nonce = $2::text::bigint WHERE key = $1', key, ahead);
  expect((await other.takeTurn(key, 60_000))?.nonce).toBe(String(BigInt(ahead) + 1n));
});

test('the service’s role may do all of it, and removes no row with its nonce', async () => {
  const key = newKey();
  await bench.sql('CREATE ROLE service_of_requests');
  await bench.sql("SELECT grant_service('service_of_requests')::text");
  const asService = (text: string, ...values: unknown[]): Promise<unknown> =>
    bench.db.$transaction(async (tx) => {
      await tx.$executeRawUnsafe('SET LOCAL ROLE service_of_requests');
      return tx.$queryRawUnsafe(text, ...values);
    });
  for (const call of [
    'take_request_budget($1, 1, 1, 1, 1)',
    'stop_requests($1, 1)',
    'requests_stopped_for($1)',
    `take_request_turn($1, '${randomUUID()}', 1)`,
    `release_request_turn($1, '${randomUUID()}')`,
  ])
    await expect(asService(`SELECT ${call}::text`, key)).resolves.toHaveLength(1);
  await expect(asService('DELETE FROM request_desks')).rejects.toThrow(
    'permission denied for table request_desks',
  );
});

test('a key is stored as its hash alone', async () => {
  await expect(createRequestDesk(bench.db).stop('an API key', 1)).rejects.toThrow(
    'request_desks_key_check',
  );
});
