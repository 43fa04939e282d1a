/** Runs long calculations in slices, so that other work is not delayed. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Milliseconds of one slice: longer than most steps, and too short for other work to notice. */
const SLICE_MS = 5;

/**
 * Runs all steps and returns their result; after every few milliseconds the event loop handles
 * other work.
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
