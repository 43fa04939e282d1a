/**
 * The model of the Temporal server against the real one: the same scenarios have the same ends,
 * effects, timelines and histories on both.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openBoth, type Both } from '../simulation/both/both.ts';
import { SCENARIOS } from '../simulation/both/scenarios.ts';
import type { Outcome } from '../simulation/both/script.ts';

/** Milliseconds that all scenarios may take on the real server. */
const LIMIT_MS = 300_000;

const only = process.env['BOTH_ONLY'];
const scenarios = SCENARIOS.filter(({ name }) => only === undefined || new RegExp(only).test(name));

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
