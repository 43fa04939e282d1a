/** The routes of the perps venue: what each stores, answers and refuses. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPerpClient } from '../../venues/perp/client.ts';
import { perpVenueSchema } from '../../venues/perp/config.ts';
import { low, someone } from '../dev/perp-stack.ts';
import { ADMIN, at, startPerpDesk } from '../support/perp-desk.ts';
import type { Answer } from './support.ts';
import { started } from '../support/started.ts';

const desk = started(() => startPerpDesk('perp-master'));
afterEach(() => desk.clear());

const STAMP = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const MASTER = '/perp-venue/master-account';
const BINDINGS = '/perp-venue/strategy-bindings';
const DAY_MS = 86_400_000;

const masterBody = (more: object = {}) => ({
  master_address: desk.master.account.address,
  signer_key: 'perp-master',
  network: 'testnet',
  ...more,
});
/** Both that made something and a repeat are 200; the header tells them apart. */
const outcomeOf = ({ status, headers }: { readonly status: number; readonly headers: Headers }) =>
  status !== 200 ? status : headers.get('idempotent-replayed') === 'true' ? 'repeated' : 'made';
const nameMaster = () => must(200, desk.call('POST', MASTER, masterBody()));
const bind = (strategy_id: string, more: object = {}) =>
  must(200, desk.call('POST', BINDINGS, { strategy_id, ...more }));
const wallet = (strategy: string, agent_name: string, signer_key: string, more: object = {}) => {
  desk.signer(signer_key);
  const body = { agent_name, signer_key, ...more };
  return desk.call('POST', at(strategy, '/agent-wallets'), body);
};
const fresh = (): string => `agent-${randomUUID()}`;

async function must(status: number, answering: Promise<Answer>): Promise<Answer['body']> {
  const { status: actual, body } = await answering;
  if (actual !== status) throw new Error(`answered ${String(actual)}: ${JSON.stringify(body)}`);
  return body;
}
async function refused(
  answering: Promise<Answer>,
  status: number,
  error: string,
  context: object = {},
): Promise<void> {
  const { status: actual, body } = await answering;
  expect([actual, body.detail]).toEqual([
    status,
    { error, message: expect.stringMatching(/\w{2}/), ...context },
  ]);
}
async function invalid(answering: Promise<Answer>, ...paths: string[]): Promise<void> {
  const { status, body } = await answering;
  expect([status, body.detail.error]).toEqual([422, 'invalid_request']);
  expect(body.detail.issues?.map(({ path }) => path)).toEqual(paths);
}
/** Rows of the audit since the last call, as `action outcome reason`. */
let seen = '';
async function audited(): Promise<string[]> {
  const rows = await desk.bench.sql<{ line: string; event_id: string }>(
    `SELECT concat_ws(' ', action, outcome, reason) AS line, event_id FROM audit_events
     WHERE event_id::text > $1 ORDER BY event_id`,
    seen,
  );
  seen = rows.at(-1)?.event_id ?? seen;
  return rows.map(({ line }) => line);
}

