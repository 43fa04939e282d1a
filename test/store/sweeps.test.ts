/** Which movements are looked for at Temporal and when, and whose answers are believed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import {
  startSweeper,
  startWaitingSweeper,
  WHOLE_TURNS,
  type SweeperOptions,
} from '../../activities/relays/sweeper.ts';
import { loadMovement } from '../../store/phases.ts';
import {
  claimIdle,
  listUnwoken,
  listWaiting,
  noteSwept,
  returnWaitingTurn,
  takeWaitingTurn,
} from '../../store/sweeps.ts';
import { eventually } from '../support/eventually.ts';
import { failingOf, failuresOf } from '../support/loop-figures.ts';
import { storeBench } from './support.ts';

const log = pino({ level: 'silent' });
const bench = storeBench();

beforeEach(async () => {
  await endAll();
  await bench.sql('UPDATE turns SET due_at = now()');
});

async function endAll(): Promise<void> {
  await bench.sql("UPDATE movements SET request_state = 'REJECTED', ended_at = now()");
}

/** So many movements that wait for their approval, and have for a minute. */
async function waiting(count: number): Promise<readonly string[]> {
  const made = await Promise.all(
    Array.from({ length: count }, () => bench.movement({ unheld: true })),
  );
  await bench.sql(
    "UPDATE movements SET created_at = created_at - interval '1 minute', updated_at = updated_at - interval '1 minute' WHERE ended_at IS NULL",
  );
  return made.map(({ movement_id }) => movement_id).sort();
}

const idsOf = (swept: readonly { readonly movement_id: string }[]): string[] =>
  swept.map(({ movement_id }) => movement_id).sort();

describe('the turn to look at all that wait', () => {
  test('is one process’s, and due again when it has rested', async () => {
    const turns = await Promise.all(
      Array.from({ length: 8 }, () => takeWaitingTurn(bench.db, 600)),
    );
    expect(turns.filter((turn) => turn !== null)).toHaveLength(1);
    await bench.sql("UPDATE turns SET due_at = due_at - interval '10 minutes'");
    expect(await takeWaitingTurn(bench.db, 600)).not.toBeNull();
  });

  test('is released by who held it, and by no other', async () => {
    const first = await takeWaitingTurn(bench.db, 0);
    const second = await takeWaitingTurn(bench.db, 600);
    if (first === null || second === null) throw new Error('no turn was due');
    await returnWaitingTurn(bench.db, first, 0);
    expect(await takeWaitingTurn(bench.db, 600)).toBeNull();
    await returnWaitingTurn(bench.db, second, 0);
    expect(await takeWaitingTurn(bench.db, 600)).not.toBeNull();
  });

  test('comes to each of them, page by page', async () => {
    const ids = await waiting(7);
    const seen: string[] = [];
    let place: Parameters<typeof listWaiting>[1] = null;
    do {
      const page = await listWaiting(bench.db, place, { idleSeconds: 0, limit: 3 });
      seen.push(...idsOf(page.movements));
      place = page.next;
    } while (place !== null);
    expect(seen.sort()).toEqual(ids);
  });
});

test('an approval that is nearly over is looked at as often as what runs', async () => {
  const [soon = '', later = ''] = await waiting(2);
  await bench.sql(
    "UPDATE movements SET expires_at = now() + interval '3 seconds' WHERE movement_id = $1::uuid",
    soon,
  );
  const claimed = idsOf(await claimIdle(bench.db, { idleSeconds: 1, limit: 10 }));
  expect(claimed).toContain(soon);
  expect(claimed).not.toContain(later);
  expect(await claimIdle(bench.db, { idleSeconds: 1, limit: 10 })).toEqual([]);
  await bench.sql(
    "UPDATE movements SET swept_at = now() - interval '5 seconds', expires_at = now() - interval '1 second' WHERE movement_id = $1::uuid",
    soon,
  );
  expect(idsOf(await claimIdle(bench.db, { idleSeconds: 1, limit: 10 }))).toEqual([soon]);
});

