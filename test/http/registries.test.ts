/** Executors and signers over HTTP. */
import { randomUUID } from 'node:crypto';
import {
  auditOfRequest,
  expectInvalid,
  expectRefusal,
  get,
  must,
  patch,
  send,
  shared,
  sql,
  waitFor,
} from '../support/http.ts';

type View = Readonly<Record<string, unknown>>;
const listed = async (what: 'executors' | 'signers', key: string): Promise<View | undefined> => {
  const name = what === 'executors' ? 'executor_key' : 'signer_key';
  return (await must(200, get<View[]>(`/${what}`))).find((each) => each[name] === key);
};
const TIME = expect.stringMatching(/^\d{4}-.*Z$/) as unknown;

describe('executors', () => {
  test('are listed with what they serve and how they are', async () => {
    const paper = await waitFor(async () => {
      const view = await listed('executors', 'paper.withdrawal');
      return view?.['health_state'] === 'up' && view;
    });
    expect(paper).toEqual({
      executor_key: 'paper.withdrawal',
      kind: 'remote',
      status: 'active',
      health_state: 'up',
      health_checked_at: TIME,
      action_types: ['cex_withdrawal', 'cex_internal_transfer', 'cex_deposit_observe'],
      provider: 'paper',
      chain_family: null,
      endpoint: expect.stringContaining(shared.paperVenueUrl),
      source: 'both',
      updated_at: TIME,
    });
    const twin = await waitFor(async () => {
      const view = await listed('executors', 'test.twin-a');
      return view?.['health_state'] === 'down' && view;
    });
    expect(twin['status']).toBe('active');
  });

  test('that are in memory only get their row with the first change', async () => {
    await sql("DELETE FROM executors WHERE executor_key = 'test.unstored'");
    expect(await listed('executors', 'test.unstored')).toMatchObject({
      source: 'memory',
      status: 'active',
      updated_at: null,
    });
    const request = randomUUID();
    const answer = await send(
      'PATCH',
      '/executors/test.unstored',
      { status: 'disabled', reason: 'why' },
      { 'x-request-id': request },
    );
    expect([answer.status, answer.body]).toEqual([
      200,
      expect.objectContaining({
        executor_key: 'test.unstored',
        source: 'both',
        status: 'disabled',
        action_types: ['test_unstored'],
        updated_at: TIME,
      }),
    ]);
    expect(await listed('executors', 'test.unstored')).toEqual(answer.body);
    expect(await auditOfRequest(request)).toEqual([
      expect.objectContaining({
        action: 'executor.update_status',
        entity_key: 'test.unstored',
        outcome: 'success',
        reason: 'why',
      }),
    ]);
  });

  test('of an unknown key are 404', async () => {
    expectRefusal(
      await patch('/executors/unknown', { status: 'active' }),
      404,
      'executor_not_found',
      { executor_key: 'unknown' },
    );
  });

  test.each([
    ['status', {}],
    ['status', { status: 'deprecated' }],
    ['reason', { status: 'active', reason: '' }],
    ['extra', { status: 'active', extra: 1 }],
  ])('refuse a bad %s', async (path, body) => {
    expectInvalid(await patch('/executors/test.twin-a', body), path);
  });
});

describe('signers', () => {
  test('are listed with their identity', async () => {
    const { address } = shared.chain.accounts.signer;
    const view = await waitFor(async () => {
      const seen = await listed('signers', 'dev-treasury');
      return seen?.['observed_signer_address'] != null && seen;
    });
    expect(view).toEqual({
      signer_key: 'dev-treasury',
      status: 'active',
      backend: 'local',
      chain_family: 'evm',
      profile: 'treasury',
      expected_signer_address: null,
      observed_signer_address: expect.stringMatching(new RegExp(address, 'i')),
      observed_at: TIME,
      identity_state: 'unpinned',
      lanes: expect.any(Array),
      source: 'both',
      updated_at: TIME,
    });
    // What it has sent so far depends on the tests beside this one.
    for (const lane of view.lanes as readonly object[])
      expect(lane).toMatchObject({
        chain_id: shared.chain.chainId,
        address: address.toLowerCase(),
        next_nonce: expect.any(Number),
        open_nonces: expect.any(Number),
      });
    expect(await listed('signers', 'test-other-family')).toMatchObject({
      identity_state: 'not_applicable',
      backend: 'noop',
    });
  });

  test('that are in memory only get their row with the first change', async () => {
    await sql("DELETE FROM signers WHERE signer_key = 'test-unstored'");
    expect(await listed('signers', 'test-unstored')).toMatchObject({ source: 'memory' });
    expect(await must(200, patch('/signers/test-unstored', { status: 'disabled' }))).toMatchObject({
      source: 'both',
      status: 'disabled',
    });
    expect(await must(200, patch('/signers/test-unstored', { status: 'active' }))).toMatchObject({
      status: 'active',
    });
  });

  test('of an unknown key are 404', async () => {
    expectRefusal(await patch('/signers/unknown', { status: 'active' }), 404, 'signer_not_found', {
      signer_key: 'unknown',
    });
  });

  test.each(['deprecated', 'retired'])('that are %s stay what they are', async (status) => {
    const signer_key = await storedSigner({ status });
    const request = randomUUID();
    const answer = await send(
      'PATCH',
      `/signers/${signer_key}`,
      { status: 'active' },
      { 'x-request-id': request },
    );
    expectRefusal(answer, 409, 'invalid_state', {
      signer_key,
      current_state: status,
      allowed_states: ['active', 'disabled'],
    });
    expect(await listed('signers', signer_key)).toMatchObject({ status, source: 'persisted' });
    expect(await auditOfRequest(request)).toEqual([
      expect.objectContaining({ action: 'signer.update_status', outcome: 'denied' }),
    ]);
  });

  test.each(['deprecated', 'retired', 'x'])('cannot be set to %s', async (status) => {
    expectInvalid(await patch('/signers/test-wallet', { status }), 'status');
  });
});

