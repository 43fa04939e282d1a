/** The two measurements that everything is made of: a batch at once, and one job alone. */
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuBetween, sumOf } from '../cpu.ts';
import { until } from '../until.ts';
import type { BenchStack } from '../stack.ts';
import { forEach } from './each.ts';
import { quiet } from './quiet.ts';
import type { Side } from './side.ts';

export interface Batch {
  readonly count: number;
  /** Jobs a second, from the first "go on" to the last completion in the database. */
  readonly perSecond: number;
  /** CPU milliseconds a job, from the first "go on" until everything is quiet again. */
  readonly cpuPerJob: number;
  /** The same by process. */
  readonly cpuByPart: Readonly<Record<string, number>>;
}

/** Jobs are made and wait before the clock starts. */
export async function measureBatch(
  stack: Pick<BenchStack, 'cpu' | 'pool'>,
  side: Side,
  count: number,
): Promise<Batch> {
  const ids = await side.prepare(count);
  await quiet(stack);
  const before = stack.cpu(side.parts);
  const began = performance.now();
  const signalled = forEach(ids, (id) => side.tell(id));
  const finished = until(async () => (await side.done(ids)) === count, {
    everyMs: 100,
    limitMs: 600_000,
    what: `${count} × ${side.name}`,
  });
  await Promise.all([signalled, finished]);
  const seconds = (performance.now() - began) / 1_000;
  await quiet(stack);
  const used = cpuBetween(before, stack.cpu(side.parts));
  const cpuByPart = Object.fromEntries(
    Object.entries(used).map(([name, ms]) => [name, ms / count]),
  );
  const cpuPerJob = sumOf(cpuByPart);
  process.stderr.write(
    `    ${side.name}: ${count} in ${seconds.toFixed(1)} s, ${cpuPerJob.toFixed(1)} CPU-ms each\n`,
  );
  return { count, perSecond: count / seconds, cpuPerJob, cpuByPart };
}

/**
 * Milliseconds of each of `count` jobs, one after the other: from "go on" until the run has closed.
 */
export async function measureAlone(side: Side, count: number): Promise<readonly number[]> {
  const ids = await side.prepare(count);
  const latencies: number[] = [];
  for (const id of ids) {
    await sleep(100);
    // Requested before the start: the answer is then pushed, and nothing polls meanwhile.
    const closed = side.closed(id);
    const began = performance.now();
    await Promise.all([side.tell(id), closed]);
    latencies.push(performance.now() - began);
  }
  return latencies;
}
