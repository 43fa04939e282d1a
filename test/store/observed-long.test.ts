/** What is observed for longer than usual, or shows another amount, is shown to a person. */
import { usualSeconds } from '../../domain/send/usual-time.ts';
import { noteAttention, readEndedBadly, readReasonsForRuns } from '../../store/attention.ts';
import { readMovement } from '../../store/movement-detail.ts';
import { paying, storeBench, type DraftOptions } from './support.ts';

const bench = storeBench();
beforeAll(async () => {
  await bench.sql(
    `INSERT INTO executors (executor_key, kind, action_types, health_state, created_at, updated_at)
      VALUES ('acme.payouts', 'local', '{acme_payout}', 'up', now(), now())`,
  );
});

const draft = async (state: string, ago: string, code: string | null, more: DraftOptions = {}) => {
  const { movement_id } = await bench.movement(more);
  await bench.sql(
    "UPDATE movements SET request_state = 'EXECUTING' WHERE movement_id = $1::uuid",
    movement_id,
  );
  await bench.sql(
    `UPDATE movement_nodes SET state = $2, submitted_at = now() - $3::interval, error_code = $4,
        error_message = $4
      WHERE movement_id = $1::uuid`,
    movement_id,
    state,
    ago,
    code,
  );
  return movement_id;
};
const sent = async (...how: Parameters<typeof draft>) =>
  (await readMovement(bench.db, await draft(...how)))?.attention ?? null;
const shape = (attention_seconds: number): DraftOptions => ({
  shape: {
    nodes: [{ ...paying('pay', { venue: 'v' }), timeout_policy: { attention_seconds } }],
    edges: [],
  },
});

test('a node that is observed for longer than usual needs a person', async () => {
  expect(await sent('OBSERVING', '59 minutes', null)).toBeNull();
  for (const state of ['SUBMITTED', 'OBSERVING'])
    expect(await sent(state, '61 minutes', 'PENDING')).toMatchObject({
      reason: 'observed_long',
      node_key: 'pay',
      error_code: 'PENDING',
      observed_since: expect.any(String),
    });
  expect(await sent('COMPLETED', '61 minutes', null)).toBeNull();
});

test('what the template says of it wins', async () => {
  expect(await sent('OBSERVING', '61 seconds', null, shape(60))).toMatchObject({
    reason: 'observed_long',
  });
  expect(await sent('OBSERVING', '61 minutes', null, shape(7_200))).toBeNull();
});

test.each(['DEPOSIT_AMOUNT_MISMATCH', 'LEDGER_ROW_MISMATCH', 'ATTESTATION_MISMATCH'])(
  'another amount or row (%s) is shown at once',
  async (code) => {
    expect(await sent('OBSERVING', '1 second', code)).toMatchObject({ reason: 'observed_long' });
  },
);

test('its code stays while its executor does not answer, and that is what is shown', async () => {
  const silent = async (ago: string) => {
    const id = await draft('OBSERVING', '1 second', 'LEDGER_ROW_MISMATCH');
    await bench.sql(
      `UPDATE movement_nodes SET unanswered = 1, unanswered_since = now() - $2::interval
        WHERE movement_id = $1::uuid`,
      id,
      ago,
    );
    return (await readMovement(bench.db, id))?.attention ?? null;
  };
  expect(await silent('50 seconds')).toMatchObject({ reason: 'observed_long' });
  expect(await silent('2 minutes')).toMatchObject({ reason: 'executor_unavailable' });
});

test('an executor that is down hides nothing of a sent node whose looks are answered', async () => {
  const health = (state: string) => bench.sql('UPDATE executors SET health_state = $1', state);
  const unanswered = async () => {
    const id = await draft('OBSERVING', '61 minutes', null);
    await bench.sql(
      `UPDATE movement_nodes SET unanswered = 1, unanswered_since = now()
        WHERE movement_id = $1::uuid`,
      id,
    );
    return (await readMovement(bench.db, id))?.attention ?? null;
  };
  // Another chain of its own may be the one that is down.
  await health('down');
  try {
    for (const state of ['SUBMITTED', 'OBSERVING']) {
      expect(await sent(state, '1 minute', null)).toBeNull();
      expect(await sent(state, '61 minutes', null)).toMatchObject({ reason: 'observed_long' });
    }
    const down = { reason: 'executor_unavailable', executor_health: 'down' };
    expect(await sent('READY', '1 minute', null)).toMatchObject(down);
    expect(await unanswered()).toMatchObject(down);
  } finally {
    await health('up');
  }
  expect(await unanswered()).toMatchObject({ reason: 'observed_long' });
});