describe('the master account', () => {
  test('is named once, and an equal repeat answers it', async () => {
    await audited();
    const made = await must(200, desk.call('POST', MASTER, masterBody({ network: 'TestNet' })));
    expect(made).toEqual({
      ...masterBody(),
      label: null,
      created_at: STAMP,
    });
    const lower = masterBody({ master_address: low(desk.master.account.address) });
    const again = await desk.call('POST', MASTER, lower);
    expect([again.status, again.body]).toEqual([200, made]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await audited()).toEqual(['perp_master.create success']);
    const other = { label: 'another', signer_key: 'someone-else' };
    await refused(desk.call('POST', MASTER, masterBody(other)), 409, 'master_account_exists', {
      master_address: desk.master.account.address,
      fields: ['signer_key', 'label'],
    });
    expect(await audited()).toEqual(['perp_master.create denied master_account_exists']);
    // Also while the signer's identity cannot be read.
    desk.master.broken = new Error('away');
    expect((await desk.call('POST', MASTER, masterBody(), { perp: null })).status).toBe(200);
  });

  test('of many at once is one row', async () => {
    const labels = [null, 'a'];
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, nth) =>
        desk.call('POST', MASTER, masterBody({ label: labels[nth % 2] })),
      ),
    );
    const counts = ['made', 'repeated', 409].map(
      (one) => answers.filter((answer) => outcomeOf(answer) === one).length,
    );
    expect(counts).toEqual([1, 4, 5]);
    expect(await desk.bench.sql('SELECT * FROM perp_master')).toHaveLength(1);
  });

  test('is that of the venues file, and nothing else is stored', async () => {
    const none = desk.call('POST', MASTER, masterBody(), { perp: null });
    await refused(none, 409, 'perp_venue_not_bound');
    const stranger = someone('another master').address;
    await refused(
      desk.call('POST', MASTER, masterBody({ master_address: stranger, network: 'mainnet' })),
      ...([409, 'master_account_mismatch'] as const),
      {
        fields: ['master_address', 'network'],
        expected: { master_address: desk.master.account.address, network: 'testnet' },
      },
    );
    const unknown = masterBody({ signer_key: 'unknown' });
    await refused(desk.call('POST', MASTER, unknown), 404, 'signer_not_found', {
      signer_key: 'unknown',
    });
    const { address } = desk.signer('not-the-master').account;
    const foreign = masterBody({ signer_key: 'not-the-master' });
    await refused(desk.call('POST', MASTER, foreign), 409, 'signer_identity_mismatch', {
      signer_key: 'not-the-master',
      runtime_address: address,
    });
    desk.master.broken = new Error('away');
    await refused(
      desk.call('POST', MASTER, masterBody()),
      ...([409, 'signer_runtime_identity_unavailable'] as const),
      { signer_key: 'perp-master' },
    );
    desk.master.broken = null;
    await storedSigner('perp-master', { status: 'disabled' });
    await refused(desk.call('POST', MASTER, masterBody()), 409, 'signer_not_active', {
      signer_key: 'perp-master',
      current_state: 'disabled',
    });
    await storedSigner('perp-master', { pin: address });
    await refused(desk.call('POST', MASTER, masterBody()), 409, 'signer_identity_mismatch', {
      signer_key: 'perp-master',
      expected_signer_address: address,
      runtime_address: desk.master.account.address,
    });
    await storedSigner('a-bank', { family: 'none' });
    const bank = masterBody({ signer_key: 'a-bank' });
    await refused(desk.call('POST', MASTER, bank), 422, 'signer_identity_not_applicable', {
      signer_key: 'a-bank',
    });
    expect(await desk.bench.sql('SELECT * FROM perp_master')).toEqual([]);
  });

  test.each([
    ['master_address', { master_address: '0x12' }],
    ['master_address', { master_address: `0x${'0'.repeat(40)}` }],
    ['master_address', { master_address: '0x90f79bf6EB2c4f870365E785982E1f101E93b906' }],
    ['network', { network: 'mainnet2' }],
    ['label', { label: '' }],
    ['signer_key', { signer_key: 'a/b' }],
    ['more', { more: 1 }],
  ])('with a wrong %s is refused', async (field, more) => {
    await invalid(desk.call('POST', MASTER, masterBody(more)), field);
  });
});

async function storedSigner(
  key: string,
  { status = 'active', family = 'evm', pin = null as string | null } = {},
): Promise<void> {
  await desk.bench.sql(
    `INSERT INTO signers (signer_key, backend, chain_family, status, expected_signer_address,
       created_at, updated_at)
     VALUES ($1, 'local', $2, $3, $4, now(), now()) ON CONFLICT (signer_key) DO UPDATE
     SET status = excluded.status, expected_signer_address = excluded.expected_signer_address`,
    key,
    family,
    status,
    pin,
  );
}

