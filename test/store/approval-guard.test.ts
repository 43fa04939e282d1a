/** What the database itself refuses, whoever writes: here the service's role, by plain SQL. */
import { createHash, randomUUID } from 'node:crypto';
import pg from 'pg';
import { grantService } from '../../prisma/grant.ts';
import { createMovementBy } from '../../store/movements.ts';
import { applyTransition } from '../../store/transition.ts';
import { approvalOf, startStoreBench, type StoreBench } from './support.ts';

const ROLE = 'stolen';
const REFUSED = 'insufficient_privilege';
/** What a node's row says of its action type. */
const FACTS = 'pays, claims_when, sent_field, tied_by, may_send';

let bench: StoreBench;
let service: pg.Client;
let owner: pg.Client;
beforeAll(async () => {
  bench = await startStoreBench({ guarded: true });
  await bench.sql(`CREATE ROLE ${ROLE}`);
  await grantService(bench.url, ROLE);
  service = new pg.Client({ connectionString: bench.url });
  await service.connect();
  await service.query(`SET ROLE ${ROLE}`);
  owner = new pg.Client({ connectionString: bench.url });
  await owner.connect();
});
afterAll(async () => {
  await service?.end();
  await owner?.end();
  await bench?.close();
});

/** What the statement does as the service's role: the message of its refusal, or how many rows. */
const write = (text: string, ...values: unknown[]) => writeAs(service, text, values);
/** The same as the owner of the tables, who has every right. */
const own = (text: string, ...values: unknown[]) => writeAs(owner, text, values);

async function writeAs(
  client: pg.Client,
  text: string,
  values: unknown[],
): Promise<string | number | null> {
  try {
    return (await client.query(text, values)).rowCount;
  } catch (error) {
    const { code, message } = error as pg.DatabaseError;
    return code === '42501' ? `${REFUSED}: ${message}` : message;
  }
}
const unapproved = (id: string) => `${REFUSED}: movement ${id} has no approval of its plan`;
const forbidden = (table: string) => `${REFUSED}: permission denied for table ${table}`;
const immutable = (id: string) => `${REFUSED}: the plan of movement ${id} cannot be changed`;

const setMovement = (id: string, what: string) =>
  write(`UPDATE movements SET ${what} WHERE movement_id = $1`, id);
const setNode = (id: string, what: string) =>
  write(`UPDATE movement_nodes SET ${what} WHERE movement_id = $1`, id);
const ownMovement = (id: string, what: string) =>
  own(`UPDATE movements SET ${what} WHERE movement_id = $1`, id);
const ownNode = (id: string, what: string) =>
  own(`UPDATE movement_nodes SET ${what} WHERE movement_id = $1`, id);

const RUNS = ['APPROVED', 'EXECUTING', 'WAITING_MANUAL_ACTION', 'MANUAL_INTERVENTION'];
const LEFT = ['READY', 'SUBMITTING', 'SUBMITTED', 'OBSERVING', 'COMPLETED', 'FAILED', 'UNKNOWN'];

test('no plain write runs, readies or sends what was not approved', async () => {
  const { movement_id: id } = await bench.movement();
  // From every state in which nothing runs; an ended one is among them.
  for (const from of ['PENDING_APPROVAL', 'CANCELLED', 'REJECTED', 'EXPIRED', 'FAILED']) {
    expect(await setMovement(id, `request_state = '${from}'`)).toBe(1);
    for (const state of RUNS)
      expect(await setMovement(id, `request_state = '${state}'`)).toBe(unapproved(id));
  }
  expect(await setMovement(id, "approval_status = 'approved'")).toBe(unapproved(id));
  for (const from of ['BLOCKED', 'SKIPPED', 'CANCELLED']) {
    expect(await setNode(id, `state = '${from}'`)).toBe(1);
    for (const state of LEFT) expect(await setNode(id, `state = '${state}'`)).toBe(unapproved(id));
  }
  // A node that a restore has marked may be looked for, and is never sent.
  expect(await setNode(id, "state = 'READY', recover_first = true")).toBe(1);
  expect(await setNode(id, "state = 'SUBMITTING', recover_first = false")).toBe(unapproved(id));
});

