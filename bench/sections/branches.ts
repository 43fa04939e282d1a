/**
 * The same nodes as one chain and as three lanes beside each other, with an executor that takes its
 * time.
 */
import { SLOW_SUBMIT_MS } from '../executors.ts';
import { RATIO } from '../goals.ts';
import { measureAlone } from '../load/measure.ts';
import { median, ratios } from '../stats.ts';
import { chain, nodesOfLanes, threeLanes } from '../templates.ts';
import { movements, movementsOf, type Section } from './context.ts';

/** root → 3 × (3 nodes) → join: 11 nodes, of which 5 are on the longest path. */
const DEPTH = 3;
const SAMPLES = 8;

export const branches: Section = async (context) => {
  const { collect, rounds, quick } = context;
  const nodes = nodesOfLanes(DEPTH);
  const lanes = await movementsOf(context, threeLanes('slow', DEPTH));
  if (typeof lanes === 'string') return collect.note(`branches: ${lanes}`);
  const row = await movements(context, chain('slow', nodes));
  const samples = quick ? 2 : SAMPLES;
  const beside: number[] = [];
  const after: number[] = [];
  for (const side of [row, lanes]) await measureAlone(side, 2);
  for (let round = 0; round < rounds; round += 1) {
    after.push(median(await measureAlone(row, samples)));
    beside.push(median(await measureAlone(lanes, samples)));
  }
  collect.note(
    `branches: ${nodes} nodes, each with a submit of ${SLOW_SUBMIT_MS} ms; the lanes' longest path has ${DEPTH + 2} nodes`,
  );
  collect.add('branches', `${row.name}: latency`, 'ms', after);
  collect.add('branches', `${lanes.name}: latency`, 'ms', beside);
  collect.add('branches', RATIO.lanes, '', ratios(beside, after));
};