describe('a strategy', () => {
  test('is bound, read, and answered again', async () => {
    const early = desk.call('POST', BINDINGS, { strategy_id: 'basis' });
    await refused(early, 409, 'master_account_missing');
    await nameMaster();
    await audited();
    const body = { strategy_id: 'basis', max_agent_balance: '25000.50' };
    const made = await must(200, desk.call('POST', BINDINGS, body));
    expect(made).toEqual({
      strategy_id: 'basis',
      sub_account_address: null,
      max_agent_balance: '25000.5',
      paused: false,
      pause_reason: null,
      paused_changed_at: null,
      created_at: STAMP,
      updated_at: STAMP,
    });
    expect(await must(200, desk.call('POST', BINDINGS, body))).toEqual(made);
    const agent = { ...ADMIN, role: 'agent', namespace: 'agent/a' } as const;
    const read = desk.call('GET', at('basis'), undefined, { caller: agent });
    expect(await must(200, read)).toEqual(made);
    expect(await audited()).toEqual(['perp_binding.create success']);
    const other = desk.call('POST', BINDINGS, { ...body, max_agent_balance: '1' });
    await refused(other, 409, 'strategy_binding_exists', { binding: made });
    expect(await audited()).toEqual(['perp_binding.create denied strategy_binding_exists']);
    for (const [method, rest, more] of [
      ['GET', '', undefined],
      ['GET', '/agent-wallets', undefined],
      ['GET', '/emergency-state', undefined],
      ['POST', '/pause', { paused: true, reason: 'x' }],
      ['POST', '/agent-wallets', { agent_name: 'a', signer_key: 'x' }],
    ] as const)
      await refused(
        desk.call(method, at('nothing', rest), more),
        ...([404, 'strategy_binding_not_found', { strategy_id: 'nothing' }] as const),
      );
  });

  test('may have one sub-account of the master, which is no other strategy’s', async () => {
    await nameMaster();
    const master = low(desk.master.account.address);
    const sub = await desk.perp.sub(master, 'desk one');
    const made = await bind('one', { sub_account_address: sub });
    expect(low(made['sub_account_address'] as string)).toBe(sub);
    expect(
      (await desk.call('POST', BINDINGS, { strategy_id: 'one', sub_account_address: sub })).status,
    ).toBe(200);
    await refused(
      desk.call('POST', BINDINGS, { strategy_id: 'two', sub_account_address: sub }),
      ...([409, 'sub_account_bound'] as const),
      { sub_account_address: made['sub_account_address'], strategy_id: 'one' },
    );
    const stranger = low(someone('stranger of subs').address);
    await desk.perp.fund(stranger, { perp: '1' });
    const foreign = await desk.perp.sub(stranger, 'foreign');
    for (const [address, role] of [
      [foreign, 'subAccount'],
      [stranger, 'user'],
      [master, 'user'],
      [low(someone('a stranger').address), 'missing'],
    ] as const) {
      const { status, body } = await desk.call('POST', BINDINGS, {
        strategy_id: 'two',
        sub_account_address: address,
      });
      expect([status, body.detail.error, body.detail['role']]).toEqual([
        422,
        'sub_account_not_of_master',
        role,
      ]);
    }
    await desk.perp.faults({ refuse_rate: 1 });
    const silent = { strategy_id: 'two', sub_account_address: sub };
    await refused(desk.call('POST', BINDINGS, silent), 503, 'venue_unavailable', {
      sub_account_address: made['sub_account_address'],
    });
    expect(await desk.bench.sql('SELECT * FROM perp_bindings')).toHaveLength(1);
  });

  test('of many at once is one row, and a sub-account one strategy’s', async () => {
    await nameMaster();
    const same = await Promise.all(
      Array.from({ length: 10 }, () => desk.call('POST', BINDINGS, { strategy_id: 's' })),
    );
    expect(same.map(outcomeOf).sort()).toEqual(['made', ...Array(9).fill('repeated')]);
    const sub_account_address = await desk.perp.sub(low(desk.master.account.address), 'many');
    const others = await Promise.all(
      Array.from({ length: 10 }, (_, nth) =>
        desk.call('POST', BINDINGS, { strategy_id: `s${String(nth)}`, sub_account_address }),
      ),
    );
    expect(others.map(outcomeOf).sort()).toEqual([...Array(9).fill(409), 'made']);
  });

  test('is paused with a reason and let go again', async () => {
    await nameMaster();
    const made = await bind('basis');
    await audited();
    const pause = (paused: boolean, reason: string) =>
      must(200, desk.call('POST', at('basis', '/pause'), { paused, reason }));
    const paused = await pause(true, 'the index is off');
    expect(paused).toEqual({
      ...made,
      paused: true,
      pause_reason: 'the index is off',
      paused_changed_at: STAMP,
      updated_at: STAMP,
    });
    expect(await pause(true, 'the index is off')).toEqual(paused);
    expect(await desk.call('GET', at('basis'))).toMatchObject({ body: paused });
    expect(await pause(true, 'and still')).toMatchObject({
      pause_reason: 'and still',
      paused_changed_at: paused['paused_changed_at'],
    });
    expect(await pause(false, 'it is right again')).toMatchObject({ paused: false });
    expect(await audited()).toEqual([
      'perp_binding.pause success the index is off',
      'perp_binding.pause success and still',
      'perp_binding.pause success it is right again',
    ]);
    await invalid(desk.call('POST', at('basis', '/pause'), { paused: true }), 'reason');
  });
});

