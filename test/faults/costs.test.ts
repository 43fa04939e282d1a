/**
 * What a movement costs where noise cannot reach: a change that makes it dearer has to say so here.
 */
import { pino } from 'pino';
import { installSdk } from '../../activities/sdk.ts';
import { COST_LIMITS } from '../../bench/costs/limits.ts';
import { COST_NODES, measureCosts, type Costs } from '../../bench/costs/measure.ts';
import { startBenchStack, type BenchStack } from '../../bench/stack.ts';

let stack: BenchStack | undefined;
let costs: Costs;

beforeAll(async () => {
  installSdk(pino({ level: 'silent' }));
  stack = await startBenchStack(() => undefined);
  costs = await measureCosts(stack.settings);
}, 120_000);
afterAll(async () => {
  await stack?.stop();
});

describe(`a movement of ${COST_NODES} nodes with an instant executor in process`, () => {
  test('keeps its history small', () => {
    expect(costs.events_a_node).toBeLessThanOrEqual(COST_LIMITS.events_a_node);
    expect(costs.bytes_a_node).toBeLessThanOrEqual(COST_LIMITS.bytes_a_node);
  });

  test('is dispatched no oftener than it has to be', () => {
    expect(costs.history.dispatches).toBeLessThanOrEqual(COST_LIMITS.dispatches_a_movement);
    expect(costs.history.workflow_tasks).toBeLessThanOrEqual(COST_LIMITS.workflow_tasks_a_movement);
  });

  test('asks the database no oftener than it has to', () => {
    expect(costs.sql_a_phase).toBeLessThanOrEqual(COST_LIMITS.sql_a_phase);
    expect(costs.sql_a_movement).toBeLessThanOrEqual(COST_LIMITS.sql_a_movement);
  });

  test('was counted whole: every phase of every node ran', () => {
    // A node's phases and the decision behind it are one activity; the first decision is a load's.
    const { load, submit, ...others } = costs.sql_by_activity;
    expect(others).toEqual({});
    expect([load?.calls, submit?.calls]).toEqual([2, 1]);
    // A fence and an outcome a node are written whatever else is saved.
    expect(costs.sql_a_movement).toBeGreaterThanOrEqual(2 * COST_NODES);
  });
});
