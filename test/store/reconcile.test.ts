/** What the service has sent from and to an account of an exchange, as a comparison reads it. */
import { randomUUID } from 'node:crypto';
import type { StoredRecord } from '../../domain/reconcile/records.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { TemplateNode } from '../../domain/plan/types.ts';
import { readOurRecords, type OurRecordsQuery } from '../../store/reconcile.ts';
import { paying, storeBench } from './support.ts';

const bench = storeBench();

const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7';
const HASH = `0x${'ab'.repeat(32)}`;
const SINCE = '2026-01-02T00:00:00.000Z';
const BEFORE = '2026-01-03T00:00:00.000Z';
/** Times of that day. */
const NINE = '2026-01-02T09:00:00.000Z';
const TEN = '2026-01-02T10:00:00.000Z';
const ELEVEN = '2026-01-02T11:00:00.000Z';

/** Each test has an account of its own, so that none reads what another one made. */
const account = (): string => `main-${randomUUID()}`;

const node = (
  node_key: string,
  action_type: string,
  config: JsonObject,
  node_kind: TemplateNode['node_kind'] = 'action',
): TemplateNode => ({
  node_key,
  node_kind,
  action_type,
  has_side_effect: node_kind === 'action',
  config,
});

/** A movement that was created at nine, with these nodes one after another. */
async function movement(...nodes: readonly TemplateNode[]): Promise<string> {
  const edges = nodes.slice(1).map((to, index) => ({
    from: nodes[index]?.node_key ?? '',
    to: to.node_key,
    edge_type: 'on_success' as const,
    priority: 0,
    condition_expr: null,
    join_key: null,
  }));
  const { movement_id } = await bench.movement({ shape: { nodes, edges }, amount: '7' });
  await bench.sql(
    'UPDATE movements SET created_at = $2::timestamptz WHERE movement_id = $1::uuid',
    movement_id,
    NINE,
  );
  return movement_id;
}

/** Writes what phases have stored of a node. */
async function set(
  movementId: string,
  nodeKey: string,
  fields: {
    readonly state: string;
    readonly attempt?: number;
    readonly amount?: string;
    readonly external_ref?: string;
    readonly output?: JsonObject;
    readonly submitted_at?: string;
    readonly completed_at?: string;
  },
): Promise<void> {
  await bench.sql(
    `UPDATE movement_nodes SET state = $3, attempt = $4, amount = $5::numeric, external_ref = $6,
      output = $7::jsonb, submitted_at = $8::timestamptz, completed_at = $9::timestamptz
     WHERE movement_id = $1::uuid AND node_key = $2`,
    movementId,
    nodeKey,
    fields.state,
    fields.attempt ?? 1,
    fields.amount ?? '7',
    fields.external_ref ?? null,
    fields.output === undefined ? null : JSON.stringify(fields.output),
    fields.submitted_at ?? null,
    fields.completed_at ?? null,
  );
}

/** Writes that an attempt passed the fence. */
async function attempt(
  movementId: string,
  nodeKey: string,
  number: number,
  about: {
    readonly started_at: string;
    readonly ended_at?: string;
    readonly outcome?: string;
    readonly external_ref?: string;
  },
): Promise<string> {
  const key = `${movementId}:${nodeKey}:${String(number)}`;
  await bench.sql(
    `INSERT INTO node_attempts (idempotency_key, movement_id, node_key, attempt, started_at,
      ended_at, outcome, external_ref)
     VALUES ($1, $2::uuid, $3, $4, $5::timestamptz, $6::timestamptz, $7, $8)`,
    key,
    movementId,
    nodeKey,
    number,
    about.started_at,
    about.ended_at ?? null,
    about.outcome ?? null,
    about.external_ref ?? null,
  );
  return key;
}

/** Writes the line of the timeline that has the amount of an attempt. */
async function sentAmount(movementId: string, key: string, amount: string): Promise<void> {
  await bench.sql(
    `INSERT INTO timeline_events (event_id, movement_id, sequence, event_type, node_key, actor,
      message, data, occurred_at)
     SELECT gen_random_uuid(), $1::uuid, 1000 + count(*), 'node_submitting', 'out', '{}', 'm',
       jsonb_build_object('idempotency_key', $2::text, 'amount', $3::text), now()
     FROM timeline_events WHERE movement_id = $1::uuid`,
    movementId,
    key,
    amount,
  );
}

const read = (
  venue_key: string,
  more: Partial<OurRecordsQuery> = {},
  limit = 100,
): Promise<readonly StoredRecord[]> =>
  readOurRecords(
    bench.db,
    { venue_key, family: [venue_key], since: SINCE, before: BEFORE, ...more },
    limit,
  );

