/**
 * Which changes the webhooks of the service hear of, and what the messages say: whoever writes
 * the change, and only once it is committed.
 */
import pg from 'pg';
import { WEBHOOK_TEST } from '../../domain/callbacks/webhook.ts';
import { grantService } from '../../prisma/grant.ts';
import { claimCallbacks, listCallbacks } from '../../store/callbacks.ts';
import { listWebhooks, removeWebhook, setWebhook, testWebhook } from '../../store/webhooks.ts';
import { toolAudit } from '../../tools/keys/audit.ts';
import { startStoreBench, type StoreBench } from './support.ts';

const HOUR = 3_600_000;
const ID = '00000000-0000-7000-8000-000000000001';
const ORIGIN = 'https://funds.example';
const AUDIT = toolAudit('webhook.set', 'desk');
const TRIED = toolAudit('webhook.test', 'desk');

let bench: StoreBench;
beforeAll(async () => {
  bench = await startStoreBench();
  for (const [name, event_types] of [
    ['desk', null],
    ['pager', ['cutover.changed']],
  ] as const)
    await setWebhook(
      bench.db,
      { name, url: `https://${name}.example/in`, event_types, console_origin: ORIGIN },
      AUDIT,
    );
});
afterAll(() => bench?.close());

interface Message {
  readonly webhook: string;
  readonly url: string;
  readonly event_type: string;
  readonly status: string;
  readonly payload: {
    readonly type: string;
    readonly timestamp: string;
    readonly data: Readonly<Record<string, unknown>>;
  };
}

