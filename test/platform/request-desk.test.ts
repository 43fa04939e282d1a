/** The request desk of one process, against its promise: counted from all that was let through. */
import fc from 'fast-check';
import { createLocalRequestDesk } from '../../platform/request-desk.ts';

const START = 2_000_000_000_000;

interface Grant {
  /** When the request may be sent at the earliest. */
  readonly at: number;
  readonly cost: number;
}

/**
 * The earliest time that breaks no window: from each earlier request to this one, at most the
 * capacity, and what has grown meanwhile, is let through.
 */
function earliest(
  grants: readonly Grant[],
  { first, cost, most, rate }: { first: number; cost: number; most: number; rate: number },
): number {
  let [at, used] = [first, cost];
  for (const grant of [...grants].reverse()) {
    used += grant.cost;
    at = Math.max(at, grant.at + ((used - most) / rate) * 1_000);
  }
  return at;
}

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('take'), size: fc.nat(30) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('pause'), size: fc.nat(3_000) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('stop'), size: fc.nat(2_000) }) },
);

test('lets each request through at the earliest time that the budget and the stops allow', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 60 }),
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 0, max: 4_000 }),
      async (steps, capacity, rate, within) => {
        let [now, stoppedUntil] = [START, 0];
        const desk = createLocalRequestDesk(() => now);
        const grants: Grant[] = [];
        for (const { kind, size } of steps) {
          if (kind === 'pause') now += size;
          if (kind === 'stop') {
            stoppedUntil = Math.max(stoppedUntil, now + size);
            await desk.stop('key', size);
          }
          expect(await desk.stoppedFor('key')).toBe(Math.max(0, stoppedUntil - now));
          if (kind !== 'take') continue;
          const first = Math.max(now, stoppedUntil);
          const most = Math.max(capacity, size);
          const at = earliest(grants, { first, cost: size, most, rate });
          const budget = { capacity, units_per_second: rate };
          const wait = await desk.take('key', size, budget, within);
          // A wait is rounded up to a millisecond, and sums of such times are exact to a tenth.
          if (wait === null) expect(at - now).toBeGreaterThan(within - 0.1);
          else {
            expect(wait - (at - now)).toBeGreaterThan(-0.1);
            expect(wait - (at - now)).toBeLessThan(1.1);
            expect(wait).toBeLessThanOrEqual(within);
            grants.push({ at, cost: size });
          }
        }
      },
    ),
  );
});

test('never gives two holders a turn, nor a nonce that does not grow, whatever the clock does', async () => {
  const turn = fc.record({
    kind: fc.constantFrom('take', 'release', 'clock'),
    size: fc.integer({ min: -5_000, max: 5_000 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { maxLength: 60 }), async (steps) => {
      let now = START;
      const desk = createLocalRequestDesk(() => now);
      let last = 0n;
      let holder: { readonly until: number; release(): Promise<void> } | null = null;
      const former: (() => Promise<void>)[] = [];
      for (const { kind, size } of steps) {
        if (kind === 'clock') now += size;
        // Those that had a turn before release it late.
        if (kind === 'release' && size < 0) await former.at(size % (former.length || 1))?.();
        if (kind === 'release' && size >= 0) {
          await holder?.release();
          holder = null;
        }
        if (kind !== 'take') continue;
        const taken = await desk.takeTurn('key', 1_000);
        const free = holder === null || holder.until <= now;
        expect(taken === null).toBe(!free);
        if (taken === null) continue;
        if (holder !== null) former.push(holder.release);
        holder = { until: now + 1_000, release: taken.release };
        expect(BigInt(taken.nonce) > last).toBe(true);
        last = BigInt(taken.nonce);
      }
    }),
  );
});

test('knows each key by itself', async () => {
  const desk = createLocalRequestDesk(() => START);
  const budget = { capacity: 1, units_per_second: 1 };
  expect(await desk.take('one', 1, budget, 0)).toBe(0);
  expect(await desk.take('one', 1, budget, 0)).toBeNull();
  expect(await desk.take('other', 1, budget, 0)).toBe(0);
  expect(await desk.takeTurn('one', 1_000)).not.toBeNull();
  expect(await desk.takeTurn('one', 1_000)).toBeNull();
  expect((await desk.takeTurn('other', 1_000))?.nonce).toBe(String(START));
});
