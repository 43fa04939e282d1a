/** Waits until the stack has nothing left to do, judged by the CPU it uses. */
import { setTimeout as sleep } from 'node:timers/promises';
import { CPU_IS_KNOWN, sumOf } from '../cpu.ts';
import type { BenchStack } from '../stack.ts';

const EVERYTHING = ['postgres', 'temporal', 'worker', 'api', 'baseline', 'remote'] as const;
const LOOK_MS = 300;
/** Part of one processor that polling and timers may use. */
const IDLE_SHARE = 0.2;
const LIMIT_MS = 20_000;
/**
 * Fulfilled when two looks in a row were quiet, or after twenty seconds. The sweeper's turns over
 * those that wait are put off: they would come into some measurements and not into others, and the
 * section `idle` measures them by themselves.
 */
export async function quiet(stack: Pick<BenchStack, 'cpu' | 'pool'>): Promise<void> {
  await stack.pool.query(
    "UPDATE turns SET due_at = now() + interval '1 hour' WHERE name = 'sweep_waiting'",
  );
  if (!CPU_IS_KNOWN) return void (await sleep(2_000));
  const total = (): number => sumOf(stack.cpu(EVERYTHING));
  let calm = 0;
  for (const end = Date.now() + LIMIT_MS; calm < 2 && Date.now() < end;) {
    const [before, since] = [total(), performance.now()];
    await sleep(LOOK_MS);
    calm = (total() - before) / (performance.now() - since) < IDLE_SHARE ? calm + 1 : 0;
  }
}