/** Returns the messages since the last call, and checks what all of them have. */
async function messages(): Promise<readonly Message[]> {
  const rows = await bench.sql<Message & { readonly nonce: string; readonly event_id: string }>(
    `UPDATE callbacks c SET status = 'delivered' FROM callbacks f WHERE f.event_id = c.event_id
      AND c.webhook IS NOT NULL AND c.status <> 'delivered'
     RETURNING c.webhook, c.url, c.event_type, c.nonce, c.event_id, f.status, c.payload::jsonb`,
  );
  for (const { webhook, url, payload, event_type, nonce, event_id } of rows) {
    expect(url).toBe(`https://${webhook}.example/in`);
    expect(Object.keys(payload).sort()).toEqual(['data', 'timestamp', 'type']);
    expect(payload.type).toBe(event_type);
    expect(payload.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(Math.abs(Date.parse(payload.timestamp) - Date.now())).toBeLessThan(HOUR);
    expect(nonce).toBe(event_id);
  }
  return rows.sort((a, b) => a.webhook.localeCompare(b.webhook));
}

/** Runs statements of one session, as the owner or another role. */
async function session(statements: string, user?: string): Promise<void> {
  const url = new URL(bench.url);
  if (user !== undefined) Object.assign(url, { username: user, password: 'secret' });
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  try {
    await client.query(statements);
  } finally {
    await client.end();
  }
}

const timeline = (movementId: string, sequence: number, type: string, more = "NULL, '{}'") =>
  `INSERT INTO timeline_events (event_id, movement_id, sequence, event_type, node_key, actor,
    message, occurred_at, to_state, data) VALUES (gen_random_uuid(), '${movementId}', ${String(sequence)},
    '${type}', 'a', '{}', 'm', svc_now(), ${more})`;

test('each change that a person should know of makes one message, and others make none', async () => {
  const { movement_id } = await bench.movement({ unheld: true });
  const made = await messages();
  expect(made.map(({ webhook, payload }) => [webhook, payload.type, payload.data])).toEqual([
    [
      'desk',
      'movement.approval_needed',
      {
        movement_id,
        template_key: expect.any(String),
        expires_at: expect.stringMatching(/Z$/),
        link: `${ORIGIN}/console/movements/${movement_id}`,
      },
    ],
  ]);
  const [{ payload }] = made as [Message];
  const { template_key } = payload.data;
  await bench.sql(`INSERT INTO agent_authorities (authority_key, allowed_assets, allowed_chains,
    created_at, updated_at) VALUES ('authority', '{}', '{}', now(), now())`);
  await bench.sql(`INSERT INTO capital_transfers (transfer_id, client_scope, idempotency_key,
    request, request_state, source_venue, source_account_type, destination_venue,
    destination_account_type, asset, amount, reason, provider, created_by, claimed_until,
    created_at, updated_at) VALUES ('${ID}', 's', 'k', '{}', 'CREATED', 'a', 'a', 'b', 'b',
    'USDC', 1, 'r', 'p', '{}', now(), now(), now())`);
  const proposal = (id: string, status: string) => `INSERT INTO template_proposals (proposal_id,
    authority_key, status, proposal_kind, asset, requested_notional, request, bridge_attempt,
    reasons, client_scope, created_by, expires_at, created_at, updated_at) VALUES ('${id}',
    'authority', '${status}', 'static', 'USDC', 1, '{}', false, '{}', 's', '{}',
    '2026-11-29T12:00:00Z', now(), now())`;
  const request = (id: string, glass: boolean) => {
    const document = JSON.stringify({
      ...{ id, body: null, before: null, after: { address: '0x00' }, subject: 'x' },
      ...{ method: 'POST', path: '/x', idempotency_key: null, kinds: ['allowlist', 'keys'] },
      author: { client_id: 'ann' },
    });
    return `INSERT INTO change_requests (request_id, kinds, author, method, path, subject,
      row_after, document, hash, rules, break_glass, reason, created_at) VALUES ('${id}',
      '{allowlist,keys}', '{"client_id": "ann"}', 'POST', '/x', 'x', '{"address": "0x00"}',
      '${document}', encode(sha256('${document}'), 'hex'), '[]', ${String(glass)}, 'r',
      svc_now())`;
  };
  const callback = (id: string, status: string) => `INSERT INTO callbacks (event_id, movement_id,
    event_type, sequence, url, payload, nonce, status, next_attempt_at, last_error, created_at,
    updated_at) VALUES ('${id}', '${movement_id}', 'request_failed',
    ${String(Number(id.at(-1)) + 90)}, 'https://a.example/?token=1', '{}', '${id}', '${status}', now(),
    'timeout', now(), now())`;
  const transfer = (sequence: number, from: string, to: string) => `INSERT INTO
    capital_transfer_events (event_id, transfer_id, sequence, event_type, from_state, to_state,
    actor, message, data, occurred_at) VALUES (gen_random_uuid(), '${ID}', ${String(sequence)}, 'e', '${from}',
    '${to}', '{}', 'm', '{}', svc_now())`;
  const other = ID.replace(/1$/, '2');
  const third = ID.replace(/1$/, '3');
  const attention = (reason: string) => ({
    type: 'movement.attention',
    data: { movement_id, template_key, node_key: 'a', reason },
    path: `/movements/${movement_id}`,
  });
  const change = (type: string, id: string, more: object = {}) => ({
    type: `change_request.${type}`,
    data: { change_request_id: id, kind: 'allowlist', author: 'ann', ...more },
    path: `/changes/${id}`,
  });
  const dead = (event_id: string) => ({
    type: 'callback.dead_letter',
    data: {
      ...{ event_id, event_type: 'request_failed', movement_id, transfer_id: null },
      last_error: 'timeout',
    },
    path: '/callbacks?status=dead_letter',
  });
  const moved = (mode: string, previous_mode: string) => ({
    type: 'cutover.changed',
    data: { mode, previous_mode },
    path: '/',
  });
  const writes: readonly (readonly [sql: string, message?: object])[] = [
    [
      timeline(movement_id, 50, 'request_failed', `'FAILED', '{"error_code": "X"}'`),
      attention('failed'),
    ],
    [
      timeline(movement_id, 51, 'request_attention', `'WAITING_MANUAL_ACTION', '{}'`),
      attention('manual_gate'),
    ],
    [
      timeline(movement_id, 52, 'request_attention', `'MANUAL_INTERVENTION', '{}'`),
      attention('unknown_outcome'),
    ],
    [
      timeline(movement_id, 53, 'request_attention', `NULL, '{"reason": "lane_stuck"}'`),
      attention('lane_stuck'),
    ],
    [timeline(movement_id, 54, 'request_completed')],
    [`UPDATE movements SET next_sequence = 60 WHERE movement_id = '${movement_id}'`],
    [transfer(1, 'CREATED', 'SUBMITTING')],
    [
      transfer(2, 'SUBMITTING', 'MANUAL_INTERVENTION'),
      {
        type: 'capital_transfer.attention',
        data: { transfer_id: ID },
        path: `/transfers/${ID}`,
      },
    ],
    [transfer(3, 'MANUAL_INTERVENTION', 'MANUAL_INTERVENTION')],
    [request(ID, false), change('approval_needed', ID)],
    [request(other, true)],
    [
      `UPDATE change_requests SET state = 'rejected', ended_at = svc_now()
       WHERE request_id = '${ID}'`,
      change('ended', ID, { state: 'rejected' }),
    ],
    [
      `UPDATE change_requests SET state = 'applied', ended_at = svc_now(), standing = '[]'
       WHERE request_id = '${other}'`,
      change('break_glass', other, { state: 'applied' }),
    ],
    [request(third, false), change('approval_needed', third)],
    [
      `UPDATE change_requests SET state = 'outdated', ended_at = svc_now()
       WHERE request_id = '${third}'`,
      change('ended', third, { state: 'outdated' }),
    ],
    [
      `INSERT INTO approval_decisions (decision_id, subject_id, person, identity, hash, at)
       VALUES (gen_random_uuid(), '${movement_id}', 'ann', 'a', 'h', svc_now())`,
      {
        type: 'approval.recorded',
        data: { person: 'ann', decision: 'approve', movement_id, change_request_id: null },
        path: `/movements/${movement_id}`,
      },
    ],
    [
      `INSERT INTO approval_decisions (decision_id, subject_id, person, identity, hash, decision,
         at) VALUES (gen_random_uuid(), '${ID}', 'ann', 'a', 'h', 'withdraw', svc_now())`,
      {
        type: 'approval.recorded',
        data: { person: 'ann', decision: 'withdraw', movement_id: null, change_request_id: ID },
        path: `/changes/${ID}`,
      },
    ],
    [
      proposal(ID, 'submitted'),
      {
        type: 'template_proposal.decision_needed',
        data: {
          proposal_id: ID,
          authority_key: 'authority',
          expires_at: '2026-11-29T12:00:00.000Z',
        },
        path: `/proposals/${ID}`,
      },
    ],
    [proposal(third, 'rejected')],
    [callback(ID, 'pending')],
    [`UPDATE callbacks SET status = 'dead_letter' WHERE event_id = '${ID}'`, dead(ID)],
    [`UPDATE callbacks SET attempts = 3 WHERE event_id = '${ID}'`],
    [callback(other, 'dead_letter'), dead(other)],
    ["UPDATE cutover SET reason = 'other'"],
  ];
  for (const [write, message] of writes) {
    await bench.sql(write);
    const sent = (await messages()).map(({ webhook, status, payload: { type, data } }) => {
      const { link, ...facts } = data;
      return {
        webhook,
        status,
        type,
        data: facts,
        path: String(link).slice(`${ORIGIN}/console`.length),
      };
    });
    expect({ write, sent }).toEqual({
      write,
      sent: message === undefined ? [] : [{ webhook: 'desk', status: 'pending', ...message }],
    });
  }
  await bench.sql("UPDATE cutover SET mode = 'drain', previous_mode = 'normal'");
  expect(
    (await messages()).map(({ webhook, payload: { type, data } }) => [webhook, type, data]),
  ).toEqual(
    ['desk', 'pager'].map((webhook) => [
      webhook,
      'cutover.changed',
      { ...moved('drain', 'normal').data, link: `${ORIGIN}/console/` },
    ]),
  );
  await bench.sql("UPDATE cutover SET mode = 'normal'");
  expect(await messages()).toHaveLength(2);
});

test('a dead message of a webhook makes no other message', async () => {
  await messages();
  await testWebhook(bench.db, 'desk', TRIED);
  await bench.sql("UPDATE callbacks SET status = 'dead_letter' WHERE status = 'pending'");
  expect(await messages()).toMatchObject([{ event_type: WEBHOOK_TEST, status: 'dead_letter' }]);
});

test('keys that callers chose make no sentence and no link', async () => {
  const { movement_id } = await bench.movement({ unheld: true });
  await messages();
  const node = "'Pay <!here> to evil.example: 5,000 now', '{}'";
  await bench.sql(
    timeline(movement_id, 50, 'request_attention', "NULL, '{}'").replace("'a', '{}'", node),
  );
  const [message] = await messages();
  expect(message?.payload.data['node_key']).toBe('Pay???here??to?evil.example??5?000?now');
});

test('the node with an unknown outcome is named', async () => {
  const { movement_id } = await bench.movement({ unheld: true });
  await messages();
  await bench.sql(
    `UPDATE movement_nodes SET state = 'UNKNOWN' WHERE movement_id = '${movement_id}'`,
  );
  const event = timeline(movement_id, 50, 'request_attention', "'MANUAL_INTERVENTION', '{}'");
  await bench.sql(event.replace("'a', '{}'", "NULL, '{}'"));
  const [message] = await messages();
  expect(message?.payload.data).toMatchObject({ node_key: 'pay', reason: 'unknown_outcome' });
});

test('of each webhook one message is leased at a time, after the callbacks', async () => {
  const { movement_id } = await bench.movement({ unheld: true });
  await messages();
  for (let nr = 0; nr < 3; nr += 1) await testWebhook(bench.db, 'desk', TRIED);
  await testWebhook(bench.db, 'pager', TRIED);
  await bench.sql("UPDATE callbacks SET status = 'delivered' WHERE webhook IS NULL");
  await bench.sql(`INSERT INTO callbacks (event_id, movement_id, event_type, sequence, url, payload,
    nonce, status, next_attempt_at, created_at, updated_at) VALUES (gen_random_uuid(),
    '${movement_id}', 'request_failed', 1, 'https://a.example/', '{}', gen_random_uuid(), 'pending',
    svc_now(), svc_now(), svc_now())`);
  // The messages are due before the callback, and wait for it.
  await bench.sql(`UPDATE callbacks SET next_attempt_at = next_attempt_at - interval '1 hour'
    WHERE webhook IS NOT NULL`);
  const claim = async (limit: number, leaseSeconds = 60) =>
    (await claimCallbacks(bench.db, { limit, leaseSeconds })).map((each) => each.webhook);
  expect(await claim(1, 0)).toEqual([null]);
  expect((await claim(10)).map(String).sort()).toEqual(['desk', 'null', 'pager']);
  expect(await claim(10)).toEqual([]);
  await bench.sql("UPDATE callbacks SET status = 'delivered' WHERE claimed_until > svc_now()");
  expect(await claim(10)).toEqual(['desk']);
  await bench.sql("UPDATE callbacks SET status = 'delivered'");
});

test('what is rolled back, or approved as it is made, makes no message', async () => {
  await session("BEGIN; UPDATE cutover SET mode = 'drain'; ROLLBACK");
  expect(await messages()).toEqual([]);
  const { movement_id } = await bench.movement({ unheld: true });
  expect(await messages()).toHaveLength(1);
  // As a policy does it: the row is inserted as waiting and approved before the commit.
  await session(`BEGIN;
    INSERT INTO movements (movement_id, template_id, template_key, template_version,
      request_state, approval_status, reservation_status, next_sequence, asset, amount, intent,
      current_frontier, client_scope, expires_at, created_at, updated_at, outflow, pooled)
    SELECT '${ID}', template_id, template_key, template_version, 'PENDING_APPROVAL', 'pending',
      'none', 1, asset, amount, intent, current_frontier, client_scope, expires_at, created_at,
      updated_at, outflow, pooled FROM movements WHERE movement_id = '${movement_id}';
    UPDATE movements SET request_state = 'APPROVED' WHERE movement_id = '${ID}';
    COMMIT`);
  expect(await messages()).toEqual([]);
});

test('a webhook that is replaced keeps one row; one that is removed hears of nothing more', async () => {
  const fields = {
    name: 'desk',
    url: 'https://other.example/in',
    event_types: ['change_request.ended'],
    console_origin: 'https://console.example',
  } as const;
  expect(await setWebhook(bench.db, fields, AUDIT)).toMatchObject(fields);
  expect((await listWebhooks(bench.db)).map(({ name }) => name)).toEqual(['desk', 'pager']);
  await bench.sql("UPDATE cutover SET mode = 'frozen'");
  expect((await messages()).map(({ webhook }) => webhook)).toEqual(['pager']);
  const event_id = await testWebhook(bench.db, 'desk', TRIED);
  const page = { limit: 1, after: null };
  expect(await listCallbacks(bench.db, { webhook: 'desk' }, page)).toMatchObject([
    { event_id, url: fields.url, payload: { data: { link: 'https://console.example/console/' } } },
  ]);
  expect(await listCallbacks(bench.db, { webhook: 'pager' }, page)).toMatchObject([
    { event_type: 'cutover.changed' },
  ]);
  expect(await testWebhook(bench.db, 'other', TRIED)).toBeNull();
  expect(await removeWebhook(bench.db, 'pager', TRIED)).toBe(true);
  expect(await removeWebhook(bench.db, 'pager', TRIED)).toBe(false);
  expect(await removeWebhook(bench.db, 'desk', TRIED)).toBe(true);
  await bench.sql("UPDATE cutover SET mode = 'normal'");
  // The test message was never delivered, and went with its webhook.
  expect(await messages()).toEqual([]);
  expect(
    await bench.sql(`SELECT action, count(*)::integer AS rows FROM audit_events
      WHERE action LIKE 'webhook.%' GROUP BY action ORDER BY action`),
  ).toEqual([
    { action: 'webhook.set', rows: 3 },
    // Also for a removal here: the action is the caller's.
    { action: 'webhook.test', rows: 8 },
  ]);
});

test("the service's role reads no webhook, and what it changes makes messages all the same", async () => {
  await setWebhook(
    bench.db,
    {
      name: 'desk',
      url: 'https://desk.example/in',
      event_types: null,
      console_origin: ORIGIN,
    },
    AUDIT,
  );
  await bench.sql("CREATE ROLE service_of_webhooks LOGIN PASSWORD 'secret'");
  await grantService(bench.url, 'service_of_webhooks');
  const service = (statements: string) => session(statements, 'service_of_webhooks');
  const refused = { code: '42501' };
  await expect(service('SELECT url FROM webhooks')).rejects.toMatchObject(refused);
  await expect(
    service(`SELECT set_webhook('{"name": "x", "url": "https://x.example",
      "event_types": ["cutover.changed"], "console_origin": "https://x.example"}')`),
  ).rejects.toMatchObject(refused);
  await expect(
    service(`CREATE TEMP TABLE cutover (mode text); CREATE TRIGGER t AFTER UPDATE ON
      pg_temp.cutover FOR EACH ROW EXECUTE FUNCTION note_for_webhooks('cutover');
      INSERT INTO pg_temp.cutover VALUES ('x'); UPDATE pg_temp.cutover SET mode = 'y'`),
  ).rejects.toMatchObject(refused);
  expect(await messages()).toEqual([]);
  await service("UPDATE cutover SET mode = 'drain'");
  expect((await messages()).map(({ payload }) => payload.type)).toEqual(['cutover.changed']);
});
