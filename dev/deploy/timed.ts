/** Measures how long each part of the guide takes and shows it as a progress step. */
import { startStep } from '../bootstrap/progress.mjs';

export type Timed = (what: string, work: () => Promise<unknown>) => Promise<void>;

/** Returns a function that runs a part and records its seconds. */
export function timing(seconds: Record<string, number>): Timed {
  return async (what, work) => {
    const step = startStep(what);
    const since = performance.now();
    try {
      await work();
    } catch (error) {
      step.fail();
      throw error;
    }
    step.done();
    seconds[what] = (performance.now() - since) / 1_000;
  };
}