test('a node that clocks keep from its send needs a person after ten minutes, whatever they show meanwhile', async () => {
  const waiting = async (ago: string, state = 'READY', code = 'CLOCK_DIFFERENCE') => {
    const id = await draft(state, '1 second', code);
    // The difference has just changed, which is written.
    await bench.sql(
      `UPDATE movement_nodes SET frozen_since = now() - $2::interval, updated_at = now()
        WHERE movement_id = $1::uuid`,
      id,
      ago,
    );
    return (await readMovement(bench.db, id))?.attention ?? null;
  };
  expect(await waiting('9 minutes')).toBeNull();
  expect(await waiting('11 minutes')).toMatchObject({
    reason: 'clock_difference',
    node_key: 'pay',
    error_code: 'CLOCK_DIFFERENCE',
  });
  expect(await waiting('11 minutes', 'READY', 'SIGNER_UNREACHABLE')).toBeNull();
  expect(await waiting('11 minutes', 'OBSERVING')).toBeNull();
});

test('each type has its own usual time, and a team’s is that of its registry entry', () => {
  for (const [type, seconds] of Object.entries({
    cex_withdrawal: 7_200,
    cex_deposit_observe: 3_600,
    cctp_mint: 3_600,
    cctp_burn: 7_200,
    perp_deposit: 1_800,
    bridge_c_send: 3_600,
    evm_native_transfer: 600,
  }))
    expect([type, usualSeconds(type)]).toEqual([type, seconds]);
  expect(usualSeconds('acme_payout')).toBe(3_600);
  expect(usualSeconds('acme_payout', { declared: 60 })).toBe(60);
  expect(usualSeconds('cex_withdrawal', { declared: 60 })).toBe(7_200);
  expect(usualSeconds('cex_withdrawal', { attention_seconds: 5, declared: 60 })).toBe(5);
});

test('each change to a reason calls back once, whatever the state says', async () => {
  const turn = async (): Promise<void> =>
    noteAttention(
      bench.db,
      await readReasonsForRuns(bench.db, 5_000),
      await readEndedBadly(bench.db, 5_000),
    );
  const set = (movement_id: string, what: string): Promise<unknown> =>
    bench.sql(`UPDATE movement_nodes SET ${what} WHERE movement_id = $1::uuid`, movement_id);
  const called = async (movement_id: string) =>
    (
      await bench.sql<{ reason: string }>(
        `SELECT t.data ->> 'reason' AS reason FROM callbacks c JOIN timeline_events t USING (event_id)
          WHERE c.movement_id = $1::uuid AND c.event_type = 'request_attention' ORDER BY t.sequence`,
        movement_id,
      )
    ).map(({ reason }) => reason);
  const id = await draft('OBSERVING', '1 minute', null);
  await bench.sql(
    "UPDATE movements SET callback_url = 'http://callback.test/' WHERE movement_id = $1::uuid",
    id,
  );
  await turn();
  expect(await called(id)).toEqual([]);
  await set(id, "error_code = 'BRIDGE_DELIVERY_LATE'");
  await Promise.all([turn(), turn()]);
  await turn();
  expect(await called(id)).toEqual(['delivery_late']);
  await set(id, "error_code = NULL, submitted_at = now() - interval '2 hours'");
  await turn();
  await turn();
  expect(await called(id)).toEqual(['delivery_late', 'observed_long']);
  // Nothing needs a person, and then something does again.
  await set(id, 'submitted_at = now()');
  await turn();
  await set(id, "submitted_at = now() - interval '2 hours'");
  await turn();
  expect(await called(id)).toEqual(['delivery_late', 'observed_long', 'observed_long']);
  // Of one that is cancelled, an unknown outcome changes no state.
  await bench.sql(
    "UPDATE movements SET request_state = 'CANCELLED' WHERE movement_id = $1::uuid",
    id,
  );
  await set(id, "state = 'UNKNOWN'");
  await turn();
  await turn();
  expect((await called(id)).at(-1)).toBe('unknown_outcome');
  expect(await called(id)).toHaveLength(4);
  // Then its compensation fails, which ends it; no worker looks for the next hours.
  await set(id, "state = 'FAILED', on_cancel_target = true");
  await bench.sql(
    `UPDATE movements SET ended_at = now() - interval '6 hours',
        updated_at = now() - interval '6 hours' WHERE movement_id = $1::uuid`,
    id,
  );
  await Promise.all([turn(), turn()]);
  await turn();
  expect((await called(id)).slice(4)).toEqual(['failed']);
});
