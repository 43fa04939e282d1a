/**
 * The workflow that somebody would write by hand: wait, then one regular activity after the other.
 */
import { condition, defineSignal, proxyActivities, setHandler } from '@temporalio/workflow';
import { BASELINE_STEPS, GO, type BaselineActivities } from './messages.ts';

const { step } = proxyActivities<BaselineActivities>({ startToCloseTimeout: '2 minutes' });

export async function handWrittenWorkflow(jobId: string): Promise<void> {
  let told = false;
  setHandler(defineSignal(GO), () => void (told = true));
  await condition(() => told);
  for (let number = 1; number <= BASELINE_STEPS; number += 1)
    await step({ job_id: jobId, step: number });
}
