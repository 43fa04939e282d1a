/**
 * A database clock that was ahead and is set back, as by a failover to a server whose clock is
 * right: what rested until a time of the clock that was ahead is due, and no fact changes.
 */
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { createClocks } from '../../activities/relays/clocks.ts';
import { connectDatabase, type Database } from '../../prisma/client.ts';
import { grantService } from '../../prisma/grant.ts';
import { readBalances, refreshBalances } from '../../store/balances.ts';
import { claimCallbacks } from '../../store/callbacks.ts';
import { claimTransfers } from '../../store/capital-transfers.ts';
import { noteClock } from '../../store/clock.ts';
import { claimCommands } from '../../store/commands.ts';
import { takeLateLooks } from '../../store/late-looks.ts';
import { takeLeases } from '../../store/leases.ts';
import { createRequestDesk } from '../../store/request-desk.ts';
import { takeCountedNonces } from '../../store/request-nonces.ts';
import { FIRST_ID, noteStuckRuns, readSuspects } from '../../store/stuck-runs.ts';
import { claimIdle, listUnwoken, takeWaitingTurn } from '../../store/sweeps.ts';
import { eventually } from '../support/eventually.ts';
import { ID, startMadeUp, type MadeUp } from './made-up.ts';

const ROLE = 'service_set_back';
const MINUTE = 60_000;
const AHEAD = 120 * MINUTE;
/** By then what a right clock has stamped now is due. */
const SOON = 5 * MINUTE;

let made: MadeUp;
const connections: Database[] = [];
/** The database as the service has it, whose clock is right. */
let right: Database;
let ahead: Database;
/** As `right`, a few minutes later. */
let soon: Database;

function asService(laterMs: number): Database {
  const db = connectDatabase({
    url: made.bench.url,
    poolSize: 4,
    sessionSettings: { role: ROLE, 'svc.clock_offset_ms': String(laterMs) },
  });
  connections.push(db);
  return db;
}
const sql = <T>(text: string, ...values: unknown[]): Promise<T[]> =>
  made.bench.sql<T>(text, ...values);

beforeAll(async () => {
  made = await startMadeUp();
  await sql(`CREATE ROLE ${ROLE}`);
  await grantService(made.bench.url, ROLE);
  [right, ahead, soon] = [asService(0), asService(AHEAD), asService(SOON)];
  // Last changed a few minutes before the clock was set back; no run is there.
  const changed = "updated_at = svc_now() + interval '115 minutes'";
  await sql(
    `UPDATE movements SET request_state = 'EXECUTING', ${changed},
      swept_at = CASE movement_id WHEN $1::uuid THEN svc_now() - interval '1 day' END
     WHERE movement_id IN ($1::uuid, $2::uuid)`,
    made.sending,
    made.signed,
  );
  await sql(`UPDATE capital_transfers SET seen_version = version, ${changed}`);
  await sql(
    `UPDATE movement_nodes SET next_late_look = svc_now(), completed_at = svc_now()
     WHERE movement_id = $1::uuid`,
    made.waiting,
  );
});
afterAll(async () => {
  await Promise.all(connections.map((db) => db.$disconnect()));
  await made?.close();
});
beforeEach(() => sql("UPDATE clock_mark SET highest = '-infinity'"));

const lengthOf = async (db: Database, taken: string): Promise<number> => {
  const [row] = await db.$queryRawUnsafe<{ count: number }[]>(
    `SELECT jsonb_array_length(${taken}) AS count`,
  );
  return row?.count ?? 0;
};
const key = (digit: string): string => digit.repeat(64);
let fetches = 0;

