/**
 * Capital transfers through HTTP: what may be moved, what a repeat is, and what the record shows.
 */
import { randomUUID } from 'node:crypto';
import { add, subtract } from '../../domain/money.ts';
import {
  alone,
  auditOfRequest,
  expectInvalid,
  expectRefusal,
  get,
  must,
  post,
  send,
  sendAs,
  shared,
  sql,
  waitFor,
  type Answer,
  type ErrorBody,
} from '../support/http.ts';
import { startApprovalDesk } from '../support/approval-desk.ts';
import { tool } from '../support/tool.ts';

interface View {
  readonly transfer_id: string;
  readonly request_state: string;
  readonly amount: string;
  readonly provider_transfer_id: string | null;
  readonly [field: string]: unknown;
}
alone('USDT of the paper venue');

interface Pool {
  readonly account_type: string;
  readonly withdrawable: string;
  readonly svc_pending_outflow: string;
}

interface Snapshot extends Pool {
  readonly fetched_at: string;
  readonly svc_effective_withdrawable: string;
  readonly svc_effective_reason: string | null;
}

const request = (more: object = {}): Record<string, unknown> => ({
  source_venue: 'paper-main',
  destination_venue: 'paper-sub-a',
  asset: 'USDT',
  amount: '10',
  reason: 'rebalancing',
  idempotency_key: randomUUID(),
  ...more,
});
const move = (more: object = {}): Promise<View> =>
  must(201, post<View>('/capital-transfers', request(more)));
const one = (id: string): Promise<View> => must(200, get<View>(`/capital-transfers/${id}`));
const ended = (id: string): Promise<View> =>
  waitFor(async () => {
    const found = await one(id);
    return ['COMPLETED', 'FAILED'].includes(found.request_state) ? found : null;
  });
const refused = (more: object): Promise<Answer<ErrorBody>> =>
  post<ErrorBody>('/capital-transfers', request(more));
const count = async (): Promise<unknown> =>
  (await sql('SELECT count(*)::int AS n FROM capital_transfers'))[0]?.['n'];

async function pools(venue: string): Promise<Record<string, Pool>> {
  const { balances } = await must(
    200,
    get<{ balances: readonly Pool[] }>(`/balances?venue_key=${venue}&asset=USDT&fresh=true`),
  );
  return Object.fromEntries(balances.map((pool) => [pool.account_type, pool]));
}

