/**
 * Who waits for somebody else's transaction, an earlier nonce of the same account, which movements
 * run because of a compromised key, and what is shown beside another branch.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { attentionOf } from '../../api/movements/attention.ts';
import { sentenceOf } from '../../domain/attention.ts';
import type { TemplateNode } from '../../domain/plan/types.ts';
import type { MovementState } from '../../domain/states/movement.ts';
import { noteAttention, readEndedBadly, readReasonsForRuns } from '../../store/attention.ts';
import { markCompromised } from '../../store/compromised-keys.ts';
import { readFigures } from '../../store/metrics.ts';
import { readMovement } from '../../store/movement-detail.ts';
import { createMovement } from '../../store/movements.ts';
import { dependencies } from '../api/support.ts';
import { issuedKey, paying, storeBench } from './support.ts';

const bench = storeBench();
beforeAll(async () => {
  await bench.sql(
    `INSERT INTO executors (executor_key, kind, action_types, created_at, updated_at)
      VALUES ('acme.payouts', 'local', '{acme_payout}', now(), now())`,
  );
});

/** A movement whose node `pay` is in this state since so long, with a claim of this nonce. */
async function claiming(state: string, nonce: number, lane: string, ago: string): Promise<string> {
  const { movement_id } = await bench.movement();
  await bench.sql(
    "UPDATE movements SET request_state = 'EXECUTING' WHERE movement_id = $1::uuid",
    movement_id,
  );
  await bench.sql(
    `UPDATE movement_nodes SET state = $2, submitted_at = now() - $3::interval
      WHERE movement_id = $1::uuid`,
    movement_id,
    state,
    ago,
  );
  await bench.sql(
    `INSERT INTO evm_transactions (transaction_id, signer_key, chain_id, address, nonce, movement_id, node_key,
        attempt, unsigned, created_at)
      VALUES ($1::uuid, 'evm.test', 1, $2, $3, $4::uuid, 'pay', 1, '{}', now())`,
    randomUUID(),
    lane,
    nonce,
    movement_id,
  );
  return movement_id;
}
const attention = async (id: string) => (await readMovement(bench.db, id))?.attention ?? null;
const turn = async (): Promise<void> =>
  noteAttention(
    bench.db,
    await readReasonsForRuns(bench.db, 5_000),
    await readEndedBadly(bench.db, 5_000),
  );

test('an observed transaction behind one with an unknown outcome waits for that one', async () => {
  const blocker = await claiming('UNKNOWN', 7, '0xa1', '1 hour');
  const behind = await claiming('OBSERVING', 8, '0xa1', '2 minutes');
  expect(await attention(behind)).toMatchObject({
    reason: 'lane_blocked',
    node_key: 'pay',
    blocked_by: { movement_id: blocker, node_key: 'pay', chain_id: 1, address: '0xa1', nonce: 7 },
  });
  expect(await attention(blocker)).toMatchObject({ reason: 'unknown_outcome' });

  // Another account, an earlier one, one that has just been sent, and one that is observed itself.
  expect(await attention(await claiming('OBSERVING', 9, '0xb2', '2 minutes'))).toBeNull();
  expect(await attention(await claiming('OBSERVING', 6, '0xa1', '2 minutes'))).toBeNull();
  expect(await attention(await claiming('OBSERVING', 9, '0xa1', '30 seconds'))).toBeNull();
  await claiming('OBSERVING', 3, '0xc3', '2 minutes');
  expect(await attention(await claiming('OBSERVING', 4, '0xc3', '2 minutes'))).toBeNull();

  // Its nonce was used by another transaction: nothing waits for it now.
  await bench.sql(
    'UPDATE evm_transactions SET released_at = now() WHERE movement_id = $1::uuid',
    blocker,
  );
  expect(await attention(behind)).toBeNull();
});

