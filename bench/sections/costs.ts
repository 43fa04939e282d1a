/** The counted costs among the measured ones. */
import { measureCosts } from '../costs/measure.ts';
import type { PartSettings } from '../processes/part.ts';
import type { Collector } from '../report.ts';

export async function addCosts(settings: PartSettings, collect: Collector): Promise<void> {
  const { history, events_a_node, bytes_a_node, sql_a_phase, sql_a_movement, sql_by_activity } =
    await measureCosts(settings);
  const add = (name: string, unit: string, value: number): void =>
    collect.add('costs', name, unit, [value]);
  add('history events a node', '', events_a_node);
  add('history bytes a node', 'B', bytes_a_node);
  add('dispatches a movement', '', history.dispatches);
  add('local activities a movement', '', history.local_activities);
  add('workflow tasks a movement', '', history.workflow_tasks);
  add('SQL round trips a phase', '', sql_a_phase);
  add('SQL round trips a movement', '', sql_a_movement);
  const each = Object.entries(sql_by_activity).map(
    ([name, { calls, round_trips }]) => `${name} ${round_trips}/${calls}`,
  );
  collect.note(`round trips by activity (trips/calls): ${each.join(', ')}`);
}
