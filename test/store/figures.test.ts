/** The figures of the metrics page that count rows, and what they say of the database itself. */
import { randomUUID } from 'node:crypto';
import { cancel } from '../../domain/commands/cancel.ts';
import { connectDatabase, type Database } from '../../prisma/client.ts';
import { addSeals, readHead } from '../../store/audit-seals.ts';
import { readFigures, type OperationFigures } from '../../store/metrics.ts';
import { readSnapshot } from '../../store/movements.ts';
import { applyTransition } from '../../store/transition.ts';
import { absentStandby } from '../support/absent-standby.ts';
import { eventually } from '../support/eventually.ts';
import { transferDesk } from './capital-transfer-desk.ts';
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
  // One movement whose stuck run is noted too, and one transfer; a third look was too long ago.
  const stuck = await movement("request_state = 'EXECUTING', attention_told = 'run_stuck'");
  await bench.sql(
    `INSERT INTO stuck_runs (entity_id, kind, run_id, cause, since, last_seen)
     VALUES ($1::uuid, 'movement', 'r1', 'task_fails', now(), now()),
       (gen_random_uuid(), 'capital_transfer', 'r2', 'no_worker', now(), now()),
       (gen_random_uuid(), 'movement', 'r3', 'task_fails', now(),
         now() - interval '61 minutes')`,
    stuck,
  );
  // A movement, and of three transfers the one that has waited for long enough and still does.
  await movement("request_state = 'EXECUTING', attention_told = 'clock_difference'");
  await bench.sql(
    `INSERT INTO transfer_clock_waits (transfer_id, why, since, last_seen)
     VALUES (gen_random_uuid(), 'w', now() - interval '11 minutes', now()),
       (gen_random_uuid(), 'w', now() - interval '9 minutes', now()),
       (gen_random_uuid(), 'w', now() - interval '1 hour', now() - interval '6 minutes')`,
  );
  expect((await figures()).attention).toEqual({
    approval: 2,
    approval_expires_soon: 1,
    approval_compromised: 1,
    manual_gate: 1,
    lane_blocked: 2,
    clock_difference: 2,
    unknown_outcome: 1,
    landed_late: 0,
    failed: 2,
    run_stuck: 2,
  });
});

