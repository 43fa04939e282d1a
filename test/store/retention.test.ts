/** What is removed when its days are over, and what is owed and stays, however old it is. */
import { pino } from 'pino';
import { startRetention } from '../../activities/relays/retention.ts';
import { connectDatabase } from '../../prisma/client.ts';
import { readKeyUse } from '../../store/movement-idempotency.ts';
import { eventually } from '../support/eventually.ts';
import { failuresOf } from '../support/loop-figures.ts';
import { storeBench } from './support.ts';

let movement: string;
const bench = storeBench();
beforeAll(async () => {
  const made = await bench.movement({ idempotency_key: 'once' });
  movement = made.movement_id;
});

const DAY = 86_400_000;

async function callback(sequence: number, status: string): Promise<void> {
  await bench.sql(
    `INSERT INTO callbacks (event_id, movement_id, event_type, sequence, url, payload, nonce, status,
       attempts, next_attempt_at, created_at, updated_at)
     SELECT svc_new_id(at), $1::uuid, 'request_approved', $2::integer, 'https://a.example', '{}',
       $2::text, $3, 1, at, at, at FROM svc_now() at`,
    movement,
    sequence,
    status,
  );
}
async function command(kind: string, isApplied: boolean): Promise<void> {
  await bench.sql(
    `INSERT INTO commands (command_id, movement_id, kind, created_at, applied_at, claimed_until)
     SELECT svc_new_id(at), $1::uuid, $2, at, CASE WHEN $3 THEN at END, at FROM svc_now() at`,
    movement,
    kind,
    isApplied,
  );
}
const left = async (): Promise<readonly string[]> =>
  (
    await bench.sql<{ readonly what: string }>(
      `SELECT status AS what FROM callbacks WHERE sequence < 200 UNION ALL SELECT kind FROM commands
       WHERE kind IN ('seen', 'unseen') ORDER BY what`,
    )
  ).map(({ what }) => what);

/** Works as a service does whose database tells a time so many days from now; until it is quiet. */
async function after(days: number, until: () => Promise<boolean>): Promise<void> {
  const offset = String(days * DAY);
  const db = connectDatabase({
    url: bench.url,
    poolSize: 1,
    sessionSettings: { 'svc.clock_offset_ms': offset },
  });
  const loop = startRetention({
    db,
    log: pino({ level: 'silent' }),
    days: { commands: 30, callbacks: 365 },
    leases: { under: (_lease, work) => work },
  });
  try {
    await eventually(async () => ((await until()) ? true : null), {
      what: () => 'rows to be removed',
    });
  } finally {
    await loop.stop();
    await db.$disconnect();
  }
}

test('applied commands and delivered callbacks go when their days are over, and what is owed stays', async () => {
  await command('seen', true);
  await command('unseen', false);
  for (const [index, status] of ['delivered', 'pending', 'dead_letter'].entries())
    await callback(index + 100, status);
  const all = ['dead_letter', 'delivered', 'pending', 'seen', 'unseen'];
  // A turn that has nothing to remove yet is over when the loop has stopped.
  await after(29, () => Promise.resolve(true));
  expect(await left()).toEqual(all);
  await after(31, async () => !(await left()).includes('seen'));
  expect(await left()).toEqual(['dead_letter', 'delivered', 'pending', 'unseen']);
  await after(366, async () => !(await left()).includes('delivered'));
  expect(await left()).toEqual(['dead_letter', 'pending', 'unseen']);
  // A repeat of the create is the same movement, whatever of its commands is kept.
  expect(await readKeyUse(bench.db, 'tests', 'once')).toMatchObject({ movement_id: movement });
});

test('what was applied or delivered lately stays, however long ago it was made', async () => {
  await bench.sql(
    `INSERT INTO commands (command_id, movement_id, kind, created_at, applied_at, claimed_until)
     SELECT svc_new_id(at - interval '400 days'), $1::uuid, kind, at - interval '400 days',
       at - applied, at
     FROM svc_now() at, (VALUES ('late', interval '1 day'), ('long ago', interval '31 days'))
       AS made (kind, applied)`,
    movement,
  );
  await bench.sql(
    `INSERT INTO callbacks (event_id, movement_id, event_type, sequence, url, payload, nonce, status,
       attempts, next_attempt_at, created_at, updated_at)
     SELECT svc_new_id(at), $1::uuid, kind, number, 'https://a.example', '{}', kind, 'delivered',
       1, at, at - interval '400 days', at - delivered
     FROM svc_now() at, (VALUES ('redelivered', 200, interval '1 day'),
       ('long delivered', 201, interval '366 days')) AS made (kind, number, delivered)`,
    movement,
  );
  const rows = async (): Promise<readonly string[]> =>
    (
      await bench.sql<{ readonly what: string }>(
        `SELECT kind AS what FROM commands WHERE kind IN ('late', 'long ago') UNION ALL
         SELECT event_type FROM callbacks WHERE sequence >= 200 ORDER BY what`,
      )
    ).map(({ what }) => what);
  expect(await rows()).toEqual(['late', 'long ago', 'long delivered', 'redelivered']);
  await after(0, async () => (await rows()).length <= 2);
  expect(await rows()).toEqual(['late', 'redelivered']);
});

test('what is owed is not removed', async () => {
  await expect(bench.sql("DELETE FROM callbacks WHERE status = 'dead_letter'")).rejects.toThrow();
  await expect(bench.sql('DELETE FROM commands WHERE applied_at IS NULL')).rejects.toThrow();
  expect(await left()).toEqual(['dead_letter', 'pending', 'unseen']);
});

test('a fault in one table does not stop those behind it, and fails the turn', async () => {
  await bench.sql(`CREATE FUNCTION refuse_rows() RETURNS trigger LANGUAGE plpgsql
    AS 'BEGIN RAISE EXCEPTION ''no row of it may go''; END'`);
  await bench.sql(
    'CREATE TRIGGER refuse_rows BEFORE DELETE ON commands EXECUTE FUNCTION refuse_rows()',
  );
  try {
    await callback(110, 'delivered');
    await after(366, async () => !(await left()).includes('delivered'));
  } finally {
    await bench.sql('DROP TRIGGER refuse_rows ON commands');
    await bench.sql('DROP FUNCTION refuse_rows()');
  }
  expect(await failuresOf('retention')).toBeGreaterThan(0);
});