describe('a transfer', () => {
  test('is created with its hold, moves once, and is recorded from its creation to its end', async () => {
    const [main, sub] = [await pools('paper-main'), await pools('paper-sub-a')];
    const answer = await post<View>(
      '/capital-transfers',
      request({
        destination_account_type: 'usdt_future',
        asset: 'usdt',
        amount: '12.340',
        strategy_id: 'basis',
      }),
    );
    expect(answer.status).toBe(201);
    const { transfer_id } = answer.body;
    expect(answer.body).toMatchObject({
      source_venue: 'paper-main',
      destination_venue: 'paper-sub-a',
      asset: 'USDT',
      amount: '12.34',
      reason: 'rebalancing',
      source_account_type: 'SPOT',
      destination_account_type: 'USDT_FUTURE',
      strategy_id: 'basis',
      provider: 'paper',
      error_code: null,
    });
    expect(await ended(transfer_id)).toMatchObject({
      request_state: 'COMPLETED',
      provider_transfer_id: expect.any(String),
    });

    const events = await must(
      200,
      get<readonly Record<string, unknown>[]>(`/capital-transfers/${transfer_id}/timeline`),
    );
    expect(
      events.map(({ sequence, event_type, from_state, to_state }) => [
        sequence,
        event_type,
        from_state,
        to_state,
      ]),
    ).toEqual([
      [1, 'transfer_created', null, 'CREATED'],
      [2, 'transfer_submitting', 'CREATED', 'SUBMITTING'],
      [3, 'transfer_completed', 'SUBMITTING', 'COMPLETED'],
    ]);
    expect(events[0]?.['actor']).toMatchObject({ type: 'key', key_id: shared.keys.admin.keyId });
    const audit = await sql(
      'SELECT action, actor_role, outcome FROM audit_events WHERE entity_key = $1 ORDER BY occurred_at',
      [transfer_id],
    );
    expect(audit).toEqual([
      { action: 'capital_transfer.create', actor_role: 'admin', outcome: 'success' },
      { action: 'capital_transfer.complete', actor_role: 'system', outcome: 'success' },
    ]);
    const rows =
      'SELECT status, venue_key, account_type, asset, trim_scale(amount)::text AS amount FROM reservations WHERE transfer_id = $1';
    expect(await sql(rows, [transfer_id])).toEqual([
      {
        status: 'consumed',
        venue_key: 'paper-main',
        account_type: 'SPOT',
        asset: 'USDT',
        amount: '12.34',
      },
    ]);
    // Only this file moves USDT meanwhile, so the pools differ by the amount and by nothing else.
    const [less, more] = [
      subtract(main['SPOT']?.withdrawable ?? '', '12.34'),
      add(sub['USDT_FUTURE']?.withdrawable ?? '', '12.34'),
    ];
    await waitFor(async () =>
      (await pools('paper-main'))['SPOT']?.withdrawable === less ? true : null,
    );
    await waitFor(async () =>
      (await pools('paper-sub-a'))['USDT_FUTURE']?.withdrawable === more ? true : null,
    );
  });

  test('that has ended counts as outflow until a snapshot from after it shows it', async () => {
    const of = { source_venue: 'paper-sub-a', destination_venue: 'paper-main' };
    const spot = async (more = ''): Promise<Snapshot> => {
      const path = `/balances?venue_key=paper-sub-a&asset=USDT&account_type=SPOT${more}`;
      const [only] = (await must(200, get<{ balances: readonly Snapshot[] }>(path))).balances;
      if (only === undefined) throw new Error('there is no such balance');
      return only;
    };
    // A venue is read at most once a second: the first answers may be older than this test.
    const before = await waitFor(async () => {
      const read = await spot('&fresh=true');
      return read.svc_pending_outflow === '0' ? read : null;
    });
    const less = (amount: string): string => subtract(before.withdrawable, amount);
    expect((await ended((await move({ ...of, amount: '40.5' })).transfer_id)).request_state).toBe(
      'COMPLETED',
    );
    await waitFor(async () => (await spot('&fresh=true')).withdrawable === less('40.5'));
    /** As if nothing had been fetched since: that snapshot cannot know of it. */
    const asBefore = async (): Promise<Snapshot> => {
      await sql(
        "UPDATE balance_snapshots SET fetched_at = $1, withdrawable = $2 WHERE venue_key = 'paper-sub-a' AND account_type = 'SPOT' AND asset = 'USDT'",
        [before.fetched_at, before.withdrawable],
      );
      return spot();
    };
    // A worker that fetches in between makes it young again.
    const now = await waitFor(async () => {
      const read = await asBefore();
      return read.fetched_at === before.fetched_at ? read : null;
    });
    expect(now).toMatchObject({
      withdrawable: before.withdrawable,
      svc_pending_outflow: '40.5',
      svc_effective_withdrawable: less('40.5'),
      svc_effective_reason: 'capital_transfer_reservation',
    });
    // Nor is it promised to another.
    await asBefore();
    expectRefusal(
      await refused({ ...of, amount: less('40') }),
      409,
      'insufficient_effective_withdrawable',
      {
        reason: 'insufficient',
        venue_key: 'paper-sub-a',
        account_type: 'SPOT',
        asset: 'USDT',
        amount: less('40'),
        effective_withdrawable: less('40.5'),
      },
    );
    await waitFor(async () => (await spot('&fresh=true')).svc_pending_outflow === '0');
  });

  test('is refused where the source has less than that to spare, and nothing is held then', async () => {
    const before = await count();
    const answer = await refused({
      source_venue: 'paper-sub-a',
      destination_venue: 'paper-main',
      amount: '1000000000',
    });
    expectRefusal(answer, 409, 'insufficient_effective_withdrawable', {
      reason: 'insufficient',
      venue_key: 'paper-sub-a',
      account_type: 'SPOT',
      asset: 'USDT',
      amount: '1000000000',
      effective_withdrawable: expect.any(String),
    });
    expect(await auditOfRequest(answer.headers.get('x-request-id') ?? '')).toMatchObject([
      {
        action: 'capital_transfer.create',
        outcome: 'denied',
        reason: 'insufficient_effective_withdrawable',
      },
    ]);
    expect(await count()).toBe(before);
    // An asset that the venue never named has nothing to spare either.
    const unnamed = {
      venue_key: 'paper-main',
      account_type: 'SPOT',
      asset: 'NOSUCH',
      amount: '10',
      effective_withdrawable: '0',
    };
    expectRefusal(await refused({ asset: 'NOSUCH' }), 409, 'insufficient_effective_withdrawable', {
      reason: 'insufficient',
      ...unnamed,
    });
  });

  test('is for operators and admins; an unknown id answers 404', async () => {
    expect(await sendAs(shared.keys.agent, 'POST', '/capital-transfers', request())).toMatchObject({
      status: 403,
    });
    expect(
      await sendAs(shared.keys.operator, 'POST', '/capital-transfers', request()),
    ).toMatchObject({ status: 201 });
    const transfer_id = '01938a5e-7c00-7b3a-9d2f-5b1c7e8a4f10';
    for (const path of ['', '/timeline']) {
      expectRefusal(
        await get(`/capital-transfers/${transfer_id}${path}`),
        404,
        'capital_transfer_not_found',
        { transfer_id },
      );
    }
    const body = { resolution: 'failed', reason: 'no' };
    const resolve = await post(`/capital-transfers/${transfer_id}/actions/resolve`, body);
    expectRefusal(resolve, 404, 'capital_transfer_not_found', { transfer_id });
    expectInvalid(await get('/capital-transfers/17'), 'transfer_id');
  });
});

