/**
 * Budgets of automatic approval against a model: what is reserved, consumed, released and taken
 * again.
 */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import pg from 'pg';
import { approveAutomatically, autoApproveEvent } from '../../domain/commands/approval.ts';
import { advance } from '../../domain/commands/advance.ts';
import { cancel, spendsOrMaySpend } from '../../domain/commands/cancel.ts';
import { retry } from '../../domain/commands/retry.ts';
import { forLateReasons } from '../../domain/auto-approve/checks.ts';
import { available, type BudgetUsage } from '../../domain/auto-approve/budget.ts';
import { evaluatePolicy, type AutoApprovePolicy } from '../../domain/auto-approve/policy.ts';
import type { GraphEdge } from '../../domain/graph/types.ts';
import { newSnapshot } from '../../domain/snapshot.ts';
import type { MovementState } from '../../domain/states/movement.ts';
import type { NodeState } from '../../domain/states/node.ts';
import { readPolicyFacts, updatePolicy, type PolicyRecord } from '../../store/auto-approve.ts';
import {
  createApproved,
  createMovement,
  readSnapshot,
  type CreateOutcome,
} from '../../store/movements.ts';
import { applyTransition } from '../../store/transition.ts';
import { BudgetModel } from '../support/budget-model.ts';
import { storePolicy, usageOf as budgetUsage } from './policies.ts';
import { paying, waitForLocks, storeBench, type DraftOptions } from './support.ts';

const bench = storeBench();

const CLIENT = randomUUID();
const REQUESTER = {
  caller: { client_id: CLIENT, key_id: 'k', role: 'operator' },
  request_id: 'r',
} as const;

const policyOf = (caps: Partial<AutoApprovePolicy>): Promise<PolicyRecord> =>
  storePolicy(bench, CLIENT, caps);
const usageOf = (policy: PolicyRecord): Promise<BudgetUsage> => budgetUsage(bench, policy);

/**
 * Asks the policy and creates as the API does; `between` happens after the question and before the
 * create.
 */
async function create(
  policy: PolicyRecord,
  amount: string,
  {
    between,
    ...of
  }: { between?: () => Promise<unknown> } & Pick<DraftOptions, 'unheld' | 'shape'> = {},
): Promise<CreateOutcome | null> {
  const { strategy_id } = policy;
  const draft = bench.draft({ amount, strategy_id, ...of });
  const { switched_off, ...facts } = await readPolicyFacts(
    bench.db,
    { client_id: CLIENT, strategy_id },
    { executors: [], signers: [] },
  );
  const request = {
    client_id: CLIENT,
    asset: 'USDC',
    amount,
    outflow: draft.plan.outflow,
    only_observes: false,
    template_key: 'test/store',
    template_version: 1,
  };
  const evaluation = evaluatePolicy(
    request,
    { ...facts, bindings_available: switched_off.length === 0 },
    false,
  );
  await between?.();
  const { result } = evaluation;
  if (evaluation.guard === null)
    return createMovement(bench.db, { ...draft, auto_approve_result: result });
  const { guard, refused } = evaluation;
  const { compiled_plan_hash } = draft;
  const outcome = await createApproved(
    bench.db,
    { ...draft, auto_approve_result: result },
    {
      transition: (id) => ({
        ...approveAutomatically(
          newSnapshot(id, draft.plan),
          { compiled_plan_hash, result },
          REQUESTER,
        ),
        take: { venues: [], stale_after_seconds: 60 },
      }),
      guard,
      refused: forLateReasons((reason) => ({
        result: refused[reason],
        timeline: [autoApproveEvent(refused[reason])],
      })),
    },
  );
  return outcome.created === null ? null : outcome;
}

const reasonOf = (outcome: CreateOutcome | null): unknown =>
  outcome?.created === true ? outcome.auto_approve_result?.['reason'] : null;

/** Moves the movement as its run would. */
async function run(
  movementId: string,
  to: MovementState,
  settle?: 'COMPLETED' | 'FAILED',
): Promise<void> {
  const { state, version, nodes, reservation_status, ...rest } = await readSnapshot(
    bench.db,
    movementId,
  );
  if (settle !== undefined) {
    const [node] = nodes;
    await applyTransition(bench.db, {
      movement_id: movementId,
      nodes: [
        {
          node_key: 'pay',
          from: node?.state ?? 'READY',
          moves: [settle],
          set: { error_code: settle === 'FAILED' ? 'X' : null },
        },
      ],
      timeline: [],
    });
  }
  const ended = to === 'COMPLETED' || to === 'FAILED';
  const failure = to === 'FAILED' ? { node_key: 'pay', error_code: 'X' } : null;
  const args = {
    movement_id: movementId,
    from: state,
    to,
    version,
    ended,
    failure,
    frontier: [],
    ready: [],
    skip: [],
    stop: [],
  };
  const spent = spendsOrMaySpend({ ...rest, state, version, reservation_status, nodes });
  expect(await applyTransition(bench.db, advance(args, reservation_status, spent))).toMatchObject({
    ok: true,
  });
}