describe('the sweeper', () => {
  /** More than are checked one by one in any case. */
  const MANY = 55;
  const always = (): Promise<boolean> => Promise.resolve(true);
  const never = (): Promise<boolean> => Promise.resolve(false);

  /** Sweeps for a while; answers what was described and woken. */
  async function swept(
    isRunning: SweeperOptions['temporal']['isRunning'],
    listed: () => readonly string[],
    isOfSample: () => boolean = () => false,
  ): Promise<{ readonly woken: string[]; readonly described: string[] }> {
    const woken: string[] = [];
    const described: string[] = [];
    const sweeper = startWaitingSweeper({
      db: bench.db,
      log,
      sweepIdleSeconds: 1,
      isOfSample,
      temporal: {
        listRunning: async function* () {
          yield await Promise.resolve(listed());
        },
        countRunning: () => Promise.resolve(0),
        isRunning: (of) => {
          described.push('movementId' in of ? of.movementId : '');
          return isRunning(of);
        },
        wake: (wake) => {
          woken.push('movementId' in wake ? wake.movementId : '');
          return Promise.resolve();
        },
      },
    });
    await sleep(900);
    await sweeper.stop();
    return { woken, described: described.sort() };
  }

  test('wakes nothing because the list is behind: it asks about what is missing there', async () => {
    const ids = await waiting(MANY);
    const [gone = ''] = ids;
    const { woken, described } = await swept(
      (of) => Promise.resolve('movementId' in of && of.movementId !== gone),
      () => ids.slice(10),
    );
    expect(described).toEqual(ids.slice(0, 10));
    expect(woken).toEqual([gone]);
  });

  test('asks about none that the list shows running, and about few without the list', async () => {
    const ids = await waiting(MANY);
    expect(await swept(never, () => ids)).toEqual({ woken: [], described: [] });
    await endAll();
    await bench.sql('UPDATE turns SET due_at = now()');
    const few = await waiting(3);
    const { described } = await swept(always, () => {
      throw new Error('the list is not needed');
    });
    expect(described).toEqual(few);
  });

  test('asks about some all the same, so a list that stays wrong is found out', async () => {
    const ids = await waiting(MANY);
    let turn = 0;
    const { woken } = await swept(
      never,
      () => ids,
      () => (turn += 1) === 3,
    );
    expect(woken).toHaveLength(1);
  });

  test('gives its turn back where Temporal is away', async () => {
    await waiting(MANY);
    await swept(always, () => {
      throw new Error('away');
    });
    const [turn] = await bench.sql<{ seconds: number }>(
      'SELECT extract(epoch FROM due_at - now())::float8 AS seconds FROM turns',
    );
    // Four idle times, and not forty; but no turn that is due at once, again and again.
    expect(turn?.seconds).toBeLessThan(4);
    expect(turn?.seconds).toBeGreaterThan(0);
  });

  describe('counts before it compares', () => {
    /** What Temporal returns. A movement that is not listed has no run. */
    interface Server {
      listed: readonly string[];
      counted: number;
      isAway?: boolean;
    }

    /** A sweeper without a due turn, its calls of Temporal, and what it woke. */
    async function sweeperOf(server: Server) {
      const calls: ('list' | 'count' | 'look')[] = [];
      const woken: string[] = [];
      const answer = <T>(call: (typeof calls)[number], value: T): Promise<T> => {
        calls.push(call);
        return server.isAway === true ? Promise.reject(new Error('away')) : Promise.resolve(value);
      };
      await bench.sql("UPDATE turns SET due_at = now() + interval '1 hour'");
      const sweeper = startWaitingSweeper({
        ...{ db: bench.db, log, sweepIdleSeconds: 1, isOfSample: () => false },
        temporal: {
          listRunning: async function* () {
            yield await answer('list', server.listed);
          },
          countRunning: () => answer('count', server.counted),
          isRunning: (of) =>
            answer('look', 'movementId' in of && server.listed.includes(of.movementId)),
          wake: async (wake) => void woken.push('movementId' in wake ? wake.movementId : ''),
        },
      });
      return {
        calls,
        woken,
        stop: () => sweeper.stop(),
        /** Lets the sweeper take the turn with this number, and waits for its first call. */
        take: async (turn: number): Promise<void> => {
          const before = calls.length;
          await bench.sql('UPDATE turns SET turn = $1::integer - 1, due_at = now()', turn);
          sweeper.poke();
          await eventually(async () => {
            const [row] = await bench.sql<{ turn: string }>('SELECT turn::text FROM turns');
            // A turn that failed has been returned.
            const isTaken = [turn, turn - 1].map(String).includes(row?.turn ?? '');
            return isTaken && calls.length > before ? true : null;
          });
        },
      };
    }

    const times = <T>(count: number, value: T): readonly T[] =>
      Array.from({ length: count }, () => value);

    test('compares nothing while as many runs are counted as are open, but all in every sixth turn', async () => {
      const ids = await waiting(MANY);
      // One that is under way has a run, too.
      await bench.sql(
        "UPDATE movements SET request_state = 'EXECUTING' WHERE movement_id = $1::uuid",
        ids[0],
      );
      const sweeper = await sweeperOf({ listed: ids, counted: MANY });
      for (let turn = 1; turn <= 2 * WHOLE_TURNS; turn += 1) await sweeper.take(turn);
      await sweeper.stop();
      expect(sweeper.calls).toEqual([
        // A process cannot know what the turns before its start found.
        'list',
        ...times(WHOLE_TURNS - 2, 'count'),
        'list',
        ...times(WHOLE_TURNS - 1, 'count'),
        'list',
      ]);
      expect(sweeper.woken).toEqual([]);
    });

    test.each([
      ['fewer', -1],
      ['more', 1],
    ])('compares all when %s runs are counted than are open', async (_than, difference) => {
      const [gone = '', ...others] = await waiting(MANY);
      const server: Server = { listed: [gone, ...others], counted: MANY };
      const sweeper = await sweeperOf(server);
      await sweeper.take(1);
      Object.assign(server, { listed: others, counted: MANY + difference });
      await sweeper.take(2);
      await sweeper.stop();
      expect(sweeper.calls).toEqual(['list', 'count', 'list', 'look']);
      expect(sweeper.woken).toEqual([gone]);
    });

    test('compares all until it has once, and again after a turn that failed', async () => {
      const ids = await waiting(MANY);
      const server: Server = { listed: ids, counted: MANY, isAway: true };
      const sweeper = await sweeperOf(server);
      // With gaps, so that the return of a failed turn never meets the number before the next one.
      await sweeper.take(1);
      server.isAway = false;
      await sweeper.take(3);
      server.isAway = true;
      await sweeper.take(5);
      server.isAway = false;
      await sweeper.take(8);
      await sweeper.stop();
      expect(sweeper.calls).toEqual(['list', 'list', 'count', 'list']);
    });

    test('a sixth turn that failed keeps its number, for whichever process takes it next', async () => {
      const ids = await waiting(MANY);
      const failing = await sweeperOf({ listed: ids, counted: MANY, isAway: true });
      await failing.take(WHOLE_TURNS);
      await failing.stop();
      const [row] = await bench.sql<{ turn: string }>('SELECT turn::text FROM turns');
      expect(row?.turn).toBe(String(WHOLE_TURNS - 1));
    });

    test('looks up a few in every turn, and counts nothing', async () => {
      const ids = await waiting(3);
      const sweeper = await sweeperOf({ listed: ids, counted: 3 });
      for (const turn of [1, 2]) await sweeper.take(turn);
      await sweeper.stop();
      expect(sweeper.calls).toEqual(times(6, 'look'));
    });
  });
});