describe('of the topology', () => {
  const SUB = 'paper-sub-a';
  test.each([
    ['master SPOT to sub SPOT', {}],
    ['master SPOT to sub USDT_FUTURE', { destination_account_type: 'USDT_FUTURE' }],
    ['sub SPOT to its USDT_FUTURE', { source_venue: SUB, destination_account_type: 'USDT_FUTURE' }],
    [
      'sub USDT_FUTURE to its SPOT',
      { source_venue: SUB, source_account_type: 'USDT_FUTURE', amount: '1' },
    ],
    ['sub SPOT to master SPOT', { source_venue: SUB, destination_venue: 'paper-main' }],
    [
      'sub USDT_FUTURE to master SPOT',
      {
        source_venue: SUB,
        source_account_type: 'USDT_FUTURE',
        destination_venue: 'paper-main',
        amount: '1',
      },
    ],
  ])('rule 2 allows %s', async (_name, more) => {
    expect(await ended((await move(more)).transfer_id)).toMatchObject({
      request_state: 'COMPLETED',
    });
  });

  test.each([
    [1, 'a master as the source in futures', { source_account_type: 'USDT_FUTURE' }],
    [
      1,
      'a master as the destination in futures',
      {
        source_venue: SUB,
        destination_venue: 'paper-main',
        destination_account_type: 'USDT_FUTURE',
      },
    ],
    [
      1,
      'the two pools of a master',
      { destination_venue: 'paper-main', destination_account_type: 'USDT_FUTURE' },
    ],
    [3, 'two subs', { source_venue: SUB, destination_venue: 'paper-sub-b' }],
    [
      3,
      'two subs in other pools',
      {
        source_venue: SUB,
        destination_venue: 'paper-sub-b',
        destination_account_type: 'USDT_FUTURE',
      },
    ],
    [4, 'the same pool of a sub', { source_venue: SUB }],
    [4, 'the same pool of a master', { destination_venue: 'paper-main' }],
    [5, 'two masters', { destination_venue: 'paper-second-main' }],
  ])('rule %i refuses %s', async (rule, _name, more) => {
    const before = await count();
    const answer = await refused(more);
    expectRefusal(answer, 422, 'topology_not_supported', { rule });
    expect(await count()).toBe(before);
  });

  test('other account types, unknown venues and other providers are refused by name', async () => {
    for (const account_type of ['FUNDING', 'FUND', 'MARGIN']) {
      const supported = ['SPOT', 'USDT_FUTURE'];
      const details = { field: 'source_account_type', account_type, supported };
      expectRefusal(
        await refused({ source_account_type: account_type.toLowerCase() }),
        422,
        'account_type_not_supported',
        details,
      );
    }
    const unknown = { field: 'destination_venue', venue_key: 'nowhere' };
    expectRefusal(await refused({ destination_venue: 'nowhere' }), 422, 'venue_not_found', unknown);
    // A chain is bound, but holds no account between which a provider moves funds.
    expectRefusal(await refused({ source_venue: 'local-chain' }), 422, 'venue_not_found', {
      field: 'source_venue',
      venue_key: 'local-chain',
    });
    const providers = { source_provider: 'paper', destination_provider: 'paper' };
    expectRefusal(
      await refused({ destination_venue: 'other-paper-main' }),
      422,
      'provider_mismatch',
      providers,
    );
  });

  test('what does not fit the schema is named', async () => {
    expectInvalid(await refused({ amount: '0' }), 'amount');
    expectInvalid(await refused({ amount: 10 }), 'amount');
    expectInvalid(
      await refused({ amount: '-1', reason: '', asset: '' }),
      'asset',
      'amount',
      'reason',
    );
    expectInvalid(await refused({ source_account_type: 'X'.repeat(33) }), 'source_account_type');
    expectInvalid(await refused({ note: 'x' }), 'note');
    expectInvalid(
      await post('/capital-transfers', {}),
      'source_venue',
      'destination_venue',
      'asset',
      'amount',
      'reason',
      'idempotency_key',
    );
  });
});

