/** Plays scenarios on both runtimes; a test of each compares what came of it. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openBoth, type Both } from './both.ts';
import type { Outcome, Scenario } from './script.ts';

/** Milliseconds that all scenarios of a file may take on the real server. */
const LIMIT_MS = 600_000;

const only = process.env['BOTH_ONLY'];

export function compareBoth(all: readonly Scenario[]): void {
  const scenarios = all.filter(({ name }) => only === undefined || new RegExp(only).test(name));
  let both: Both;
  let real: ReadonlyMap<string, Outcome | Error>;
  beforeAll(async () => {
    both = await openBoth(scenarios);
    real = await both.real();
  }, LIMIT_MS);
  afterAll(() => both.close());

  test.each(scenarios.map((scenario) => ({ name: scenario.name, scenario })))(
    '$name',
    async ({ name, scenario }) => {
      const outcome = real.get(name);
      if (outcome instanceof Error) throw outcome;
      expect(await both.model(scenario)).toEqual(outcome);
    },
  );
}