describe('a movement that a compromised key let go', () => {
  const set = (id: string, table: string, what: string): Promise<unknown> =>
    bench.sql(`UPDATE ${table} SET ${what} WHERE movement_id = $1::uuid`, id);
  const mark = (key_id: string, since: string | null = null) =>
    markCompromised(bench.db, { kind: 'api_key', key_id, since, reason: null }, []);

  /** One that runs with nothing wrong: by whose key it was created, and what approved it. */
  async function running(
    createdWith: string,
    approved_by: 'key' | 'policy' | 'template_cap',
    name: string,
  ): Promise<string> {
    const { movement_id } = await createMovement(bench.db, {
      ...bench.draft(),
      created_by: { client_id: 'c', key_id: createdWith, role: 'operator' },
      auto_approve_result: null,
    });
    await bench.sql(
      `INSERT INTO movement_approvals (movement_id, plan_hash, approved_by, name, at)
        SELECT movement_id, compiled_plan_hash, $2::text, $3::text, svc_now() FROM movement_plans
        WHERE movement_id = $1::uuid`,
      movement_id,
      approved_by,
      name,
    );
    await set(movement_id, 'movements', "request_state = 'EXECUTING'");
    await set(movement_id, 'movement_nodes', "state = 'OBSERVING', submitted_at = now()");
    return movement_id;
  }

  test.each(['policy', 'template_cap'] as const)(
    'by creating what a %s approves needs a person, unless it was created before',
    async (approved_by) => {
      const key = await issuedKey(bench);
      const id = await running(key, approved_by, 'free');
      await sleep(10);
      expect(await mark(key, new Date().toISOString())).toMatchObject({
        movements: { count: 0, ids: [] },
      });
      expect(await attention(id)).toBeNull();
      expect(await mark(key)).toMatchObject({ movements: { count: 1, ids: [id] } });
      expect(await attention(id)).toMatchObject({ reason: 'approval_compromised', besides: null });
      // It may be retried until a person has dealt with its failure.
      await set(id, 'movements', "request_state = 'FAILED', ended_at = now()");
      expect(await attention(id)).toMatchObject({
        reason: 'approval_compromised',
        besides: 'failed',
      });
      await set(id, 'movements', 'acknowledged_at = now()');
      expect(await attention(id)).toBeNull();
    },
  );

  test('calls back once for that, and once for each reason beside it', async () => {
    const key = await issuedKey(bench);
    const id = await running('another', 'key', key);
    const called = async () =>
      (
        await bench.sql<{ reason: string }>(
          `SELECT t.data ->> 'reason' AS reason FROM callbacks c
            JOIN timeline_events t USING (event_id)
            WHERE c.movement_id = $1::uuid AND c.event_type = 'request_attention'
            ORDER BY t.sequence`,
          id,
        )
      ).map(({ reason }) => reason);
    await set(id, 'movements', "callback_url = 'http://callback.test/'");
    await turn();
    expect(await called()).toEqual([]);
    await mark(key);
    await Promise.all([turn(), turn()]);
    await turn();
    expect(await called()).toEqual(['approval_compromised']);
    const late = "error_code = 'BRIDGE_DELIVERY_LATE'";
    await set(id, 'movement_nodes', late);
    expect(await attention(id)).toMatchObject({
      reason: 'approval_compromised',
      besides: 'delivery_late',
      node_key: 'pay',
    });
    await Promise.all([turn(), turn()]);
    await turn();
    expect(await called()).toEqual(['approval_compromised', 'delivery_late']);
    expect(
      await bench.sql('SELECT attention_told FROM movements WHERE movement_id = $1::uuid', id),
    ).toEqual([{ attention_told: 'approval_compromised+delivery_late' }]);
    // The other reason goes, and comes back.
    await set(id, 'movement_nodes', 'error_code = NULL');
    await turn();
    await set(id, 'movement_nodes', late);
    await turn();
    expect(await called()).toEqual(['approval_compromised', 'delivery_late', 'delivery_late']);
  });

  test('calls back once for that also when the movement has failed before', async () => {
    const key = await issuedKey(bench);
    const id = await running('another', 'key', key);
    await set(id, 'movement_nodes', "state = 'FAILED'");
    await set(id, 'movements', "request_state = 'FAILED', ended_at = now()");
    const noted = () =>
      bench.sql('SELECT attention_told FROM movements WHERE movement_id = $1::uuid', id);
    await turn();
    expect(await noted()).toEqual([{ attention_told: null }]);
    await mark(key);
    await turn();
    expect(await noted()).toEqual([{ attention_told: 'approval_compromised' }]);
  });
});