const withdrawing = (venue: string, more: JsonObject = {}): TemplateNode =>
  node('out', 'cex_withdrawal', {
    venue,
    network: 'ETH',
    destination_address: ADDRESS,
    tag: '42',
    ...more,
  });

test('each attempt of a withdrawal is a record of its own', async () => {
  const venue = account();
  const id = await movement(withdrawing(venue));
  const first = await attempt(id, 'out', 1, {
    started_at: NINE,
    ended_at: TEN,
    outcome: 'FAILED',
    external_ref: 'first',
  });
  const second = await attempt(id, 'out', 2, {
    started_at: TEN,
    ended_at: ELEVEN,
    outcome: 'COMPLETED',
  });
  await sentAmount(id, first, '5.5');
  await sentAmount(id, second, '7');
  const submitted_at = '2026-01-02T10:00:01.000Z';
  await set(id, 'out', {
    state: 'COMPLETED',
    attempt: 2,
    external_ref: 'second',
    output: { fee_amount: '0.250', received_amount: '6.75', tx_hash: HASH, network: 'ETH' },
    submitted_at,
    completed_at: ELEVEN,
  });
  // Another account's, and one that was not sent.
  const other = await movement(withdrawing(`${venue}-other`));
  await attempt(other, 'out', 1, { started_at: TEN });
  await movement(withdrawing(venue));

  const both = {
    kind: 'withdrawal',
    movement_id: id,
    node_key: 'out',
    transfer_id: null,
    asset: 'USDC',
    network: 'ETH',
    address: ADDRESS,
    tag: '42',
    transaction: null,
    source: null,
    destination: null,
  };
  const found = [...(await read(venue))].sort((a, b) => Number(a.attempt) - Number(b.attempt));
  expect(found).toEqual([
    {
      ...both,
      attempt: 1,
      send_key: first,
      state: 'FAILED',
      external_ref: 'first',
      amount: '5.5',
      fee: null,
      since: NINE,
      until: TEN,
    },
    {
      ...both,
      attempt: 2,
      send_key: second,
      state: 'COMPLETED',
      external_ref: 'second',
      amount: '7',
      fee: '0.25',
      since: TEN,
      until: submitted_at,
    },
  ]);
  expect(await read(venue, {}, 1)).toHaveLength(1);
});

test.each<[string, object]>([
  ['0.250', { fee_limit: '0.25' }],
  ['a quarter', {}],
])('a withdrawal has the limit of its fee as its plan says: %s', async (fee_limit, expected) => {
  const venue = account();
  const id = await movement(withdrawing(venue, { fee_limit }));
  await attempt(id, 'out', 1, { started_at: TEN });
  const [found, ...others] = await read(venue);
  expect(others).toEqual([]);
  const { fee_limit: limit } = found!;
  expect(limit === undefined ? {} : { fee_limit: limit }).toEqual(expected);
});

test('a completed booking within the exchange has no limit: its amount is that of the record', async () => {
  const venue = account();
  const id = await movement(withdrawing(venue, { fee_limit: '0.25' }));
  await attempt(id, 'out', 1, { started_at: TEN, ended_at: ELEVEN, outcome: 'COMPLETED' });
  const output = { fee_amount: '0', received_amount: '6.75', exchange_transaction: 'w-1' };
  await set(id, 'out', { state: 'COMPLETED', output });
  const [found] = await read(venue);
  expect(found).toMatchObject({ amount: '6.75' });
  expect(found).not.toHaveProperty('fee_limit');
});

test('of a withdrawal within the exchange the amount is what its record showed', async () => {
  const venue = account();
  const id = await movement(withdrawing(venue));
  await attempt(id, 'out', 1, { started_at: TEN, ended_at: ELEVEN, outcome: 'COMPLETED' });
  const output = { fee_amount: '1', received_amount: '6', exchange_transaction: 'Internal 1' };
  await set(id, 'out', { state: 'COMPLETED', output });
  expect(await read(venue)).toMatchObject([{ amount: '6', fee: '1' }]);
  await set(id, 'out', { state: 'COMPLETED', output: { ...output, tx_hash: HASH } });
  expect(await read(venue)).toMatchObject([{ amount: '7', fee: '1' }]);
  // A person may state any output.
  await set(id, 'out', { state: 'COMPLETED', output: { fee_amount: 'about 1' } });
  expect(await read(venue)).toMatchObject([{ amount: '7', fee: null, until: ELEVEN }]);
});