test('nor does a row that is made as if it ran, or an approval of another plan', async () => {
  const { movement_id: id } = await bench.movement();
  const columns = await bench.sql<{ name: string }>(
    `SELECT attname AS name FROM pg_attribute WHERE attrelid = 'movements'::regclass
       AND attnum > 0 AND attgenerated = '' AND attname NOT IN ('movement_id', 'request_state')`,
  );
  const others = columns.map(({ name }) => name).join(', ');
  const copy = `INSERT INTO movements (movement_id, request_state, ${others})
    SELECT gen_random_uuid(), $2, ${others} FROM movements WHERE movement_id = $1`;
  for (const state of RUNS)
    expect([await own(copy, id, state), await write(copy, id, state)]).toEqual([
      expect.stringMatching(/has no approval of its plan$/),
      forbidden('movements'),
    ]);
  expect(
    await own(
      `INSERT INTO movement_nodes (movement_id, node_key, position, node_kind, action_type, state,
         executor_binding, updated_at, own_plan, ${FACTS})
       SELECT movement_id, 'other', 1, node_kind, action_type, 'READY', executor_binding,
         updated_at, own_plan, ${FACTS} FROM movement_nodes WHERE movement_id = $1`,
      id,
    ),
  ).toBe(unapproved(id));
  await bench.sql(
    `INSERT INTO movement_approvals VALUES ($1::uuid, repeat('0', 64), 'auth_off', NULL, now())`,
    id,
  );
  expect(await setMovement(id, "request_state = 'APPROVED'")).toBe(unapproved(id));
  expect(await setNode(id, "state = 'READY'")).toBe(unapproved(id));
});

test('what refuses is neither switched off nor deceived by tables of the same names', async () => {
  const { movement_id: id } = await bench.movement();
  for (const text of [
    'ALTER TABLE movements DISABLE TRIGGER ALL',
    'ALTER TABLE movement_nodes DISABLE TRIGGER movement_nodes_need_approval',
    'DROP TRIGGER movements_need_approval ON movements',
    'CREATE OR REPLACE FUNCTION require_approval() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$',
    'SET session_replication_role = replica',
    'DELETE FROM movement_approvals',
    "UPDATE movement_approvals SET plan_hash = ''",
  ])
    expect([text, await write(text)]).toEqual([text, expect.stringMatching(REFUSED)]);
  for (const table of ['movement_approvals', 'movement_plans'])
    await service.query(`CREATE TEMP TABLE ${table} AS
      SELECT '${id}'::uuid AS movement_id, 'x' AS plan_hash, 'x' AS compiled_plan_hash`);
  expect(await setMovement(id, "request_state = 'APPROVED'")).toBe(unapproved(id));
  expect(await setNode(id, "state = 'READY'")).toBe(unapproved(id));
  await service.query('DROP TABLE pg_temp.movement_approvals, pg_temp.movement_plans');
});

test('an approved movement goes on as before', async () => {
  const { movement_id } = await bench.movement();
  const approved = await applyTransition(bench.db, approvalOf(movement_id));
  expect(approved).toMatchObject({ ok: true });
  expect(await setMovement(movement_id, "request_state = 'EXECUTING'")).toBe(1);
  for (const state of LEFT) expect(await setNode(movement_id, `state = '${state}'`)).toBe(1);
});

test('no node is added to what was approved', async () => {
  const { movement_id: id } = await bench.movement();
  const later = (key: string) =>
    own(
      `INSERT INTO movement_nodes (movement_id, node_key, position, node_kind, action_type, state,
         executor_binding, updated_at, own_plan, ${FACTS})
       SELECT movement_id, $2, 1, node_kind, action_type, 'BLOCKED', executor_binding, updated_at,
         own_plan, ${FACTS} FROM movement_nodes WHERE movement_id = $1 LIMIT 1`,
      id,
      key,
    );
  expect(await later('before')).toBe(1);
  await bench.approve(id);
  expect(await later('after')).toBe(immutable(id));
  await owner.query('CREATE TEMP TABLE movement_approvals (movement_id uuid)');
  expect(await later('unseen')).toBe(immutable(id));
  await owner.query('DROP TABLE pg_temp.movement_approvals');
});

test('nor by a statement that adds nodes to other movements too', async () => {
  const { movement_id: open } = await bench.movement();
  const { movement_id: id } = await bench.movement();
  const { movement_id: last } = await bench.movement();
  await bench.approve(id);
  const add = (ids: readonly string[]) =>
    own(
      `INSERT INTO movement_nodes (movement_id, node_key, position, node_kind, action_type, state,
         executor_binding, updated_at, own_plan, ${FACTS})
       SELECT movement_id, 'more', 1, node_kind, action_type, 'BLOCKED', executor_binding,
         updated_at, own_plan, ${FACTS} FROM movement_nodes WHERE movement_id = ANY ($1::uuid[])`,
      ids,
    );
  expect(await add([open, id, last])).toBe(immutable(id));
  expect(await add([])).toBe(0);
  expect(await add([open, last])).toBe(2);
});