describe('two branches', () => {
  const GATE: TemplateNode = {
    node_key: 'gate',
    node_kind: 'manual_gate',
    action_type: 'manual_gate',
    config: { description: 'Compare both accounts' },
    has_side_effect: false,
  };
  const set = (id: string, key: string, what: string): Promise<unknown> =>
    bench.sql(
      `UPDATE movement_nodes SET ${what} WHERE movement_id = $1::uuid AND node_key = $2`,
      id,
      key,
    );
  const enter = (id: string, state: MovementState): Promise<unknown> =>
    bench.sql(
      `UPDATE movements SET request_state = '${state}', approval_status = 'approved'
        WHERE movement_id = $1::uuid`,
      id,
    );

  /** A movement in this state, of which no node has run. */
  async function branching(state: MovementState): Promise<string> {
    const nodes = [paying('pay', {}), GATE, paying('undo', {})];
    const { movement_id: id } = await bench.movement({ shape: { nodes, edges: [] } });
    await bench.approve(id);
    await bench.sql("UPDATE movement_nodes SET state = 'SKIPPED' WHERE movement_id = $1::uuid", id);
    await enter(id, state);
    return id;
  }
  const noted = async (id: string) =>
    (
      await bench.sql<{ attention_told: string | null }>(
        'SELECT attention_told FROM movements WHERE movement_id = $1::uuid',
        id,
      )
    )[0]!.attention_told;
  const called = async (id: string) =>
    (
      await bench.sql<{ what: string }>(
        `SELECT (data ->> 'reason') || ' ' || node_key AS what FROM timeline_events
          WHERE movement_id = $1::uuid AND event_type = 'request_attention' ORDER BY sequence`,
        id,
      )
    ).map(({ what }) => what);
  const counted = async (reason: string) =>
    (await readFigures(bench.db, 300)).attention[reason] ?? 0;

  const OVERDUE = "state = 'OBSERVING', submitted_at = now() - interval '2 hours'";
  const FAILED = "state = 'FAILED', error_code = 'E', on_cancel_target = true";

  test.each([
    ['observed_long', OVERDUE],
    ['delivery_late', "state = 'OBSERVING', error_code = 'BRIDGE_DELIVERY_LATE'"],
    ['executor_unavailable', "state = 'READY', unanswered_since = now() - interval '1 hour'"],
    [
      'venue_suspended',
      `state = 'READY', error_code = 'VENUE_SUSPENDED',
        wait_overdue_at = now() - interval '1 hour'`,
    ],
  ] as const)(
    'a gate that waits hides no %s of another branch, and is shown beside it',
    async (reason, what) => {
      const id = await branching('WAITING_MANUAL_ACTION');
      await set(id, 'gate', "state = 'READY'");
      expect(await attention(id)).toMatchObject({ reason: 'manual_gate', node_key: 'gate' });
      await turn();
      expect([await called(id), await noted(id)]).toEqual([[], null]);
      const before = await counted(reason);

      await set(id, 'pay', what);
      const facts = await attention(id);
      const gate = { reason: 'manual_gate', node_key: 'gate' };
      expect(facts).toMatchObject({ reason, node_key: 'pay', also: gate });
      expect(sentenceOf(facts!, '')).toContain('The gate gate waits for a person to resume it.');
      expect((await readReasonsForRuns(bench.db, 5_000)).get(id)).toMatchObject({ reason });
      await turn();
      await turn();
      expect([await called(id), await noted(id)]).toEqual([[`${reason} pay`], reason]);
      expect(await counted(reason)).toBe(before + 1);

      await set(id, 'pay', "state = 'COMPLETED', error_code = NULL");
      const alone = await attention(id);
      expect([alone?.reason, alone?.also]).toEqual(['manual_gate', undefined]);
      await turn();
      expect(await noted(id)).toBeNull();
    },
  );

  test('a gate that comes to wait clears no reason that was noted before', async () => {
    const id = await branching('EXECUTING');
    await set(id, 'pay', OVERDUE);
    await turn();
    expect(await noted(id)).toBe('observed_long');
    await set(id, 'gate', "state = 'READY'");
    await enter(id, 'WAITING_MANUAL_ACTION');
    await turn();
    expect([await called(id), await noted(id)]).toEqual([['observed_long pay'], 'observed_long']);
  });

  test('an unknown outcome comes first, and the gate is shown beside it', async () => {
    const id = await branching('MANUAL_INTERVENTION');
    await set(id, 'gate', "state = 'READY'");
    await set(id, 'pay', "state = 'UNKNOWN'");
    expect(await attention(id)).toMatchObject({
      ...{ reason: 'unknown_outcome', node_key: 'pay' },
      also: { reason: 'manual_gate', node_key: 'gate' },
    });
  });

  test('after a cancel, a failure and the reason of another node are both called back and counted', async () => {
    await turn();
    const before = [await counted('failed'), await counted('observed_long')] as const;
    const [failedFirst, together] = [await branching('CANCELLED'), await branching('CANCELLED')];
    await set(failedFirst, 'undo', FAILED);
    await turn();
    expect([await called(failedFirst), await noted(failedFirst)]).toEqual([
      ['failed undo'],
      'failed',
    ]);
    await set(failedFirst, 'pay', OVERDUE);
    await set(together, 'undo', FAILED);
    await set(together, 'pay', OVERDUE);
    await Promise.all([turn(), turn()]);
    await turn();
    const both = ['observed_long pay', 'failed undo'];
    expect(await called(failedFirst)).toEqual([...both].reverse());
    expect(await called(together)).toEqual(both);
    for (const id of [failedFirst, together]) expect(await noted(id)).toBe('observed_long+failed');
    const after = [await counted('failed'), await counted('observed_long')];
    expect(after).toEqual(before.map((count) => count + 2));
    // The other node ends, and the failure stays: nothing is new.
    await set(together, 'pay', "state = 'COMPLETED'");
    await turn();
    expect([await called(together), await noted(together)]).toEqual([both, 'failed']);
  });

  test('says what the gate is about, and no secret of what an executor reported', async () => {
    const id = await branching('WAITING_MANUAL_ACTION');
    await set(id, 'gate', "state = 'READY'");
    await set(
      id,
      'pay',
      `state = 'OBSERVING', error_code = 'BRIDGE_DELIVERY_LATE',
        error_message = 'see https://user:hidden-1@rpc.example/hidden-2'`,
    );
    const found = await readMovement(bench.db, id);
    const requester = {
      caller: { client_id: null, key_id: null, role: 'operator' as const },
      request_id: 'a-request',
    };
    const shown = await attentionOf(
      found!,
      { requester, open: [] },
      { ...dependencies(), db: bench.db },
    );
    expect(shown).toMatchObject({ reason: 'delivery_late', node_key: 'pay' });
    expect(shown?.description).toBe('Compare both accounts');
    expect(shown?.message).toContain('see https://rpc.example/…');
    expect(shown?.message).toContain('The gate gate waits for a person to resume it.');
    expect(JSON.stringify(shown)).not.toContain('hidden-');
    expect(shown?.actions).toContainEqual(
      expect.objectContaining({ action: 'resume', node_key: 'gate' }),
    );
  });
});
