/** What agents propose, what of it becomes a template, and who may take it further. */
import { randomBytes, randomUUID } from 'node:crypto';
import type { SigningKey } from '../../dev/stack/keys.ts';
import {
  agent,
  attempt,
  promote,
  proposal,
  propose,
  readProposal,
  relimited,
  runOut,
  type Agent,
  type ProposalView,
} from '../support/agents.ts';
import {
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
  type TemplateView,
} from '../support/http.ts';

let own: Agent;
beforeAll(async () => {
  own = await agent();
});

const stranger = (): string => `0x${randomBytes(20).toString('hex')}`;
const versionsOf = (key: string) =>
  sql<{ version: number; most: string }>(
    `SELECT version, risk_controls ->> 'max_amount' AS most FROM plan_template_versions
     WHERE template_key = $1 ORDER BY version`,
    [key],
  );

async function cooling(): Promise<string> {
  const address = stranger();
  await sql(
    `INSERT INTO allowed_addresses (id, chain_family, address, reason, usable_after, created_by,
       created_at, updated_at)
     VALUES ($1, 'evm', $2, 'tests', now() + interval '1 hour', 'tests', now(), now())`,
    [randomUUID(), address],
  );
  return address;
}

describe('a proposal', () => {
  test('that everything covers becomes a version at once', async () => {
    const made = await must(200, propose(own));
    expect(made).toEqual({
      proposal_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      authority_key: own.authority,
      status: 'auto_promoted',
      promotion_mode: 'auto',
      template_key: `agent/${own.authority}/onchain_transfer-USDC-local-chain-local-chain`,
      template_version: 1,
      reasons: [],
      expires_at: expect.any(String),
      created_at: expect.any(String),
    });
    expect(Date.parse(made.expires_at) - Date.parse(made.created_at)).toBe(600_000);
    const { plan_templates } = await must(
      200,
      sendAs<{ plan_templates: TemplateView[] }>(
        own,
        'GET',
        `/plan-templates?template_key=${made.template_key ?? ''}`,
      ),
    );
    expect(plan_templates).toMatchObject([{ executable_in_v3_0: true, version: 1 }]);
    expect(await versionsOf(made.template_key ?? '')).toEqual([{ version: 1, most: '40' }]);
  });

  test('answers every reason together, in order, and leaves one denial in the audit', async () => {
    const limited = await agent({ most: '10', assets: 'USDT', chains: 'elsewhere', ttl: '60' });
    const address = stranger();
    const headers = { 'X-Request-Id': `reasons-${randomUUID()}` };
    const unknown = { destination_address: address, signer_profile: 'unknown' };
    const made = await must(200, propose(limited, unknown, headers));
    expect(made).toMatchObject({
      status: 'submitted',
      promotion_mode: null,
      template_key: null,
      template_version: null,
      reasons: [
        'asset_not_allowed',
        'chain_not_allowed',
        'notional_exceeded',
        'ttl_exceeded',
        'address_not_allowlisted',
        'signer_profile_unresolved',
      ],
    });
    const rows = await auditOfRequest(headers['X-Request-Id']);
    expect(rows.map(({ action, outcome, reason }) => [action, outcome, reason])).toEqual([
      ['template_proposal.create', 'success', null],
      ['template_proposal.promote', 'denied', 'asset_not_allowed'],
    ]);
    const cools = await must(200, propose(own, { destination_address: await cooling() }));
    expect(cools.reasons).toEqual(['address_in_cooling_period']);
  });

  test.each([
    ['an unknown family', { protocol_family: 'pigeon' }, /no blueprint for pigeon/],
    ['a chain that is not bound', { source_chain: 'moon' }, /source_chain and destination_chain/],
    ['another number of its chain', { destination_chain_id: 1 }, /is chain [0-9]+, not 1/],
    ['a token that is not listed', { asset: 'WBTC' }, /lists no token WBTC/],
    ['a bridge to where it starts', { protocol_family: 'cctp' }, /leads to another chain/],
    ['an account of no exchange', { protocol_family: 'cex_withdrawal' }, /no account of/],
  ])('of %s is rejected', async (_what, more, problem) => {
    const made = await must(200, propose(own, more));
    expect([made.status, made.reasons.includes('no_blueprint')]).toEqual(['rejected', true]);
    expect(await readProposal(own, made.proposal_id)).toMatchObject({
      problem: expect.stringMatching(problem),
      proposal: more,
    });
    expectRefusal(await promote(made.proposal_id), 409, 'invalid_state', {
      proposal_id: made.proposal_id,
      current_state: 'rejected',
      allowed_states: ['submitted'],
    });
  });

  test('of a withdrawal goes to where the exchange knows it, with its own allowlist', async () => {
    const withdraws = await agent({ chains: 'paper-main,local' });
    const made = await must(
      200,
      propose(withdraws, {
        protocol_family: 'cex_withdrawal',
        source_chain: 'paper-main',
        destination_chain: 'local',
      }),
    );
    expect(made).toMatchObject({ status: 'auto_promoted', reasons: [] });
  });

  test('is held to its form', async () => {
    expectInvalid(await propose(own, { requested_notional: '0' }), 'requested_notional');
    expectInvalid(await propose(own, { source_chain: 'a/b' }), 'source_chain');
    expectInvalid(await propose(own, { ttl_seconds: 0 }), 'ttl_seconds');
    expectInvalid(await propose(own, { callback_url: 'https://a.example' }), 'callback_url');
    expectInvalid(await attempt(own, { callback_url: 'ftp://a.example' }), 'callback_url');
  });
});

