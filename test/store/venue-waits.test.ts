/**
 * A node waits while its venue does not take it: nothing fails, preflight runs again, and a person
 * is shown a wait that takes too long.
 */
import { ApplicationFailure } from '@temporalio/common';
import { pino } from 'pino';
import { preflightAndLook, preflightAndPrepare } from '../../activities/phases/chain.ts';
import type { PhaseDependencies } from '../../activities/phases/context.ts';
import { runPhase } from '../../activities/phases/phase.ts';
import { STEPS } from '../../activities/phases/team.ts';
import { sentenceOf } from '../../domain/attention.ts';
import {
  ExecutorFault,
  LEAST_ASSURANCES,
  type ExecutionResult,
  type Executor,
  type ExecutorDescriptor,
} from '../../domain/executor.ts';
import type { Phase, PhaseArgs, PhaseResult } from '../../domain/messages.ts';
import { readMovement } from '../../store/movement-detail.ts';
import { applyTransition } from '../../store/transition.ts';
import { createEvmChains } from '../../venues/evm/client.ts';
import { createEvmSigning } from '../../venues/evm/signing.ts';
import { inActivity } from '../support/activity-environment.ts';
import { paying, storeBench, type DraftOptions } from './support.ts';

const bench = storeBench();
beforeAll(async () => {
  await bench.sql(
    `INSERT INTO executors (executor_key, kind, action_types, health_state, created_at, updated_at)
      VALUES ('acme.payouts', 'local', '{acme_payout}', 'up', now(), now())`,
  );
});

const ENTRY: ExecutorDescriptor = {
  executor_key: 'acme.payouts',
  kind: 'remote',
  action_types: ['acme_payout'],
  same_key_safe: true,
  settle_seconds: 0,
  timeout_seconds: 5,
  in_process: false,
  sends: true,
  payees: [],
  not_payees: [],
  completion_assurances: LEAST_ASSURANCES,
};

type Answer = ExecutionResult | ExecutorFault | null;
interface Desk {
  readonly deps: PhaseDependencies;
  /** The phases that were called, in order. */
  readonly calls: string[];
  readonly answers: { preflight: Answer; prepare: Answer };
}

/** A worker with an executor whose answers before the send a test decides; it never sends. */
function deskOf(more: Partial<PhaseDependencies> = {}): Desk {
  const answers: Desk['answers'] = { preflight: null, prepare: { next_state: 'SUBMITTING' } };
  const calls: string[] = [];
  const answer = (phase: keyof Desk['answers']) => async (): Promise<ExecutionResult | null> => {
    calls.push(phase);
    const said = answers[phase];
    if (said instanceof ExecutorFault) throw said;
    return said;
  };
  const never = async (): Promise<never> => {
    calls.push('a send or a look');
    throw new Error('not before the send');
  };
  const executor = {
    ...{ descriptor: ENTRY, preflight: answer('preflight'), prepare: answer('prepare') },
    ...{ submit: never, observe: never, recover: never, cancel: never, health: never },
  } as unknown as Executor;
  const deps: PhaseDependencies = {
    db: bench.db,
    log: pino({ level: 'silent' }),
    chains: [],
    executors: { get: () => executor, describe: () => ENTRY },
    signers: { get: () => undefined },
    signing: createEvmSigning(createEvmChains([])),
    ...more,
  };
  return { deps, calls, answers };
}

const phase = (name: Phase, { deps }: Desk, node: PhaseArgs): Promise<PhaseResult> =>
  inActivity(() => runPhase(deps, STEPS[name], node));

/** A node that is ready, of a movement under way. */
async function ready(more: DraftOptions = { unheld: true }): Promise<PhaseArgs> {
  const { movement_id } = await bench.movement(more);
  await bench.approve(movement_id);
  await bench.sql(
    `UPDATE movements SET request_state = 'EXECUTING', approval_status = 'approved'
      WHERE movement_id = $1::uuid`,
    movement_id,
  );
  await bench.sql(
    "UPDATE movement_nodes SET state = 'READY' WHERE movement_id = $1::uuid",
    movement_id,
  );
  return { movement_id, node_key: 'pay', attempt: 1 };
}

