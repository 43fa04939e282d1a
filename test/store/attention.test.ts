/** Who waits for somebody else's transaction: an earlier nonce of the same account. */
import { randomUUID } from 'node:crypto';
import { readMovement } from '../../store/movement-reads.ts';
import { storeBench } from './support.ts';

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