test('no node is made of whose action type nothing is known', async () => {
  const { movement_id: id } = await bench.movement();
  const all = FACTS.split(', ');
  const made = (columns: readonly string[], values: readonly string[] = columns) =>
    own(
      `INSERT INTO movement_nodes (movement_id, node_key, position, node_kind, action_type, state,
         executor_binding, updated_at, own_plan, ${columns.join(', ')})
       SELECT movement_id, 'new', 1, node_kind, action_type, 'BLOCKED', executor_binding,
         updated_at, own_plan, ${values.join(', ')} FROM movement_nodes WHERE movement_id = $1`,
      id,
    );
  for (const name of all)
    expect(await made(all.filter((each) => each !== name))).toBe(
      `null value in column "${name}" of relation "movement_nodes" violates not-null constraint`,
    );
  for (const name of all.filter((each) => each !== 'may_send'))
    expect(
      await made(
        all,
        all.map((each) => (each === name ? "''" : each)),
      ),
    ).toBe(
      `new row for relation "movement_nodes" violates check constraint "movement_nodes_${name}_check"`,
    );
  // What sends nothing draws nothing.
  expect(await made([...all, 'flow'], [...all.slice(0, -1), 'false', 'flow'])).toMatch(
    /violates check constraint "movement_nodes_check"$/,
  );
  expect(await made([...all, 'flow'])).toBe(1);
});

test('nothing changes what a movement was approved for', async () => {
  const { movement_id: id } = await bench.movement();
  await bench.approve(id);
  for (const what of [
    "intent = '{}'",
    "outflow = '[]'",
    'amount = 4',
    "asset = 'ETH'",
    'limit_amount = 1',
    'pooled = NOT pooled',
    "strategy_id = 'other'",
    "template_key = 'other'",
    "agent = 'other'",
  ])
    expect([what, await ownMovement(id, what)]).toEqual([what, immutable(id)]);
  for (const what of [
    "own_plan = '{}'",
    "action_type = 'noop'",
    "node_kind = 'observe'",
    "executor_binding = '{}'",
    'on_cancel_target = true',
    "brings = 'pay'",
    "pays = 'nobody'",
    "claims_when = 'always'",
    "sent_field = 'received_amount'",
    "tied_by = 'allowance'",
    'may_send = NOT may_send',
    "flow = jsonb_set(flow, '{amount}', '\"4\"')",
    'flow = NULL',
  ])
    expect([what, await ownNode(id, what)]).toEqual([what, immutable(id)]);
  // A rotation moves what is not sent yet to the pool of the successor.
  expect(await ownNode(id, "flow = jsonb_set(flow, '{pool,venue_key}', '\"w\"')")).toBe(1);
});

/** What the service's role changes of a movement and of a node; all else is written once. */
const CHANGES: Readonly<Record<string, readonly string[]>> = {
  movements: [
    'request_state',
    'approval_status',
    'reservation_status',
    'version',
    'next_sequence',
    'current_frontier',
    'auto_approve_result',
    'error_code',
    'error_message',
    'approver_id',
    'approved_by',
    'run_id',
    'expires_at',
    'updated_at',
    'ended_at',
    'swept_at',
    'edge_conditions',
    'attention_told',
    'acknowledged_at',
  ],
  movement_plans: [],
  movement_nodes: [
    'state',
    'attempt',
    'amount',
    'preflight_passed',
    'prepared_action',
    'sign_request',
    'submit_epoch',
    'send_not_after',
    'recover_first',
    'restored',
    'resumed',
    'only_look',
    'cancel_asked',
    'error_count',
    'unanswered',
    'unanswered_since',
    'next_look_at',
    'questions',
    'frozen_since',
    'wait_overdue_at',
    'next_late_look',
    'late_fault_since',
    'landed_late_at',
    'landing_seen_at',
    'external_ref',
    'output',
    'error_code',
    'error_message',
    'started_at',
    'submitted_at',
    'updated_at',
    'completed_at',
  ],
};