/** What is stamped, and how many of it a process gets by the clock of its database. */
const TAKEN: readonly (readonly [stamp: string, take: (db: Database) => Promise<number>])[] = [
  ['nonce_lanes.tended_until', (db) => lengthOf(db, 'take_lanes(5, 5)')],
  [
    'movements.swept_at',
    async (db) => {
      const swept = await claimIdle(db, { idleSeconds: 1, limit: 50 });
      return swept.filter(({ movement_id }) => movement_id === made.sending).length;
    },
  ],
  ['commands.claimed_until', async (db) => (await claimCommands(db, 50)).length],
  [
    'callbacks.claimed_until',
    async (db) => (await claimCallbacks(db, { limit: 5, leaseSeconds: 15 })).length,
  ],
  [
    'capital_transfers.claimed_until',
    async (db) => (await claimTransfers(db, { idleSeconds: 1, limit: 5 })).length,
  ],
  [
    'movement_nodes.next_late_look',
    async (db) => {
      const called = ['acme.payouts'];
      return (await takeLateLooks(db, { called, followed: [], pauseSeconds: 60, limit: 5 })).length;
    },
  ],
  ['perp_agent_wallets.next_look_at', (db) => lengthOf(db, 'take_perp_wallets(60, 5)')],
  ['turns.due_at', async (db) => ((await takeWaitingTurn(db, 240)) === null ? 0 : 1)],
  [
    'leases.ends_at',
    async (db) =>
      (await takeLeases(db, { names: ['a loop'], holder: randomUUID(), seconds: 15 })).length,
  ],
  [
    'stuck_runs.last_seen',
    async (db) => {
      const after = { unread: FIRST_ID, known: FIRST_ID };
      const { at } = await readSuspects(db, after, { seconds: 60, limit: 5 });
      const run_id = randomUUID();
      const found = { kind: 'movement', id: made.waiting, cause: 'task_fails' } as const;
      await noteStuckRuns(db, at, [{ ...found, run_id, message: null }]);
      return (await sql('SELECT run_id FROM stuck_runs WHERE run_id = $1', run_id)).length;
    },
  ],
  [
    'balance_snapshots.fetched_at',
    async (db) => {
      const total = String((fetches += 1));
      const amounts = { available: total, withdrawable: total, total, details: null };
      await refreshBalances(
        db,
        'a venue',
        () =>
          Promise.resolve({
            pools: [{ account_type: 'SPOT', asset: 'USDC', ...amounts }],
            outlook: null,
          }),
        () => undefined,
      );
      const rows = await readBalances(db, { venue_key: 'a venue' }, 60);
      return rows.filter((row) => row.total === total).length;
    },
  ],
  [
    'rate_windows.ends_at',
    async (db) => {
      const [taken] = await takeCountedNonces(db, [{ key_id: 'key', nonce: randomUUID() }]);
      // The first request of a new minute.
      return taken?.window?.place === 1 ? 1 : 0;
    },
  ],
  [
    'request_desks.whole_at',
    async (db) => {
      const budget = { capacity: 1, units_per_second: 1 };
      return (await createRequestDesk(db).take(key('a'), 1, budget, 0)) === null ? 0 : 1;
    },
  ],
  [
    'request_desks.turn_until',
    async (db) => ((await createRequestDesk(db).takeTurn(key('b'), 1_000)) === null ? 0 : 1),
  ],
];

test.each(TAKEN)('%s that a clock ahead has stamped rests no longer', async (stamp, take) => {
  expect(await noteClock(ahead)).toBeNull();
  expect(await take(ahead)).toBeGreaterThan(0);
  expect(await take(soon)).toBe(0);
  const back = await noteClock(right);
  expect(Object.keys(back?.cut ?? {})).toContain(stamp);
  expect(await take(soon)).toBeGreaterThan(0);
});

test('a movement that no sweep has seen since a clock ahead changed it is woken', async () => {
  await sql('UPDATE commands SET applied_at = now() WHERE movement_id = $1::uuid', made.signed);
  await sql('UPDATE movements SET swept_at = NULL WHERE movement_id = $1::uuid', made.signed);
  const unwoken = await listUnwoken(right, { idleSeconds: 30, limit: 50 });
  expect(unwoken.map(({ movement_id }) => movement_id)).toContain(made.signed);
});

interface Rest {
  readonly of_table: string;
  readonly of_column: string;
  /** Which rows count. */
  readonly of_rows: string;
}
const rests = (): Promise<Rest[]> =>
  sql<Rest>('SELECT of_table, of_column, of_rows FROM clock_rests()');
const nameOf = ({ of_table, of_column }: Omit<Rest, 'of_rows'>): string =>
  `${of_table}.${of_column}`;

/** The rows of all tables with rests, without these; and those of allowed addresses. */
async function facts(): Promise<unknown> {
  const columns = new Map<string, string[]>([['allowed_addresses', []]]);
  for (const { of_table, of_column } of await rests())
    columns.set(of_table, [...(columns.get(of_table) ?? []), of_column]);
  const tables: unknown[] = [];
  for (const [table, cut] of columns)
    tables.push([
      table,
      await sql(
        `SELECT (to_jsonb(t) - $1::text[])::text AS row FROM ${table} t ORDER BY 1`,
        `{${cut.join(',')}}`,
      ),
    ]);
  return tables;
}

