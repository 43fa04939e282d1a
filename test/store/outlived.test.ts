/**
 * A request acts for a minute after its key was found active, and not once the key is revoked:
 * the process may have stood still in between, or waited for a lock.
 */
import { ServiceError } from '../../domain/errors.ts';
import type { AuditEntry } from '../../domain/transition.ts';
import { writeAudit } from '../../store/audit.ts';
import { createMovement } from '../../store/movements.ts';
import { applyTransition } from '../../store/transition.ts';
import { approvalOf, issuedKey, storeBench } from './support.ts';

const bench = storeBench();

const entry = (checked_at: string, more: Partial<AuditEntry> = {}): AuditEntry => ({
  action: 'movement.approve',
  entity_type: 'movement',
  entity_key: 'm',
  outcome: 'success',
  checked_at,
  ...more,
});

async function ago(seconds: number): Promise<string> {
  const [row] = await bench.sql<{ at: string }>(
    'SELECT (svc_now() - make_interval(secs => $1::integer))::text AS at',
    seconds,
  );
  return row?.at ?? '';
}

const codeOf = async (work: Promise<unknown>): Promise<string | null> =>
  work.then(
    () => null,
    (error: unknown) => (error instanceof ServiceError ? error.code : String(error)),
  );

const count = async (table: string): Promise<number> =>
  (await bench.sql<{ n: number }>(`SELECT count(*)::integer AS n FROM ${table}`))[0]?.n ?? -1;

test('what was checked more than a minute ago writes nothing, and says that nothing was accepted', async () => {
  const [late, inTime] = [await ago(62), await ago(40)];
  const made = await bench.movement();
  const before = [await count('audit_events'), await count('movements')];

  expect(await codeOf(writeAudit(bench.db, [entry(late)]))).toBe('overloaded');
  const approve = (checked_at: string) =>
    applyTransition(bench.db, { ...approvalOf(made.movement_id), audit: [entry(checked_at)] });
  expect(await codeOf(approve(late))).toBe('overloaded');
  const create = (checked_at: string) =>
    createMovement(bench.db, {
      ...bench.draft(),
      auto_approve_result: null,
      audit: () => [entry(checked_at, { action: 'movement.create' })],
    });
  expect(await codeOf(create(late))).toBe('overloaded');
  expect([await count('audit_events'), await count('movements')]).toEqual(before);
  expect(
    await bench.sql(
      'SELECT request_state FROM movements WHERE movement_id = $1::uuid',
      made.movement_id,
    ),
  ).toEqual([{ request_state: 'PENDING_APPROVAL' }]);

  // That somebody was refused is recorded however late it is.
  await writeAudit(bench.db, [entry(late, { outcome: 'denied' })]);
  await writeAudit(bench.db, [entry(inTime)]);
  await create(inTime);
  expect(await approve(inTime)).toMatchObject({ ok: true });
});

test('a create that is late takes none of those with it that share its statement', async () => {
  const [late, inTime] = [await ago(62), await ago(1)];
  const before = await count('movements');
  const results = await Promise.all(
    Array.from({ length: 24 }, (_, index) =>
      codeOf(
        createMovement(bench.db, {
          ...bench.draft(),
          auto_approve_result: null,
          audit: () => [entry(index % 3 === 0 ? late : inTime, { action: 'movement.create' })],
        }),
      ),
    ),
  );
  expect(results).toEqual(results.map((_, index) => (index % 3 === 0 ? 'overloaded' : null)));
  expect(await count('movements')).toBe(before + 16);
});

test('a key that was revoked since it was checked does nothing', async () => {
  const key = await issuedKey(bench);
  const checked = entry(await ago(1), { actor_key_id: key });
  await writeAudit(bench.db, [checked]);
  await bench.sql(
    `UPDATE api_client_keys SET status = 'revoked', revoked_at = svc_now()
     WHERE key_id = $1`,
    key,
  );
  expect(await codeOf(writeAudit(bench.db, [checked]))).toBe('unauthenticated');
});