describe('versions', () => {
  test('of ephemeral proposals are used again while they cover the notional', async () => {
    const of = await agent();
    const one = async (requested_notional: string, more = {}) =>
      (await must(200, propose(of, { requested_notional, ...more }))).template_version;
    expect(await one('10')).toBe(1);
    expect(await one('4')).toBe(1);
    expect(await one('30')).toBe(2);
    expect(await one('10')).toBe(1);
    expect(await one('11')).toBe(2);
    // Another way of the same key is another plan, whatever its limit.
    expect(await one('1', { signer_profile: 'treasury' })).toBe(3);
  });

  test('of static proposals are one, for all that the authority covers', async () => {
    const of = await agent();
    const fixed = { proposal_kind: 'static' };
    const [first, second] = [
      await must(200, propose(of, { ...fixed, requested_notional: '3' })),
      await must(200, propose(of, { ...fixed, requested_notional: '90' })),
    ];
    expect(second.template_version).toBe(first.template_version);
    expect(await versionsOf(first.template_key ?? '')).toEqual([{ version: 1, most: '100' }]);
  });
});

describe('an idempotency key', () => {
  test('answers the first, and names what differs', async () => {
    const headers = { 'Idempotency-Key': randomUUID() };
    const first = await propose(own, {}, headers);
    const again = await propose(own, {}, headers);
    expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([200, null]);
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    expect(again.body).toEqual(first.body);
    const { proposal_id } = first.body;
    expectRefusal(
      await propose(own, { requested_notional: '41', ttl_seconds: 1 }, headers),
      ...([409, 'idempotency_conflict'] as const),
      { proposal_id, fields: ['requested_notional', 'ttl_seconds'] },
    );
    expectRefusal(await attempt(own, {}, headers), 409, 'idempotency_conflict', {
      proposal_id,
      fields: ['operation'],
    });
  });

  test('of the same client’s other agent tells nothing of the first', async () => {
    const headers = { 'Idempotency-Key': randomUUID() };
    await must(200, propose(own, {}, headers));
    const other = await agent();
    expectRefusal(await propose(other, {}, headers), 409, 'idempotency_conflict', {
      fields: ['authority_key'],
    });
  });

  test('used by many at once makes one proposal', async () => {
    const headers = { 'Idempotency-Key': randomUUID() };
    const answers = await Promise.all(Array.from({ length: 20 }, () => propose(own, {}, headers)));
    expect(new Set(answers.map(({ body }) => body.proposal_id)).size).toBe(1);
    expect(answers.every(({ status }) => status === 200)).toBe(true);
  });
});