test('count a late landing whatever comes first, until a person has acknowledged it', async () => {
  const before = (await figures()).attention;
  const ended = 'ended_at = now(), updated_at = now()';
  /** Such a movement whose node was abandoned and has landed. */
  const landed = async (set: string, of = "state = 'FAILED'"): Promise<void> => {
    await bench.sql(
      `UPDATE movement_nodes SET error_code = 'ABANDONED', landed_late_at = now(), ${of}
        WHERE movement_id = $1::uuid`,
      await movement(set),
    );
  };
  await landed("request_state = 'EXECUTING', attention_told = 'observed_long+landed_late'");
  // What no worker has noted so far.
  await landed("request_state = 'EXECUTING'");
  await landed(`request_state = 'COMPLETED', approved_at = now(), ${ended}`);
  await landed(`request_state = 'CANCELLED', attention_told = 'landed_late', ${ended}`);
  await landed(`request_state = 'CANCELLED', attention_told = 'failed+landed_late', ${ended}`);
  await landed(`request_state = 'FAILED', acknowledged_at = now(), ${ended}`);
  await landed(`request_state = 'FAILED', error_message = 'node pay failed', ${ended}`);
  // Another node has failed, too.
  await landed(`request_state = 'FAILED', error_message = 'node other failed', ${ended}`);
  await landed(
    `request_state = 'FAILED', error_message = 'node pay failed', ${ended}`,
    'landing_seen_at = now()',
  );
  await landed(
    "request_state = 'COMPLETED', ended_at = now(), updated_at = now() - interval '8 days'",
  );
  const after = (await figures()).attention;
  const more = (reason: string): number => (after[reason] ?? 0) - (before[reason] ?? 0);
  expect([more('landed_late'), more('failed'), more('observed_long')]).toEqual([8, 3, 1]);
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

test('count the abandoned nodes whose look no process makes', async () => {
  const { movement_id } = await bench.movement({ unheld: true });
  const due = (ago: string) =>
    bench.sql(
      `UPDATE movement_nodes SET next_late_look = now() - $2::interval
        WHERE movement_id = $1::uuid`,
      movement_id,
      ago,
    );
  await due('59 minutes');
  expect((await figures()).late_looks_overdue).toBe(0);
  await due('61 minutes');
  expect((await figures()).late_looks_overdue).toBe(1);
});

test('show when agents of the perps venue end, and count those of no use, each name once', async () => {
  const master = `0x${'a'.repeat(40)}`;
  await bench.sql(
    `INSERT INTO perp_master (master_address, signer_key, network, created_at)
     VALUES ('${master}', 'master', 'testnet', now())`,
  );
  for (const strategy of ['basis', 'carry'])
    await bench.sql(
      'INSERT INTO perp_bindings (strategy_id, created_at, updated_at) VALUES ($1, now(), now())',
      strategy,
    );
  const agent = (
    strategy: string,
    name: string,
    state: string,
    { left = '30 days', error = null as string | null, made = '1 day', changed = '1 day' } = {},
  ) =>
    bench.sql(
      `INSERT INTO perp_agent_wallets (wallet_id, strategy_id, agent_name, signer_key, address,
        valid_until, state, last_error, created_at, updated_at)
       VALUES (gen_random_uuid(), $1, $2, 'a', gen_random_uuid()::text, now() + $3::interval, $4, $5,
        now() - $6::interval, now() - $7::interval)`,
      ...[strategy, name, left, state, error, made, changed],
    );
  const failing = async () => (await figures()).perp_agents_failing;
  const counts = async (more: number, made: () => Promise<unknown>): Promise<void> => {
    const before = await failing();
    await made();
    expect((await failing()) - before).toBe(more);
  };
  expect([(await figures()).perp_agents, await failing()]).toEqual([[], 0]);
  await counts(0, () => agent('basis', 'sound', 'active', { left: '2 days' }));
  await counts(0, () => agent('carry', 'over', 'active', { left: '-1 minute' }));
  await counts(0, () => agent('basis', 'new', 'pending', { error: 'e', made: '9 minutes' }));
  await counts(1, () => agent('basis', 'waits', 'pending', { error: 'e', made: '11 minutes' }));
  await counts(0, () => agent('basis', 'quiet', 'pending', { made: '11 minutes' }));
  await counts(1, () => agent('carry', 'gone', 'active', { error: 'e', changed: '11 minutes' }));
  await counts(0, () => agent('carry', 'blinks', 'active', { error: 'e', changed: '9 minutes' }));
  await counts(1, () => agent('carry', 'refused', 'refused', { changed: '6 days' }));
  await counts(1, () => agent('carry', 'ended', 'expired', { changed: '6 days' }));
  await counts(0, () => agent('carry', 'forgotten', 'expired', { changed: '8 days' }));
  // What has taken its place counts alone.
  await counts(-1, () => agent('carry', 'ended', 'active', { made: '1 hour' }));
  const agents = [...(await figures()).perp_agents];
  expect(agents.map(({ agent_name }) => agent_name).slice(0, 2)).toEqual(['over', 'sound']);
  const [over, sound] = agents;
  expect(over).toEqual({ strategy_id: 'carry', agent_name: 'over', seconds_left: 0 });
  expect(sound?.seconds_left).toBeGreaterThan(172_000);
  expect(sound?.seconds_left).toBeLessThanOrEqual(172_800);
});

test('forget the silence of a node that a cancel has ended', async () => {
  const { movement_id } = await bench.movement({ unheld: true });
  await bench.approve(movement_id);
  await bench.sql(
    `UPDATE movements SET request_state = 'EXECUTING', approval_status = 'approved'
     WHERE movement_id = $1::uuid`,
    movement_id,
  );
  await bench.sql(
    `UPDATE movement_nodes SET state = 'READY', unanswered = 1,
      unanswered_since = svc_now() - interval '10 minutes' WHERE movement_id = $1::uuid`,
    movement_id,
  );
  const silent = await figures();
  expect(silent.unanswered).toBe(1);
  expect(silent.oldest_unanswered).toBeGreaterThanOrEqual(600);
  const requester = {
    caller: { client_id: randomUUID(), key_id: 'k', role: 'operator' },
    request_id: 'r',
  } as const;
  expect(
    await applyTransition(bench.db, cancel(await readSnapshot(bench.db, movement_id), requester)),
  ).toMatchObject({ ok: true });
  // The row itself keeps it.
  expect(
    await bench.sql(
      `SELECT state, unanswered_since IS NOT NULL AS kept FROM movement_nodes
       WHERE movement_id = $1::uuid`,
      movement_id,
    ),
  ).toEqual([{ state: 'CANCELLED', kept: true }]);
  expect(await figures()).toMatchObject({ unanswered: 0, oldest_unanswered: 0 });
});

test('show the age of a capital transfer with a change that no run has loaded', async () => {
  expect((await figures()).oldest_transfer).toBe(0);
  const id = await transferDesk(bench, {}).made();
  const later = "UPDATE capital_transfers SET updated_at = svc_now() - interval '10 minutes'";
  await bench.sql(`${later} WHERE transfer_id = $1::uuid`, id);
  expect((await figures()).oldest_transfer).toBeGreaterThanOrEqual(600);
  await bench.sql("SELECT load_transfer($1::uuid, 'run-1')", id);
  // It is still open.
  expect((await figures()).oldest_transfer).toBe(0);
});

test('show how long a caller and a webhook wait for what is not delivered, each by itself', async () => {
  expect(await figures()).toMatchObject({ oldest_callback: 0, oldest_webhook: 0 });
  const { movement_id } = await bench.movement({ unheld: true });
  await bench.sql(
    `INSERT INTO callbacks (event_id, movement_id, webhook, event_type, sequence, url, payload,
       nonce, status, next_attempt_at, created_at, updated_at)
     SELECT gen_random_uuid(), movement::uuid, webhook, 'made_up', 90, 'https://x.example/', '{}',
       gen_random_uuid()::text, status, svc_now() + interval '1 hour',
       svc_now() - minutes * interval '1 minute', svc_now()
     FROM (VALUES ($1::text, NULL, 'pending', 10), (NULL, 'desk', 'pending', 20),
       (NULL, 'desk', 'pending', 15), (NULL, 'desk', 'dead_letter', 60))
       AS c (movement, webhook, status, minutes)`,
    movement_id,
  );
  const { oldest_callback, oldest_webhook } = await figures();
  expect([oldest_callback, oldest_webhook].map((age) => Math.floor(age / 60))).toEqual([10, 20]);
});

test('show how old the newest balances of a venue are', async () => {
  await bench.sql('DELETE FROM balance_snapshots');
  await bench.sql(
    `INSERT INTO balance_snapshots (venue_key, account_type, asset, fetched_at)
     VALUES ('old', 'SPOT', 'USDC', svc_now() - interval '10 minutes'),
       ('old', 'SPOT', 'ETH', svc_now() - interval '20 minutes'),
       ('young', 'SPOT', 'USDC', svc_now())`,
  );
  const ages = new Map(
    (await figures()).balance_ages.map(({ venue_key, seconds }) => [venue_key, seconds]),
  );
  expect([...ages.keys()].sort()).toEqual(['old', 'young']);
  expect(ages.get('old')).toBeGreaterThanOrEqual(600);
  expect(ages.get('old')).toBeLessThan(1_200);
  expect(ages.get('young')).toBeLessThan(600);
});

test('show which executors are down, of those that are switched on and still checked', async () => {
  await bench.sql(
    `INSERT INTO executors (executor_key, kind, status, action_types, health_state,
       health_checked_at, created_at, updated_at)
     SELECT key, 'remote', status, '{}'::text[], health,
       svc_now() - minutes * interval '1 minute', now(),
       now()
     FROM (VALUES ('down', 'active', 'down', 1), ('up', 'active', 'up', 1),
       ('unknown', 'active', 'unknown', 1), ('off', 'disabled', 'down', 1),
       ('removed', 'active', 'down', 180)) AS e (key, status, health, minutes)`,
  );
  const { executors } = await figures();
  expect(
    Object.fromEntries(executors.map(({ executor_key, down }) => [executor_key, down])),
  ).toEqual({ down: true, unknown: false, up: false });
});

test('count each reason for itself, however many older movements have another one', async () => {
  const before = (await figures()).attention;
  const { movement_id } = await bench.movement({ unheld: true });
  // Their ids are before those of all others.
  await bench.sql(
    `INSERT INTO movements (movement_id, template_id, template_key, template_version,
       request_state, approval_status, reservation_status, asset, amount, intent, current_frontier,
       client_scope, expires_at, created_at, updated_at, attention_told)
     SELECT ('00000000-0000-7000-8000-' || lpad(i::text, 12, '0'))::uuid, m.template_id,
       m.template_key, m.template_version, 'PENDING_APPROVAL', m.approval_status, m.reservation_status,
       m.asset, m.amount, m.intent, m.current_frontier, m.client_scope, m.expires_at, m.created_at,
       m.updated_at, 'venue_suspended'
     FROM movements m, generate_series(1, 501) AS i WHERE m.movement_id = $1::uuid`,
    movement_id,
  );
  await movement("request_state = 'EXECUTING', attention_told = 'lane_blocked'");
  const both = "attention_told = 'approval_compromised+venue_suspended'";
  await movement(`request_state = 'EXECUTING', ${both}`);
  const after = (await figures()).attention;
  const more = (reason: string): number => (after[reason] ?? 0) - (before[reason] ?? 0);
  // The bound is of each combination.
  expect([more('venue_suspended'), more('lane_blocked'), more('approval_compromised')]).toEqual([
    501, 1, 1,
  ]);
});
