/**
 * When balances are fetched from a venue, which callers share a fetch, and for how long a venue
 * cannot be read.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createBalanceDesk, type BalanceDesk } from '../../platform/balance-desk.ts';

const VENUE = 'venue';

/** A desk whose fetches begin at `began` and take so long, or fail. */
function desk(takes: () => number | Error): {
  readonly began: number[];
  readonly refresh: (options?: Parameters<BalanceDesk['refresh']>[1]) => Promise<number>;
} {
  const began: number[] = [];
  const made = createBalanceDesk(
    [
      {
        venue_key: VENUE,
        interval_seconds: 60,
        fetch: () => Promise.resolve({ pools: [], outlook: null }),
      },
    ],
    async () => {
      const took = takes();
      began.push(performance.now());
      if (took instanceof Error) throw took;
      await sleep(took);
    },
  );
  return {
    began,
    refresh: async (options) => {
      await made.refresh(VENUE, options);
      return began.length;
    },
  };
}

test('whoever needs what the venue says from now on shares the next fetch, a second after the last', async () => {
  const { began, refresh } = desk(() => 20);
  expect(await refresh()).toBe(1);
  // Any young one will do for the others.
  expect(await refresh()).toBe(1);
  const since = performance.now();
  const all = await Promise.all(Array.from({ length: 500 }, () => refresh({ since })));
  expect(new Set(all)).toEqual(new Set([2]));
  expect((began[1] ?? 0) - (began[0] ?? 0)).toBeGreaterThan(990);
  // It started after these calls came in, too, so they all share it.
  expect(await refresh({ since })).toBe(2);
});

test('a first fetch, and one that began since, are not waited for', async () => {
  const { refresh } = desk(() => 0);
  const since = performance.now();
  expect(await refresh({ since })).toBe(1);
  expect(await refresh({ since })).toBe(1);
  // The pause between two fetches is a second.
  expect(performance.now() - since).toBeLessThan(950);
});

test('one under way that began before is waited for, and one that fails says that there is none', async () => {
  const fails = [400, 0];
  const { refresh } = desk(() => fails.shift() ?? new Error('silent'));
  const first = refresh();
  const second = refresh({ since: performance.now() });
  expect(await first).toBe(1);
  expect(await second).toBe(2);
  await expect(refresh({ since: performance.now() })).rejects.toThrow('silent');
  // Later callers do not get the failure.
  await expect(refresh({ since: performance.now() })).rejects.toThrow('silent');
});

describe('for how long a venue cannot be read', () => {
  const MINUTE_MS = 60_000;
  let ms = 0;
  let fails = false;
  /** A desk of two venues; the second is fetched once an hour. */
  const reading = (): BalanceDesk =>
    createBalanceDesk(
      [60, 3_600].map((interval_seconds, index) => ({
        venue_key: index === 0 ? VENUE : 'hourly',
        interval_seconds,
        // An account without any money: there is no balance to store.
        fetch: () => Promise.resolve({ pools: [], outlook: null }),
      })),
      () => (fails ? Promise.reject(new Error('silent')) : Promise.resolve()),
      () => ms,
    );
  const fetchAfter = async (made: BalanceDesk, minutes: number, venue = VENUE): Promise<void> => {
    ms += minutes * MINUTE_MS;
    await made.refresh(venue)?.catch(() => undefined);
  };

  test('is from the first failure to the last, until a fetch succeeds, also of an empty account', async () => {
    const made = reading();
    expect(made.failingSeconds(VENUE)).toBeNull();
    fails = true;
    await fetchAfter(made, 0);
    expect(made.failingSeconds(VENUE)).toBe(0);
    for (let turn = 0; turn < 6; turn += 1) await fetchAfter(made, 1);
    expect(made.failingSeconds(VENUE)).toBe(360);
    expect(made.failingSeconds('hourly')).toBeNull();
    expect(made.failingSeconds('elsewhere')).toBeNull();
    fails = false;
    await fetchAfter(made, 1);
    expect(made.failingSeconds(VENUE)).toBeNull();
    fails = true;
    await fetchAfter(made, 1);
    expect(made.failingSeconds(VENUE)).toBe(0);
  });

  test('is over once this process fetches it no longer, and starts anew after that', async () => {
    const made = reading();
    fails = true;
    await fetchAfter(made, 0);
    await fetchAfter(made, 10);
    ms += 15 * MINUTE_MS;
    expect(made.failingSeconds(VENUE)).toBe(600);
    ms += MINUTE_MS;
    expect(made.failingSeconds(VENUE)).toBeNull();
    await fetchAfter(made, 0);
    expect(made.failingSeconds(VENUE)).toBe(0);
  });

  test('adds up where fetches are far apart', async () => {
    const made = reading();
    fails = true;
    await fetchAfter(made, 0, 'hourly');
    await fetchAfter(made, 60, 'hourly');
    expect(made.failingSeconds('hourly')).toBe(3_600);
  });
});
