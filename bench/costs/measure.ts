/**
 * What one movement costs in things that noise cannot touch: history, dispatches and database round
 * trips, counted on a real Postgres and Temporal.
 */
import { movementWorkflowId } from '../../domain/messages.ts';
import type { PartSettings } from '../processes/part.ts';
import { chain, type TemplateBody } from '../templates.ts';
import { until } from '../until.ts';
import { historyCosts, type HistoryCosts } from './history.ts';
import { countRoundTrips, type ActivityCount, type RoundTrips } from './round-trips.ts';
import { startCostService, type CostService } from './service.ts';

export const COST_NODES = 3;
/** preflight, prepare, submit, observe. */
export const PHASES_A_NODE = 4;

export interface Costs {
  readonly history: HistoryCosts;
  readonly events_a_node: number;
  readonly bytes_a_node: number;
  /** Of everything that the worker does for the movement, over all phases of all nodes. */
  readonly sql_a_phase: number;
  readonly sql_a_movement: number;
  readonly sql_by_activity: Readonly<Record<string, ActivityCount>>;
}

/**
 * A busy machine can only add to what a movement costs (a task that times out), so the cheapest of
 * these counts.
 */
const TRIES = 3;

/** Runs movements of three nodes, one after the other; the task queue must have no other worker. */
export async function measureCosts(
  settings: Pick<PartSettings, 'databaseUrl' | 'temporalAddress'>,
): Promise<Costs> {
  const trips = countRoundTrips(settings.databaseUrl);
  const service = await startCostService({
    settings,
    db: trips.db,
    wrap: (activities) => trips.counted(activities),
  });
  try {
    const template = { ...chain('instant', COST_NODES), template_key: 'bench/costs' };
    await service.api.register(template);
    const all: Costs[] = [];
    for (let count = 0; count < TRIES; count += 1)
      all.push(await oneMovement(service, trips, template));
    const [cheapest] = all.sort(
      (a, b) => a.history.events - b.history.events || a.sql_a_movement - b.sql_a_movement,
    );
    if (cheapest === undefined) throw new Error('nothing was measured');
    return cheapest;
  } finally {
    await service.stop();
    await trips.db.$disconnect();
  }
}

async function oneMovement(
  { api, temporal }: CostService,
  trips: RoundTrips,
  template: TemplateBody,
): Promise<Costs> {
  trips.byActivity.clear();
  const movement = await api.create(template);
  const run = temporal.client.workflow.getHandle(movementWorkflowId(movement.movement_id));
  // Approved only once its run waits: how many workflow tasks there are must not depend on who was
  // quicker.
  await until(() => trips.byActivity.has('load'), { what: 'the run to begin' });
  await until(async () => (await run.describe()).raw.pendingWorkflowTask == null, {
    what: 'the run to wait',
  });
  await api.approve(movement);
  const outcome: unknown = await run.result();
  if (!JSON.stringify(outcome).includes('COMPLETED'))
    throw new Error(`the movement ended as ${JSON.stringify(outcome)}`);
  const history = await historyCosts(temporal.client, run.workflowId);
  return {
    ...summed(trips.byActivity),
    history,
    events_a_node: history.events / COST_NODES,
    bytes_a_node: history.bytes / COST_NODES,
  };
}

function summed(
  byActivity: ReadonlyMap<string, ActivityCount>,
): Pick<Costs, 'sql_a_phase' | 'sql_a_movement' | 'sql_by_activity'> {
  const sql_by_activity = Object.fromEntries(
    [...byActivity].map(([name, count]) => [name, { ...count }]),
  );
  const sql_a_movement = Object.values(sql_by_activity).reduce(
    (total, { round_trips }) => total + round_trips,
    0,
  );
  return {
    sql_a_phase: sql_a_movement / (COST_NODES * PHASES_A_NODE),
    sql_a_movement,
    sql_by_activity,
  };
}
