/**
 * Every example of the API's document is true: requests are sent as they stand there, with only the
 * ids of this run put in, and answers and errors look as they are shown (test/support/seen.ts).
 */
import { PERP_BRIDGE } from '../../dev/simulators/perp/settings.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SigningKey } from '../../dev/stack/keys.ts';
import { starterTemplates } from '../../dev/stack/starter-templates.ts';
import { low, someone } from '../dev/perp-stack.ts';
import { at, startPerpDesk } from '../support/perp-desk.ts';
import { startApprovalDesk } from '../support/approval-desk.ts';
import { makePasskey, type Ceremony, type SoftPasskey } from '../support/authenticator.ts';
import { agent, relimited } from '../support/agents.ts';
import { faultsOf } from '../support/redocly.ts';
import { SeenExamples } from '../support/seen.ts';
import { GUARDED_SIGNER, PURSE, PURSE_SIGNER } from '../support/shared-stack-facts.ts';
import {
  must,
  alone,
  cancellable,
  create,
  edge,
  gated,
  get,
  movementBody,
  noop,
  post,
  reaches,
  register,
  registered,
  run,
  send,
  sendAs,
  sendRaw,
  shared,
  sql,
  template,
  transfer,
  uniqueKey,
  waitFor,
  type CreatedView,
} from '../support/http.ts';
import { tool } from '../support/tool.ts';
import { PAYER, wrongPayment } from '../support/wrong-payment.ts';

type Json = Readonly<Record<string, unknown>>;

interface Call {
  /** Who calls; the admin when left out. */
  readonly key?: SigningKey;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Of a list that other tests fill too: the entries that this one knows. */
  readonly only?: (body: Json) => unknown;
}

// The transfer between accounts is of USDT, and its outcome is set for all of them.
alone('USDT of the paper venue');
// What it answers of a chain is what was seen last.
alone('the refresh of the bridge registry');
// A movement of the starter sends from it.
alone('the treasury wallet');
alone(PAYER);

const UNKNOWN_ID = '01938a5e-7c00-7b3a-9d2f-5b1c7e8a4f10';
const STARTER = 'starter/withdraw-to-treasury';
const [starter] = starterTemplates(shared.chain).filter((each) => each.template_key === STARTER);
const sent = new Set<string>();
let seen: SeenExamples;
let movement: CreatedView;

beforeAll(async () => {
  seen = await SeenExamples.servedBy(shared.opsUrl);
  expect([201, 409]).toContain((await post('/plan-templates', starter)).status);
});
afterAll(() =>
  seen.write({
    [shared.uiUrl]: 'http://127.0.0.1:8233',
    [shared.paperVenueUrl]: 'http://127.0.0.1:8200',
  }),
);

/** The example of what an operation is sent, with what only this run knows. */
function example(operationId: string, more: object = {}): Json {
  sent.add(operationId);
  return { ...seen.request(operationId), ...more };
}