test('an attempt is read in every time in which the exchange may have recorded it', async () => {
  const venue = account();
  const id = await movement(withdrawing(venue));
  await attempt(id, 'out', 1, { started_at: TEN, ended_at: ELEVEN, outcome: 'FAILED' });
  await attempt(id, 'out', 2, { started_at: ELEVEN });
  await set(id, 'out', { state: 'UNKNOWN', attempt: 2 });
  const attempts = async (since: string, before: string) =>
    (await read(venue, { since, before })).map(({ attempt: number }) => number).sort();
  expect(await attempts(SINCE, TEN)).toEqual([]);
  expect(await attempts(SINCE, '2026-01-02T10:00:00.001Z')).toEqual([1]);
  expect(await attempts(ELEVEN, BEFORE)).toEqual([1, 2]);
  // The second one may still get a record.
  expect(await attempts('2026-01-02T11:00:00.001Z', BEFORE)).toEqual([2]);
  expect(await attempts('2026-02-01T00:00:00.000Z', '2026-02-02T00:00:00.000Z')).toEqual([2]);
  expect(await read(venue, { since: '2026-02-01T00:00:00.000Z', before: '2026-02-02' })).toEqual([
    expect.objectContaining({ state: 'UNKNOWN', until: null }),
  ]);
});

test('an attempt before the one that a person abandoned keeps its own outcome and time', async () => {
  const venue = account();
  const id = await movement(withdrawing(venue));
  const first = { started_at: NINE, ended_at: TEN, outcome: 'FAILED' };
  await attempt(id, 'out', 1, first);
  await attempt(id, 'out', 2, { ...first, started_at: TEN, ended_at: ELEVEN });
  await set(id, 'out', { state: 'FAILED', attempt: 2, submitted_at: TEN, completed_at: ELEVEN });
  await bench.sql(
    "UPDATE movement_nodes SET error_code = 'ABANDONED' WHERE movement_id = $1::uuid",
    id,
  );
  const found = [...(await read(venue))].sort((a, b) => Number(a.attempt) - Number(b.attempt));
  expect(found).toMatchObject([
    { attempt: 1, state: 'FAILED', until: TEN },
    // The exchange may still carry it out.
    { attempt: 2, state: 'UNKNOWN', until: null },
  ]);
  const later = await read(venue, { since: '2026-02-01T00:00:00.000Z', before: '2026-02-02' });
  expect(later.map(({ attempt: number }) => number)).toEqual([2]);
});

describe('a deposit', () => {
  const seen = (venue: string): TemplateNode =>
    node('seen', 'cex_deposit_observe', { venue, match_from: 'pay' }, 'observe');
  const deposits = async (): Promise<{ readonly venue: string; readonly id: string }> => {
    const venue = account();
    const id = await movement(paying('pay', {}), seen(venue));
    await attempt(id, 'pay', 1, { started_at: TEN });
    return { venue, id };
  };

  test('has the transaction that its node found, from the send until it was seen', async () => {
    const { venue, id } = await deposits();
    await set(id, 'pay', { state: 'COMPLETED', output: { tx_hash: '0xother' } });
    await set(id, 'seen', {
      state: 'COMPLETED',
      external_ref: 'deposit-1',
      output: { tx_hash: HASH, received_amount: '6.50', network: 'ETH', payments: [] },
      completed_at: ELEVEN,
    });
    expect(await read(venue)).toEqual([
      {
        kind: 'deposit',
        movement_id: id,
        node_key: 'seen',
        attempt: 1,
        transfer_id: null,
        send_key: null,
        state: 'COMPLETED',
        external_ref: 'deposit-1',
        asset: 'USDC',
        amount: '6.5',
        fee: null,
        network: 'ETH',
        address: null,
        tag: null,
        transaction: HASH,
        source: null,
        destination: null,
        since: TEN,
        until: ELEVEN,
      },
    ]);
    expect(await read(`${venue}-other`)).toEqual([]);
    // It was seen before this time.
    expect(await read(venue, { since: '2026-01-02T11:00:00.001Z' })).toEqual([]);
  });

  test('that is waited for has the transaction of the node that it names', async () => {
    const { venue, id } = await deposits();
    await set(id, 'seen', { state: 'BLOCKED' });
    expect(await read(venue)).toEqual([]);
    for (const [sent, transaction] of [
      [{ output: { tx_hash: HASH, exchange_transaction: 'x' } }, HASH],
      [{ output: { exchange_transaction: 'Internal 7' } }, 'Internal 7'],
      [{ output: {}, external_ref: HASH }, HASH],
    ] as const) {
      await set(id, 'pay', { state: 'COMPLETED', ...sent });
      expect(await read(venue)).toMatchObject([{ transaction, amount: null, until: null }]);
    }
    await set(id, 'pay', { state: 'COMPLETED', external_ref: 'no-hash' });
    expect(await read(venue)).toEqual([]);
    await set(id, 'seen', { state: 'OBSERVING' });
    expect(await read(venue)).toMatchObject([{ state: 'OBSERVING', transaction: null }]);
  });

  test('that was reassigned has no transaction', async () => {
    const { venue, id } = await deposits();
    await set(id, 'pay', { state: 'COMPLETED', output: { tx_hash: HASH } });
    const output = { received_amount: '7', payments: [{ source: 's', reference: 'r' }] };
    await set(id, 'seen', { state: 'COMPLETED', output, completed_at: ELEVEN });
    expect(await read(venue)).toMatchObject([{ transaction: null, amount: '7' }]);
  });
});

