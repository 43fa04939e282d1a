/** A batch of hand-written jobs, then a batch of movements, and again. */
import { RATIO } from '../goals.ts';
import { measureBatch, type Batch } from '../load/measure.ts';
import type { Side } from '../load/side.ts';
import { ratios } from '../stats.ts';
import { chain } from '../templates.ts';
import { baseline, movements, type Section, type SectionContext } from './context.ts';

const NODES = 3;
/** Before the first round, so that compilers and caches are warm on both sides. */
const WARM_UP = 40;

/** With the instant executor of this process; beside it the hand-written one, written with care. */
export const throughput: Section = async (context) => {
  const side = await movements(context, chain('instant', NODES));
  const sides = [baseline(context), baseline(context, 'careful'), side] as const;
  const [hand = [], careful = [], mine = []] = await compare(context, 'throughput', sides);
  const { collect } = context;
  const add = (name: string, of: (batch: Batch) => number, other: readonly Batch[]): void =>
    collect.add('throughput', name, '', ratios(mine.map(of), other.map(of)));
  add(RATIO.careful, speedOf, careful);
  add(RATIO.carefulCpu, cpuOf, careful);
  add(RATIO.cpu, cpuOf, hand);
  add(RATIO.throughput, speedOf, hand);
};

/** With an executor behind HTTP. */
export const remote: Section = async (context) => {
  const side = await movements(context, chain('remote', NODES), ['remote']);
  const [hand = [], mine = []] = await compare(context, 'remote', [baseline(context), side]);
  const { collect } = context;
  collect.add('remote', RATIO.remoteCpu, '', ratios(mine.map(cpuOf), hand.map(cpuOf)));
  collect.add('remote', RATIO.remote, '', ratios(mine.map(speedOf), hand.map(speedOf)));
};

/** With a team's own worker on a task queue of its own. */
export const team: Section = async (context) => {
  const side = await movements(context, chain('team', NODES), ['team']);
  const [hand = [], mine = []] = await compare(context, 'team', [baseline(context), side]);
  const { collect } = context;
  const add = (name: string, of: (batch: Batch) => number): void =>
    collect.add('team', name, '', ratios(mine.map(of), hand.map(of)));
  add("CPU a movement, a team's worker / hand-written", cpuOf);
  add("throughput, a team's worker / hand-written", speedOf);
};

/** The batches of each side, round by round. */
async function compare(
  context: SectionContext,
  section: string,
  sides: readonly Side[],
): Promise<readonly (readonly Batch[])[]> {
  const { stack, rounds, movements: count } = context;
  for (const side of sides) await measureBatch(stack, side, Math.min(WARM_UP, count));
  const batches: Batch[][] = sides.map(() => []);
  for (let round = 0; round < rounds; round += 1)
    for (const [index, side] of sides.entries())
      batches[index]?.push(await measureBatch(stack, side, count));
  for (const [index, side] of sides.entries())
    addBatches(context, section, side, batches[index] ?? []);
  return batches;
}

function addBatches(
  { collect }: SectionContext,
  section: string,
  { name, parts }: Side,
  batches: readonly Batch[],
): void {
  collect.add(section, `${name}: jobs a second`, '1/s', batches.map(speedOf));
  collect.add(section, `${name}: CPU a job`, 'ms', batches.map(cpuOf));
  for (const part of parts) {
    collect.add(
      section,
      `${name}: CPU a job, ${part}`,
      'ms',
      batches.map((batch) => batch.cpuByPart[part] ?? 0),
    );
  }
}

function speedOf(batch: Batch): number {
  return batch.perSecond;
}

function cpuOf(batch: Batch): number {
  return batch.cpuPerJob;
}
