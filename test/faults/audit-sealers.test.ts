/**
 * Concurrent sealers and writers: one chain with every committed row, and no writer waits.
 */
import { randomBytes } from 'node:crypto';
import { jest } from '@jest/globals';
import pg from 'pg';
import { pino } from 'pino';
import { startSealer } from '../../activities/relays/seals.ts';
import { createAuditMacs } from '../../platform/audit-chain.ts';
import type { Loop } from '../../platform/loop.ts';
import { parseSecretsKey, type SecretsKeys } from '../../platform/secrets.ts';
import { connectDatabase, type Database } from '../../prisma/client.ts';
import { writeAudit } from '../../store/audit.ts';
import { addSeals, BEGINNING, readHead, readUnsealed } from '../../store/audit-seals.ts';
import { admin, tamper, type Verified } from '../support/audit-tools.ts';
import { eventually } from '../support/eventually.ts';
import { startOwnDatabase } from '../support/own-database.ts';
import { started } from '../support/started.ts';

jest.setTimeout(60_000);
const FIRST = randomBytes(32).toString('base64');
const SECOND = randomBytes(32).toString('base64');
const open: Database[] = [];
const loops: Loop[] = [];
const database = started(() => startOwnDatabase());
afterEach(async () => {
  await Promise.all(loops.splice(0).map((loop) => loop.stop()));
  await Promise.all(open.splice(0).map((db) => db.$disconnect()));
});

function keys(text: string): SecretsKeys {
  const parsed = parseSecretsKey(text);
  if (!parsed.ok) throw new Error(parsed.faults.join());
  return parsed.keys;
}
/** A process of the service with these keys. */
function connected(text: string): { db: Database; macs: ReturnType<typeof createAuditMacs> } {
  const macs = createAuditMacs(text === '' ? [] : keys(text));
  const db = connectDatabase({ url: database.url, poolSize: 6, auditMac: macs.ofRow });
  open.push(db);
  return { db, macs };
}
function seal(text = FIRST): void {
  const { db, macs } = connected(text);
  loops.push(startSealer({ db, macs, log: pino({ level: 'silent' }), pauseMs: 20 }));
}
const write = (db: Database, count: number, entity_key: string): Promise<void> =>
  writeAudit(
    db,
    Array.from(
      { length: count },
      () =>
        ({
          action: 'route.call',
          entity_type: 'route',
          entity_key,
          outcome: 'denied',
          reason: 'ü"\\',
        }) as const,
    ),
  );
const verify = (text: string, ...args: string[]) =>
  admin<Verified>(['audit', 'verify', '--database-url', database.url, ...args], {
    SVC_SECRETS_KEY: text,
  });

async function allSealed(events: number): Promise<void> {
  await eventually(async () => {
    const { result } = await verify(`${SECOND},${FIRST}`, '--unauthenticated-before', '2100-01-01');
    return result.sealed === events ? true : null;
  });
}

test('rows from before the key are sealed and let pass up to the time of the key', async () => {
  const { db } = connected('');
  await write(db, 3, 'before');
  seal();
  await allSealed(3);
  expect((await verify(FIRST)).result).toMatchObject({
    ok: false,
    first_fault: { fault: 'row_not_of_service', position: 1 },
  });
  expect((await verify(FIRST, '--unauthenticated-before', '2100-01-01')).result).toMatchObject({
    ok: true,
    unauthenticated: 3,
  });
});

test('two sealers and many writers at once make one chain over every row', async () => {
  const { db } = connected(FIRST);
  seal();
  seal();
  seal();
  await Promise.all(
    Array.from({ length: 60 }, (_, index) => write(db, 1 + (index % 30), `row ${String(index)}`)),
  );
  const written =
    3 +
    Array.from({ length: 60 }, (_, index) => 1 + (index % 30)).reduce((sum, each) => sum + each, 0);
  await allSealed(written);
  expect((await verify(FIRST, '--unauthenticated-before', '2100-01-01')).result).toMatchObject({
    ok: true,
    events: written,
    checked: written,
    head: { position: written },
  });
});

test('a row that commits late is sealed behind younger ones, and delays no sealer', async () => {
  const { db } = connected(FIRST);
  seal();
  const before = (await readHead(db)).position;
  const slow = new pg.Client({ connectionString: database.url });
  await slow.connect();
  const { macs } = connected(FIRST);
  const row = {
    event_id: '01938a5e-7c00-7b3a-9d2f-5b1c7e8a4f10',
    action: 'route.call',
    entity_type: 'route',
    entity_key: 'late',
    outcome: 'denied',
  };
  await slow.query('BEGIN');
  await slow.query('SELECT write_audit($1::jsonb, svc_now())', [
    JSON.stringify([{ ...row, mac: macs.ofRow(row) }]),
  ]);
  await write(db, 2, 'early');
  await eventually(async () => ((await readHead(db)).position === before + 2n ? true : null));
  await slow.query('COMMIT');
  await slow.end();
  await eventually(async () => ((await readHead(db)).position === before + 3n ? true : null));
  expect((await verify(FIRST, '--unauthenticated-before', '2100-01-01')).exit).toBe(0);
});

