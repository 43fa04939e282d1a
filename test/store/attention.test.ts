/**
 * Who waits for somebody else's transaction, an earlier nonce of the same account, and which
 * movements run because of a compromised key.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { noteAttention, readEndedBadly, readReasonsForRuns } from '../../store/attention.ts';
import { markCompromised } from '../../store/compromised-keys.ts';
import { readMovement } from '../../store/movement-detail.ts';
import { createMovement } from '../../store/movements.ts';
import { issuedKey, storeBench } from './support.ts';

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

  const turn = async (): Promise<void> =>
    noteAttention(
      bench.db,
      await readReasonsForRuns(bench.db, 5_000),
      await readEndedBadly(bench.db, 5_000),
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
