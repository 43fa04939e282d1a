/**
 * The cost of a node as graphs grow: the same number of nodes in few long movements or many short
 * ones.
 */
import { measureBatch } from '../load/measure.ts';
import { ratios } from '../stats.ts';
import { chain } from '../templates.ts';
import { movements, type Section } from './context.ts';

const SIZES = [3, 10, 30, 100];
/** Nodes of a batch: a hundred short movements, or three of the longest. */
const NODES = 300;

export const graphs: Section = async (context) => {
  const { stack, collect, rounds, quick } = context;
  const sides = await Promise.all(SIZES.map((size) => movements(context, chain('instant', size))));
  const times: number[][] = SIZES.map(() => []);
  const costs: number[][] = SIZES.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, size] of SIZES.entries()) {
      const side = sides[index];
      if (side === undefined) continue;
      const batch = await measureBatch(stack, side, Math.ceil((quick ? NODES / 3 : NODES) / size));
      times[index]?.push(1_000 / (batch.perSecond * size));
      costs[index]?.push(batch.cpuPerJob / size);
    }
  }
  for (const [index, size] of SIZES.entries()) {
    collect.add('graphs', `graphs of ${size}: time a node`, 'ms', times[index] ?? []);
    collect.add('graphs', `graphs of ${size}: CPU a node`, 'ms', costs[index] ?? []);
  }
  collect.add(
    'graphs',
    'CPU a node, graphs of 100 / of 3',
    '',
    ratios(costs.at(-1) ?? [], costs[0] ?? []),
  );
};
