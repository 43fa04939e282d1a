/** What the runs across bridges and at the perps venue have in common: storm, rest, report. */
import { storyOf, type FinalViews } from './bridge-story.ts';
import type { playFaults, reorganiser } from './bridge-weather.ts';
import type { Caller } from './caller.ts';
import type { RunOptions } from './options.ts';
import { dice } from './random.ts';
import {
  ask,
  comesToItsEnd,
  conclude,
  events,
  say,
  seconds,
  shown,
  stateOf,
  stormLines,
  tally,
} from './report.ts';
import type { Run } from './run-stack.ts';
import { planStrikes } from './schedule.ts';
import { createStorm, liveThrough } from './storm.ts';

/** Between two blocks that are taken back, in kills. */
const TAKEN_BACK_EVERY = 4;

interface Life {
  readonly key: string;
  readonly movement_id: string | null;
  readonly complaints: string[];
}
type Line = readonly [name: string, value: string];

/** What one lane adds to a run. */
export interface Lane<L extends Life, Books> {
  readonly caller: Caller;
  readonly lives: readonly L[];
  readonly live: (life: L) => Promise<void>;
  readonly weights: Parameters<typeof planStrikes>[2];
  readonly faults: ReturnType<typeof playFaults>;
  readonly reorganised: ReturnType<typeof reorganiser>;
  /** Reads the books of chains and venues; called before the storm and at the end. */
  readonly books: () => Promise<Books>;
  /** Holds the books against what the movements should have done. */
  readonly judge: (
    views: FinalViews,
    before: Books,
    after: Books,
  ) => { readonly found: readonly string[]; readonly lines: readonly Line[] };
}

/** Runs the lives through a storm and reports; returns the number of contradictions. */
export async function runLane<L extends Life, Books>(
  run: Run,
  { kills, seed }: RunOptions,
  signal: AbortSignal,
  { caller, lives, live, weights, faults, reorganised, books, judge }: Lane<L, Books>,
): Promise<number> {
  const started = Date.now();
  const before = await books();
  const storm = createStorm({
    stack: faults.around(run.parts),
    strikes: planStrikes(dice(seed, 'strikes'), kills, weights),
    signal,
    onKill: (total) => {
      if (total % TAKEN_BACK_EVERY === 0) reorganised.next();
      if (total % 10 === 0)
        say(
          `  ${total} kills, ${lives.filter((life) => life.movement_id !== null).length} movements after ${seconds(started)} s`,
        );
    },
  });
  await faults.begin();
  await Promise.all([storm.run(), liveThrough(lives, { storm, kills, signal }, live)]);
  const stormSeconds = seconds(started);
  // Blocks first: a deliverer without faults acts on blocks that are not final.
  await reorganised.end();
  await faults.end();
  say(`  the storm is over after ${stormSeconds} s`);
  const restless = await comesToItsEnd(run, signal);
  const views = await ask(run, lives);
  const judged = judge(views, before, await books());
  const found = [
    ...restless,
    ...caller.complaints.map((each) => `answers: ${each}`),
    ...lives.flatMap((life) => [
      ...life.complaints.map((each) => `${life.key}: ${each}`),
      ...storyOf(life, views),
    ]),
    ...judged.found,
  ];
  const lines: readonly Line[] = [
    ['seed', String(seed)],
    ['movements', `${lives.length} (${tally([...views.values()].map(stateOf))})`],
    ...stormLines(storm, stormSeconds),
    ['taken back', `${reorganised.blocks} blocks`],
    ['events', events(views)],
    ['repeated calls', shown(caller.repeats) || 'none'],
    ...judged.lines,
    ['seconds', String(seconds(started))],
  ];
  say(['', ...lines.map(([name, value]) => `${name.padEnd(16)}${value}`), ''].join('\n'));
  return conclude(found);
}
