/**
 * The workflow that somebody would write by hand: wait, then one activity a step, one after the
 * other.
 */
import {
  condition,
  defineSignal,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
} from '@temporalio/workflow';
import { BASELINE_STEPS, GO, type BaselineActivities } from './messages.ts';

const TIMEOUT = { startToCloseTimeout: '2 minutes' } as const;
const regular = proxyActivities<BaselineActivities>(TIMEOUT);
const eager = proxyActivities<BaselineActivities>({ ...TIMEOUT, allowEagerDispatch: true });
const local = proxyLocalActivities<BaselineActivities>(TIMEOUT);

/** As it comes from the tutorial: twelve regular activities. */
export async function handWrittenWorkflow(jobId: string): Promise<void> {
  await untilSignalled();
  for (let number = 1; number <= BASELINE_STEPS; number += 1)
    await regular.step({ job_id: jobId, step: number });
}

/**
 * As a careful engineer would write it: of the four steps of a node the two that change nothing
 * outside (preflight and prepare) are local activities, the two others are dispatched eagerly.
 */
export async function carefulWorkflow(jobId: string): Promise<void> {
  await untilSignalled();
  for (let number = 1; number <= BASELINE_STEPS; number += 1) {
    const { step } = (number - 1) % 4 < 2 ? local : eager;
    await step({ job_id: jobId, step: number });
  }
}

async function untilSignalled(): Promise<void> {
  let go = false;
  setHandler(defineSignal(GO), () => void (go = true));
  await condition(() => go);
}