/** All rests, and facts beside them, as two hours ahead of a right clock. */
async function stampAll(): Promise<void> {
  const writer = await made.connect();
  await writer.query(`
    SET session_replication_role = replica;
    INSERT INTO leases VALUES ('a loop', 'a holder', now()) ON CONFLICT DO NOTHING;
    INSERT INTO rate_windows VALUES ('key', now(), 1) ON CONFLICT DO NOTHING;
    INSERT INTO request_desks (key, whole_at) VALUES ('${key('a')}', now()) ON CONFLICT DO NOTHING;
    INSERT INTO balance_snapshots (venue_key, account_type, asset, fetched_at)
      VALUES ('a venue', 'SPOT', 'USDC', now()) ON CONFLICT DO NOTHING;
    INSERT INTO stuck_runs (entity_id, kind, run_id, cause, since, last_seen)
      VALUES ('${made.waiting}', 'movement', 'r', 'task_fails', now(), now())
      ON CONFLICT DO NOTHING;
    INSERT INTO venue_outlooks (venue_key, closed, read_at) VALUES ('a venue', '[]', now());
    INSERT INTO perp_accounts VALUES ('an account', 1, 1, 0, now());
    INSERT INTO transfer_clock_waits VALUES ('${ID('1')}', 'a clock', now(), now())`);
  const stamped = (await rests()).map(({ of_table, of_column }) => `${of_table} SET ${of_column}`);
  for (const each of [
    ...stamped,
    'movements SET expires_at',
    'movement_nodes SET send_not_after',
    'capital_transfers SET send_not_after',
    'capital_transfers SET pending_until',
    'perp_agent_wallets SET valid_until',
    'request_desks SET stopped_until',
    'allowed_addresses SET usable_after',
    "nonce_lanes SET cap_raise = '{}', cap_raised_until",
  ])
    await writer.query(`UPDATE ${each} = svc_now() + interval '2 hours'`);
}

test('every rest is cut, no fact changes, and one process alone does it', async () => {
  await stampAll();
  const before = await facts();
  await noteClock(ahead);
  const backs = await Promise.all(Array.from({ length: 8 }, () => noteClock(right)));
  const [back, ...others] = backs.filter((each) => each !== null);
  expect(others).toEqual([]);
  expect(Object.keys(back?.cut ?? {}).sort()).toEqual((await rests()).map(nameOf).sort());
  expect(back?.back_seconds).toBeGreaterThan(AHEAD / 1_000 - 60);
  for (const { of_table, of_column, of_rows } of await rests())
    expect(
      await sql(
        `SELECT ${of_column} FROM ${of_table} WHERE ${of_column} > svc_now() AND (${of_rows})`,
      ),
    ).toEqual([]);
  expect(await facts()).toEqual(before);
  // What was paid since their reading may not be in them.
  expect(
    await sql(
      "SELECT asset FROM balance_snapshots WHERE fetched_at > svc_now() - interval '23 hours'",
    ),
  ).toEqual([]);
});

test('a reading that began by the clock ahead is not stored behind the cut', async () => {
  const pools = '[{"account_type": "SPOT", "asset": "USDC", "available": 1}]';
  for (const began of ["svc_now() + interval '1 hour'", 'svc_now()']) {
    await sql(`SELECT store_balances('late', ${began}, '${pools}')::text`);
    await sql(`SELECT store_outlook('late', ${began}, '{"closed": []}')::text`);
    const stored = await sql(
      `SELECT fetched_at <= svc_now() AS balances, read_at <= svc_now() AS outlook
       FROM balance_snapshots JOIN venue_outlooks USING (venue_key) WHERE venue_key = 'late'`,
    );
    expect(stored).toEqual(began === 'svc_now()' ? [{ balances: true, outlook: true }] : []);
  }
});

test('while the clock goes on, or is set back by seconds, nothing is cut', async () => {
  await sql("UPDATE nonce_lanes SET tended_until = svc_now() + interval '2 hours'");
  const seconds = asService(5_000);
  for (const db of [right, seconds, right, seconds, ahead]) expect(await noteClock(db)).toBeNull();
  const far = await sql(
    "SELECT chain_id FROM nonce_lanes WHERE tended_until > svc_now() + interval '1 hour'",
  );
  expect(far).toHaveLength(1);
});