describe('a movement whose commands were read', () => {
  /** An approved movement that has stood still for a minute, and whose commands a load has read. */
  async function standing(): Promise<string> {
    const { movement_id } = await bench.movement({ unheld: true });
    await loadMovement(bench.db, movement_id, 'a run');
    await bench.sql(
      "UPDATE movements SET request_state = 'EXECUTING', updated_at = updated_at - interval '1 minute' WHERE movement_id = $1::uuid",
      movement_id,
    );
    return movement_id;
  }

  const command = (movementId: string): Promise<unknown> =>
    bench.sql(
      "INSERT INTO commands (command_id, movement_id, kind, created_at, claimed_until) SELECT gen_random_uuid(), $1::uuid, 'wake', now(), now()",
      movementId,
    );

  /** Sweeps for a while, a few times; `onWake` is called before each wake is taken. */
  async function sweeps(
    onWake: (id: string) => Promise<unknown> = () => Promise.resolve(),
    gone: string | null = null,
  ) {
    const woken: string[] = [];
    const sweeper = startSweeper({
      db: bench.db,
      log,
      sweepIdleSeconds: 1,
      temporal: {
        listRunning: async function* () {
          yield await Promise.resolve([]);
        },
        countRunning: () => Promise.resolve(0),
        isRunning: (of) => Promise.resolve(!('movementId' in of) || of.movementId !== gone),
        wake: async (wake) => {
          const id = 'movementId' in wake ? wake.movementId : '';
          woken.push(id);
          await onWake(id);
        },
      },
    });
    await sleep(900);
    await sweeper.stop();
    return woken;
  }

  test('wakes what a load of no run has read, once, and again after its next command', async () => {
    const id = await standing();
    expect(await sweeps()).toEqual([id]);
    expect(await sweeps()).toEqual([]);
    await command(id);
    // The relay's until a load has read it.
    expect(await sweeps()).toEqual([]);
    await loadMovement(bench.db, id, 'another run');
    expect(await sweeps()).toEqual([id]);
    // A load that reads nothing is no reason.
    await loadMovement(bench.db, id, 'another run');
    expect(await sweeps()).toEqual([]);
  });

  test('wakes again what was read while its wake was under way, and what Temporal did not take', async () => {
    const id = await standing();
    let calls = 0;
    const woken = await sweeps(async () => {
      calls += 1;
      if (calls === 1) throw new Error('away');
      if (calls > 2) return;
      await command(id);
      await loadMovement(bench.db, id, 'a frozen worker');
    });
    expect(woken).toEqual([id, id, id]);
    expect(await sweeps()).toEqual([]);
  });

  test('that cannot be woken keep no lost run from being started again', async () => {
    const id = await standing();
    const lost = await standing();
    await bench.sql(
      "UPDATE movements SET swept_at = now() - interval '1 minute' WHERE movement_id = $1::uuid",
      lost,
    );
    const woken = await sweeps(
      (each) => (each === id ? Promise.reject(new Error('too many signals')) : Promise.resolve()),
      lost,
    );
    expect(woken).toContain(id);
    expect(woken).toContain(lost);
  });

  test('a look that failed is taken back by no turn that looks for none', async () => {
    const id = await standing();
    const due = (): Promise<unknown> =>
      bench.sql(
        "UPDATE movements SET swept_at = now() - interval '1 minute' WHERE movement_id = $1::uuid",
        id,
      );
    await due();
    const before = (await failuresOf('sweeper')) ?? 0;
    let isAway = true;
    const sweeper = startSweeper({
      ...{ db: bench.db, log, sweepIdleSeconds: 1 },
      temporal: {
        listRunning: async function* () {
          yield await Promise.resolve([]);
        },
        countRunning: () => Promise.resolve(0),
        isRunning: () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve(true)),
        wake: () => Promise.resolve(),
      },
    });
    const fails = (count: number): Promise<unknown> =>
      eventually(async () => ((await failuresOf('sweeper')) ?? 0) >= before + count || null);
    try {
      await fails(1);
      // The next turns claim nothing.
      await sleep(900);
      await due();
      await fails(2);
      expect(await failingOf('sweeper')).toBeGreaterThan(0);
      isAway = false;
      await due();
      await eventually(async () => (await failingOf('sweeper')) === 0 || null);
    } finally {
      await sweeper.stop();
    }
  });

  test('whose command no load has read are looked at, and their mark is left to the load', async () => {
    const id = await standing();
    await command(id);
    expect(idsOf(await claimIdle(bench.db, { idleSeconds: 1, limit: 10 }))).toEqual([id]);
    expect(await claimIdle(bench.db, { idleSeconds: 1, limit: 10 })).toEqual([]);
    await loadMovement(bench.db, id, 'a run');
    const [listed] = await listUnwoken(bench.db, { idleSeconds: 1, limit: 10 });
    await command(id);
    await loadMovement(bench.db, id, 'a run');
    expect(listed?.movement_id).toBe(id);
    expect(await noteSwept(bench.db, listed === undefined ? [] : [listed])).toEqual([]);
    expect(idsOf(await listUnwoken(bench.db, { idleSeconds: 1, limit: 10 }))).toEqual([id]);
  });
});