describe('an administrator', () => {
  const beyond = { requested_notional: '250', ttl_seconds: 7_200 };

  test('promotes beyond the limits, once, and keeps showing what was waived', async () => {
    const of = await agent();
    const { proposal_id } = await must(200, propose(of, beyond));
    const promoted = await must(200, promote(proposal_id));
    expect(promoted).toMatchObject({
      status: 'auto_promoted',
      promotion_mode: 'admin',
      template_version: 1,
      reasons: ['notional_exceeded', 'ttl_exceeded'],
    });
    expect(await readProposal(of, proposal_id)).toMatchObject(promoted);
    expectRefusal(await promote(proposal_id), 409, 'invalid_state', {
      proposal_id,
      current_state: 'auto_promoted',
      allowed_states: ['submitted'],
    });
    expect(await versionsOf(promoted.template_key ?? '')).toEqual([{ version: 1, most: '250' }]);
  });

  test('gets past no address, signer or path', async () => {
    const address = await cooling();
    const blocked = { ...beyond, destination_address: address, signer_profile: 'unknown' };
    const { proposal_id } = await must(200, propose(own, blocked));
    expectRefusal(await promote(proposal_id), 409, 'promotion_blocked', {
      proposal_id,
      reasons: ['address_in_cooling_period', 'signer_profile_unresolved'],
    });
    const fine = await must(200, propose(own, { destination_address: address }));
    await sql('UPDATE allowed_addresses SET usable_after = NULL WHERE address = $1', [address]);
    expect(await must(200, promote(fine.proposal_id))).toMatchObject({ reasons: [] });
  });

  test('of two at once one wins', async () => {
    const { proposal_id } = await must(200, propose(own, beyond));
    const answers = await Promise.all([promote(proposal_id), promote(proposal_id)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  test('reads any proposal, and answers 404 for an unknown one', async () => {
    const { proposal_id } = await must(200, propose(own));
    expect(await readProposal(shared.keys.operator, proposal_id)).toMatchObject({
      proposal: proposal(),
      movement_id: null,
    });
    const id = '01938a5e-7c00-7b3a-9d2f-5b1c7e8a4f10';
    for (const answer of [await promote(id), await get(`/template-proposals/${id}`)])
      expectRefusal(answer, 404, 'template_proposal_not_found', { proposal_id: id });
  });
});

describe('the list', () => {
  interface Page {
    readonly template_proposals: readonly (ProposalView & { readonly proposal: object })[];
    readonly next_cursor: string | null;
  }
  const list = (of: Agent, query = '', by: SigningKey = of) =>
    must<Page>(
      200,
      sendAs(by, 'GET', `/template-proposals?authority_key=${of.authority}&limit=200${query}`),
    );
  const idsOf = ({ template_proposals }: Page) =>
    template_proposals.map(({ proposal_id }) => proposal_id);

  test('has what each proposal shows, newest first, in pages', async () => {
    const of = await agent();
    const made: string[] = [];
    for (const notional of ['1', '101', '2', '102', '3'])
      made.unshift((await must(200, propose(of, { requested_notional: notional }))).proposal_id);
    const all = await list(of, '', shared.keys.operator);
    expect(idsOf(all)).toEqual(made);
    expect(all.next_cursor).toBeNull();
    expect(all.template_proposals[0]).toEqual(await readProposal(of, made[0] ?? ''));
    const paged: string[] = [];
    let cursor = '';
    do {
      const page = await must<Page>(200, sendAs(of, 'GET', `/template-proposals?limit=2${cursor}`));
      paged.push(...idsOf(page));
      cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`;
    } while (cursor !== '');
    expect(paged).toEqual(made);
    expect(idsOf(await list(of, '&status=submitted'))).toEqual([made[1], made[3]]);
    expect(idsOf(await list(of, '&status=rejected'))).toEqual([]);
    expectInvalid(await sendAs(of, 'GET', '/template-proposals?status=open'), 'status');
  });

  test('of an agent’s key is its own, whatever it asks for', async () => {
    const [of, other] = [await agent(), await agent()];
    const mine = await must(200, propose(of));
    await must(200, propose(other));
    expect(idsOf(await must<Page>(200, sendAs(of, 'GET', '/template-proposals')))).toEqual([
      mine.proposal_id,
    ]);
    expect(idsOf(await list(other, '', of))).toEqual([]);
  });

  test('shows as expired what is over, also before a worker has been there', async () => {
    const of = await agent();
    const { proposal_id } = await must(200, propose(of, { requested_notional: '101' }));
    await runOut(proposal_id);
    expect(idsOf(await list(of, '&status=submitted'))).toEqual([]);
    expect(idsOf(await list(of, '&status=expired'))).toEqual([proposal_id]);
  });
});

describe('its time', () => {
  test('a worker ends an expired one, and a promotion is refused', async () => {
    const short = await must(200, propose(own, { requested_notional: '101', ttl_seconds: 1 }));
    await waitFor(async () => {
      const [row] = await sql('SELECT status FROM template_proposals WHERE proposal_id = $1', [
        short.proposal_id,
      ]);
      return row?.['status'] === 'expired';
    });
    expectRefusal(await promote(short.proposal_id), 409, 'invalid_state', {
      proposal_id: short.proposal_id,
      current_state: 'expired',
      allowed_states: ['submitted'],
    });
    const { events } = await must(
      200,
      send<{ events: { action: string; actor_role: string }[] }>(
        'GET',
        `/audit/events?entity_type=template_proposal&entity_key=${short.proposal_id}`,
      ),
    );
    expect(events.filter(({ action }) => action === 'template_proposal.expire')).toMatchObject([
      { actor_role: 'system' },
    ]);
  });

  test('does not end what was promoted', async () => {
    const made = await must<ProposalView>(200, propose(own, { ttl_seconds: 1 }));
    await waitFor(() => Promise.resolve(Date.now() > Date.parse(made.expires_at) + 1_200));
    expect(await readProposal(own, made.proposal_id)).toMatchObject({ status: 'auto_promoted' });
  });
});

describe('a bridge attempt', () => {
  test('makes the proposal and its movement, which waits for a person', async () => {
    const headers = { 'Idempotency-Key': randomUUID() };
    const url = 'https://agent.example/callback';
    const first = await must(200, attempt(own, { callback_url: url }, headers));
    expect(first).toMatchObject({ status: 'auto_promoted', movement_id: expect.any(String) });
    const again = await attempt(own, { callback_url: url }, headers);
    expect([again.headers.get('idempotent-replayed'), again.body]).toEqual(['true', first]);
    const found = await must(
      200,
      sendAs<Record<string, unknown>>(own, 'GET', `/movements/${first.movement_id ?? ''}`),
    );
    expect(found).toMatchObject({
      request_state: 'PENDING_APPROVAL',
      auto_approve_result: { outcome: 'pending', reason: 'agent_auto_approve_skipped' },
      outflow: [{ asset: 'USDC', amount: '40' }],
      created_by: { role: 'agent', key_id: own.keyId },
      agent_authority: { authority_key: own.authority, max_notional: '100', uncovered: [] },
    });
    expect(await readProposal(own, first.proposal_id)).toMatchObject({
      movement_id: first.movement_id,
    });
  });

  test('that is not promoted has no movement until it is, and then one', async () => {
    const of = await agent();
    const headers = { 'Idempotency-Key': randomUUID() };
    const beyond = { requested_notional: '150' };
    const first = await must(200, attempt(of, beyond, headers));
    expect(first).toMatchObject({ status: 'submitted', movement_id: null, template_key: null });
    await must(200, promote(first.proposal_id));
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => attempt(of, beyond, headers)),
    );
    const ids = new Set(answers.map(({ body }) => body.movement_id));
    expect([ids.size, ids.has(null)]).toEqual([1, false]);
  });
});

describe('a movement of an agent', () => {
  const body = (of: ProposalView, amount: string, more: object = {}) => ({
    template_key: of.template_key,
    template_version: of.template_version,
    intent: { asset: 'USDC', amount },
    ...more,
  });

  test('is held to the limits of the moment, and its approver sees them', async () => {
    const of = await agent();
    const made = await must(200, propose(of, { requested_notional: '80' }));
    const first = await must(
      201,
      sendAs<{ movement_id: string }>(of, 'POST', '/movements', body(made, '80')),
    );
    const lowered = await relimited(of, { most: '20' });
    const headers = { 'X-Request-Id': `limits-${randomUUID()}` };
    expectRefusal(
      await sendAs(lowered, 'POST', '/movements', body(made, '80'), headers),
      ...([422, 'max_notional_exceeded'] as const),
      { max_notional: '20', exceeded: [{ asset: 'USDC', amount: '80', limit: '20' }] },
    );
    expect(await auditOfRequest(headers['X-Request-Id'])).toMatchObject([
      { action: 'movement.create', outcome: 'denied', reason: 'max_notional_exceeded' },
    ]);
    const preview = await sendAs(lowered, 'POST', '/movements', body(made, '80'), {
      'Dry-Run': 'true',
    });
    expect(preview.body).toMatchObject({
      blocking_reasons: [{ error: 'max_notional_exceeded' }],
    });
    expect(await must(200, get(`/movements/${first.movement_id}`))).toMatchObject({
      agent_authority: { max_notional: '20', uncovered: ['max_notional_exceeded'] },
    });
    // What an administrator has promoted is covered up to what was promoted.
    const beyond = await must(200, propose(lowered, { requested_notional: '60' }));
    expect(beyond).toMatchObject({ status: 'submitted', reasons: ['notional_exceeded'] });
    const promoted = await must(200, promote(beyond.proposal_id));
    await must(201, sendAs(lowered, 'POST', '/movements', body(promoted, '60')));
    expectRefusal(
      await sendAs(lowered, 'POST', '/movements', body(promoted, '60.000001')),
      ...([422, 'max_notional_exceeded'] as const),
      { max_notional: '20', exceeded: [{ asset: 'USDC', amount: '60.000001', limit: '60' }] },
    );
  });

  test('moves only assets on chains that the authority names', async () => {
    const of = await agent();
    const made = await must(200, propose(of));
    const other = await relimited(of, { assets: 'USDT', chains: 'elsewhere' });
    expectRefusal(
      await sendAs(other, 'POST', '/movements', body(made, '1')),
      ...([422, 'asset_not_allowed'] as const),
      { assets: ['USDC'] },
    );
    const preview = await sendAs(other, 'POST', '/movements', body(made, '1'), {
      'Dry-Run': 'true',
    });
    expect(preview.body).toMatchObject({
      blocking_reasons: [{ error: 'asset_not_allowed' }, { error: 'chain_not_allowed' }],
    });
  });

  test('waits for a person, also where the template and a policy would approve it', async () => {
    const of = await agent();
    const made = await must(200, propose(of));
    const caps = { daily_cap_amount: '1000000', daily_cap_asset: 'USDC' };
    await must(
      200,
      send('PATCH', `/plan-templates/${made.template_key ?? ''}`, {
        auto_approve_enabled: true,
        ...caps,
      }),
    );
    const strategy_id = `agents-${randomUUID()}`;
    const policy = { client_id: of.clientId, strategy_id, allowed_assets: ['USDC'] };
    await must(
      201,
      post('/auto-approve-policies', {
        ...policy,
        allowed_templates: [{ template_key: made.template_key, template_version: 1 }],
        max_amount_per_request: '1000',
      }),
    );
    const created = await sendAs(of, 'POST', '/movements', body(made, '1', { strategy_id }));
    expect(created).toMatchObject({
      status: 201,
      body: {
        request_state: 'PENDING_APPROVAL',
        auto_approve_result: { outcome: 'pending', reason: 'agent_auto_approve_skipped' },
      },
    });
  });
});