describe('an agent wallet', () => {
  beforeEach(async () => {
    await nameMaster();
    await bind('basis');
    await audited();
  });

  test('is stored with its nonce, listed, and answered again', async () => {
    const key = fresh();
    const made = await must(200, wallet('basis', 'desk', key));
    expect(made).toEqual({
      wallet_id: expect.any(String),
      strategy_id: 'basis',
      agent_name: 'desk',
      signer_key: key,
      address: desk.signer(key).account.address,
      valid_until: STAMP,
      state: 'pending',
      last_error: null,
      created_at: STAMP,
      updated_at: STAMP,
      approved_at: null,
    });
    const until = Date.parse(made['valid_until'] as string);
    expect(until - Date.parse(made['created_at'] as string)).toBe(90 * DAY_MS);
    const [action] = await desk.bench.sql<{ address: string; signature: null; wallet_id: string }>(
      'SELECT * FROM perp_actions',
    );
    expect(action).toMatchObject({
      address: low(desk.master.account.address),
      signature: null,
      wallet_id: made['wallet_id'],
    });
    desk.signer(key).broken = new Error('away');
    const { valid_until } = made;
    for (const more of [{}, { valid_until }])
      expect(await must(200, wallet('basis', 'desk', key, more))).toEqual(made);
    expect(await audited()).toEqual(['perp_agent_wallet.create success']);
    const second = await must(200, wallet('basis', 'desk 2', fresh()));
    const listed = await desk.call('GET', at('basis', '/agent-wallets'));
    expect([listed.status, listed.body]).toEqual([200, [second, made]]);
    expect(await desk.bench.sql('SELECT DISTINCT nonce FROM perp_actions')).toHaveLength(2);
  });

  test('of many at once is one row', async () => {
    const key = fresh();
    const same = await Promise.all(Array.from({ length: 10 }, () => wallet('basis', 'desk', key)));
    expect(same.map(outcomeOf).sort()).toEqual(['made', ...Array(9).fill('repeated')]);
    const others = await Promise.all(
      Array.from({ length: 10 }, () => wallet('basis', 'other', fresh())),
    );
    const codes = others.map(({ status, body }) => (status === 200 ? 'made' : body.detail.error));
    expect(codes.sort()).toEqual([...Array(9).fill('agent_wallet_pending'), 'made']);
    expect(await desk.bench.sql('SELECT * FROM perp_actions')).toHaveLength(2);
  });

  test('has a name and an address of its own', async () => {
    await bind('carry', {
      sub_account_address: await desk.perp.sub(low(desk.master.account.address), 'carry'),
    });
    const key = fresh();
    const made = await must(200, wallet('basis', 'desk', key));
    const { address, wallet_id } = made;
    await refused(wallet('basis', 'desk', fresh()), 409, 'agent_wallet_pending', {
      agent_name: 'desk',
      wallet_id,
    });
    await refused(wallet('carry', 'desk', fresh()), 409, 'agent_name_taken', {
      agent_name: 'desk',
    });
    for (const again of [
      wallet('carry', 'another', key),
      wallet('basis', 'another', key),
      wallet('basis', 'desk', key, { valid_until: new Date(Date.now() + DAY_MS).toISOString() }),
    ])
      await refused(again, 409, 'agent_address_reused', { address });
    await refused(wallet('basis', 'master', 'perp-master'), 409, 'agent_address_reused', {
      address: desk.master.account.address,
    });
    await desk.bench.sql("UPDATE perp_agent_wallets SET state = 'refused', next_look_at = NULL");
    await refused(wallet('basis', 'desk', key), 409, 'agent_address_reused', { address });
    // Its name is free.
    await must(200, wallet('carry', 'desk', fresh()));
    const lines = await audited();
    expect(lines).toContain('perp_agent_wallet.create denied agent_address_reused');
    expect(lines).toContain('perp_agent_wallet.create denied agent_name_taken');
  });

  test('is refused a signer that cannot be one', async () => {
    const unknownSigner = desk.call('POST', at('basis', '/agent-wallets'), {
      agent_name: 'desk',
      signer_key: 'unknown',
    });
    await refused(unknownSigner, 404, 'signer_not_found', { signer_key: 'unknown' });
    await storedSigner('switched-off', { status: 'disabled' });
    await refused(wallet('basis', 'desk', 'switched-off'), 409, 'signer_not_active', {
      signer_key: 'switched-off',
      current_state: 'disabled',
    });
  });

  test('is valid for 180 days at most, and expired from then on', async () => {
    for (const days of [-1, 0, 181])
      await invalid(
        wallet('basis', 'desk', fresh(), {
          valid_until: new Date(Date.now() + days * DAY_MS).toISOString(),
        }),
        'valid_until',
      );
    const valid_until = new Date(Date.now() + 179 * DAY_MS).toISOString();
    const made = await must(200, wallet('basis', 'desk', fresh(), { valid_until }));
    expect(made['valid_until']).toBe(valid_until);
    const laterMs = 179 * DAY_MS + 60_000;
    const listed = await desk.call('GET', at('basis', '/agent-wallets'), undefined, { laterMs });
    expect(listed.body).toMatchObject([{ state: 'expired' }]);
    const state = await desk.call('GET', at('basis', '/emergency-state'), undefined, { laterMs });
    expect(state.body['agent_wallets']).toMatchObject([{ state: 'expired' }]);
    // That is not written yet, and its name is free all the same.
    desk.signer('the-next-one');
    const body = { agent_name: 'desk', signer_key: 'the-next-one' };
    await must(200, desk.call('POST', at('basis', '/agent-wallets'), body, { laterMs }));
    expect(await desk.bench.sql('SELECT state FROM perp_agent_wallets ORDER BY state')).toEqual([
      { state: 'expired' },
      { state: 'pending' },
    ]);
  });

  test.each([
    ['agent_name', { agent_name: '' }],
    ['agent_name', { agent_name: 'a'.repeat(17) }],
    ['agent_name', { agent_name: ' a' }],
    ['agent_name', { agent_name: 'a ' }],
    ['agent_name', { agent_name: 'é' }],
    ['agent_name', { agent_name: 'a valid_until 1' }],
    ['agent_name', { agent_name: 'a/b' }],
    ['valid_until', { valid_until: 'tomorrow' }],
  ])('with a wrong %s is refused: %j', async (field, more) => {
    await invalid(wallet('basis', 'desk', fresh(), more), field);
  });
});

