/** Turns of a background loop that fail are counted, and for how long none has succeeded. */
import { pino } from 'pino';
import { register } from 'prom-client';
import { countTurns, SKIPPED, startLoop, type LoopName } from '../../platform/loop.ts';
import { eventually } from '../support/eventually.ts';

const log = pino({ level: 'silent' });

async function valueOf(metric: string, loop: LoopName): Promise<number | undefined> {
  const found = await register.getSingleMetric(metric)?.get();
  return found?.values.find(({ labels }) => labels['loop'] === loop)?.value;
}
const failuresOf = (loop: LoopName) => valueOf('svc_loop_failures_total', loop);
const failingOf = (loop: LoopName) => valueOf('svc_loop_failing_seconds', loop);

test('a loop that fails is counted as failing until a turn succeeds', async () => {
  let turns = 0;
  let outcome: 'fails' | 'rests' | 'succeeds' = 'fails';
  const loop = startLoop({
    name: 'scout',
    pauseMs: 5,
    log,
    work: async () => {
      turns += 1;
      if (outcome === 'fails') throw new Error('permission denied');
      return outcome === 'rests' ? SKIPPED : undefined;
    },
  });
  const further = (count: number): Promise<unknown> => {
    const until = turns + count;
    return eventually(async () => (turns >= until ? true : null));
  };
  try {
    await further(3);
    expect(await failuresOf('scout')).toBeGreaterThanOrEqual(3);
    const first = (await failingOf('scout')) ?? 0;
    expect(first).toBeGreaterThan(0);
    // A turn that does nothing takes no failure back.
    outcome = 'rests';
    await further(3);
    const failures = await failuresOf('scout');
    expect(await failingOf('scout')).toBeGreaterThan(first);
    outcome = 'succeeds';
    await further(3);
    expect(await failingOf('scout')).toBe(0);
    expect(await failuresOf('scout')).toBe(failures);
  } finally {
    await loop.stop();
  }
  expect(await failingOf('scout')).toBeUndefined();
});

test('a loop has its figures before its first turn ends, so that its first failure is seen', async () => {
  const turns = countTurns('counts');
  expect([await failuresOf('counts'), await failingOf('counts')]).toEqual([0, 0]);
  turns.failed();
  expect(await failuresOf('counts')).toBe(1);
  turns.ended();
});

test('of loops with one name the worst is shown', async () => {
  const [one, other] = [countTurns('balances'), countTurns('balances')];
  one.failed();
  other.succeeded();
  expect(await failingOf('balances')).toBeGreaterThan(0);
  one.succeeded();
  expect(await failingOf('balances')).toBe(0);
  for (const each of [one, other]) each.ended();
});
