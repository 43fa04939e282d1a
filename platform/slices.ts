/** Long calculations between which others have their turn. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Longer than most steps take, and too short for anybody to notice. */
const SLICE_MS = 5;

/**
 * Runs the steps to their end and answers what they come to; every few milliseconds whatever else
 * waits is done.
 */
export async function inSlices<T>(steps: Generator<unknown, T>): Promise<T> {
  let began = performance.now();
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (performance.now() - began < SLICE_MS) continue;
    await nextTurn();
    began = performance.now();
  }
}