interface Modelled {
  readonly id: string;
  readonly amount: string;
  state: 'approved' | 'failed' | 'over' | 'waiting';
}

type Step =
  | readonly ['create', string]
  | readonly ['cancel' | 'spend and cancel' | 'complete' | 'fail' | 'retry' | 'hour', number];
const steps = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.tuple(
        fc.constant('create' as const),
        fc.constantFrom('1', '2.5', '4.000000000000000001', '0.1'),
      ),
    },
    {
      weight: 6,
      arbitrary: fc.tuple(
        fc.constantFrom(
          'cancel' as const,
          'spend and cancel' as const,
          'complete' as const,
          'fail' as const,
          'retry' as const,
          'hour' as const,
        ),
        fc.nat(20),
      ),
    },
  ),
  { minLength: 5, maxLength: 30 },
);

/** One step in the database and in the model. */
async function take(
  step: Step,
  policy: PolicyRecord,
  model: BudgetModel,
  movements: Modelled[],
): Promise<void> {
  if (step[0] === 'create') {
    const amount = step[1];
    const expected = model.refusal('', amount) ?? 'policy_passed';
    const outcome = await create(policy, amount);
    expect(reasonOf(outcome)).toBe(expected);
    const id = outcome?.movement_id ?? '';
    if (expected === 'policy_passed') model.settle(id, amount, false);
    movements.push({ id, amount, state: expected === 'policy_passed' ? 'approved' : 'waiting' });
    return;
  }
  const [verb, which] = step;
  if (verb === 'hour') {
    model.hour();
    await bench.sql(
      `UPDATE budget_reservations SET reserved_at = reserved_at - interval '1 hour'
        WHERE policy_id = $1::uuid`,
      policy.policy_id,
    );
    return;
  }
  const wanted = verb === 'retry' ? 'failed' : 'approved';
  const fitting = movements.filter(({ state }) => state === wanted);
  const movement = fitting[which % Math.max(1, fitting.length)];
  if (movement === undefined) return;
  if (verb === 'retry') {
    const transition = retry(await readSnapshot(bench.db, movement.id), REQUESTER);
    if (transition === null) throw new Error('nothing to retry');
    const reason = model.refusal(movement.id, movement.amount);
    const outcome = await applyTransition(bench.db, {
      ...transition,
      take: { venues: [], stale_after_seconds: 60 },
    });
    if (reason === null) {
      expect(outcome).toMatchObject({ ok: true, head: { reservation_status: 'held' } });
      model.settle(movement.id, movement.amount, false);
      movement.state = 'approved';
    } else {
      expect(outcome).toMatchObject({
        ok: false,
        reason: 'budget',
        budget: { policy_id: policy.policy_id, reason },
      });
      expect(await readSnapshot(bench.db, movement.id)).toMatchObject({
        state: 'FAILED',
        reservation_status: 'released',
      });
    }
    return;
  }
  const { state } = await readSnapshot(bench.db, movement.id);
  if (state === 'APPROVED') await run(movement.id, 'EXECUTING');
  if (verb === 'complete') {
    await run(movement.id, 'COMPLETED', 'COMPLETED');
    model.settle(movement.id, movement.amount, true);
  } else if (verb === 'fail') {
    await run(movement.id, 'FAILED', 'FAILED');
    model.settle(movement.id, '0', true);
  } else {
    // What was sent stays used up through a cancel.
    if (verb === 'spend and cancel') {
      const spent = { node_key: 'pay', from: 'READY', moves: ['COMPLETED'] } as const;
      await applyTransition(bench.db, { movement_id: movement.id, nodes: [spent], timeline: [] });
    }
    model.settle(movement.id, verb === 'spend and cancel' ? movement.amount : '0', true);
    expect(
      await applyTransition(bench.db, cancel(await readSnapshot(bench.db, movement.id), REQUESTER)),
    ).toMatchObject({ ok: true });
  }
  movement.state = verb === 'fail' ? 'failed' : 'over';
}

