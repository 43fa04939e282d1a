/** The figures of this process's background loops. */
import { register } from 'prom-client';
import type { LoopName } from '../../platform/loop.ts';

async function valueOf(metric: string, loop: LoopName): Promise<number | undefined> {
  const found = await register.getSingleMetric(metric)?.get();
  return found?.values.find(({ labels }) => labels['loop'] === loop)?.value;
}

/** Returns how many turns of the loop have failed; undefined where none was started. */
export const failuresOf = (loop: LoopName) => valueOf('svc_loop_failures_total', loop);

/** Returns for how many seconds the loop has failed; undefined where none was started. */
export const failingOf = (loop: LoopName) => valueOf('svc_loop_failing_seconds', loop);

/** Returns for how many seconds the loop's turn has lasted; undefined where none was started. */
export const turnSecondsOf = (loop: LoopName) => valueOf('svc_loop_turn_seconds', loop);