interface NodeRow {
  readonly state: string;
  readonly attempt: number;
  readonly submit_epoch: number;
  readonly preflight_passed: boolean;
  readonly prepared_action: object | null;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly error_count: number;
  readonly unanswered: number;
  readonly silent: boolean;
  readonly written: string;
  /** Seconds until a person is shown the wait. */
  readonly person_in: number | null;
}

async function nodeOf({ movement_id }: PhaseArgs): Promise<NodeRow> {
  const [row] = await bench.sql<NodeRow>(
    `SELECT state, attempt, submit_epoch, preflight_passed, prepared_action, error_code,
       error_message, error_count, unanswered, unanswered_since IS NOT NULL AS silent,
       updated_at::text AS written,
       extract(epoch FROM wait_overdue_at - svc_now())::double precision AS person_in
     FROM movement_nodes WHERE movement_id = $1::uuid`,
    movement_id,
  );
  if (row === undefined) throw new Error('there is no such node');
  return row;
}

const set = ({ movement_id }: PhaseArgs, fields: string): Promise<unknown> =>
  bench.sql(`UPDATE movement_nodes SET ${fields} WHERE movement_id = $1::uuid`, movement_id);
const attentionOf = async ({ movement_id }: PhaseArgs) =>
  (await readMovement(bench.db, movement_id))?.attention ?? null;

const SUSPENDED = 'withdrawals of USDC are suspended until 12:00 UTC';
const suspended = (more: object = {}): ExecutionResult => ({
  next_state: 'READY',
  error_code: 'VENUE_SUSPENDED',
  error_message: SUSPENDED,
  ...more,
});
const CLEARED = { error_code: null, error_message: null, person_in: null } as const;
const UNTOUCHED = { state: 'READY', attempt: 1, submit_epoch: 0, error_count: 0 } as const;

test.each(['VENUE_SUSPENDED', 'WITHDRAWAL_QUOTA_EXHAUSTED'])(
  '%s from preflight: the node waits, nothing is counted, and preflight is called again',
  async (error_code) => {
    const [desk, node] = [deskOf(), await ready()];
    desk.answers.preflight = suspended({ error_code });
    expect(await phase('preflight', desk, node)).toEqual({
      ...{ state: 'READY', next: 'again', error_code: null },
      ...{ phase: 'preflight', delay_ms: 60_000 },
    });
    const first = await nodeOf(node);
    expect(first).toMatchObject({
      ...UNTOUCHED,
      ...{ error_code, error_message: SUSPENDED, preflight_passed: false },
    });
    expect(first.person_in).toBeGreaterThan(890);
    expect(first.person_in).toBeLessThanOrEqual(900);
    expect(await phase('preflight', desk, node)).toMatchObject({ next: 'again' });
    // The same answer again changes nothing.
    expect((await nodeOf(node)).written).toBe(first.written);
    desk.answers.preflight = null;
    expect(await phase('preflight', desk, node)).toMatchObject({ next: 'continue' });
    expect(await nodeOf(node)).toMatchObject({ ...UNTOUCHED, ...CLEARED, preflight_passed: true });
    expect(desk.calls).toEqual(['preflight', 'preflight', 'preflight']);
    expect(
      await bench.sql('SELECT 1 FROM node_attempts WHERE movement_id = $1::uuid', node.movement_id),
    ).toEqual([]);
  },
);

test.each([
  [undefined, 60_000],
  [0, 5_000],
  [7.5, 7_500],
  [300, 300_000],
  [86_400, 300_000],
])('after %s seconds it looks again in %d ms', async (retry_after_seconds, delay_ms) => {
  const [desk, node] = [deskOf(), await ready()];
  desk.answers.preflight = suspended(
    retry_after_seconds === undefined ? {} : { retry_after_seconds },
  );
  expect(await phase('preflight', desk, node)).toMatchObject({ next: 'again', delay_ms });
});

