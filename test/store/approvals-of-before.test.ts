/** The approval rows of movements that were approved before there were such rows. */
import { applyMigrations } from '../../prisma/migrate.ts';
import { applyTransition } from '../../store/transition.ts';
import { storeBench } from './support.ts';

const MIGRATION = '20261126000300_approvals_of_before';
const bench = storeBench();

test('what was approved before has its row, marked as such, and goes on; nothing else has one', async () => {
  const ids: string[] = [];
  for (let made = 0; made < 5; made += 1) ids.push((await bench.movement()).movement_id);
  const [byKey, byPolicy, byCap, byNone, waiting] = ids as [string, ...string[]];
  const kept = (await bench.movement()).movement_id;
  // As the release before leaves it: its migrations, and states without rows of approvals.
  await bench.sql('DELETE FROM _prisma_migrations WHERE migration_name = $1', MIGRATION);
  const approved = (id: string | undefined, by: string | null, result: object | null) =>
    bench.sql(
      `UPDATE movements SET approval_status = 'approved', request_state = 'APPROVED',
         approved_by = $2, auto_approve_result = $3::jsonb WHERE movement_id = $1::uuid`,
      id,
      by,
      result === null ? null : JSON.stringify(result),
    );
  await approved(byKey, 'key-1', null);
  await approved(byPolicy, null, { outcome: 'approved', policy_id: 'policy-1' });
  await approved(byCap, null, { outcome: 'approved' });
  await approved(byNone, null, { outcome: 'pending' });
  await approved(kept, 'key-2', null);
  await bench.approve(kept);
  expect(await applyMigrations(bench.url)).toEqual([MIGRATION]);
  const rows = await bench.sql<{ movement_id: string; approved_by: string; name: string | null }>(
    'SELECT movement_id, approved_by, name FROM movement_approvals WHERE plan_hash = $1',
    'a'.repeat(64),
  );
  expect(
    new Map(rows.map(({ movement_id, approved_by, name }) => [movement_id, [approved_by, name]])),
  ).toEqual(
    new Map([
      [byKey, ['migration', 'key-1']],
      [byPolicy, ['migration', 'policy-1']],
      [byCap, ['migration', 'test/store']],
      [byNone, ['migration', 'auth_off']],
      [kept, ['auth_off', null]],
    ]),
  );
  const ready = (movement_id: string) =>
    applyTransition(bench.db, {
      movement_id,
      nodes: [{ node_key: 'pay', from: 'BLOCKED', moves: ['READY'] }],
      timeline: [],
    });
  expect(await ready(byKey)).toMatchObject({ ok: true });
  expect(await ready(waiting ?? '')).toMatchObject({ ok: false, reason: 'not_approved' });
});
