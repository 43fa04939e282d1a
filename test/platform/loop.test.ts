/**
 * Turns of a background loop that fail are counted, and for how long none has succeeded. A turn
 * that does not end is shown too.
 */
import { pino } from 'pino';
import { countTurns, SKIPPED, startLoop, type TurnCounter } from '../../platform/loop.ts';
import { eventually } from '../support/eventually.ts';
import { failingOf, failuresOf, turnSecondsOf } from '../support/loop-figures.ts';

const log = pino({ level: 'silent' });

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
    // A turn that does nothing takes no failure back, and is none.
    outcome = 'rests';
    const lasted = await failingOf('scout');
    expect(lasted).toBeGreaterThan(0);
    await further(3);
    const failures = await failuresOf('scout');
    expect(await failingOf('scout')).toBe(lasted);
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

describe('failures', () => {
  const MINUTE_MS = 60_000;
  const clock = { ms: 0 };
  const now = (): number => clock.ms;
  const failAfter = (turns: TurnCounter, minutes: number): void => {
    clock.ms += minutes * MINUTE_MS;
    turns.failed();
  };

  test('that are far apart do not add up, and those of ten minutes do', async () => {
    const turns = countTurns('late looks', { now });
    failAfter(turns, 0);
    // It skips its turns for hours.
    failAfter(turns, 180);
    expect(await failingOf('late looks')).toBe(0);
    for (let minute = 0; minute < 11; minute += 1) failAfter(turns, 1);
    expect(await failingOf('late looks')).toBe(660);
    // The outage is over.
    clock.ms += 5 * MINUTE_MS;
    expect(await failingOf('late looks')).toBe(660);
    turns.succeeded();
    expect(await failingOf('late looks')).toBe(0);
    turns.ended();
  });

  test('of a loop with a long pause add up', async () => {
    const turns = countTurns('late looks', { pauseMs: 60 * MINUTE_MS, now });
    for (let turn = 0; turn < 2; turn += 1) failAfter(turns, 60);
    expect(await failingOf('late looks')).toBe(3_600);
    turns.ended();
  });
});

test('of loops with one name the worst is shown', async () => {
  let ms = 0;
  const [one, other] = [countTurns('balances', { now: () => ms }), countTurns('balances')];
  one.failed();
  ms = 1_000;
  one.failed();
  other.succeeded();
  expect(await failingOf('balances')).toBe(1);
  one.succeeded();
  expect(await failingOf('balances')).toBe(0);
  for (const each of [one, other]) each.ended();
});

describe('a turn', () => {
  test('that does not end is shown, and no turn that has ended', async () => {
    let end: () => void = () => undefined;
    let outcome: 'fails' | 'rests' | 'succeeds' = 'succeeds';
    const loop = startLoop({
      name: 'retention',
      pauseMs: 3_600_000,
      log,
      work: async () => {
        await new Promise<void>((resolve) => (end = resolve));
        if (outcome === 'fails') throw new Error('permission denied');
        return outcome === 'rests' ? SKIPPED : undefined;
      },
    });
    const becomes = (isUnderWay: boolean): Promise<unknown> =>
      eventually(async () => ((await turnSecondsOf('retention')) ?? -1) > 0 === isUnderWay || null);
    try {
      for (outcome of ['succeeds', 'fails', 'rests'] as const) {
        await becomes(true);
        end();
        await becomes(false);
        // The loop rests for an hour.
        expect(await turnSecondsOf('retention')).toBe(0);
        loop.poke();
      }
      await becomes(true);
    } finally {
      const stopped = loop.stop();
      end();
      await stopped;
    }
    expect(await turnSecondsOf('retention')).toBeUndefined();
  });

  test('is shown with how long it has lasted, and the longest of loops with one name', async () => {
    let ms = 0;
    const now = (): number => ms;
    const [one, other] = [countTurns('balances', { now }), countTurns('balances', { now })];
    expect(await turnSecondsOf('balances')).toBe(0);
    one.started();
    ms = 60_000;
    other.started();
    ms = 90_000;
    expect(await turnSecondsOf('balances')).toBe(90);
    one.succeeded();
    expect(await turnSecondsOf('balances')).toBe(30);
    other.failed();
    ms = 200_000;
    expect(await turnSecondsOf('balances')).toBe(0);
    one.started();
    ms = 201_000;
    expect(await turnSecondsOf('balances')).toBe(1);
    one.skipped();
    expect(await turnSecondsOf('balances')).toBe(0);
    for (const each of [one, other]) each.ended();
  });
});