test('what a right clock has leased stays leased', async () => {
  const leased = (): Promise<unknown> =>
    sql(`SELECT ends_at::text FROM leases WHERE name = 'another loop'`);
  await takeLeases(right, { names: ['another loop'], holder: 'this', seconds: 15 });
  const before = await leased();
  await noteClock(ahead);
  expect(await noteClock(right)).not.toBeNull();
  expect(await leased()).toEqual(before);
});

test('each worker looks with its clocks, and its log says what was cut', async () => {
  await noteClock(ahead);
  await sql("UPDATE turns SET due_at = svc_now() + interval '2 hours'");
  const lines: Record<string, unknown>[] = [];
  const loop = createClocks({
    db: right,
    log: pino({}, { write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) }),
    venues: {},
  }).start(60_000);
  try {
    await eventually(() => Promise.resolve(lines.length > 0 ? true : null));
  } finally {
    await loop.stop();
  }
  expect(lines).toEqual([
    expect.objectContaining({
      level: 50,
      cut: expect.objectContaining({ 'turns.due_at': 1 }) as unknown,
    }),
  ]);
  expect(await sql('SELECT name FROM turns WHERE due_at > svc_now()')).toEqual([]);
});

/** Names that say in every table when something happened. */
const HAPPENED = new Set(
  `accepted_at acknowledged_at applied_at approved_at assigned_at at changed_at completed_at
   confirmed_at created_at ended_at ended_badly_at enrolled_at filled_at final_at landed_late_at
   landing_seen_at last_drill_pass_at nonce_used_at observed_at occurred_at paused_changed_at
   released_at reorged_at requested_at reserved_at retired_at revoked_at sealed_at seen_at
   snapshot_at stale_detected_at started_at submitted_at updated_at used_at`.split(/\s+/),
);
/** Since when something is so: attention and alerts count from it. */
const SINCE = new Set(
  'since frozen_since late_fault_since stuck_since unanswered_since'.split(' '),
);
/** Why these are no rests, though they may lie ahead. */
const FACTS: Readonly<Record<string, string>> = {
  'allowed_addresses.usable_after': 'a cooling period',
  'capital_transfers.pending_until': 'ends a transfer, or brings it to a person',
  'capital_transfers.send_not_after': 'the window of a send',
  'change_requests.performed_until': 'what people have approved',
  'change_requests.proven_until': 'a proof of a person',
  'clock_mark.highest': 'the mark itself',
  'compromised_keys.until': 'a statement of a person',
  'dashboard_keys.code_until': 'a code ends',
  'dashboard_sessions.last_used_at': 'a session ends',
  'executors.health_checked_at': 'save_executor_health counts no check that lies ahead',
  'executors.health_stands_until': 'save_executor_health counts none of a check that lies ahead',
  'movement_nodes.next_look_at': 'is only shown',
  'movement_nodes.send_not_after': 'the window of a send',
  'movement_nodes.wait_overdue_at': 'when a wait is a matter for a person',
  'movements.expires_at': 'an approval ends',
  'nonce_lanes.cap_raised_until': 'a raise by a person ends',
  'perp_agent_wallets.valid_until': 'is signed',
  'request_desks.stopped_until': 'a stop by the exchange, which a request may make longer',
  'requested_looks.taken_until':
    'its caller waits less than a minute, so it is not looked at again',
  'template_proposals.expires_at': 'what a caller was answered',
};

test('every time of the database is a rest or a fact', async () => {
  const columns = await sql<Omit<Rest, 'of_rows'>>(
    `SELECT table_name::text AS of_table, column_name::text AS of_column
     FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
     WHERE table_schema = 'public' AND table_type = 'BASE TABLE'
       AND data_type = 'timestamp with time zone' AND table_name <> '_prisma_migrations'`,
  );
  const cut = new Set((await rests()).map(nameOf));
  const unlisted = columns.filter(
    (each) =>
      !cut.has(nameOf(each)) &&
      !Object.hasOwn(FACTS, nameOf(each)) &&
      !HAPPENED.has(each.of_column) &&
      !SINCE.has(each.of_column),
  );
  expect(unlisted.map(nameOf)).toEqual([]);
  const known = new Set(columns.map(nameOf));
  expect([...cut, ...Object.keys(FACTS)].filter((name) => !known.has(name))).toEqual([]);
  expect([...cut].filter((name) => Object.hasOwn(FACTS, name))).toEqual([]);
});