/** Sends, and holds the answer against its example. */
async function answers<T = Json>(
  operation: readonly [id: string, method: string, path: string],
  status = 200,
  { body, headers = {}, only, key = shared.keys.admin }: Call = {},
): Promise<T> {
  const [id, method, path] = operation;
  const answer = await sendAs<Json>(key, method, path, body, headers);
  if (answer.status !== status)
    throw new Error(`${id} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  seen.answered(id, status, only === undefined ? answer.body : only(answer.body));
  return answer.body as T;
}

/** A signer with one lane in which nothing is open: what it has sent is up to the tests beside. */
function atRest(signer: Json): Json {
  const sends = { chain_id: 1, address: '0x', next_nonce: 1, open_nonces: 0, unfinal_nonces: 0 };
  const [lane] = [...(signer['lanes'] as readonly Json[]), sends as Json];
  const seen_at = lane?.['seen_at'] ?? new Date().toISOString();
  const finality = {
    read: 'finalized_tag',
    confirmations: null,
    typical_age_seconds: null,
    override_reason: null,
  };
  const seen = { mined_nonce: 1, final_nonce: 1, oldest_open_seconds: null, seen_at, finality };
  const caps = { max_gas_cost_wei: '50000000000000000', max_fee_per_gas_gwei: null };
  return { ...signer, lanes: [{ ...lane, ...seen, stuck: null, raise: null, caps }] };
}

/** Sends, and holds the refusal of this code against its example. */
async function refuses(
  code: string,
  sending: Promise<{ readonly status: number; readonly body: unknown }>,
): Promise<void> {
  const { status, body } = await sending;
  expect([status >= 400, (body as { detail?: { error?: string } }).detail?.error]).toEqual([
    true,
    code,
  ]);
  seen.refused(body);
}

const list = (body: Json, name: string): readonly Json[] => body[name] as readonly Json[];
const refusesCreate = (code: string, of: { template_key: string; version: number }, more = {}) =>
  refuses(code, post('/movements', movementBody(of, more)));

test('a template is registered, read, listed, drawn and capped', async () => {
  const created = await answers<{ template_id: string; template_key: string }>(
    ['createPlanTemplate', 'POST', '/plan-templates'],
    201,
    { body: example('createPlanTemplate') },
  );
  const { template_id, template_key } = created;
  await answers(['getPlanTemplate', 'GET', `/plan-templates/${template_id}`]);
  await answers(['listPlanTemplates', 'GET', `/plan-templates?template_key=${template_key}`]);
  await answers(['getPlanTemplateGraph', 'GET', `/plan-templates/${template_id}/graph`]);
  await answers(['updatePlanTemplateAdmin', 'PATCH', `/plan-templates/${template_key}`], 200, {
    body: example('updatePlanTemplateAdmin'),
  });
  await answers(['retirePlanTemplate', 'POST', `/plan-templates/${template_id}/retire`], 200, {
    body: example('retirePlanTemplate'),
  });
  await refusesCreate('template_version_retired', { template_key, version: 1 });
});

test('a movement is previewed, created and repeated', async () => {
  const body = example('createMovement');
  const create = ['createMovement', 'POST', '/movements'] as const;
  await answers(create, 200, { body, headers: { 'dry-run': 'true' } });
  movement = await answers<CreatedView>(create, 201, { body });
  expect((await post('/movements', body)).status).toBe(200);
  await refuses(
    'idempotency_conflict',
    post('/movements', { ...body, intent: { asset: 'USDC', amount: '1' } }),
  );
});

test('it is approved and followed to its end', async () => {
  const { movement_id, compiled_plan_hash } = movement;
  const path = `/movements/${movement_id}`;
  await refuses(
    'compiled_plan_hash_mismatch',
    post(`${path}/approve`, seen.request('approveMovement')),
  );
  await answers(['approveMovement', 'POST', `${path}/approve`], 200, {
    body: example('approveMovement', { compiled_plan_hash }),
  });
  await reaches(movement_id, 'COMPLETED', 60_000);
  // The callback for its end follows a moment later and is not sent: its host is not allowed.
  await waitFor(async () => {
    const { body } = await get<{ callbacks: { pending: number; dead_letter: number } }>(path);
    return body.callbacks.pending === 0 && body.callbacks.dead_letter > 0;
  });
  await answers(['getMovement', 'GET', path]);
  await answers(['getMovementPlan', 'GET', `${path}/plan`]);
  await answers(['getMovementTimeline', 'GET', `${path}/timeline`]);
  await answers(['getMovementGraph', 'GET', `${path}/graph`]);
  await answers(['listAuditEvents', 'GET', `/audit/events?entity_key=${movement_id}`]);
  await answers(['getAuditSeal', 'GET', '/audit/seal']);
  await refuses('invalid_state', post(`${path}/actions/resume`));
});

test('its callbacks are listed, and a dead letter is sent again', async () => {
  const { movement_id } = movement;
  const { callbacks } = await answers<{ callbacks: { event_id: string }[] }>([
    'listCallbacks',
    'GET',
    `/callbacks?movement_id=${movement_id}&status=dead_letter&limit=1`,
  ]);
  const redeliver = `/callbacks/${callbacks[0]?.event_id ?? ''}/redeliver`;
  await answers(['redeliverCallback', 'POST', redeliver]);
});

test('a person rejects, resumes, retries and cancels', async () => {
  const [rejected, waiting, failed, cancelled] = await Promise.all([
    registered([noop('a')]).then((of) => post<CreatedView>('/movements', movementBody(of))),
    gated().then((of) => run(of, 'WAITING_MANUAL_ACTION')),
    registered([noop('a', { risk_patch: { max_amount: '1' } })]).then((of) => run(of, 'FAILED')),
    cancellable().then((of) => post<CreatedView>('/movements', movementBody(of))),
  ]);
  const on = (id: string, verb: string) => `/movements/${id}/${verb}`;
  const { movement_id } = waiting;
  await refuses('no_retryable_node', post(on(movement_id, 'actions/retry')));
  await refuses('no_on_cancel_edge', post(on(movement_id, 'actions/cancel')));
  await answers(['rejectMovement', 'POST', on(rejected.body.movement_id, 'reject')], 200, {
    body: example('rejectMovement'),
  });
  await refuses('node_differs', post(on(movement_id, 'actions/resume'), { node_key: 'a' }));
  await answers(['resumeMovement', 'POST', on(movement_id, 'actions/resume')], 200, {
    body: example('resumeMovement'),
  });
  await answers([
    ...(['resetMovementAllowances', 'POST'] as const),
    on(failed.movement_id, 'actions/reset-allowances'),
  ]);
  const done = on(failed.movement_id, 'actions/acknowledge');
  await answers(['acknowledgeMovement', 'POST', done], 200, {
    body: example('acknowledgeMovement'),
  });
  await answers(['retryMovement', 'POST', on(failed.movement_id, 'actions/retry')], 200, {
    body: example('retryMovement', { node_key: 'a', state: 'FAILED' }),
  });
  await answers(['cancelMovement', 'POST', on(cancelled.body.movement_id, 'actions/cancel')]);
});

test('a payment that completed the wrong node is reassigned to the right one', async () => {
  const { holder, target } = await wrongPayment();
  const path = `/movements/${holder}/nodes/arrive/actions/reassign`;
  await answers(['reassignNodePayment', 'POST', path], 200, {
    body: example('reassignNodePayment', { to_movement_id: target }),
  });
  await reaches(target, 'COMPLETED');
  const back = `/movements/${target}/nodes/arrive/actions/reassign`;
  const body = { ...seen.request('reassignNodePayment'), to_movement_id: holder };
  await refuses('not_reassignable', post(back, body));
});

test('movements are listed, and routes listed and ranked', async () => {
  await post('/movements', example('createMovement', { idempotency_key: uniqueKey() }));
  await answers(['listMovements', 'GET', `/movements?template_key=${STARTER}&limit=1`]);
  await answers(['searchAll', 'GET', '/search?q=INV-2026-1187'], 200, {
    only: (body) => ({ ...body, hits: list(body, 'hits').slice(0, 1) }),
  });
  const own = (body: Json) => ({
    ...body,
    routes: list(body, 'routes').filter(({ template_key }) => template_key === STARTER),
  });
  await answers(['listRoutes', 'GET', '/route-catalog'], 200, { only: own });
  const ranked = (body: Json) => ({
    ...body,
    recommendations: list(body, 'recommendations').filter(
      ({ route }) => (route as Json)['template_key'] === STARTER,
    ),
  });
  await answers(['recommendRoutes', 'POST', '/routes/recommend'], 200, {
    body: example('recommendRoutes'),
    only: ranked,
  });
});

test('executors and signers are listed, switched and pinned', async () => {
  const found = (key: string) => (body: Json) =>
    (body as unknown as Json[]).filter((each) => Object.values(each)[0] === key);
  const checked = async (path: string, key: string, field: string): Promise<boolean> =>
    found(key)((await get<Json>(path)).body)[0]?.[field] != null;
  await waitFor(() => checked('/executors', 'paper.withdrawal', 'health_checked_at'));
  await waitFor(() => checked('/executors', 'example.bank', 'health_checked_at'));
  await waitFor(() => checked('/signers', 'dev-treasury', 'observed_at'));
  await answers(['listExecutors', 'GET', '/executors'], 200, { only: found('paper.withdrawal') });
  await answers(['listSigners', 'GET', '/signers'], 200, {
    only: (body) => found('dev-treasury')(body).map(atRest),
  });
  const of = await registered([noop('a', { action_type: 'example_payment' })]);
  const pending = await post<CreatedView>('/movements', movementBody(of));
  await answers(['updateExecutorStatus', 'PATCH', '/executors/example.bank'], 200, {
    body: example('updateExecutorStatus'),
  });
  const { movement_id, compiled_plan_hash } = pending.body;
  await refuses(
    'binding_unavailable',
    post(`/movements/${movement_id}/approve`, { compiled_plan_hash, approver_id: 'tester' }),
  );
  await answers(['updateSignerStatus', 'PATCH', '/signers/example-wallet'], 200, {
    body: example('updateSignerStatus'),
  });
  await answers(['listRegistryAudit', 'GET', '/registry/audit?entity_key=example.bank']);

  const lane = '0x2546bcd3c84621e976d8185a91a922ae77ecec30';
  await sql(
    `INSERT INTO nonce_lanes (chain_id, address, next_nonce, signer_key)
     VALUES ($1, $2, 42, 'example-wallet')`,
    [shared.chain.chainId, lane],
  );
  const raise = (address: string) =>
    `/admin/nonce-lanes/${String(shared.chain.chainId)}/${address}/raise`;
  const raised = { body: example('raiseLaneCaps') };
  await answers(['raiseLaneCaps', 'POST', raise(lane)], 200, raised);
  await refuses(
    'lane_raise_too_large',
    post(raise(lane), { ...raised.body, max_gas_cost_wei: '600000000000000000' }),
  );
  await refuses('nonce_lane_not_found', post(raise(`0x${'0'.repeat(39)}1`), raised.body));
  await sql('DELETE FROM nonce_lanes WHERE address = $1', [lane]);

  // Nothing is switched here: whatever else runs on this stack needs its new movements.
  await answers(['setCutoverMode', 'POST', '/admin/cutover-mode'], 200, {
    body: example('setCutoverMode'),
  });
  await answers(['getCutoverMode', 'GET', '/admin/cutover-mode']);

  const identity = `/signers/${PURSE_SIGNER.signer_key}/expected-identity`;
  const pin = example('setExpectedSignerIdentity', { expected_address: PURSE });
  const { expected_address: other } = seen.request('setExpectedSignerIdentity');
  const refusesPin = (code: string, more: Json, path = identity): Promise<void> =>
    refuses(code, send('PUT', path, { ...pin, ...more }));
  await refusesPin('signer_identity_mismatch', { expected_address: other });
  await refusesPin('previous_expected_address_mismatch', { previous_expected_address: other });
  await refusesPin('signer_expected_identity_invalid', { expected_address: '0x12' });
  await refusesPin('signer_not_found', {}, '/signers/unknown/expected-identity');
  const noAddress = '/signers/test-other-family/expected-identity';
  await refusesPin('signer_identity_not_applicable', {}, noAddress);
  await answers(['setExpectedSignerIdentity', 'PUT', identity], 200, { body: pin });
});

test('a signer is looked at, rotated in a drill and retired', async () => {
  const { signer_key } = PURSE_SIGNER;
  const at = (key: string, verb: string): string => `/admin/signers/${key}/${verb}`;
  const rotation = example('rotateSigner', { replace_with: signer_key });
  const refusesRotation = (code: string, more: Json, key: string = GUARDED_SIGNER.signer_key) =>
    refuses(code, post(at(key, 'rotate'), { ...rotation, ...more }));
  await refusesRotation('ack_impact_required', { drill: false });
  await refusesRotation('validation_failed', {}, signer_key);
  await refusesRotation('signer_expected_identity_missing', {
    replace_with: 'dev-treasury',
  });
  await sql(
    `INSERT INTO signers (signer_key, status, backend, chain_family, known_addresses, created_at,
       updated_at) VALUES
     ('example-old', 'deprecated', 'remote', 'evm', $1, now(), now()),
     ('example-lost', 'active', 'remote', 'evm', '{}', now(), now())`,
    [['0x00000000000000000000000000000000000d1e0f']],
  );
  await refusesRotation('new_signer_health_check_failed', { replace_with: 'example-lost' });
  await answers(['rotateSigner', 'POST', at(GUARDED_SIGNER.signer_key, 'rotate')], 200, {
    body: rotation,
  });
  await answers(['listSignerHoldings', 'POST', at(signer_key, 'inventory')], 200, {
    body: example('listSignerHoldings'),
  });
  await answers(['listSignerAllowances', 'POST', at(signer_key, 'allowances')], 200, {
    body: example('listSignerAllowances'),
  });
  const retirement = example('retireSigner');
  await refuses('retirement_denied', post(at(signer_key, 'retire'), retirement));
  await answers(['retireSigner', 'POST', at('example-old', 'retire')], 200, { body: retirement });
  await answers([
    'getSignerRotationHistory',
    'GET',
    at(GUARDED_SIGNER.signer_key, 'rotation-history'),
  ]);
  await answers(['verifyRegistryDrift', 'POST', '/registry/verify-drift'], 200, {
    only: (body) => ({
      ...body,
      ok: false,
      drift: list(body, 'drift').filter(({ key }) => key === 'example-lost'),
    }),
  });
});

test('the bridge registry is kept, drilled and refreshed', async () => {
  const [chains, paths] = ['/bridge-c/chain-registry', '/bridge-c/path-baselines'];
  const chain = example('createBridgeChain');
  const path = example('createPathBaseline');
  const key = [path['src_chain'], path['dst_chain'], path['asset']].map(String);
  const [base, baseline] = [`${chains}/${String(chain['chain'])}`, [paths, ...key].join('/')];
  const own = (body: Json) =>
    (body as unknown as Json[]).filter(
      (each) => each['chain'] === chain['chain'] || each['src_chain'] === path['src_chain'],
    );
  await refuses('chain_not_found', get(base));
  await answers(['createBridgeChain', 'POST', chains], 200, { body: chain });
  await refuses('chain_exists', post(chains, chain));
  const { endpoint_identity } = chain;
  const twin = { chain: 'base-2', endpoint_identity, finality_age_seconds: 1 };
  await refuses('endpoint_identity_conflict', post(chains, twin));
  const other = { chain: String(path['dst_chain']), finality_age_seconds: 900 };
  await post(chains, { ...other, endpoint_identity: `30110:0x${'1a'.repeat(20)}` });
  await answers(['getBridgeChain', 'GET', base]);
  await answers(['listBridgeChains', 'GET', chains], 200, { only: own });
  await refuses('path_baseline_not_found', get(baseline));
  await answers(['createPathBaseline', 'POST', paths], 200, { body: path });
  await refuses('path_baseline_exists', post(paths, path));
  await refuses('chain_in_use', send('DELETE', base));
  await answers(['recordDrillPass', 'POST', `${baseline}/drill-pass`], 200, {
    body: example('recordDrillPass'),
  });
  await answers(['getPathBaseline', 'GET', baseline]);
  await answers(['listPathBaselines', 'GET', paths], 200, { only: own });
  await answers(['refreshBridgeRegistry', 'POST', '/executors/bridge-c/refresh-registry'], 200, {
    only: (body) => ({
      ...body,
      stale: [chain['chain']],
      chains: list(body, 'chains').filter((each) => each['chain'] === chain['chain']),
    }),
  });
  await answers(['replacePathBaseline', 'PUT', baseline], 200, {
    body: example('replacePathBaseline'),
  });
  await answers(['replaceBridgeChain', 'PUT', base], 200, { body: example('replaceBridgeChain') });
  await answers(['deletePathBaseline', 'DELETE', baseline]);
  await answers(['deleteBridgeChain', 'DELETE', base]);
  await send('DELETE', `${chains}/${other.chain}`);
});

test('the perps venue is bound, and agents trade there', async () => {
  // The master is named once and for good, so it is named on a service of this test's own.
  const desk = await startPerpDesk('perp-master');
  try {
    const [post, get] = [desk.call.bind(null, 'POST'), desk.call.bind(null, 'GET')];
    const seenAs = async (id: string, status: number, answering: ReturnType<typeof desk.call>) => {
      const { status: actual, body } = await answering;
      if (actual !== status) throw new Error(`${id} answered ${JSON.stringify(body)}`);
      seen.answered(id, status, body);
      return body;
    };
    const [masters, bindings] = ['/perp-venue/master-account', '/perp-venue/strategy-bindings'];
    const { address } = desk.master.account;
    const master = example('createMasterAccount', { master_address: address });
    const binding = example('createStrategyBinding');
    const wallet = example('createAgentWallet');
    const of = (rest = '', strategy = binding['strategy_id'] as string) => at(strategy, rest);
    const agents = of('/agent-wallets');
    await refuses('strategy_binding_not_found', get(of()));
    await refuses('master_account_missing', post(bindings, binding));
    await refuses('perp_venue_not_bound', post(masters, master, { perp: null }));
    await refuses('master_account_mismatch', post(masters, { ...master, network: 'mainnet' }));
    await seenAs('createMasterAccount', 200, post(masters, master));
    await refuses('master_account_exists', post(masters, { ...master, label: 'other' }));

    const sub_account_address = await desk.perp.sub(low(address), 'carry');
    const carry = { strategy_id: 'carry', sub_account_address };
    await desk.perp.faults({ refuse_rate: 1 });
    await refuses('venue_unavailable', post(bindings, carry));
    await fetch(`${desk.access.venue.url}/faults`, { method: 'DELETE' });
    const stranger = low(someone('no sub-account').address);
    const foreign = { ...carry, sub_account_address: stranger };
    await refuses('sub_account_not_of_master', post(bindings, foreign));
    expect((await post(bindings, carry)).status).toBe(200);
    await refuses('sub_account_bound', post(bindings, { ...carry, strategy_id: 'other' }));
    await seenAs('createStrategyBinding', 200, post(bindings, binding));
    await refuses('strategy_binding_exists', post(bindings, { ...binding, sub_account_address }));
    await seenAs('getStrategyBinding', 200, get(of()));

    for (const key of [wallet['signer_key'] as string, 'perp-agent-2', 'off']) desk.signer(key);
    await desk.bench.sql(`INSERT INTO signers (signer_key, backend, chain_family, status,
      created_at, updated_at) VALUES ('off', 'local', 'evm', 'disabled', now(), now())`);
    await refuses('signer_not_active', post(agents, { ...wallet, signer_key: 'off' }));
    await seenAs('createAgentWallet', 200, post(agents, wallet));
    const next = { ...wallet, signer_key: 'perp-agent-2' };
    await refuses('agent_wallet_pending', post(agents, next));
    await refuses('agent_name_taken', post(of('/agent-wallets', 'carry'), next));
    await refuses('agent_address_reused', post(agents, { ...wallet, agent_name: 'desk 2' }));
    desk.work();
    await waitFor(async () => {
      const { body } = await get(agents);
      return (body as unknown as readonly Json[])[0]?.['state'] === 'active';
    });
    await seenAs('listAgentWallets', 200, get(agents));
    const topUp = example('topUpAgentWallet');
    const topUps = (name = wallet['agent_name'] as string) =>
      of(`/agent-wallets/${encodeURIComponent(name)}/top-up`);
    await refuses('agent_wallet_not_found', post(topUps('unknown'), topUp));
    const much = { ...topUp, amount: '25000.01' };
    await refuses('max_agent_balance_exceeded', post(topUps(), much));
    await desk.bench.sql(
      `INSERT INTO allowed_addresses (id, chain_family, address, reason, created_by, created_at,
         updated_at) VALUES (gen_random_uuid(), 'evm', $1, 'test', 'test', svc_now(), svc_now())`,
      PERP_BRIDGE.address.toLowerCase(),
    );
    await seenAs('topUpAgentWallet', 200, post(topUps(), topUp));
    const pause = example('pauseStrategy');
    await seenAs('pauseStrategy', 200, post(of('/pause'), pause));
    await refuses('strategy_paused', post(topUps(), { ...topUp, idempotency_key: 'later' }));
    await desk.bench.sql(`UPDATE perp_agent_wallets SET state = 'refused'`);
    await refuses(
      'agent_wallet_not_active',
      post(topUps(), { ...topUp, idempotency_key: 'still later' }),
    );
    await desk.bench.movement({ strategy_id: binding['strategy_id'] as string });
    await seenAs('getEmergencyState', 200, get(of('/emergency-state')));
  } finally {
    await desk.stop();
  }
});

test('balances are read', async () => {
  const path = '/balances?venue_key=paper-sub-b&asset=USDT&fresh=true';
  await waitFor(async () => (await get<{ balances: Json[] }>(path)).body.balances.length > 0);
  await answers(['listBalances', 'GET', path]);
});

test('a capital transfer is made, and one without a confirmation is settled', async () => {
  const create = ['createCapitalTransfer', 'POST', '/capital-transfers'] as const;
  const body = example('createCapitalTransfer');
  const made = await answers<{ transfer_id: string }>(create, 201, { body });
  const path = `/capital-transfers/${made.transfer_id}`;
  const stateOf = async (of: string): Promise<unknown> =>
    (await get<Json>(of)).body['request_state'];
  await waitFor(async () => (await stateOf(path)) === 'COMPLETED');
  await answers(create, 200, { body });
  await answers(['getCapitalTransfer', 'GET', path]);
  await answers(['getCapitalTransferTimeline', 'GET', `${path}/timeline`]);
  const strategy = '/capital-transfers?strategy_id=basis';

  const faults = { transfer_outcome: 'pending', phases: ['transfer_submit'], remaining: 1 };
  const venue = `${shared.paperVenueUrl}/faults`;
  const headers = { 'content-type': 'application/json' };
  await fetch(venue, { method: 'POST', headers, body: JSON.stringify(faults) });
  try {
    const again = await post<{ transfer_id: string }>('/capital-transfers', {
      ...body,
      idempotency_key: uniqueKey(),
    });
    const open = `/capital-transfers/${again.body.transfer_id}`;
    await waitFor(async () => (await stateOf(open)) === 'PENDING_PROVIDER_CONFIRMATION');
    await answers(['resolveCapitalTransfer', 'POST', `${open}/actions/resolve`], 200, {
      body: example('resolveCapitalTransfer'),
    });
  } finally {
    await fetch(venue, { method: 'DELETE' });
  }
  await answers(['listCapitalTransfers', 'GET', `${strategy}&limit=1`]);

  const refusesTransfer = (code: string, more: Json): Promise<void> =>
    refuses(code, post('/capital-transfers', { ...body, idempotency_key: uniqueKey(), ...more }));
  await refusesTransfer('venue_not_found', { destination_venue: 'nowhere' });
  await refusesTransfer('provider_mismatch', { destination_venue: 'other-paper-main' });
  await refusesTransfer('topology_not_supported', { destination_venue: 'paper-second-main' });
  await refusesTransfer('account_type_not_supported', { source_account_type: 'MARGIN' });
  await refusesTransfer('insufficient_effective_withdrawable', { amount: '1000000000' });
});

test('a policy is made, read, listed and changed, and its budget read', async () => {
  const body = example('createAutoApprovePolicy');
  const policies = '/auto-approve-policies';
  const policy = await answers<{ policy_id: string; client_id: string; strategy_id: string }>(
    ['createAutoApprovePolicy', 'POST', policies],
    201,
    { body },
  );
  const one = `${policies}/${policy.policy_id}`;
  await answers(['getAutoApprovePolicy', 'GET', one]);
  await answers(['listAutoApprovePolicies', 'GET', policies], 200, {
    only: (all) =>
      (all as unknown as Json[]).filter(({ policy_id }) => policy_id === policy.policy_id),
  });
  await answers([
    'getBudget',
    'GET',
    `/budgets/${policy.strategy_id}?client_id=${policy.client_id}`,
  ]);
  await answers(['updateAutoApprovePolicy', 'PATCH', one], 200, {
    body: example('updateAutoApprovePolicy'),
  });
  await refuses('policy_exists', post(policies, body));
  await refuses('cap_consistency_violation', send('PATCH', one, { window_hours: null }));
});

test('a movement under an approval rule says who must approve it', async () => {
  const of = await registered([noop('a')]);
  const desk = await startApprovalDesk('treasury', ['carla', 'dora'], of.template_key, {
    reason_required: true,
  });
  const created = await post<CreatedView>('/movements', movementBody(of));
  const { movement_id, compiled_plan_hash } = created.body;
  const path = `/movements/${movement_id}/approve`;
  const body = { compiled_plan_hash, approver_id: 'desk-lead' };
  const [key] = desk.keys;
  if (key === undefined) throw new Error('the desk has no people');
  await refuses('approver_excluded', post(path, body));
  await refuses('reason_required', sendAs(key, 'POST', path, body));
  await sendAs(key, 'POST', path, { ...body, reason: 'The invoice was paid late once.' });
  await answers(['listMovementApprovers', 'GET', `/movements/${movement_id}/approvers`], 200, {
    key,
  });
  const withdraw = `/movements/${movement_id}/withdraw-approval`;
  await answers(['withdrawApproval', 'POST', withdraw], 200, { key });
  await refuses('no_approval', sendAs(key, 'POST', withdraw));
  const named = (field: string, key: string, names: readonly string[]) => (answer: Json) => ({
    ...answer,
    [field]: list(answer, field).filter((each) => names.includes(String(each[key]))),
  });
  await answers(['listPeople', 'GET', '/people'], 200, {
    only: named('people', 'person', ['carla', 'dora']),
  });
  await answers(['listApproverGroups', 'GET', '/approver-groups'], 200, {
    only: named('groups', 'name', ['treasury']),
  });
  await answers(['listApprovalRules', 'GET', '/approval-rules'], 200, {
    only: named('rules', 'name', ['treasury']),
  });
  await desk.close();
  await changeRequests();
});

test('a rule may want passkeys', async () => {
  const of = await registered([noop('a')]);
  const desk = await startApprovalDesk('vault', ['elsa', 'hanno'], of.template_key, {
    evidence: 'passkey',
  });
  const [key] = desk.keys;
  if (key === undefined) throw new Error('the desk has no people');
  const made = await madePasskey(key);
  const { movement_id, compiled_plan_hash } = await create(of);
  const path = `/movements/${movement_id}`;
  const ceremony = await answers<Ceremony>(
    ['challengeMovementApproval', 'POST', `${path}/challenge`],
    200,
    { key, body: example('challengeMovementApproval') },
  );
  const body = { compiled_plan_hash, approver_id: 'desk-lead' };
  await refuses('passkey_required', sendAs(key, 'POST', `${path}/approve`, body));
  const assertion = made.assert(ceremony, { origin: 'http://other.example' });
  await refuses(
    'assertion_refused',
    sendAs(key, 'POST', `${path}/approve`, { ...body, assertion }),
  );
  await desk.close();
});

/** The passkey of a person, which is taken, and another one that is not. */
async function madePasskey(key: SigningKey): Promise<SoftPasskey> {
  const ceremony = await answers<Ceremony>(
    ['challengePasskey', 'POST', '/passkeys/challenge'],
    200,
    { key },
  );
  const origin = `http://localhost:${new URL(shared.apiUrl).port}`;
  const made = makePasskey(ceremony, origin);
  await refuses(
    'passkey_refused',
    sendAs(key, 'POST', '/passkeys', makePasskey(ceremony, 'http://other.example').offer),
  );
  const { fingerprint, person } = await answers<{ fingerprint: string; person: string }>(
    ['offerPasskey', 'POST', '/passkeys'],
    201,
    { key, body: example('offerPasskey', made.offer) },
  );
  await tool(['passkeys', 'confirm', '--person', person, '--fingerprint', fingerprint]);
  await answers(['listPasskeys', 'GET', '/passkeys'], 200, {
    only: (body) => ({
      passkeys: list(body, 'passkeys').filter((each) => each['person'] === person),
    }),
  });
  return made;
}

/** A retry that waits for people, as requests of every kind do. */
async function changeRequests(): Promise<void> {
  const of = await registered([noop('a', { risk_patch: { max_amount: '1' } })]);
  const { movement_id } = await run(of, 'FAILED');
  const people = ['edda', 'fritz', 'greta'];
  const desk = await startApprovalDesk('second-desk', people, of.template_key);
  const [author, key, last] = desk.keys;
  if (author === undefined || key === undefined || last === undefined)
    throw new Error('the desk has no people');
  const retry = () =>
    sendAs<{ change_request_id: string; hash: string }>(
      author,
      'POST',
      `/movements/${movement_id}/actions/retry`,
      {},
    );
  const made = await must(202, retry());
  const path = `/change-requests/${made.change_request_id}`;
  const approveIt = { ...example('approveChangeRequest'), hash: made.hash };
  await refuses(
    'change_hash_mismatch',
    sendAs(key, 'POST', `${path}/approve`, example('approveChangeRequest')),
  );
  await refuses('not_the_author', sendAs(key, 'POST', `${path}/withdraw`));
  await answers(['challengeChangeRequestApproval', 'POST', `${path}/challenge`], 200, {
    key,
    body: example('challengeChangeRequestApproval'),
  });
  await answers(['approveChangeRequest', 'POST', `${path}/approve`], 200, { key, body: approveIt });
  await answers(['getChangeRequest', 'GET', path], 200, { key });
  await answers(['getChangeRequestDocument', 'GET', `${path}/document`], 200, { key });
  await answers(['listChangeRequests', 'GET', '/change-requests?kind=movement_action'], 200, {
    key,
    only: (body) => ({
      ...body,
      change_requests: list(body, 'change_requests').filter(
        (each) => each['change_request_id'] === made.change_request_id,
      ),
      next_cursor: null,
    }),
  });
  const withdraw = `${path}/withdraw-approval`;
  await answers(['withdrawChangeRequestApproval', 'POST', withdraw], 200, { key });
  await answers(['withdrawChangeRequest', 'POST', `${path}/withdraw`], 200, { key: author });
  await refuses('change_request_ended', sendAs(key, 'POST', `${path}/approve`, approveIt));
  const second = await must(202, retry());
  const other = `/change-requests/${second.change_request_id}`;
  await answers(['rejectChangeRequest', 'POST', `${other}/reject`], 200, {
    key,
    body: example('rejectChangeRequest'),
  });
  const third = await must(202, retry());
  const approval = [
    `/change-requests/${third.change_request_id}/approve`,
    { hash: third.hash },
  ] as const;
  await sendAs(key, 'POST', ...approval);
  await desk.close();
  await refuses('change_outdated', sendAs(last, 'POST', ...approval));
}

test('agents are shown what they may propose, and callers who they are', async () => {
  await answers(['getAgentAuthority', 'GET', '/agent-authorities/dev']);
  await answers(['whoami', 'GET', '/whoami']);
  await answers(['healthz', 'GET', `${shared.apiUrl}/healthz`]);
});

test('what does not exist is refused', async () => {
  await refuses('movement_not_found', get(`/movements/${UNKNOWN_ID}`));
  await refuses('template_not_found', get(`/plan-templates/${UNKNOWN_ID}`));
  await refuses('policy_not_found', get(`/auto-approve-policies/${UNKNOWN_ID}`));
  await refuses('change_request_not_found', get(`/change-requests/${UNKNOWN_ID}`));
  await refuses('callback_not_found', post(`/callbacks/${UNKNOWN_ID}/redeliver`));
  await refuses('capital_transfer_not_found', get(`/capital-transfers/${UNKNOWN_ID}`));
  await refuses('agent_authority_not_found', get('/agent-authorities/unknown'));
  await refuses('executor_not_found', send('PATCH', '/executors/unknown', { status: 'active' }));
});

test('a template that cannot be is refused', async () => {
  const refusesTemplate = (code: string, more: Json): Promise<void> =>
    refuses(code, post('/plan-templates', template([noop('a')], more)));
  await refusesTemplate('graph_invalid', { edges: [edge('a', 'nowhere')] });
  await refusesTemplate('completion_policy_missing', { completion_policy: {} });
  await refuses('template_version_exists', post('/plan-templates', starter));
});

test('a movement that cannot be is refused', async () => {
  const unserved = await registered([noop('a', { action_type: 'test_unserved' })]);
  await refusesCreate('binding_unresolved', unserved);
  const impossible = noop('a', { config: { amount_ref: 'nodes.zzz.output.x' } });
  await refusesCreate('template_not_executable', await registered([impossible]));
  const elsewhere = transfer('a', {
    config: {
      ...(transfer('a')['config'] as Json),
      destination_address: '0x00000000000000000000000000000000000000aa',
    },
  });
  await refusesCreate('address_not_allowlisted', await registered([elsewhere]));
  const other = { intent: { asset: 'USDT', amount: '1' } };
  const usdc = await register(template([transfer('a')]));
  await refusesCreate('intent_asset_not_moved', usdc, other);
  const proven = { completion_policy: { completion_assurance: 'protocol_finalized' } };
  const withdraws = [transfer('a'), ...(starter?.nodes.slice(0, 1) ?? [])];
  await refusesCreate(
    'completion_assurance_unsupported',
    await register(template(withdraws as never, proven)),
  );
  const topUp = noop('top-up', {
    action_type: 'agent_wallet_top_up',
    signer_selector: { chain_family: 'evm', profile: 'treasury' },
  });
  await refusesCreate('reserved_template_family', await registered([topUp]));
  const many = { input_params: { node_config: { text: 'x'.repeat(65 * 1024) } } };
  await refusesCreate('plan_too_large', await registered([noop('a')]), many);
  const late = movementBody(await registered([noop('a')]), { approval_ttl_seconds: 1 });
  const { movement_id, compiled_plan_hash } = (await post<CreatedView>('/movements', late)).body;
  await sleep(1_050);
  const approve = { compiled_plan_hash, approver_id: 'tester' };
  await refuses('approval_expired', post(`/movements/${movement_id}/approve`, approve));
});

test('an agent proposes, attempts and is promoted', async () => {
  const key = await agent();
  const { authority } = key;
  const under = `/agent-authorities/${authority}`;
  const { accounts } = shared.chain;
  const here = { destination_address: accounts.treasury.address };
  const proposed = example('createTemplateProposal', here);
  const as = { key };
  await answers(['createTemplateProposal', 'POST', `${under}/template-proposals`], 200, {
    ...as,
    body: proposed,
  });
  const attempted = example('createBridgeAttempt', { ...here, requested_notional: '99' });
  const first = await answers<{ movement_id: string; template_key: string }>(
    ['createBridgeAttempt', 'POST', `${under}/bridge-attempt`],
    ...([200, { ...as, body: { ...attempted, asset: 'USDC' } }] as const),
  );
  const beyond = { ...proposed, requested_notional: '250' };
  const open = await sendAs<{ proposal_id: string }>(
    key,
    'POST',
    `${under}/template-proposals`,
    beyond,
  );
  const path = `/template-proposals/${open.body.proposal_id}`;
  await answers(['listTemplateProposals', 'GET', '/template-proposals?limit=1']);
  await answers(['getTemplateProposal', 'GET', path]);
  await answers(['promoteTemplateProposal', 'POST', `${path}/promote`]);
  const cold = { ...proposed, destination_address: PURSE.replace(/.$/, '0').toLowerCase() };
  const blocked = await sendAs<{ proposal_id: string }>(
    key,
    'POST',
    `${under}/template-proposals`,
    cold,
  );
  await refuses(
    'promotion_blocked',
    post(`/template-proposals/${blocked.body.proposal_id}/promote`),
  );
  await refuses('template_proposal_not_found', get(`/template-proposals/${UNKNOWN_ID}`));
  const create = (template_version: number, amount: string, by: SigningKey = key) =>
    sendAs(by, 'POST', '/movements', {
      template_key: first.template_key,
      template_version,
      intent: { asset: 'USDC', amount },
    });
  await refuses('max_notional_exceeded', create(1, '125'));
  await refuses('asset_not_allowed', create(1, '1', await relimited(key, { assets: 'USDT' })));
  const elsewhere = { assets: 'USDC', chains: 'elsewhere' };
  await refuses('chain_not_allowed', create(1, '1', await relimited(key, elsewhere)));
});

test('what every operation may answer', async () => {
  const stranger = { keyId: 'unknown', secret: 'nothing' };
  const json = { 'content-type': 'application/json' };
  const at = { method: 'POST', path: '/v3/movements' };
  await refuses('unauthenticated', sendAs(stranger, 'GET', '/whoami'));
  await refuses('forbidden', sendAs(shared.keys.agent, 'GET', '/executors'));
  const foreign = '/agent-authorities/another';
  await refuses('agent_namespace_mismatch', sendAs(shared.keys.agent, 'GET', foreign));
  await refuses('invalid_request', get('/movements?limit=0'));
  await refuses('invalid_path', sendRaw({ method: 'GET', path: '/v3/movements%2Fx' }));
  await refuses('route_not_found', get('/nothing'));
  await refuses('method_not_allowed', send('DELETE', '/movements'));
  await refuses('unsupported_media_type', sendRaw({ ...at, body: '{}' }));
  const large = Buffer.alloc(1_048_577, 32);
  await refuses('body_too_large', sendRaw({ ...at, headers: json, body: large }));
  const wide = { 'x-wide': 'x'.repeat(17 * 1024) };
  await refuses('headers_too_large', send('GET', '/whoami', undefined, wide));
});

test('every example of the document was seen, and every request sent', () => {
  // These need a stack of their own (test/faults/unknown-outcomes, lanes) or a limit (rate-limit).
  seen.expectAllSeen({
    answers: ['cancelNodeTransaction 200', 'resolveMovementNode 200'],
    refusals: ['node_not_found', 'nothing_signed', 'rate_limited', 'send_not_over'],
  });
  expect([...sent, 'cancelNodeTransaction', 'resolveMovementNode'].sort()).toEqual(
    [...seen.requests()].sort(),
  );
});

test('every answer fits the schema that the document gives it', async () => {
  expect(await faultsOf(seen.withAnswers())).toEqual([]);
});