test('where prepare makes the node wait, preflight is called again, also one that had passed', async () => {
  const [desk, node] = [deskOf(), await ready()];
  expect(await phase('preflight', desk, node)).toMatchObject({ next: 'continue' });
  desk.answers.prepare = suspended();
  for (let turn = 0; turn < 2; turn += 1) {
    expect(await phase('prepare', desk, node)).toMatchObject({ next: 'again', phase: 'preflight' });
    expect(await nodeOf(node)).toMatchObject({ ...UNTOUCHED, error_code: 'VENUE_SUSPENDED' });
    expect(await phase('preflight', desk, node)).toMatchObject({ next: 'continue' });
    // Prepare has not answered otherwise yet, so the wait goes on.
    expect(await nodeOf(node)).toMatchObject({ error_code: 'VENUE_SUSPENDED' });
  }
  expect(desk.calls).toEqual(['preflight', 'prepare', 'preflight', 'prepare', 'preflight']);
  desk.answers.preflight = suspended({ error_code: 'WITHDRAWAL_QUOTA_EXHAUSTED' });
  expect(await phase('preflight', desk, node)).toMatchObject({ next: 'again' });
  expect(await nodeOf(node)).toMatchObject({
    ...UNTOUCHED,
    ...{ error_code: 'WITHDRAWAL_QUOTA_EXHAUSTED', preflight_passed: false },
  });
  desk.answers.preflight = null;
  desk.answers.prepare = { next_state: 'SUBMITTING', prepared_action: { a: 1 } };
  expect(await phase('preflight', desk, node)).toMatchObject({ next: 'continue' });
  expect(await phase('prepare', desk, node)).toMatchObject({ next: 'continue' });
  expect(await nodeOf(node)).toMatchObject({ ...UNTOUCHED, ...CLEARED, prepared_action: { a: 1 } });
});

test('a wait of prepare ends with the prepared action, without a second preflight entry', async () => {
  const [desk, node] = [deskOf(), await ready()];
  await phase('preflight', desk, node);
  desk.answers.prepare = suspended();
  await phase('prepare', desk, node);
  desk.answers.prepare = { next_state: 'SUBMITTING', prepared_action: { a: 1 } };
  await phase('preflight', desk, node);
  await phase('prepare', desk, node);
  expect(await nodeOf(node)).toMatchObject({ ...UNTOUCHED, ...CLEARED, prepared_action: { a: 1 } });
  const passes = await bench.sql(
    `SELECT 1 FROM timeline_events
      WHERE movement_id = $1::uuid AND event_type = 'node_preflight_passed'`,
    node.movement_id,
  );
  expect(passes).toHaveLength(1);
});

test('both phases in one activity wait and are called again alike', async () => {
  const [desk, node] = [deskOf({ soonMs: 60_000 }), await ready()];
  const both = (): Promise<PhaseResult> => inActivity(() => preflightAndPrepare(desk.deps, node));
  desk.answers.prepare = suspended();
  expect(await both()).toMatchObject({ next: 'again', phase: 'preflight', delay_ms: 60_000 });
  expect(await nodeOf(node)).toMatchObject({ ...UNTOUCHED, error_code: 'VENUE_SUSPENDED' });
  desk.answers.preflight = suspended();
  expect(await both()).toMatchObject({ next: 'again', phase: 'preflight' });
  desk.answers.preflight = null;
  desk.answers.prepare = { next_state: 'SUBMITTING', prepared_action: { a: 1 } };
  expect(await both()).toMatchObject({ next: 'continue', phase: 'prepare' });
  expect(await nodeOf(node)).toMatchObject({
    ...UNTOUCHED,
    ...CLEARED,
    ...{ preflight_passed: true, prepared_action: { a: 1 } },
  });
  expect(desk.calls).toEqual(['preflight', 'prepare', 'preflight', 'preflight', 'prepare']);
});

test('a node that waits passes no fence', async () => {
  const [desk, node] = [deskOf(), await ready()];
  await phase('preflight', desk, node);
  desk.answers.prepare = suspended();
  await phase('prepare', desk, node);
  expect(await phase('submit', desk, node)).toMatchObject({ state: 'READY', phase: 'preflight' });
  expect(await nodeOf(node)).toMatchObject({ ...UNTOUCHED, prepared_action: null });
  expect(desk.calls).toEqual(['preflight', 'prepare']);
});