test('the service’s role has no right to change what a movement is approved for', async () => {
  const { movement_id: id } = await bench.movement();
  for (const [table, changed] of Object.entries(CHANGES)) {
    const columns = await bench.sql<{ name: string }>(
      `SELECT attname AS name FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0
         AND attgenerated = '' AND NOT attisdropped`,
      table,
    );
    const kept = columns.map(({ name }) => name).filter((name) => !changed.includes(name));
    expect(kept.length).toBeGreaterThan(8);
    for (const column of kept)
      expect([
        column,
        await write(`UPDATE ${table} SET ${column} = ${column} WHERE movement_id = $1`, id),
      ]).toEqual([column, forbidden(table)]);
    for (const column of changed)
      expect([
        column,
        await write(`UPDATE ${table} SET ${column} = ${column} WHERE movement_id = $1`, id),
      ]).toEqual([column, 1]);
    expect(await write(`DELETE FROM ${table}`)).toBe(forbidden(table));
    expect(await write(`INSERT INTO ${table} (movement_id) VALUES ($1)`, id)).toBe(
      forbidden(table),
    );
  }
});

const CONTRADICTS = /^new row for relation "change_requests" violates check constraint "/;

test.each([
  ...['people', 'person_identities', 'former_identities', 'approver_groups'],
  ...['approver_group_members', 'approval_rules', 'movement_approval_rules', 'passkeys'],
  ...['movement_approval_standings', 'compromised_keys'],
])('what approvals are counted by is only read: %s', async (table) => {
  for (const change of [
    `INSERT INTO ${table} SELECT * FROM ${table}`,
    `DELETE FROM ${table}`,
    `TRUNCATE ${table}`,
  ])
    expect(await write(change)).toBe(forbidden(table));
  const [column] = await bench.sql<{ name: string }>(
    `SELECT attname::text AS name FROM pg_attribute
     WHERE attrelid = $1::text::regclass AND attnum = 1`,
    table,
  );
  expect(await write(`UPDATE ${table} SET ${column?.name ?? ''} = NULL`)).toBe(forbidden(table));
});

test.each(['approval_decisions', 'passkey_candidates', 'deployments'])(
  'what people did is only added: %s',
  async (table) => {
    expect(await write(`DELETE FROM ${table}`)).toBe(forbidden(table));
  },
);

test('a change request only ends, once, and only the owner makes one alone', async () => {
  /** A request as JSON, whose document says the same but for `lie`. */
  const row = (more: object, lie: object) => {
    const request = {
      ...{ request_id: randomUUID(), kinds: ['allowlist'], author: { client_id: 'a' } },
      ...{ method: 'POST', path: '/', body: {}, subject: 'allowed_addresses', row_after: {} },
      ...{ rules: [], state: 'open', break_glass: false, created_at: '2026-01-01T00:00:00Z' },
      ...more,
    };
    const {
      request_id: id,
      kinds,
      author,
      method,
      path,
      body,
      subject,
      row_after: after,
    } = request;
    const said = { id, kinds, author, method, path, body, subject, before: null, after, ...lie };
    const document = JSON.stringify(said);
    const hash = createHash('sha256').update(document).digest('hex');
    return JSON.stringify({ document, hash, ...request });
  };
  const insert = (more: object, lie = {}) =>
    write(
      `INSERT INTO change_requests SELECT (jsonb_populate_record(NULL::change_requests, $1)).*`,
      row(more, lie),
    );
  const glass = `${REFUSED}: only the owner of the database breaks the glass`;
  expect(await insert({ break_glass: true, reason: 'r' })).toBe(glass);
  expect(await insert({ proven_until: '2999-01-01T00:00:00Z' })).toBe(glass);
  expect(await insert({ created_at: '2999-01-01T00:00:00Z' })).toMatch(/is made open$/);
  expect(await insert({ standing: [] })).toMatch(/has no standing of its own$/);
  // Whoever wants a change of fundadmin is its initiator.
  expect(await insert({ author: { client_id: 'fundadmin:ann' } })).toMatch(CONTRADICTS);
  expect(await insert({ state: 'applied', ended_at: '2026-01-01T00:00:00Z' })).toBe(
    `${REFUSED}: a change request is made open`,
  );
  // What people approve is what decides.
  for (const lie of [
    { id: randomUUID() },
    { kinds: ['keys'] },
    { author: { client_id: 'b' } },
    { method: 'PUT' },
    { path: '/other' },
    { body: { a: 1 } },
    { idempotency_key: 'k' },
    { subject: 'executors' },
    { before: { a: 1 } },
    { after: { a: 1 } },
  ])
    expect([lie, await insert({}, lie)]).toEqual([lie, expect.stringMatching(CONTRADICTS)]);
  expect(await insert({ hash: 'f'.repeat(64) })).toMatch(CONTRADICTS);
  expect(await insert({})).toBe(1);
  const ends = `${REFUSED}: a change request only ends`;
  expect(await write(`UPDATE change_requests SET rules = '[1]'`)).toBe(ends);
  expect(await write('UPDATE change_requests SET proven_until = now()')).toBe(ends);
  expect(await write(`UPDATE change_requests SET standing = '[]'`)).toMatch(/of its own$/);
  await service.query(`CREATE TEMP TABLE pg_class AS SELECT 'change_requests'::regclass::oid AS oid,
    (SELECT oid FROM pg_roles WHERE rolname = current_user) AS relowner`);
  expect(await write('UPDATE change_requests SET proven_until = now()')).toBe(ends);
  await service.query('DROP TABLE pg_temp.pg_class');
  expect(await write(`UPDATE change_requests SET row_after = '{"a": 1}'`)).toBe(ends);
  const end = (state: string) =>
    write(`UPDATE change_requests SET state = $1, ended_at = now()`, state);
  expect(await end('rejected')).toBe(1);
  expect(await write(`UPDATE change_requests SET state = 'open', ended_at = NULL`)).toBe(ends);
  expect(await end('withdrawn')).toBe(ends);
  expect(await write('DELETE FROM change_requests')).toBe(forbidden('change_requests'));
});

