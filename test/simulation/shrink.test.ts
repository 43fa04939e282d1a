/** Of many faults, those that a contradiction needs are left. */
import { expect, test } from '@jest/globals';
import type { WorldReport } from './report.ts';
import { shrink } from './shrink.ts';
import { storyOf } from './story.ts';

/** A world that is contradicted whenever all of `needed` strike. */
function worldThatNeeds(needed: readonly number[]) {
  return (only: readonly number[]): WorldReport => ({
    seed: 7,
    digest: '',
    steps: 1,
    faults: only.map((number) => ({
      ...{ number, kind: 'network', fault: 'late', at: 1_500 },
      ...{ isBetween: false, counts: true },
    })),
    counts: {},
    states: {},
    endedBeforeFence: 0,
    seen: {},
    verdicts: needed.every((each) => only.includes(each))
      ? [{ rule: 'paid once', movement_id: 'm', found: 'm is paid twice' }]
      : [],
    story: { m: ['1200 worker-1 pays m'] },
  });
}

test.each([[[]], [[17]], [[3, 60]], [[1, 2, 99]]])('needs %j of a hundred', async (needed) => {
  const run = worldThatNeeds(needed);
  const whole = run(Array.from({ length: 100 }, (_, index) => index + 1));
  const least = await shrink(whole, (only) => Promise.resolve(run(only)));
  expect(least.faults.map(({ number }) => number)).toEqual(needed);
});

test('the story names the faults, what is wrong, and what befell the movement', () => {
  expect(storyOf(worldThatNeeds([17])([17]))).toBe(
    [
      'With seed 7 and 1 faults:',
      '  1.5 s: network late (fault 17)',
      'paid once: m is paid twice',
      '    1200 worker-1 pays m',
    ].join('\n'),
  );
});