test('a node whose send lane is taken waits, and shows which send is open', async () => {
  const desk = deskOf();
  desk.answers.prepare = { next_state: 'SUBMITTING', prepared_action: { send_lane: 'lane-1' } };
  const [first, second] = [await ready(), await ready()];
  for (const node of [first, second]) {
    await phase('preflight', desk, node);
    await phase('prepare', desk, node);
  }
  const { movement_id, node_key, attempt } = first;
  const passed = await applyTransition(bench.db, {
    movement_id,
    nodes: [{ node_key, from: 'READY', moves: ['SUBMITTING'], attempt, set: { submit_epoch: 1 } }],
    timeline: [],
  });
  expect(passed.ok).toBe(true);
  expect(await phase('submit', desk, second)).toMatchObject({
    state: 'READY',
    next: 'submit',
    delay_ms: 5_000,
  });
  expect(await nodeOf(second)).toMatchObject({
    ...UNTOUCHED,
    error_code: 'SEND_LANE_TAKEN',
    error_message: `the send of node pay of movement ${movement_id} is still open`,
  });
  expect(desk.calls).not.toContain('a send or a look');
});

test('a node that only looks waits too', async () => {
  const desk = deskOf();
  const node = await ready({ shape: { nodes: [paying('pay', {}, 'observe')], edges: [] } });
  desk.answers.preflight = suspended();
  expect(await inActivity(() => preflightAndLook(desk.deps, node))).toMatchObject({
    ...{ state: 'READY', next: 'again', phase: 'preflight', delay_ms: 60_000 },
  });
  desk.answers.preflight = null;
  expect(await phase('preflight', desk, node)).toMatchObject({ next: 'continue' });
  expect(await nodeOf(node)).toMatchObject(CLEARED);
});

test('execution_seconds count on while it waits, and end the wait on time', async () => {
  const desk = deskOf();
  const timeout_policy = { execution_seconds: 30 };
  const nodes = [{ ...paying('pay', {}), timeout_policy }];
  const node = await ready({ shape: { nodes, edges: [] } });
  desk.answers.preflight = suspended({ retry_after_seconds: 300 });
  expect(await phase('preflight', desk, node)).toMatchObject({ next: 'again', delay_ms: 30_000 });
  await set(node, "started_at = svc_now() - interval '20 seconds'");
  const { delay_ms = 0 } = await phase('preflight', desk, node);
  expect(delay_ms).toBeGreaterThan(1_000);
  expect(delay_ms).toBeLessThanOrEqual(10_000);
  await set(node, "started_at = svc_now() - interval '30 seconds'");
  expect(await phase('preflight', desk, node)).toMatchObject({ state: 'FAILED', next: 'settled' });
  expect(await nodeOf(node)).toMatchObject({ error_code: 'NODE_TIMED_OUT', person_in: null });
  expect(desk.calls).toHaveLength(2);
});

test('an answer that only says to wait needs a person after a minute, who reads it', async () => {
  const [desk, node] = [deskOf(), await ready()];
  const words = 'the venues file was changed: restore these entries';
  desk.answers.preflight = new ExecutorFault('not_yet', 'VENUE_ENTRY_CHANGED', words);
  await expect(phase('preflight', desk, node)).rejects.toThrow('look 1 brought no result');
  expect(await attentionOf(node)).toBeNull();
  await set(node, "unanswered_since = svc_now() - interval '61 seconds'");
  const facts = await attentionOf(node);
  expect(facts).toMatchObject({
    ...{ reason: 'executor_unavailable', node_key: 'pay' },
    ...{ error_code: 'VENUE_ENTRY_CHANGED', error_message: words },
  });
  expect(sentenceOf(facts!, '')).toContain(`; the node shows: ${words}.`);
});

test('faults during a wait are no attempts, and do not start it anew', async () => {
  const [desk, node] = [deskOf(), await ready()];
  desk.answers.preflight = suspended();
  await phase('preflight', desk, node);
  await set(node, "wait_overdue_at = svc_now() + interval '100 seconds'");
  for (const kind of ['server_error', 'timeout'] as const) {
    desk.answers.preflight = new ExecutorFault(kind, 'AWAY', 'no usable answer');
    await expect(phase('preflight', desk, node)).rejects.toBeInstanceOf(ApplicationFailure);
  }
  expect(await nodeOf(node)).toMatchObject({
    ...{ error_code: 'AWAY', error_count: 1, unanswered: 1, silent: true },
  });
  desk.answers.preflight = suspended();
  await phase('preflight', desk, node);
  const row = await nodeOf(node);
  expect(row).toMatchObject({
    ...UNTOUCHED,
    ...{ error_code: 'VENUE_SUSPENDED', unanswered: 0, silent: false },
  });
  expect(row.person_in).toBeLessThanOrEqual(100);
});