describe('the caps of a nonce lane', () => {
  const address = `0x${'7'.repeat(40)}`;
  interface Lane {
    readonly address: string;
    readonly chain_id: number;
    readonly raise: unknown;
    readonly caps: unknown;
  }
  const CHAIN_CAPS = { max_gas_cost_wei: '50000000000000000', max_fee_per_gas_gwei: null };
  const body = { max_gas_cost_wei: '90000000000000000', ttl_seconds: 600, reason: 'gas is dear' };
  const raise = (more: object, request: string = randomUUID(), of = address) =>
    send<Lane>(
      'POST',
      `/admin/nonce-lanes/${String(shared.chain.chainId)}/${of}/raise`,
      { ...body, ...more },
      { 'x-request-id': request },
    );
  const lanes = async () =>
    ((await listed('signers', 'test-wallet'))!['lanes'] as readonly Lane[]).filter(
      (lane) => lane.address === address,
    );
  beforeAll(() =>
    sql(
      `INSERT INTO nonce_lanes (chain_id, address, next_nonce, signer_key)
       VALUES ($1, $2, 3, 'test-wallet'), (99, $2, 3, 'test-wallet')`,
      [shared.chain.chainId, address],
    ),
  );
  afterAll(() => sql('DELETE FROM nonce_lanes WHERE address = $1', [address]));

  test('are raised for it alone, for a while, and shown with who did it and why', async () => {
    const request = randomUUID();
    const checksummed = address.toUpperCase().replace('0X', '0x');
    const lane = await must(200, raise({}, request, checksummed));
    expect(lane).toMatchObject({
      address,
      caps: { ...CHAIN_CAPS, max_gas_cost_wei: '90000000000000000' },
      raise: {
        max_gas_cost_wei: '90000000000000000',
        max_fee_per_gas_gwei: null,
        reason: 'gas is dear',
        raised_by: { key_id: shared.keys.admin.keyId },
        raised_at: TIME,
        until: TIME,
      },
    });
    expect(await lanes()).toEqual([
      expect.objectContaining({ chain_id: 99, raise: null, caps: null }),
      lane,
    ]);
    expect(await auditOfRequest(request)).toEqual([
      expect.objectContaining({
        action: 'nonce_lane.raise_caps',
        outcome: 'success',
        reason: 'gas is dear',
        entity_key: `${String(shared.chain.chainId)}:${address}`,
      }),
    ]);
    expect(await must(200, raise({ max_gas_cost_wei: undefined, ttl_seconds: 0 }))).toMatchObject({
      raise: null,
      caps: CHAIN_CAPS,
    });
  });

  test.each([
    ['beyond ten times the cap', { max_gas_cost_wei: '500000000000000001' }],
    ['of a cap that the chain has not', { max_fee_per_gas_gwei: '1' }],
  ])('are not raised %s', async (_what, more) => {
    const request = randomUUID();
    expectRefusal(await raise(more, request), 409, 'lane_raise_too_large', {
      chain_id: shared.chain.chainId,
      address,
      most: { max_gas_cost_wei: '500000000000000000', max_fee_per_gas_gwei: null },
    });
    expect(await auditOfRequest(request)).toEqual([
      expect.objectContaining({ action: 'nonce_lane.raise_caps', outcome: 'denied' }),
    ]);
    expect((await lanes()).map((lane) => lane.raise)).toEqual([null, null]);
  });

  test.each([
    ['no lane of this address', shared.chain.chainId, `0x${'6'.repeat(40)}`],
    ['a chain that is not bound', 99, address],
  ])('are 404 of %s', async (_what, chain_id, of) => {
    const path = `/admin/nonce-lanes/${String(chain_id)}/${of}/raise`;
    expectRefusal(await send('POST', path, body), 404, 'nonce_lane_not_found', {
      chain_id,
      address: of,
    });
  });

  test.each([
    ['max_gas_cost_wei', { max_gas_cost_wei: undefined }],
    ['max_gas_cost_wei', { max_gas_cost_wei: '0' }],
    ['max_fee_per_gas_gwei', { max_fee_per_gas_gwei: '1e3' }],
    ['ttl_seconds', { ttl_seconds: 604_801 }],
    ['reason', { reason: '' }],
  ])('are not raised with a bad %s', async (path, more) => {
    expectInvalid(await raise(more), path);
  });
});

