/** One job at a time, nothing else running: what a caller waits for. */
import { RATIO } from '../goals.ts';
import { measureAlone } from '../load/measure.ts';
import { quiet } from '../load/quiet.ts';
import { median, ratios } from '../stats.ts';
import { chain } from '../templates.ts';
import { baseline, movements, type Section } from './context.ts';

const SAMPLES = 15;

/** Each round's value is the median of its samples. */
export const alone: Section = async (context) => {
  const { collect, rounds, quick, stack } = context;
  const samples = quick ? 3 : SAMPLES;
  const sides = [
    baseline(context),
    await movements(context, chain('instant', 3)),
    await movements(context, chain('remote', 3), ['remote']),
  ];
  const latencies: number[][] = sides.map(() => []);
  for (const side of sides) await measureAlone(side, 3);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, side] of sides.entries()) {
      await quiet(stack);
      latencies[index]?.push(median(await measureAlone(side, samples)));
    }
  }
  for (const [index, side] of sides.entries())
    collect.add('alone', `${side.name}: latency`, 'ms', latencies[index] ?? []);
  const [hand = [], instant = [], remote = []] = latencies;
  collect.add('alone', 'latency alone, remote / hand-written', '', ratios(remote, hand));
  collect.add('alone', RATIO.alone, '', ratios(instant, hand));
};
