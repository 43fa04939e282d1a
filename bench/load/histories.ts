/** What the histories of runs say about their start. */
import type { Client } from '@temporalio/client';
import { movementWorkflowId } from '../../domain/messages.ts';
import { forEach } from './each.ts';

/** Signals of each run that came before its first workflow task started. */
export function signalsBeforeWork(
  client: Client,
  movementIds: readonly string[],
): Promise<readonly number[]> {
  return forEach(movementIds, async (movementId) => {
    const { events } = await client.workflow
      .getHandle(movementWorkflowId(movementId))
      .fetchHistory();
    const all = events ?? [];
    const first = all.findIndex((event) => event.workflowTaskStartedEventAttributes != null);
    return all
      .slice(0, first < 0 ? all.length : first)
      .filter((event) => event.workflowExecutionSignaledEventAttributes != null).length;
  });
}
