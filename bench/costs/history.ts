/** What a closed run left in Temporal. */
import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';

export interface HistoryCosts {
  readonly events: number;
  /** Of the history's own encoding, without what a store adds. */
  readonly bytes: number;
  /** Regular activities: each is dispatched by the server. */
  readonly dispatches: number;
  readonly local_activities: number;
  readonly workflow_tasks: number;
}

export async function historyCosts(client: Client, workflowId: string): Promise<HistoryCosts> {
  const history = await client.workflow.getHandle(workflowId).fetchHistory();
  const events = history.events ?? [];
  const count = (attributes: keyof proto.temporal.api.history.v1.IHistoryEvent): number =>
    events.filter((event) => event[attributes] !== null && event[attributes] !== undefined).length;
  return {
    events: events.length,
    bytes: proto.temporal.api.history.v1.History.encode(history).finish().length,
    dispatches: count('activityTaskScheduledEventAttributes'),
    local_activities: count('markerRecordedEventAttributes'),
    workflow_tasks: count('workflowTaskCompletedEventAttributes'),
  };
}