test.each([
  ['preflight', { next_state: 'READY' }],
  ['preflight', suspended({ error_code: 'MAINTENANCE' })],
  ['preflight', suspended({ error_message: ' ' })],
  ['preflight', suspended({ next_state: 'SUBMITTING' })],
  ['prepare', suspended({ error_code: 'MAINTENANCE' })],
  ['prepare', suspended({ next_state: 'OBSERVING' })],
] as const)('%s may not answer %j', async (name, answer) => {
  const [desk, node] = [deskOf(), await ready()];
  if (name === 'prepare') await phase('preflight', desk, node);
  desk.answers[name] = answer as ExecutionResult;
  await expect(phase(name, desk, node)).rejects.toMatchObject({ type: 'EXECUTOR_PROTOCOL_ERROR' });
  expect(await nodeOf(node)).toMatchObject({
    ...{ state: 'READY', error_code: null, error_count: 1, person_in: null },
  });
});

test('a cancelled node waits no longer, and its executor is not called', async () => {
  const [desk, node] = [deskOf(), await ready()];
  desk.answers.preflight = suspended();
  await phase('preflight', desk, node);
  const { movement_id, node_key, attempt } = node;
  const change = { node_key, from: 'READY', moves: ['CANCELLED'], attempt } as const;
  const outcome = await applyTransition(bench.db, { movement_id, nodes: [change], timeline: [] });
  expect(outcome.ok).toBe(true);
  expect(await nodeOf(node)).toMatchObject({ state: 'CANCELLED', person_in: null });
  expect(await phase('preflight', desk, node)).toMatchObject({ state: 'CANCELLED' });
  expect(desk.calls).toEqual(['preflight']);
});

describe('a wait that takes too long', () => {
  test.each([
    ['VENUE_SUSPENDED', 'venue_suspended', 'WITHDRAWAL_QUOTA_EXHAUSTED'],
    ['WITHDRAWAL_QUOTA_EXHAUSTED', 'withdrawal_quota_exhausted', 'VENUE_SUSPENDED'],
  ])('%s needs a person: %s', async (error_code, reason, another) => {
    const [desk, node] = [deskOf(), await ready()];
    desk.answers.preflight = suspended({ error_code });
    await phase('preflight', desk, node);
    expect(await attentionOf(node)).toBeNull();
    await set(node, "wait_overdue_at = wait_overdue_at - interval '880 seconds'");
    expect(await attentionOf(node)).toBeNull();
    await set(node, "wait_overdue_at = wait_overdue_at - interval '20 seconds'");
    const shown = { node_key: 'pay', error_code, error_message: SUSPENDED };
    expect(await attentionOf(node)).toMatchObject({ reason, ...shown });
    // What it waits for may change; the wait is still the same.
    const other = 'the quota of 24 hours is used up';
    desk.answers.preflight = suspended({ error_code: another, error_message: other });
    await phase('preflight', desk, node);
    expect(await attentionOf(node)).toMatchObject({ error_code: another, error_message: other });
    desk.answers.preflight = null;
    await phase('preflight', desk, node);
    expect(await attentionOf(node)).toBeNull();
  });

  test('is shown after the time of the setting', async () => {
    const [desk, node] = [deskOf({ venueWaitAttentionSeconds: 7 }), await ready()];
    desk.answers.preflight = suspended();
    await phase('preflight', desk, node);
    const { person_in } = await nodeOf(node);
    expect(person_in).toBeGreaterThan(0);
    expect(person_in).toBeLessThanOrEqual(7);
  });

  test('is of a READY node with one of the codes, and an executor that is down comes first', async () => {
    const node = await ready();
    const overdue = "wait_overdue_at = svc_now() - interval '1 second'";
    await set(node, `${overdue}, error_code = 'VENUE_SUSPENDED'`);
    expect(await attentionOf(node)).toMatchObject({ reason: 'venue_suspended' });
    await bench.sql("UPDATE executors SET health_state = 'down'");
    expect(await attentionOf(node)).toMatchObject({ reason: 'executor_unavailable' });
    await bench.sql("UPDATE executors SET health_state = 'up'");
    await set(node, "error_code = 'LANE_BLOCKED'");
    expect(await attentionOf(node)).toBeNull();
    await set(node, "error_code = 'VENUE_SUSPENDED', state = 'SUBMITTED'");
    expect(await attentionOf(node)).toBeNull();
  });
});