describe('a repeat of the idempotency key', () => {
  test('is none of another key in the header, which is refused, and nothing is made', async () => {
    const body = request();
    const before = await count();
    const other = { 'idempotency-key': randomUUID() };
    expectInvalid(await post('/capital-transfers', body, other), 'idempotency_key');
    const { idempotency_key: key, ...without } = body;
    const same = { 'idempotency-key': key as string };
    expectInvalid(await post('/capital-transfers', without, same), 'idempotency_key');
    expect(await count()).toBe(before);
    await must(201, post('/capital-transfers', body, same));
    await must(200, post('/capital-transfers', body, same));
  });

  test('with the same request answers the first transfer, whatever its reason and spelling', async () => {
    const first = request({ amount: '1.50', strategy_id: 'repeats' });
    const made = await must(201, post<View>('/capital-transfers', first));
    await ended(made.transfer_id);
    for (const again of [
      first,
      { ...first, reason: 'another' },
      {
        ...first,
        amount: '1.5',
        asset: 'usdt',
        source_account_type: 'spot',
        destination_account_type: '',
      },
    ]) {
      const answer = await post<View>('/capital-transfers', again);
      expect(answer).toMatchObject({
        status: 200,
        body: {
          ...made,
          request_state: 'COMPLETED',
          provider_transfer_id: expect.anything(),
          updated_at: expect.anything(),
        },
      });
      expect(answer.headers.get('idempotent-replayed')).toBe('true');
    }
    const rows = 'SELECT count(*)::int AS n FROM reservations WHERE transfer_id = $1';
    expect(await sql(rows, [made.transfer_id])).toEqual([{ n: 1 }]);
  });

  test.each([
    ['amount', { amount: '2' }, ['amount']],
    [
      'several fields',
      { asset: 'USDC', strategy_id: 'x', destination_account_type: 'USDT_FUTURE' },
      ['asset', 'destination_account_type', 'strategy_id'],
    ],
    ['venues that are not even known', { source_venue: 'nowhere' }, ['source_venue']],
  ])('with another %s is a conflict that names what differs', async (_name, more, fields) => {
    const first = request({ amount: '1' });
    const { transfer_id } = await must(201, post<View>('/capital-transfers', first));
    expectRefusal(
      await post('/capital-transfers', { ...first, ...more }),
      409,
      'idempotency_conflict',
      { transfer_id, fields },
    );
  });

  test('in parallel makes one transfer and holds once; different ones under a key make one too', async () => {
    const body = request({ amount: '3' });
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => post<View>('/capital-transfers', body)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([
      ...Array<number>(19).fill(200),
      201,
    ]);
    const ids = new Set(answers.map((answer) => answer.body.transfer_id));
    expect(ids.size).toBe(1);
    const key = randomUUID();
    const others = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        post<View>(
          '/capital-transfers',
          request({ idempotency_key: key, amount: String(index + 1) }),
        ),
      ),
    );
    expect(others.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(9).fill(409)]);
    const rows = await sql(
      'SELECT count(*)::int AS n FROM capital_transfers WHERE idempotency_key = ANY ($1)',
      [[body['idempotency_key'], key]],
    );
    expect(rows).toEqual([{ n: 2 }]);
  });

  test('of another client is another transfer, and a refused request does not use the key up', async () => {
    const body = request({ amount: '1' });
    const made = await must(201, post<View>('/capital-transfers', body));
    const other = await sendAs<View>(shared.keys.operator, 'POST', '/capital-transfers', body);
    expect(other.status).toBe(201);
    expect(other.body.transfer_id).not.toBe(made.transfer_id);
    const key = randomUUID();
    expect(await refused({ idempotency_key: key, destination_venue: 'paper-main' })).toMatchObject({
      status: 422,
    });
    expect(await refused({ idempotency_key: key, amount: '1000000000' })).toMatchObject({
      status: 409,
    });
    expect(await post('/capital-transfers', request({ idempotency_key: key }))).toMatchObject({
      status: 201,
    });
  });
});