test('what runs with the owner’s rights is not deceived by temporary tables, nor for everyone', async () => {
  // Whatever a write to a table of the caller's own fires would run as the owner.
  const tables = ['movements', 'movement_plans', 'movement_nodes', 'signers'];
  for (const table of tables)
    await service.query(`CREATE TEMP TABLE ${table} (LIKE public.${table} INCLUDING ALL)`);
  const draft = { ...bench.draft(), auto_approve_result: null };
  const { movement_id: id } = await createMovementBy(bench.db, draft, async (doc) => {
    const { rows } = await service.query<{ answer: never }>(
      'SELECT create_movement($1::jsonb) AS answer',
      [doc],
    );
    return rows;
  });
  await service.query(`DROP TABLE ${tables.map((table) => `pg_temp.${table}`).join(', ')}`);
  expect(await bench.sql('SELECT FROM movement_nodes WHERE movement_id = $1::uuid', id)).toEqual([
    {},
  ]);
  await bench.sql('CREATE ROLE outsider');
  expect(
    await bench.sql(
      `SELECT proname::text AS name, array_to_string(proconfig, ', ') AS settings,
         has_function_privilege('outsider', oid, 'EXECUTE') AS outsiders
       FROM pg_proc WHERE prosecdef AND pronamespace = 'public'::regnamespace ORDER BY 1`,
    ),
  ).toEqual(
    [
      ...['create_movement', 'note_for_consoles', 'note_for_webhooks', 'rebind_nodes'],
      ...['remove_console_events', 'require_change', 'require_quorum'],
    ].map((name) => ({
      name,
      settings: 'search_path=public, pg_temp',
      outsiders: false,
    })),
  );
});

test('a movement that contradicts its plan is not made, and edges alone say where a cancel leads', async () => {
  const made = (change: (doc: Doc) => void) =>
    createMovementBy(bench.db, { ...bench.draft(), auto_approve_result: null }, async (text) => {
      const doc = JSON.parse(text) as Doc;
      change(doc);
      const { rows } = await service.query<{ answer: never }>(
        'SELECT create_movement($1::jsonb) AS answer',
        [JSON.stringify(doc)],
      );
      return rows;
    });
  const lies: readonly object[] = [
    { asset: 'USDT' },
    { amount: '0.01' },
    { outflow: [] },
    { template_version: 99 },
    { template_key: 'another' },
  ];
  for (const lie of lies)
    await expect(made(({ movement }) => Object.assign(movement, lie))).rejects.toThrow(
      /contradicts its plan/,
    );
  const { movement_id: id } = await made(({ nodes }) => {
    for (const node of nodes) Object.assign(node, { on_cancel_target: true, conditional: true });
  });
  const facts =
    'SELECT on_cancel_target, conditional FROM movement_nodes WHERE movement_id = $1::uuid';
  expect(await bench.sql(facts, id)).toEqual([{ on_cancel_target: false, conditional: false }]);
});

interface Doc {
  readonly movement: object;
  readonly nodes: readonly object[];
}
