/**
 * Whether the histories that a stack has made can be made again, as a worker does that has lost
 * what it held in memory.
 */
import type { Client } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { workflowBundle } from '../../activities/bundle.ts';

type Histories = Parameters<typeof Worker.runReplayHistories>[1];

/** What each replay came to, in the order of the histories: null, or what went wrong. */
export async function replayAll(
  code: string,
  histories: Histories,
): Promise<readonly (string | null)[]> {
  const found: (string | null)[] = [];
  for await (const { error } of Worker.runReplayHistories({ workflowBundle: { code } }, histories))
    found.push(error?.message ?? null);
  return found;
}

/** How many runs were replayed, and what went wrong in those that could not be. */
export async function replayed(
  temporal: Client,
): Promise<{ readonly runs: number; readonly faults: Readonly<Record<string, string>> }> {
  const names: string[] = [];
  const histories = [];
  for await (const { workflowId, runId } of temporal.workflow.list()) {
    names.push(`${workflowId} ${runId}`);
    histories.push({
      workflowId,
      history: await temporal.workflow.getHandle(workflowId, runId).fetchHistory(),
    });
  }
  const { code } = workflowBundle();
  const found = await replayAll(code, histories);
  return { runs: found.length, faults: faultsOf(names, found) };
}

/** The replays that failed, by name. */
export function faultsOf(
  names: readonly string[],
  found: readonly (string | null)[],
): Record<string, string> {
  return Object.fromEntries(
    found.flatMap((fault, index) => (fault === null ? [] : [[names[index] ?? '?', fault]])),
  );
}