describe('pinning an address', () => {
  const pin = (
    signer: string,
    expected_address: string,
    previous_expected_address: string | null = null,
    request: string = randomUUID(),
  ) =>
    send<View>(
      'PUT',
      `/signers/${signer}/expected-identity`,
      { expected_address, previous_expected_address, reason: 'a test' },
      { 'x-request-id': request },
    );
  const other = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
  const refused = (
    answer: Awaited<ReturnType<typeof pin>>,
    error: string,
    signer_key: string,
    runtime: string | null,
    stored: string | null = null,
  ) =>
    expectRefusal(answer, 409, error, {
      signer_key,
      expected_signer_address: stored,
      runtime_address: runtime,
    });

  test('takes the address that the signer has, and only in order', async () => {
    const { wallet } = shared;
    refused(await pin('test-wallet', other), 'signer_identity_mismatch', 'test-wallet', wallet);
    refused(
      await pin('test-wallet', wallet, other),
      'previous_expected_address_mismatch',
      'test-wallet',
      wallet,
    );
    const request = randomUUID();
    const answer = await pin('test-wallet', wallet.toLowerCase(), null, request);
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        outcome: 'changed',
        signer_key: 'test-wallet',
        expected_signer_address: wallet,
        previous_expected_address: null,
        runtime_address: wallet,
        audit_event_id: expect.any(String),
      },
    ]);
    const [row] = await sql(
      'SELECT action, outcome, request_id FROM audit_events WHERE event_id = $1',
      [answer.body['audit_event_id']],
    );
    expect(row).toEqual({
      action: 'signer.set_expected_identity',
      outcome: 'success',
      request_id: request,
    });
    expect((await pin('test-wallet', wallet, other)).body).toMatchObject({
      outcome: 'noop',
      previous_expected_address: wallet,
    });
    refused(
      await pin('test-wallet', other, wallet),
      'signer_identity_mismatch',
      'test-wallet',
      wallet,
      wallet,
    );
    expect(await listed('signers', 'test-wallet')).toMatchObject({
      expected_signer_address: wallet,
      identity_state: 'match',
    });
  });

  test.each(['0x0000000000000000000000000000000000000000', '0x12', 'nonsense'])(
    'refuses %s',
    async (address) => {
      const request = randomUUID();
      const answer = await pin('dev-treasury', address, null, request);
      refused(
        answer,
        'signer_expected_identity_invalid',
        'dev-treasury',
        shared.chain.accounts.signer.address,
      );
      expect(await auditOfRequest(request)).toEqual([
        expect.objectContaining({ action: 'signer.set_expected_identity', outcome: 'denied' }),
      ]);
    },
  );

  test('of a signer that is stored and not in memory cannot be checked', async () => {
    const key = await storedSigner({});
    refused(await pin(key, other), 'signer_runtime_identity_unavailable', key, null);
  });

  test('of a signer of another family is 422', async () => {
    expectRefusal(await pin('test-other-family', other), 422, 'signer_identity_not_applicable', {
      signer_key: 'test-other-family',
    });
  });

  test('of an unknown signer is 404', async () => {
    expectRefusal(await pin('unknown', other), 404, 'signer_not_found', { signer_key: 'unknown' });
  });

  test('needs every field', async () => {
    const answer = await send('PUT', '/signers/test-wallet/expected-identity', { extra: 1 });
    expectInvalid(answer, 'expected_address', 'previous_expected_address', 'reason', 'extra');
  });
});

/** A row that no process has in memory; answers its key. */
async function storedSigner(fields: { readonly status?: string }): Promise<string> {
  const signer_key = `test-stored-${randomUUID()}`;
  await sql(
    `INSERT INTO signers (signer_key, status, backend, chain_family, created_at, updated_at)
      VALUES ($1, $2, 'local', 'evm', now(), now())`,
    [signer_key, fields.status ?? 'active'],
  );
  return signer_key;
}
