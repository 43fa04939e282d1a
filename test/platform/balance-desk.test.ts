/** When balances are fetched from a venue, and which callers share a fetch. */
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
