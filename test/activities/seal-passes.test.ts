/** Which audit rows the sealer reads next: new ones are never behind a long read. */
import { createPasses } from '../../activities/relays/seal-passes.ts';
import { BEGINNING, type SealPlace } from '../../store/audit-seals.ts';

const PAGE = { occurred_at: '2026-11-30 10:00:00+00', event_id: 'a-row' };
const NEWEST = { newest_seconds: 30 };
const HOUR = { newest_seconds: 3_600 };

/** Reads with a clock that the test moves; each answer says where the read ended. */
function reading() {
  let ms = 1_000_000;
  const passes = createPasses(() => ms);
  return {
    sleep: (more: number) => (ms += more),
    /** One read: where it began, and whether another follows at once. */
    read: (ended: typeof PAGE | null = null): readonly [SealPlace, boolean] => [
      passes.place(),
      passes.advance(ended),
    ],
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

test('the last hour is read each minute, the whole trail each five, and less often if it takes long', () => {
  const { read, sleep } = reading();
  for (const _first of [1, 2, 3, 4]) read();
  sleep(60_000);
  expect([read(), read(), read()]).toEqual([
    [NEWEST, true],
    [HOUR, false],
    [NEWEST, false],
  ]);
  sleep(240_000);
  expect([read(), read(), read()]).toEqual([
    [NEWEST, true],
    [HOUR, false],
    [NEWEST, true],
  ]);
  read(PAGE);
  sleep(4_000);
  expect([read(), read()]).toEqual([
    [NEWEST, true],
    [PAGE, false],
  ]);
  const looks = Array.from({ length: 410 }, () => {
    sleep(1_000);
    const [place] = read();
    return place;
  });
  // A hundred times its four seconds.
  expect(looks.findIndex((place) => place === BEGINNING)).toBeGreaterThan(395);
  expect(
    looks.filter((place) => 'newest_seconds' in place && place.newest_seconds > 30),
  ).toHaveLength(6);
});
