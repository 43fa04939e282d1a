/**
 * Holds of capital transfers: one for each transfer, whoever creates it at once, and any that was
 * tampered with is found. Transfers and movements at once: `test/slow/holds-transfers`.
 */
import { verifyReservations } from '../../tools/reservations/verify.ts';
import { storeBench } from './support.ts';
import { transferDesk } from './capital-transfer-desk.ts';

const bench = storeBench();

test('of several creates with one key at once one is written, with one hold', async () => {
  const desk = transferDesk(bench, {});
  const outcomes = await Promise.all(
    Array.from({ length: 12 }, () => desk.create({ amount: '2', idempotency_key: 'the same' })),
  );
  expect(outcomes.filter(({ created }) => created === true)).toHaveLength(1);
  expect(
    new Set(outcomes.map((outcome) => (outcome.created === null ? null : outcome.transfer_id)))
      .size,
  ).toBe(1);
  const rows = await bench.sql(
    "SELECT r.status FROM reservations r JOIN capital_transfers t USING (transfer_id) WHERE idempotency_key = 'the same'",
  );
  expect(rows).toEqual([{ status: 'held' }]);
});

test.each([
  [
    'its amount is changed',
    'UPDATE reservations SET amount = amount + 1 WHERE transfer_id = $1::uuid',
  ],
  [
    'it is moved to another pool',
    "UPDATE reservations SET account_type = 'USDT_FUTURE' WHERE transfer_id = $1::uuid",
  ],
  [
    'it is ended',
    "UPDATE reservations SET status = 'released', ended_at = now() WHERE transfer_id = $1::uuid",
  ],
  ['it is taken away', 'DELETE FROM reservations WHERE transfer_id = $1::uuid'],
  [
    'the transfer is said to be over',
    "UPDATE capital_transfers SET request_state = 'FAILED', ended_at = now() WHERE transfer_id = $1::uuid",
  ],
  [
    'the amount of the transfer is changed',
    'UPDATE capital_transfers SET amount = 0.5 WHERE transfer_id = $1::uuid',
  ],
])(
  "verify notices of a transfer's hold that %s, also when the pool's counter is made to fit",
  async (_what, tampering) => {
    const desk = transferDesk(bench, {});
    const id = await desk.made({ amount: '3' });
    const { source_venue } = await desk.row(id);
    await bench.sql(
      "INSERT INTO reservation_pools (venue_key, account_type, asset) VALUES ($1, 'USDT_FUTURE', 'USDC')",
      source_venue,
    );
    const recount = `UPDATE reservation_pools p
      SET held = coalesce((SELECT sum(amount) FROM reservations r
      WHERE r.status = 'held'
    AND (r.venue_key, r.account_type, r.asset) = (p.venue_key, p.account_type, p.asset)), 0)
      WHERE venue_key = $1`;
    const before = await bench.sql<object>(
      'SELECT * FROM reservations WHERE transfer_id = $1::uuid',
      id,
    );
    expect(before).toHaveLength(1);
    await bench.sql(tampering, id);
    await bench.sql(recount, source_venue);
    const found = await verifyReservations(bench.db);
    expect(found).toMatchObject({ ok: false, pools: [] });
    expect(new Set(found.transfers.map(({ transfer_id }) => transfer_id))).toEqual(new Set([id]));
    await bench.sql('DELETE FROM reservations WHERE transfer_id = $1::uuid', id);
    await bench.sql(
      "UPDATE capital_transfers SET request_state = 'FAILED', ended_at = now() WHERE transfer_id = $1::uuid",
      id,
    );
    await bench.sql(recount, source_venue);
    expect(await verifyReservations(bench.db)).toMatchObject({ ok: true });
  },
);
