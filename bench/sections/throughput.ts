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

/** With the instant executor of this process. */
export const throughput: Section = async (context) => {
  const side = await movements(context, chain('instant', NODES));
  const { mine, other } = await compare(context, 'throughput', side);
  const { collect } = context;
  collect.add('throughput', RATIO.cpu, '', ratios(mine.map(cpuOf), other.map(cpuOf)));
  collect.add('throughput', RATIO.throughput, '', ratios(mine.map(speedOf), other.map(speedOf)));
};

/** With an executor behind HTTP. */
export const remote: Section = async (context) => {
  const side = await movements(context, chain('remote', NODES), true);
  const { mine, other } = await compare(context, 'remote', side);
  context.collect.add(
    'remote',
    'CPU a movement, remote / hand-written',
    '',
    ratios(mine.map(cpuOf), other.map(cpuOf)),
  );
  context.collect.add('remote', RATIO.remote, '', ratios(mine.map(speedOf), other.map(speedOf)));
};

async function compare(
  context: SectionContext,
  section: string,
  side: Side,
): Promise<{ mine: Batch[]; other: Batch[] }> {
  const { stack, rounds, movements: count } = context;
  const hand = baseline(context);
  for (const each of [hand, side]) await measureBatch(stack, each, Math.min(WARM_UP, count));
  const mine: Batch[] = [];
  const other: Batch[] = [];
  for (let round = 0; round < rounds; round += 1) {
    other.push(await measureBatch(stack, hand, count));
    mine.push(await measureBatch(stack, side, count));
  }
  for (const [each, batches] of [
    [hand, other],
    [side, mine],
  ] as const)
    addBatches(context, section, each, batches);
  return { mine, other };
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
