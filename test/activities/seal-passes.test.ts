/** Which audit rows the sealer reads next: new ones are never behind a long read. */
import { createPasses } from '../../activities/relays/seal-passes.ts';
import { BEGINNING, type SealPlace } from '../../store/audit-seals.ts';

const PAGE = { occurred_at: '2026-11-30 10:00:00+00', event_id: 'a-row' };
const NEWEST = { newest_seconds: 30 };
const HOUR = { newest_seconds: 3_600 };

/**
 * Reads with a clock that the test moves; each answer says where the read ended. `whole`: what
 * happens while a read of the whole trail is under way.
 */
function reading(whole: () => void = () => undefined) {
  let ms = 1_000_000;
  const passes = createPasses(() => ms);
  return {
    sleep: (more: number) => (ms += more),
    /** One read: where it began, and whether another follows at once. */
    read(ended: typeof PAGE | null = null): readonly [SealPlace, boolean] {
      const place = passes.place();
      if (place === BEGINNING) whole();
      return [place, passes.advance(ended)];
    },
  };
}

test('a start reads the newest rows first, then the last hour, then the whole trail', () => {
  const { read } = reading();
  expect(read()).toEqual([NEWEST, true]);
  expect(read()).toEqual([HOUR, false]);
  expect(read()).toEqual([NEWEST, true]);
  expect(read()).toEqual([BEGINNING, false]);
  expect([read(), read()]).toEqual([
    [NEWEST, false],
    [NEWEST, false],
  ]);
});

test('the newest rows are read again after each page of a long read', () => {
  const { read } = reading();
  for (const _first of [1, 2, 3]) read();
  expect(read(PAGE)).toEqual([BEGINNING, true]);
  expect(read(PAGE)).toEqual([NEWEST, true]);
  expect(read()).toEqual([PAGE, true]);
  expect(read()).toEqual([PAGE, false]);
});

test('a read of the last hour is not put off by one of the whole trail', () => {
  const { read, sleep } = reading();
  for (const _first of [1, 2, 3]) read();
  read(PAGE);
  sleep(60_000);
  expect([read(), read(), read(), read(PAGE)]).toEqual([
    [NEWEST, true],
    [HOUR, false],
    [NEWEST, true],
    [PAGE, true],
  ]);
});

test('the last hour is read each minute, and the whole trail each five', () => {
  const { read, sleep } = reading();
  for (const _first of [1, 2, 3, 4]) read();
  sleep(60_000);
  expect([read(), read(), read()]).toEqual([
    [NEWEST, true],
    [HOUR, false],
    [NEWEST, false],
  ]);
  sleep(240_000);
  expect([read(), read(), read(), read()]).toEqual([
    [NEWEST, true],
    [HOUR, false],
    [NEWEST, true],
    [BEGINNING, false],
  ]);
});

/** Seconds until the whole trail is read again; `took`: how long its one page takes, in seconds. */
function untilNext(took: number, away = 0): number {
  const { read, sleep } = reading(() => sleep(took * 1_000));
  for (const _first of [1, 2, 3]) read();
  // The database is away, which is no time of a read.
  sleep(away * 1_000);
  expect(read()).toEqual([BEGINNING, false]);
  let seconds = 0;
  for (;;) {
    sleep(1_000);
    seconds += 1;
    const [place] = read();
    if (place === BEGINNING) return seconds;
  }
}

test('a whole trail that takes long is read less often, and an outage changes nothing', () => {
  expect(untilNext(0)).toBeLessThan(310);
  expect(untilNext(0, 600)).toBeLessThan(310);
  // A hundred times its eight seconds.
  expect(untilNext(8)).toBeGreaterThan(795);
  expect(untilNext(8)).toBeLessThan(820);
});