describe('a transfer', () => {
  test('of a node has both its ends, and is read for each account of the family', async () => {
    const [master, sub] = [account(), account()];
    const id = await movement(
      node('out', 'cex_internal_transfer', {
        venue: sub,
        account_type: 'usdt_future',
        destination_venue: master,
      }),
    );
    const send_key = await attempt(id, 'out', 1, {
      started_at: TEN,
      ended_at: ELEVEN,
      outcome: 'COMPLETED',
    });
    await set(id, 'out', { state: 'COMPLETED', output: { fee_amount: '0' } });
    const expected = [
      expect.objectContaining({
        kind: 'transfer',
        movement_id: id,
        send_key,
        amount: '7',
        fee: '0',
        address: null,
        source: { venue_key: sub, account_type: 'USDT_FUTURE' },
        destination: { venue_key: master, account_type: 'SPOT' },
      }),
    ];
    for (const family of [[master], [sub], [sub, master]])
      expect(await read(master, { family })).toEqual(expected);
    expect(await read(master, { family: [] })).toEqual([]);
    expect(await read(master, { family: [account()] })).toEqual([]);
  });

  test('of the capital transfers has the reference as its key', async () => {
    const [source, destination] = [account(), account()];
    const made = async (more: {
      readonly state: string;
      readonly reported?: string;
      readonly ended_at?: string;
    }): Promise<string> => {
      const id = randomUUID();
      await bench.sql(
        `INSERT INTO capital_transfers (transfer_id, client_scope, idempotency_key, request,
          request_state, source_venue, source_account_type, destination_venue,
          destination_account_type, asset, amount, reason, provider, provider_transfer_id,
          created_by, claimed_until, created_at, updated_at, ended_at)
         VALUES ($1::uuid, 's', $1::text, '{}', $2, $3, 'SPOT', $4, 'USDT_FUTURE', 'USDC', 1.50,
          'r', 'p', $5, '{}', now(), $6::timestamptz, $7::timestamptz, $8::timestamptz)`,
        id,
        more.state,
        source,
        destination,
        more.reported ?? null,
        NINE,
        ELEVEN,
        more.ended_at ?? null,
      );
      return id;
    };
    const completed = await made({ state: 'COMPLETED', reported: '77', ended_at: ELEVEN });
    await bench.sql(
      `INSERT INTO capital_transfer_events (event_id, transfer_id, sequence, event_type, to_state,
        actor, message, data, occurred_at)
       VALUES (gen_random_uuid(), $1::uuid, 1, 'transfer_submitting', 'SUBMITTING', '{}', 'm', '{}',
        $2::timestamptz)`,
      completed,
      TEN,
    );
    const accepted = await made({ state: 'PENDING_PROVIDER_CONFIRMATION', reported: '78' });
    const waiting = await made({ state: 'MANUAL_INTERVENTION' });
    const found = new Map(
      (await read(source)).map((record) => [record.transfer_id ?? '', record] as const),
    );
    expect(found.size).toBe(3);
    expect(found.get(completed)).toEqual({
      kind: 'transfer',
      movement_id: null,
      node_key: null,
      attempt: null,
      transfer_id: completed,
      send_key: completed,
      state: 'COMPLETED',
      external_ref: '77',
      asset: 'USDC',
      amount: '1.5',
      fee: null,
      network: null,
      address: null,
      tag: null,
      transaction: null,
      source: { venue_key: source, account_type: 'SPOT' },
      destination: { venue_key: destination, account_type: 'USDT_FUTURE' },
      since: TEN,
      until: ELEVEN,
    });
    expect(found.get(accepted)).toMatchObject({ external_ref: '78', since: NINE, until: ELEVEN });
    expect(found.get(waiting)).toMatchObject({ external_ref: null, since: NINE, until: null });
    expect(await read(destination)).toHaveLength(3);
    expect(await read(source, { family: [] })).toEqual([]);
    expect(await read(source, { since: '2026-01-02T11:00:00.001Z' })).toHaveLength(2);
  });
});