test('the list is filtered and paged, newest first', async () => {
  const strategy_id = randomUUID();
  const made: string[] = [];
  for (const amount of ['1', '2', '3'])
    made.unshift((await move({ amount, strategy_id })).transfer_id);
  await Promise.all(made.map(ended));
  const list = (query: string) =>
    must(
      200,
      get<{ capital_transfers: readonly View[]; next_cursor: string | null }>(
        `/capital-transfers?${query}`,
      ),
    );
  const first = await list(`strategy_id=${strategy_id}&limit=2`);
  expect(first.capital_transfers.map(({ transfer_id }) => transfer_id)).toEqual(made.slice(0, 2));
  const rest = await list(`strategy_id=${strategy_id}&limit=2&cursor=${String(first.next_cursor)}`);
  expect(rest).toMatchObject({
    capital_transfers: [{ transfer_id: made[2], amount: '1' }],
    next_cursor: null,
  });
  const matching = `strategy_id=${strategy_id}&state=COMPLETED&source_venue=paper-main&destination_venue=paper-sub-a&asset=usdt`;
  expect((await list(matching)).capital_transfers).toHaveLength(3);
  for (const other of [
    'state=FAILED',
    'source_venue=paper-sub-b',
    'destination_venue=paper-main',
    'asset=USDC',
    // test/store/stuck-transfers.test.ts has transfers that need a person.
    'needs_attention=true',
  ]) {
    expect((await list(`strategy_id=${strategy_id}&${other}`)).capital_transfers).toEqual([]);
  }
  expectInvalid(await send('GET', '/capital-transfers?state=DONE'), 'state');
  expectInvalid(await send('GET', '/capital-transfers?needs_attention=yes'), 'needs_attention');
  expectInvalid(await send('GET', '/capital-transfers?amount=1'), 'amount');
});

test('reservations verify finds nothing', async () => {
  const open = `SELECT count(*)::int AS n FROM capital_transfers WHERE ended_at IS NULL`;
  await waitFor(async () => ((await sql(open))[0]?.['n'] === 0 ? true : null));
  expect(JSON.parse((await tool(['reservations', 'verify'])).out)).toMatchObject({
    ok: true,
    first_faults: [],
    transfers: [],
  });
});

test('under a rule for capital transfers it is made once two people have approved it', async () => {
  const people = ['una', 'vic', 'wes'];
  const desk = await startApprovalDesk('transfer-desk', people, '', {
    applies_to: 'capital_transfer',
    when: { venues: ['paper-sub-a'], amount_above: [{ asset: 'USDT', amount: '1.4' }] },
  });
  try {
    const [una, vic, wes] = desk.keys;
    if (una === undefined || vic === undefined || wes === undefined) throw new Error('no keys');
    await move({ amount: '1.4' });
    const body = request({ amount: '1.41' });
    const call = <T>() => sendAs<T>(una, 'POST', '/capital-transfers', body);
    const requested = await must(
      202,
      call<{ change_request_id: string; hash: string; kind: string }>(),
    );
    expect(requested.kind).toBe('capital_transfer');
    const found = async () =>
      (
        await sql('SELECT transfer_id FROM capital_transfers WHERE idempotency_key = $1', [
          body['idempotency_key'],
        ])
      ).length;
    const approve = (key: typeof una) =>
      sendAs<{ state: string }>(
        key,
        'POST',
        `/change-requests/${requested.change_request_id}/approve`,
        { hash: requested.hash },
      );
    expect((await approve(una)).status).toBe(403);
    expect((await must(200, approve(vic))).state).toBe('open');
    expect(await found()).toBe(0);
    expect((await must(200, approve(wes))).state).toBe('applied');
    expect(await found()).toBe(1);
    // Whoever made it gets the transfer for the same key.
    const made = await must(200, call<View>());
    expect((await ended(made.transfer_id)).request_state).toBe('COMPLETED');
  } finally {
    await desk.close();
  }
});
