/** The figures of the metrics page that count rows, and what they say of the database itself. */
import { randomUUID } from 'node:crypto';
import { connectDatabase, type Database } from '../../prisma/client.ts';
import { addSeals, readHead } from '../../store/audit-seals.ts';
import { readFigures, type OperationFigures } from '../../store/metrics.ts';
import { absentStandby } from '../support/absent-standby.ts';
import { eventually } from '../support/eventually.ts';
import { storeBench } from './support.ts';

const bench = storeBench();
const figures = () => readFigures(bench.db, 300);

/** A movement with its row changed so. */
async function movement(set: string): Promise<string> {
  const { movement_id } = await bench.movement({ unheld: true });
  await bench.sql(`UPDATE movements SET ${set} WHERE movement_id = $1::uuid`, movement_id);
  return movement_id;
}

test('count what needs a person by each of its reasons, and nothing twice', async () => {
  const ended = 'ended_at = now(), updated_at = now()';
  await movement('run_id = run_id');
  await movement('run_id = run_id');
  await movement("attention_told = 'approval_expires_soon'");
  await movement("request_state = 'WAITING_MANUAL_ACTION'");
  await movement("request_state = 'EXECUTING', attention_told = 'lane_blocked'");
  await movement(
    "request_state = 'EXECUTING', attention_told = 'approval_compromised+lane_blocked'",
  );
  await movement(`request_state = 'FAILED', ${ended}`);
  await movement(`request_state = 'CANCELLED', attention_told = 'failed', ${ended}`);
  // A person has dealt with it; it was long ago; nothing of it failed; it is done.
  await movement(`request_state = 'FAILED', acknowledged_at = now(), ${ended}`);
  await movement(
    "request_state = 'FAILED', ended_at = now(), updated_at = now() - interval '8 days'",
  );
  await movement(`request_state = 'CANCELLED', ${ended}`);
  await movement(`request_state = 'COMPLETED', approved_at = now(), ${ended}`);
  // Its run has ended, so what was noted before counts no longer.
  await movement(
    `request_state = 'COMPLETED', approved_at = now(), attention_told = 'observed_long', ${ended}`,
  );
  const unknown = await movement("request_state = 'EXECUTING'");
  await bench.sql(
    "UPDATE movement_nodes SET state = 'UNKNOWN' WHERE movement_id = $1::uuid",
    unknown,
  );
  // One movement whose stuck run is noted too, and one transfer.
  const stuck = await movement("request_state = 'EXECUTING', attention_told = 'run_stuck'");
  await bench.sql(
    `INSERT INTO stuck_runs (entity_id, kind, run_id, cause, since, last_seen)
     VALUES ($1::uuid, 'movement', 'r1', 'task_fails', now(), now()),
       (gen_random_uuid(), 'capital_transfer', 'r2', 'no_worker', now(), now())`,
    stuck,
  );
  expect((await figures()).attention).toEqual({
    approval: 2,
    approval_expires_soon: 1,
    approval_compromised: 1,
    manual_gate: 1,
    lane_blocked: 2,
    unknown_outcome: 1,
    failed: 2,
    run_stuck: 2,
  });
});

/** An audit row of so many seconds ago. */
async function event(seconds: number): Promise<string> {
  const id = randomUUID();
  await bench.sql(
    `INSERT INTO audit_events (event_id, occurred_at, action, entity_type, entity_key, outcome,
       details) VALUES ($1::uuid, now() - make_interval(secs => $2::integer), 'movement.create',
       'movement', 'm', 'success', '{}')`,
    id,
    seconds,
  );
  return id;
}

/** Seals the row behind all others; the hashes are no matter here. */
async function seal(event_id: string): Promise<void> {
  const head = await readHead(bench.db);
  const hash = 'ab'.repeat(32);
  const position = head.position + 1n;
  const added = await addSeals(bench.db, head, [
    { position, event_id, event_hash: hash, chain_hash: hash, mac: null },
  ]);
  expect(added).toBe(true);
}

test('show the age of the first row that waits for its seal', async () => {
  const unsealed = async () => (await figures()).oldest_unsealed;
  expect(await unsealed()).toBe(0);
  const [oldest, middle, newest] = [await event(900), await event(600), await event(300)];
  expect(await unsealed()).toBeGreaterThanOrEqual(900);
  await seal(oldest);
  const age = await unsealed();
  expect(age).toBeGreaterThanOrEqual(600);
  expect(age).toBeLessThan(900);
  await seal(middle);
  expect(await unsealed()).toBeLessThan(600);
  await seal(newest);
  expect(await unsealed()).toBe(0);
  // A row that was committed late is sealed after younger ones; what was sealed before stays so.
  await seal(await event(800));
  expect(await unsealed()).toBe(0);
  await event(100);
  const last = await unsealed();
  expect(last).toBeGreaterThanOrEqual(100);
  expect(last).toBeLessThan(300);
});

test('show the mode of the cutover switch', async () => {
  expect((await figures()).cutover_mode).toBe('normal');
  await bench.sql("UPDATE cutover SET mode = 'frozen'");
  expect((await figures()).cutover_mode).toBe('frozen');
  await bench.sql("UPDATE cutover SET mode = 'normal'");
});

/** Waits until the figures of the database itself are these: a session reads settings when idle. */
async function becomes(expected: Partial<OperationFigures>): Promise<void> {
  await eventually(async () => {
    const { synchronous, standbys, commits_waiting } = await figures();
    expect({ synchronous, standbys, commits_waiting }).toEqual(expected);
    return true;
  });
}

/** A connection as a role that may read everything, with these settings of its own. */
async function connectAs(role: string, ...settings: readonly string[]): Promise<Database> {
  await bench.sql(`CREATE ROLE ${role} LOGIN PASSWORD '${role}' IN ROLE pg_read_all_data`);
  for (const setting of settings) await bench.sql(`ALTER ROLE ${role} SET ${setting}`);
  const url = new URL(bench.url);
  url.username = role;
  url.password = role;
  return connectDatabase({ url: url.href, poolSize: 1 });
}

test('show whether commits wait for a standby, and how many do', async () => {
  await becomes({ synchronous: false, standbys: 0, commits_waiting: 0 });
  const hasty = await connectAs('hasty', 'synchronous_commit = local');
  const standby = await absentStandby(bench.url);
  try {
    await standby.goAway();
    // Prisma begins a statement once its result is wanted.
    const written = bench.sql('UPDATE cutover SET changed_at = now()').then(() => undefined);
    await standby.waiting();
    await becomes({ synchronous: true, standbys: 0, commits_waiting: 1 });
    // Commits of a role that waits for no standby are lost with the primary.
    expect((await readFigures(hasty, 300)).synchronous).toBe(false);
    await standby.comeBack();
    await written;
    await becomes({ synchronous: false, standbys: 0, commits_waiting: 0 });
  } finally {
    await standby.comeBack();
    await standby.close();
    await hasty.$disconnect();
  }
});

test('leave standbys out for a role that may not see their states', async () => {
  const db = await connectAs('onlooker');
  try {
    expect((await readFigures(db, 300)).standbys).toBeNull();
    await bench.sql('GRANT pg_monitor TO onlooker');
    expect((await readFigures(db, 300)).standbys).toBe(0);
  } finally {
    await db.$disconnect();
  }
});