test('whatever happens to movements in whatever order, the budget is what the contract says', async () => {
  const caps = fc.constantFrom(
    { max_amount_per_window: '10.000000000000000001', max_count_per_window: null },
    { max_amount_per_window: null, max_count_per_window: 3 },
    { max_amount_per_window: '8', max_count_per_window: 4 },
  );
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(caps, steps, async (cap, all) => {
      const policy = await policyOf({ window_hours: 3, ...cap });
      const model = new BudgetModel(policy);
      const movements: Modelled[] = [];
      for (const step of all) {
        await take(step, policy, model, movements);
        const usage = await usageOf(policy);
        expect(usage).toEqual(model.usage());
        seen.add(`${step[0]}: ${String(movements.some(({ state }) => state === 'waiting'))}`);
      }
      const left = available(policy, await usageOf(policy));
      if (left !== null) expect(left.startsWith('-')).toBe(false);
    }),
    { numRuns: 40, endOnFailure: true },
  );
  // Every kind of step was taken, with and without a budget that was too small.
  expect(seen.size).toBe(14);
}, 120_000);

describe('a movement that uses up nothing of the amount, since it sent another asset', () => {
  const caps = { allowed_assets: ['USDC', 'USDT'], window_hours: 1, max_count_per_window: 1 };
  const other = (key: string, kind?: 'compensation') =>
    paying(key, { asset: 'USDT', amount: '1' }, kind);
  const edge = (from: string, to: string, edge_type: GraphEdge['edge_type']): GraphEdge => ({
    from,
    to,
    edge_type,
    priority: 0,
    condition_expr: null,
    join_key: null,
  });
  const used = (count_in_window: number) => ({
    reserved_amount: '0',
    consumed_amount: '0',
    count_in_window,
  });
  const moves = async (
    movement_id: string,
    node_key: string,
    from: NodeState,
    ...through: NodeState[]
  ) =>
    expect(
      await applyTransition(bench.db, {
        movement_id,
        nodes: [{ node_key, from, moves: through }],
        timeline: [],
      }),
    ).toMatchObject({ ok: true });

  test('counts once it failed, however often it is retried, so that no other fits', async () => {
    const policy = await policyOf(caps);
    const made = await create(policy, '1', {
      shape: {
        nodes: [other('first'), paying('pay', {})],
        edges: [edge('first', 'pay', 'on_success')],
      },
    });
    expect(reasonOf(made)).toBe('policy_passed');
    const id = made?.movement_id ?? '';
    await run(id, 'EXECUTING');
    await moves(id, 'first', 'READY', 'COMPLETED');
    await moves(id, 'pay', 'BLOCKED', 'READY', 'FAILED');
    await run(id, 'FAILED');
    expect(await usageOf(policy)).toEqual(used(1));
    expect(reasonOf(await create(policy, '1'))).toBe('window_count_exceeded');
    const again = retry(await readSnapshot(bench.db, id), REQUESTER);
    if (again === null) throw new Error('nothing to retry');
    const take = { venues: [], stale_after_seconds: 60 };
    expect(await applyTransition(bench.db, { ...again, take })).toMatchObject({ ok: true });
    expect(await usageOf(policy)).toEqual({ ...used(1), reserved_amount: '1' });
    await moves(id, 'pay', 'READY', 'FAILED');
    await run(id, 'FAILED');
    expect(await usageOf(policy)).toEqual(used(1));
  });

  test('counts after a cancel for as long as it may still send', async () => {
    const policy = await policyOf(caps);
    const made = await create(policy, '1', {
      shape: {
        nodes: [paying('pay', {}), other('undo', 'compensation')],
        edges: [edge('pay', 'undo', 'on_cancel')],
      },
    });
    const id = made?.movement_id ?? '';
    await run(id, 'EXECUTING');
    const cancelled = cancel(await readSnapshot(bench.db, id), REQUESTER);
    expect(await applyTransition(bench.db, cancelled)).toMatchObject({ ok: true });
    expect(await usageOf(policy)).toEqual(used(1));
    await moves(id, 'undo', 'BLOCKED', 'SKIPPED');
    expect(await usageOf(policy)).toEqual(used(0));
    // What comes to be possible again counts again.
    await moves(id, 'undo', 'SKIPPED', 'BLOCKED');
    expect(await usageOf(policy)).toEqual(used(1));
  });
});