test('what another process has sealed meanwhile is refused as a whole', async () => {
  const { db, macs } = connected(FIRST);
  await write(db, 2, 'contested');
  const head = await readHead(db);
  const { rows } = await readUnsealed(db, BEGINNING, { limit: 10, scan: 1_000 });
  const { sealRecords } = await import('../../platform/audit-chain.ts');
  const seals = sealRecords(
    head,
    rows.map(({ record }) => record),
    macs,
  );
  expect(seals).toHaveLength(2);
  expect(await addSeals(db, head, seals.slice(0, 1))).toBe(true);
  expect(await addSeals(db, head, seals)).toBe(false);
  expect((await readHead(db)).position).toBe(head.position + 1n);
  const held = new pg.Client({ connectionString: database.url });
  await held.connect();
  await held.query("BEGIN; SELECT pg_advisory_xact_lock(hashtextextended('audit_seals', 0))");
  expect(await addSeals(db, await readHead(db), seals.slice(1))).toBe(false);
  await held.end();
});

test('the key can be changed: new rows get the new one, and old ones are believed as long as the old one is known', async () => {
  const { db } = connected(`${SECOND},${FIRST}`);
  seal(`${SECOND},${FIRST}`);
  await write(db, 2, 'rotated');
  const { position } = await eventually(async () => {
    const { rows } = await readUnsealed(db, BEGINNING, { limit: 1, scan: 1_000 });
    return rows.length === 0 ? await readHead(db) : null;
  });
  expect(
    (await verify(`${SECOND},${FIRST}`, '--unauthenticated-before', '2100-01-01')).result,
  ).toMatchObject({ ok: true });
  expect(
    (await verify(SECOND, '--unauthenticated-before', '2100-01-01')).result.first_fault?.fault,
  ).toBe('seal_not_of_service');
  expect((await verify(FIRST, '--unauthenticated-before', '2100-01-01')).result.checked).toBe(
    Number(position) - 3,
  );
});

test('a seal takes the next position and no other, and what is planted there hides nothing behind it', async () => {
  const { db } = connected(`${SECOND},${FIRST}`);
  const before = Number((await readHead(db)).position);
  const plant = (position: number) =>
    db.sql`
      INSERT INTO audit_seals (position, event_id, event_hash, chain_hash, mac, sealed_at)
      VALUES (${String(position)}::bigint, gen_random_uuid(), '\\x00', decode(repeat('ab', 32), 'hex'),
        NULL, now())`;
  for (const position of [before, before + 2, 9_000_000_000])
    await expect(plant(position)).rejects.toThrow(/the next seal is|duplicate key/);
  // Nor by a table of the same name that only this session sees.
  const session = new pg.Client({ connectionString: database.url });
  await session.connect();
  try {
    const { rows } = await session.query<{ name: string }>('SELECT current_schema() AS name');
    await session.query('CREATE TEMP TABLE audit_seals (position bigint)');
    await session.query('INSERT INTO pg_temp.audit_seals VALUES (9000000000)');
    const planted = session.query(
      `INSERT INTO "${rows[0]?.name ?? ''}".audit_seals (position, event_id, event_hash, chain_hash, sealed_at)
       VALUES (9000000001, gen_random_uuid(), '\\x00', decode(repeat('ab', 32), 'hex'), now())`,
    );
    await expect(planted).rejects.toThrow(/the next seal is/);
  } finally {
    await session.end();
  }
  await plant(before + 1);
  await write(db, 3, 'behind');
  seal(`${SECOND},${FIRST}`);
  await eventually(async () => (Number((await readHead(db)).position) >= before + 4 ? true : null));
  const keys = `${SECOND},${FIRST}`;
  const first = await verify(keys, '--unauthenticated-before', '2100-01-01');
  expect([first.exit, first.result.faults]).toEqual([
    1,
    [expect.objectContaining({ fault: 'row_missing', position: before + 1 })],
  ]);
  // A row behind it that is changed is named as well.
  await tamper(database.url, [
    `UPDATE audit_events SET reason = 'another' WHERE event_id =
       (SELECT event_id FROM audit_seals WHERE position = $1)`,
    before + 3,
  ]);
  const { result } = await verify(keys, '--unauthenticated-before', '2100-01-01');
  expect(result.faults).toEqual([
    expect.objectContaining({ fault: 'row_missing', position: before + 1 }),
    expect.objectContaining({ fault: 'row_changed', position: before + 3 }),
  ]);
  expect([result.first_fault?.position, result.checked]).toEqual([before + 1, before]);
});
