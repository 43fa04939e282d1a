/**
 * Runs functions as activities, by the SDK's own class. `MockActivityEnvironment` of
 * `@temporalio/testing` does the same, but loads the whole SDK and webpack: 1,900 files.
 */
import { createRequire } from 'node:module';
import { noopMetricMeter, type Logger } from '@temporalio/common';
import { loadDataConverter } from '@temporalio/common/lib/internal-non-workflow/index.js';
import type { Activity as SdkActivity } from '@temporalio/worker/lib/activity.js';

const { Activity } = createRequire(import.meta.url)('@temporalio/worker/lib/activity.js') as {
  readonly Activity: typeof SdkActivity;
};

const nothing = (): void => undefined;
const SILENT = {
  ...{ log: nothing, trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing },
} as unknown as Logger;

const INFO = {
  attempt: 1,
  taskQueue: 'test',
  isLocal: false,
  taskToken: Buffer.from('test'),
  base64TaskToken: Buffer.from('test').toString('base64'),
  activityId: 'test',
  activityType: 'unknown',
  workflowType: 'test',
  activityNamespace: 'default',
  workflowNamespace: 'default',
  namespace: 'default',
  workflowExecution: { workflowId: 'test', runId: '00000000-0000-0000-0000-000000000000' },
  scheduledTimestampMs: 1,
  currentAttemptScheduledTimestampMs: 1,
  startToCloseTimeoutMs: 1_000,
  scheduleToCloseTimeoutMs: 1_000,
  inWorkflow: true,
};

/** Runs `work` as an activity of its first attempt; returns what it returns, and logs nothing. */
export function inActivity<T>(work: () => Promise<T>): Promise<T> {
  const activity = new Activity(
    INFO as unknown as ConstructorParameters<typeof SdkActivity>[0],
    undefined,
    loadDataConverter(),
    {} as never,
    undefined,
    nothing,
    undefined,
    SILENT,
    noopMetricMeter,
    [],
  );
  return activity.runNoEncoding(work, { args: [], headers: {} }) as Promise<T>;
}