// A pool that all of them hold in would put them in a row before they come to the policy.
test.each([true, false])(
  '200 creates at once fill the window exactly, also beside cancels (in no pool: %s)',
  async (unheld) => {
    const policy = await policyOf({
      window_hours: 1,
      max_amount_per_window: '60.000000000000000015',
      max_count_per_window: 17,
    });
    const outcomes = await Promise.all(
      Array.from({ length: 200 }, () => create(policy, '4.000000000000000001', { unheld })),
    );
    const reasons = outcomes.map(reasonOf);
    expect(reasons.filter((reason) => reason === 'policy_passed')).toHaveLength(15);
    expect(new Set(reasons)).toEqual(new Set(['policy_passed', 'window_amount_exceeded']));
    expect(await usageOf(policy)).toEqual({
      reserved_amount: '60.000000000000000015',
      consumed_amount: '0',
      count_in_window: 15,
    });
    const approved = outcomes
      .filter((outcome) => reasonOf(outcome) === 'policy_passed')
      .map((outcome) => outcome?.movement_id ?? '');
    await Promise.all([
      ...approved
        .slice(0, 5)
        .map(async (id) =>
          applyTransition(bench.db, cancel(await readSnapshot(bench.db, id), REQUESTER)),
        ),
      ...Array.from({ length: 50 }, () => create(policy, '4.000000000000000001', { unheld })),
    ]);
    await Promise.all(
      Array.from({ length: 50 }, () => create(policy, '4.000000000000000001', { unheld })),
    );
    expect(await usageOf(policy)).toEqual({
      reserved_amount: '60.000000000000000015',
      consumed_amount: '0',
      count_in_window: 15,
    });
  },
  60_000,
);

test('a create sums what another one took that has not committed', async () => {
  const policy = await policyOf({ window_hours: 1, max_count_per_window: 1 });
  const holder = new pg.Client({ connectionString: bench.url });
  await holder.connect();
  // Whoever has taken from this policy waits here, still in its transaction.
  await holder.query(`
    CREATE FUNCTION test_hold_take() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN PERFORM pg_advisory_xact_lock_shared(7411903); RETURN NULL; END';
    CREATE TRIGGER test_hold_take AFTER INSERT ON budget_reservations FOR EACH ROW
      WHEN (NEW.policy_id = '${policy.policy_id}') EXECUTE FUNCTION test_hold_take();
    SELECT pg_advisory_lock(7411903)`);
  try {
    const outcomes = [1, 2].map(() => create(policy, '1', { unheld: true }));
    await waitForLocks(bench, 2);
    await holder.query('SELECT pg_advisory_unlock(7411903)');
    expect((await Promise.all(outcomes)).map(reasonOf).sort()).toEqual([
      'policy_passed',
      'window_count_exceeded',
    ]);
  } finally {
    await holder.query('DROP TRIGGER test_hold_take ON budget_reservations');
    await holder.end();
  }
});

test('what the transaction finds too late leaves the movement waiting, with its hold and its nodes untouched', async () => {
  const policy = await policyOf({ window_hours: 1, max_count_per_window: 1 });
  const late = await create(policy, '1', { between: () => create(policy, '1') });
  expect(late).toMatchObject({
    request_state: 'PENDING_APPROVAL',
    approval_status: 'pending',
    reservation_status: 'none',
  });
  expect(late).toMatchObject({
    auto_approve_result: { outcome: 'pending', reason: 'window_count_exceeded' },
  });
  const id = late?.movement_id ?? '';
  const events = await bench.sql(
    'SELECT event_type, sequence FROM timeline_events WHERE movement_id = $1::uuid ORDER BY sequence',
    id,
  );
  expect(events).toEqual([
    { event_type: 'movement_created', sequence: 1 },
    { event_type: 'auto_approve_evaluated', sequence: 2 },
  ]);
  expect(await bench.sql('SELECT 1 FROM reservations WHERE movement_id = $1::uuid', id)).toEqual(
    [],
  );
  expect(await bench.sql('SELECT kind FROM commands WHERE movement_id = $1::uuid', id)).toEqual([
    { kind: 'create' },
  ]);
  expect(await readSnapshot(bench.db, id)).toMatchObject({
    version: 1,
    nodes: [{ state: 'BLOCKED' }],
  });
});

test('a policy that changed after its decision decides nothing, writes no movement', async () => {
  const policy = await policyOf({ window_hours: 1, max_count_per_window: 5 });
  const count = async (): Promise<unknown> => bench.sql('SELECT count(*)::int AS n FROM movements');
  const before = await count();
  expect(
    await create(policy, '1', {
      between: () => updatePolicy(bench.db, policy.policy_id, { allowed_assets: [] }, []),
    }),
  ).toBeNull();
  expect(await count()).toEqual(before);
  expect(reasonOf(await create(policy, '1'))).toBe('asset_not_allowed');
});