describe('the emergency state', () => {
  // Each by itself: a look at the venue is shared by all who have the same client.
  const readAccount = (options = {}) => {
    const own = { perp: { ...desk.access }, ...options };
    return must(200, desk.call('GET', at('basis', '/emergency-state'), undefined, own));
  };

  test('is read from the venue at most once a second', async () => {
    await nameMaster();
    await bind('basis');
    let looks = 0;
    const { venue, client } = desk.access;
    const state: typeof client.state = (...of) => {
      looks += 1;
      return client.state(...of);
    };
    const perp = { venue, client: { ...client, state } };
    await desk.perp.faults({ latency_ms: 2_200 });
    const first = readAccount({ perp });
    await sleep(1_050);
    await Promise.all([first, ...Array.from({ length: 20 }, () => readAccount({ perp }))]);
    expect(looks).toBe(1);
    await desk.perp.faults({ latency_ms: 0 });
    await readAccount({ perp });
    await Promise.all(Array.from({ length: 20 }, () => readAccount({ perp })));
    expect(looks).toBe(2);
  });

  test('is what the venue says now, and what it last said while it is silent', async () => {
    await nameMaster();
    const master = low(desk.master.account.address);
    const sub = await desk.perp.sub(master, 'emergency');
    await bind('basis', { sub_account_address: sub });
    const nothing = { withdrawable: null, account_value: null, open_positions: null };
    expect(await readAccount({ perp: null })).toEqual({
      strategy_id: 'basis',
      paused: false,
      agent_wallets: [],
      open_movements: [],
      open_movement_count: 0,
      venue: nothing,
      checked_at: null,
      stale: true,
    });
    await desk.perp.fund(sub, { perp: '12.5' });
    const venue = { withdrawable: '12.5', account_value: '12.5', open_positions: 0 };
    const now = await readAccount();
    expect(now).toMatchObject({ venue, checked_at: STAMP, stale: false });
    await desk.perp.fund(sub, { perp: '1' });
    for (const faults of [{ refuse_rate: 1 }, { latency_ms: 9_000 }, { garbage_rate: 1 }]) {
      await desk.perp.faults(faults);
      const began = Date.now();
      const then = await readAccount();
      // Slower than the answer waits for, quicker than the venue.
      expect(Date.now() - began).toBeLessThan(8_000);
      expect(then).toMatchObject({ venue, checked_at: now['checked_at'], stale: true });
      await desk.perp.faults({ latency_ms: 0, refuse_rate: 0, garbage_rate: 0 });
    }
    const later = await readAccount();
    expect(later).toMatchObject({ venue: { withdrawable: '13.5' }, stale: false });
    expect(Date.parse(later['checked_at'] as string)).toBeGreaterThan(
      Date.parse(now['checked_at'] as string),
    );
    // An earlier read that answers later replaces nothing.
    await desk.bench.sql(
      'SELECT note_perp_account($1::jsonb)::text',
      JSON.stringify({ ...venue, address: sub, checked_at: now['checked_at'] }),
    );
    expect(await readAccount({ perp: null })).toMatchObject({ venue: { withdrawable: '13.5' } });
  });

  test('of a strategy without a sub-account is the master’s', async () => {
    await nameMaster();
    await bind('basis');
    await must(200, desk.call('POST', at('basis', '/pause'), { paused: true, reason: 'x' }));
    expect(await readAccount()).toMatchObject({ paused: true, venue: { withdrawable: '1000' } });
  });

  test('of an account that keeps its balances elsewhere is not shown as new', async () => {
    await nameMaster();
    await bind('basis');
    const { venue, client } = desk.access;
    const unified = { ...client, mode: () => Promise.resolve('unifiedAccount') };
    expect(await readAccount({ perp: { venue, client: unified } })).toMatchObject({
      stale: true,
      checked_at: null,
      venue: { withdrawable: null },
    });
  });

  test('has the movements that have not ended, to an agent those of its own', async () => {
    await nameMaster();
    await bind('basis');
    const made = [
      await desk.bench.movement({ strategy_id: 'basis' }),
      await desk.bench.movement({ strategy_id: 'basis' }),
      await desk.bench.movement({ strategy_id: 'other' }),
    ].map(({ movement_id }) => movement_id);
    await desk.bench.sql(
      'UPDATE movements SET ended_at = now() WHERE movement_id = $1::uuid',
      made[0],
    );
    expect(await readAccount()).toMatchObject({
      open_movement_count: 1,
      open_movements: [
        {
          movement_id: made[1],
          request_state: 'PENDING_APPROVAL',
          asset: 'USDC',
          amount: '3',
          template_key: 'test/store',
          created_at: STAMP,
        },
      ],
    });
    const caller = { ...ADMIN, role: 'agent', namespace: 'agent/a' } as const;
    expect(await readAccount({ caller })).toMatchObject({
      open_movements: [],
      open_movement_count: 0,
    });
  });
});

test('a venue without an account is silent and not fresh', async () => {
  await nameMaster();
  await bind('basis');
  const venue = perpVenueSchema.parse({ ...desk.access.venue, url: 'http://127.0.0.1:1' });
  const away = { venue, client: createPerpClient(venue) };
  const answer = desk.call('GET', at('basis', '/emergency-state'), undefined, { perp: away });
  expect(await must(200, answer)).toMatchObject({ stale: true });
  await away.client.close();
});
