/** Counts that are kept: what is read is what the rows say, whoever writes or adds up meanwhile. */
import fc from 'fast-check';
import { foldCounts, readCountDifferences, rebuildCounts } from '../../store/counts.ts';
import { readFigures } from '../../store/metrics.ts';
import { storeBench } from './support.ts';

const bench = storeBench();

const STATES = ['APPROVED', 'EXECUTING', 'COMPLETED', 'FAILED', 'CANCELLED'] as const;
const CALLBACKS = ['pending', 'delivered', 'dead_letter'] as const;

/** Movements that only the test moves, with a callback each. */
async function movements(count: number): Promise<readonly string[]> {
  const made: string[] = [];
  while (made.length < count) {
    const outcome = await bench.movement({ unheld: true });
    made.push(outcome.movement_id);
    await bench.sql(
      `INSERT INTO callbacks (event_id, movement_id, event_type, sequence, url, payload, nonce,
         status, next_attempt_at, created_at, updated_at)
       VALUES (gen_random_uuid(), $1::uuid, 'x', 1, 'u', '{}', gen_random_uuid()::text, 'pending',
         now(), now(), now())`,
      outcome.movement_id,
    );
  }
  return made;
}

test('are exact after any changes, added up or not', async () => {
  const ids = await movements(6);
  const step = fc.oneof(
    fc.record({
      kind: fc.constant('state' as const),
      at: fc.nat(5),
      to: fc.constantFrom(...STATES),
    }),
    fc.record({
      kind: fc.constant('callback' as const),
      at: fc.nat(5),
      to: fc.constantFrom(...CALLBACKS),
    }),
    fc.record({ kind: fc.constant('fold' as const), at: fc.integer({ min: 1, max: 5 }) }),
    fc.record({ kind: fc.constant('rebuild' as const) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      for (const each of steps) {
        if (each.kind === 'fold') await foldCounts(bench.db, each.at);
        else if (each.kind === 'rebuild') await rebuildCounts(bench.db);
        else if (each.kind === 'callback')
          await bench.sql(
            'UPDATE callbacks SET status = $1 WHERE movement_id = $2::uuid',
            each.to,
            ids[each.at],
          );
        else
          await bench.sql(
            // What has completed stays so.
            `UPDATE movements SET request_state = $1, approved_at = coalesce(approved_at, now()),
               ended_at = CASE WHEN $1 IN ('APPROVED', 'EXECUTING') THEN NULL ELSE now() END
             WHERE movement_id = $2::uuid AND request_state <> 'COMPLETED'`,
            each.to,
            ids[each.at],
          );
        expect(await readCountDifferences(bench.db)).toEqual([]);
      }
    }),
    { numRuns: 15 },
  );
}, 120_000);

test('two that add up at once count nothing twice', async () => {
  await movements(10);
  await Promise.all(Array.from({ length: 8 }, () => foldCounts(bench.db, 3)));
  expect(await readCountDifferences(bench.db)).toEqual([]);
  while ((await foldCounts(bench.db, 1_000)) > 0);
  expect(await bench.sql('SELECT * FROM tally_changes')).toEqual([]);
  expect(await readCountDifferences(bench.db)).toEqual([]);
});

test('are what the metrics page shows', async () => {
  const [row] = await bench.sql<{ n: bigint }>(
    `SELECT count(*) AS n FROM movements WHERE request_state = 'PENDING_APPROVAL'`,
  );
  const figures = await readFigures(bench.db, 300);
  expect(figures.movements['PENDING_APPROVAL']).toBe(Number(row?.n));
  const [pending] = await bench.sql<{ n: bigint }>(
    `SELECT count(*) AS n FROM callbacks WHERE status = 'pending'`,
  );
  expect(figures.callbacks_pending).toBe(Number(pending?.n));
});

test('what somebody changed is found, and made anew', async () => {
  while ((await foldCounts(bench.db, 1_000)) > 0);
  await bench.sql(`UPDATE tallies SET count = count + 1 WHERE state = 'PENDING_APPROVAL'`);
  expect(await readCountDifferences(bench.db)).toEqual([
    expect.objectContaining({ what: 'movement PENDING_APPROVAL' }),
  ]);
  await rebuildCounts(bench.db);
  expect(await readCountDifferences(bench.db)).toEqual([]);
});
