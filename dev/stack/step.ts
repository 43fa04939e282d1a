/** A step of a start, shown while it runs. */
import { startStep } from '../bootstrap/progress.mjs';
import type { Supervisor } from './supervise/supervisor.ts';

/** Runs `work` as a step; one that fails because everything is stopped is not shown as failed. */
export async function step<T>(
  { supervisor, log }: { readonly supervisor: Supervisor; readonly log: (line: string) => void },
  label: string,
  work: () => Promise<T>,
): Promise<T> {
  const shown = startStep(label, log);
  try {
    const result = await work();
    shown.done();
    return result;
  } catch (error) {
    if (supervisor.stopping) shown.cancel();
    else shown.fail();
    throw error;
  }
}
