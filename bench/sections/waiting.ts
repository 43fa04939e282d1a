/** Movements that wait for their approval, with open runs, beside those that are measured. */
import { RATIO } from '../goals.ts';
import { measureBatch } from '../load/measure.ts';
import { quiet } from '../load/quiet.ts';
import { ratios } from '../stats.ts';
import { chain } from '../templates.ts';
import { movements, type Section } from './context.ts';

/** In this order within a round; then all are rejected, so that the next round begins empty. */
const LEVELS = [0, 100, 1_000, 5_000];
/** The figure that a goal judges, by level. */
const JUDGED: ReadonlyMap<number, string> = new Map([
  [5_000, RATIO.waiting],
  [20_000, RATIO.mostWaiting],
]);
const QUICK_LEVELS = [0, 50, 200];
const NODES = 3;

export const waiting: Section = async (context) => {
  const { stack, collect, rounds, movements: count, quick, mostWaiting } = context;
  const side = await movements(context, chain('instant', NODES));
  const levels = quick ? QUICK_LEVELS : upTo(mostWaiting);
  const speeds: number[][] = levels.map(() => []);
  const costs: number[][] = levels.map(() => []);
  await measureBatch(stack, side, Math.min(40, count));
  for (let round = 0; round < rounds; round += 1) {
    const open: string[] = [];
    for (const [index, level] of levels.entries()) {
      open.push(...(await side.prepare(level - open.length)));
      await quiet(stack);
      const batch = await measureBatch(stack, side, count);
      speeds[index]?.push(batch.perSecond);
      costs[index]?.push(batch.cpuPerJob / NODES);
    }
    await side.clear(open);
  }
  for (const [index, level] of levels.entries()) {
    collect.add('waiting', `${level} waiting: movements a second`, '1/s', speeds[index] ?? []);
    collect.add('waiting', `${level} waiting: CPU a node`, 'ms', costs[index] ?? []);
  }
  for (const [index, level] of levels.entries()) {
    const other = `throughput, ${level.toLocaleString('en')} waiting / none waiting`;
    const name = JUDGED.get(level) ?? other;
    if (index > 0) collect.add('waiting', name, '', ratios(speeds[index] ?? [], speeds[0] ?? []));
  }
};

/** The standard levels below it, and itself. */
function upTo(most: number): readonly number[] {
  return [...LEVELS.filter((level) => level < most), most];
}
