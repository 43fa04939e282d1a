/** Very many creates at once: how soon they are answered, and what it costs until all runs wait. */
import { cpuBetween } from '../cpu.ts';
import { RATIO } from '../goals.ts';
import { connectApi, type CreatedMovement } from '../load/api.ts';
import { forEach } from '../load/each.ts';
import { signalsBeforeWork } from '../load/histories.ts';
import { allSeen, type MovementSide } from '../load/movements.ts';
import { quiet } from '../load/quiet.ts';
import { median, quantile } from '../stats.ts';
import { chain } from '../templates.ts';
import { movements, type Section } from './context.ts';

/** Creates at once, over so many connections: as many as the API works on at a time. */
const BURST = 2_500;
const QUICK_BURST = 150;
const CONNECTIONS = 64;
const NODES = 3;
const PARTS = ['postgres', 'temporal', 'worker', 'api'] as const;

/** Each round begins without any that wait, and ends by rejecting its own. */
export const creation: Section = async (context) => {
  const { stack, collect, rounds, quick, client } = context;
  const template = chain('instant', NODES);
  const side = await movements(context, template);
  const count = quick ? QUICK_BURST : BURST;
  const api = connectApi(stack.settings.apiPort, CONNECTIONS);
  // Every connection is open and both processes are warm before anything is timed.
  const create = (count: number, latencies: number[]): Promise<readonly CreatedMovement[]> =>
    forEach(
      [...Array(count).keys()],
      async () => {
        const sent = performance.now();
        const movement = await api.create(template);
        latencies.push(performance.now() - sent);
        return movement;
      },
      CONNECTIONS,
    );
  await endAll(side, await create(2 * CONNECTIONS, []));
  const rates: number[] = [];
  const started: number[] = [];
  const most: number[] = [];
  const waits: { p50: number; p99: number }[] = [];
  const cpu: Record<string, number>[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await quiet(stack);
    const before = stack.cpu(PARTS);
    const began = performance.now();
    const latencies: number[] = [];
    const made = await create(count, latencies);
    rates.push(count / ((performance.now() - began) / 1_000));
    await allSeen(stack.pool);
    started.push((performance.now() - began) / 1_000);
    await quiet(stack);
    cpu.push(cpuBetween(before, stack.cpu(PARTS)));
    waits.push({ p50: median(latencies), p99: quantile(latencies, 0.99) });
    const ids = made.map((movement) => movement.movement_id);
    most.push(Math.max(...(await signalsBeforeWork(client, ids))));
    await endAll(side, made);
  }
  await api.close();
  const each = (part: string): number[] => cpu.map((round) => (round[part] ?? 0) / count);
  collect.note(`creation: ${count} creates at once, over ${CONNECTIONS} connections`);
  collect.add('creation', 'creates a second', '1/s', rates);
  collect.add(
    'creation',
    'a create, p50',
    'ms',
    waits.map(({ p50 }) => p50),
  );
  collect.add(
    'creation',
    'a create, p99',
    'ms',
    waits.map(({ p99 }) => p99),
  );
  collect.add('creation', 'until all runs have started', 's', started);
  for (const part of PARTS)
    collect.add(
      'creation',
      part === 'temporal' ? RATIO.createTemporal : `CPU a create, ${part}`,
      'ms',
      each(part),
    );
  collect.add('creation', RATIO.mostSignals, '', most);
};

async function endAll(side: MovementSide, made: readonly CreatedMovement[]): Promise<void> {
  side.adopt(made);
  await side.clear(made.map((movement) => movement.movement_id));
}
