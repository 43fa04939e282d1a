/**
 * What no venue ends: after its usual time one request for a person names it, and the person may
 * resolve it. The faults are those of the venues' simulators: a deposit that is swallowed, a burn
 * that its attester does not know, a withdrawal that stays pending.
 */
import {
  createPublicClient,
  createWalletClient,
  erc20Abi,
  http,
  parseAbi,
  parseUnits,
  type Hex,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { StackBridges } from '../../dev/stack/bridges.ts';
import { PERP_TEMPLATES, starterTemplates } from '../../dev/stack/starter-templates.ts';
import { eventually, ownStack, type JsonAnswer } from '../support/own-stack.ts';
import { perpBooks } from '../support/perp-books.ts';
import { storeTemplate, withdrawal, type PlanNode } from '../support/plans.ts';
import { attest, nonceOf } from '../venues/burn-mint/lanes-desk.ts';

const LIMIT_MS = 120_000;
const USUAL_SECONDS = 15;
const soon = { timeout_policy: { attention_seconds: USUAL_SECONDS } };
/** How long a payment takes that a person abandons meanwhile. */
const LATE_MS = 90_000;
const own = ownStack({ perp: true, bridges: true, env: { SVC_UNPROVEN_ASK_SECONDS: '1' } });

interface Detail {
  readonly request_state: string;
  readonly reservation_status: string;
  readonly attention: {
    readonly reason: string;
    readonly node_key: string;
    readonly last_answer: string | null;
    readonly actions: readonly { readonly action: string }[];
  } | null;
}
const detail = async (id: string) =>
  (await own.api.expect(200, 'GET', `/movements/${id}`)) as unknown as Detail;
const nodeOf = async (id: string, key: string) => {
  const node = (await own.api.movement(id)).nodes.find(({ node_key }) => node_key === key);
  if (node === undefined) throw new Error(`no node ${key}`);
  return node;
};

/** Approved, and called back somewhere: what is to be sent there is read from the database. */
async function startMovement(template: string, amount: string, asset = 'USDC'): Promise<string> {
  const made = await own.api.create(template, { amount, intent: { asset } });
  await own.query('UPDATE movements SET callback_url = $2 WHERE movement_id = $1', [
    made.movement_id,
    'http://callbacks.test/',
  ]);
  await own.api.approve(made);
  return made.movement_id;
}
const called = async (id: string): Promise<readonly (string | undefined)[]> =>
  (
    await own.query<{ reason: string }>(
      `SELECT t.data ->> 'reason' AS reason FROM callbacks c JOIN timeline_events t USING (event_id)
        WHERE c.movement_id = $1 AND c.event_type = 'request_attention' ORDER BY t.sequence`,
      [id],
    )
  ).map(({ reason }) => reason);
const resolve = (id: string, key: string, outcome: string, more: object = {}) =>
  own.api.send('POST', `/movements/${id}/nodes/${key}/actions/resolve`, {
    outcome,
    reason: 'the venue confirmed by telephone',
    evidence: { ticket: '7' },
    ...more,
  });
const errorOf = ({ body }: JsonAnswer): unknown => (body['detail'] as { error?: unknown }).error;
const shift = (id: string, column: string, seconds: number): Promise<unknown> =>
  own.query(
    `UPDATE movement_nodes SET ${column} = ${column} - make_interval(secs => $2)
      WHERE movement_id = $1 AND ${column} IS NOT NULL`,
    [id, seconds],
  );

/** As if the send were over, and the node overdue for an hour. */
async function mayBeCompleted(id: string): Promise<void> {
  await shift(id, 'send_not_after', 7_200);
  await shift(id, 'submitted_at', 3_600);
}

/** One request for a person names the node and its last answer; the person may decide. */
async function isShown(id: string, key: string): Promise<void> {
  await eventually(async () => ((await nodeOf(id, key)).state === 'OBSERVING' ? true : null), {
    what: () => `${key} to be observed`,
    timeoutMs: LIMIT_MS,
  });
  // Within its usual time no person is needed, and none may resolve it.
  await own.query(
    'UPDATE movement_nodes SET usual_seconds = 3600 WHERE movement_id = $1 AND node_key = $2',
    [id, key],
  );
  expect((await detail(id)).attention).toBeNull();
  const early = await resolve(id, key, 'completed', { output: {} });
  expect([early.status, errorOf(early)]).toEqual([409, 'invalid_state']);
  expect(await called(id)).toEqual([]);
  await own.query(
    'UPDATE movement_nodes SET usual_seconds = $3 WHERE movement_id = $1 AND node_key = $2',
    [id, key, USUAL_SECONDS],
  );
  await shift(id, 'submitted_at', USUAL_SECONDS);
  const { attention } = await detail(id);
  expect(attention).toMatchObject({
    reason: 'observed_long',
    node_key: key,
    last_answer: expect.any(String),
    actions: expect.arrayContaining([expect.objectContaining({ action: 'resolve' })]),
  });
  await eventually(async () => ((await called(id)).length > 0 ? true : null), {
    what: () => 'its callback',
  });
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  expect(await called(id)).toEqual(['observed_long']);
}

/** It can never be failed, and the answer says why: none of its transactions is open. */
async function isMined(id: string, key: string): Promise<void> {
  const { output } = await nodeOf(id, key);
  const refused = await eventually(
    async () => {
      const answer = await resolve(id, key, 'failed');
      return errorOf(answer) === 'nonce_open' ? null : answer;
    },
    { what: () => 'its transaction to be final', timeoutMs: LIMIT_MS },
  );
  expect([refused.status, refused.body['detail']]).toMatchObject([
    409,
    { error: 'payment_mined', chain: expect.any(Number), tx_hash: output?.tx_hash },
  ]);
}

test('an exchange withdrawal that stays pending', async () => {
  await own.venueFaults({ processing_ms: LATE_MS });
  const template = await storeTemplate(own.api, [
    withdrawal(own.stack.chain, 'out', { more: { ...soon, retry_policy: { max_attempts: 2 } } }),
  ]);
  const id = await startMovement(template, '11');
  await isShown(id, 'out');
  // What is sent may still be under way.
  await shift(id, 'send_not_after', -3_600);
  for (const outcome of ['failed', 'abandoned'])
    expect(errorOf(await resolve(id, 'out', outcome))).toBe('send_not_over');
  await shift(id, 'send_not_after', 7_200);
  // The venue has not ended it, and may still pay.
  const failed = await resolve(id, 'out', 'failed');
  expect([failed.status, errorOf(failed)]).toEqual([409, 'send_still_open']);
  expect(errorOf(await resolve(id, 'out', 'completed'))).toBe('invalid_state');
  const said = await resolve(id, 'out', 'abandoned');
  expect([said.status, said.body]).toMatchObject([200, { request_state: 'EXECUTING' }]);
  await own.api.reaches(id, 'FAILED');
  const abandoned = { state: 'FAILED', error_code: 'ABANDONED' };
  expect(await nodeOf(id, 'out')).toMatchObject(abandoned);
  const { attention, reservation_status } = await detail(id);
  expect([reservation_status, attention?.reason]).toEqual(['released', 'failed']);
  // Never a retry, which would pay once more.
  expect(attention?.actions.map(({ action }) => action)).toEqual(['acknowledge']);
  await own.api.expect(200, 'POST', `/movements/${id}/actions/acknowledge`, {
    reason: 'paid by hand',
  });
  expect((await detail(id)).attention).toBeNull();
  // It pays in the end.
  await eventually(async () => ((await called(id)).includes('landed_late') ? true : null), {
    what: () => 'the late payment to be shown',
    timeoutMs: LATE_MS + LIMIT_MS,
  });
  expect((await detail(id)).attention).toMatchObject({ reason: 'landed_late', node_key: 'out' });
  expect(await nodeOf(id, 'out')).toMatchObject(abandoned);
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  expect(await called(id)).toEqual(['observed_long', 'landed_late']);
  await own.api.expect(200, 'POST', `/movements/${id}/actions/acknowledge`, {
    reason: 'settled',
    attention_reason: 'landed_late',
    node_key: 'out',
  });
  expect((await detail(id)).attention).toBeNull();
  await own.venueFaults(null);
}, 300_000);

test('a deposit that the perps venue swallows', async () => {
  const { perp } = own.stack;
  if (perp === null) throw new Error('no perps venue');
  const { chain } = own.stack;
  const transport = http(chain.rpcUrl);
  const wallet = createWalletClient({
    account: privateKeyToAccount(chain.accounts.venueHotWallet.privateKey as Hex),
    transport,
  });
  const hash = await wallet.writeContract({
    chain: null,
    abi: erc20Abi,
    address: perp.tokenAddress as Hex,
    functionName: 'transfer',
    args: [perp.account as Hex, parseUnits('1000', 6)],
  });
  await createPublicClient({ transport }).waitForTransactionReceipt({ hash });
  await own.api.expect(200, 'POST', '/perp-venue/master-account', {
    master_address: perp.account,
    signer_key: 'dev-treasury',
    network: 'testnet',
  });
  await own.api.expect(200, 'POST', '/perp-venue/strategy-bindings', { strategy_id: 'tests' });
  await perpBooks(perp).faults({ swallow_deposits: true });
  const starter = starterTemplates(chain, undefined, perp).find(
    (each) => (each as { template_key: string }).template_key === PERP_TEMPLATES.deposit,
  ) as { nodes: readonly PlanNode[] };
  const [move] = starter.nodes;
  const template = await storeTemplate(own.api, [{ ...move!, ...soon }]);
  const id = await startMovement(template, '50');
  await isShown(id, 'move');
  // The chain shows that it was paid.
  expect((await resolve(id, 'move', 'failed')).status).toBe(409);
  await mayBeCompleted(id);
  await isMined(id, 'move');
  const unnamed = await resolve(id, 'move', 'completed');
  expect([unnamed.status, JSON.stringify(unnamed.body)]).toEqual([
    422,
    expect.stringContaining('output.ledger_hash'),
  ]);
  // What no ledger shows completes nothing, whatever a person says; the person may abandon it.
  const output = { ledger_hash: (await nodeOf(id, 'move')).output?.tx_hash };
  const unshown = await resolve(id, 'move', 'completed', { output });
  expect([unshown.status, unshown.body['detail']]).toMatchObject([
    409,
    { error: 'claim_not_proven', reason: 'not_found' },
  ]);
  expect((await nodeOf(id, 'move')).state).toBe('OBSERVING');
  expect((await resolve(id, 'move', 'abandoned')).status).toBe(200);
  await own.api.reaches(id, 'FAILED');
  expect(await nodeOf(id, 'move')).toMatchObject({ state: 'FAILED', error_code: 'ABANDONED' });
}, 240_000);

const bridgesOf = (): StackBridges => {
  const { bridges } = own.stack;
  if (bridges === null) throw new Error('no bridges');
  return bridges;
};
const attester = (faults: object): Promise<Response> =>
  fetch(`${bridgesOf().attesterUrl}/faults`, {
    method: 'POST',
    body: JSON.stringify(faults),
    headers: { 'content-type': 'application/json' },
  });

/** An allowance, a burn that soon needs a person, and its mint. */
function burnAndMint(): Promise<string> {
  const { near, far } = bridgesOf();
  const token_address = near.contracts.burnToken;
  const node = (node_key: string, action_type: string, config: object): PlanNode => ({
    node_key,
    action_type,
    config,
    node_kind: 'action',
    has_side_effect: true,
    signer_selector: { chain_family: 'evm', profile: 'treasury' },
  });
  return storeTemplate(
    own.api,
    [
      node('allow', 'evm_erc20_approve', {
        chain_id: near.chainId,
        token_address,
        spender: near.contracts.tokenMessenger,
      }),
      {
        ...node('burn', 'cctp_burn', {
          source_chain_id: near.chainId,
          destination_chain_id: far.chainId,
          token_address,
          mint_recipient: own.stack.chain.accounts.treasury.address,
          max_fee: '0.5',
          finality: 'fast',
        }),
        ...soon,
      },
      node('mint', 'cctp_mint', { burn_from: 'burn' }),
    ],
    { assurance: 'destination_finalized' },
  );
}

test('a burn that its attester does not know', async () => {
  await attester({ attestation: 'unknown' });
  const id = await startMovement(await burnAndMint(), '9', 'USDB');
  await isShown(id, 'burn');
  await mayBeCompleted(id);
  // It is burnt, and without what is signed for it its mint would bring nothing.
  await isMined(id, 'burn');
  expect(errorOf(await resolve(id, 'burn', 'completed'))).toBe('claim_missing');
  await attester({ attestation: 'given' });
  await own.api.reaches(id, 'COMPLETED', LIMIT_MS);
}, 240_000);

test('burns that their attester does not know, and that somebody has minted', async () => {
  await attester({ attestation: 'unknown' });
  const { far } = bridgesOf();
  const template = await burnAndMint();
  const first = await startMovement(template, '8', 'USDB');
  await isShown(first, 'burn');
  const second = await startMovement(template, '8', 'USDB');
  await isShown(second, 'burn');
  for (const id of [first, second]) await mayBeCompleted(id);
  expect((await detail(first)).attention?.actions).toEqual([
    {
      action: 'resolve',
      ...{ node_key: 'burn', attempt: 1, state: 'OBSERVING' },
      outcomes: ['completed', 'abandoned'],
      claim_places: ['output.attested_message and output.attestation', 'mint_tx_hashes'],
      consequence: expect.stringContaining('mint_tx_hashes'),
    },
  ]);
  const named = (id: string, ...mint_tx_hashes: readonly string[]) =>
    resolve(id, 'burn', 'completed', { mint_tx_hashes });
  const refused = async (answer: Promise<JsonAnswer>) => (await answer).body['detail'];
  // Its own transaction is one of the other chain.
  const { external_ref } = await nodeOf(first, 'burn');
  expect(await refused(named(first, String(external_ref)))).toMatchObject({
    error: 'mint_not_proven',
    reason: 'not_found',
    tx_hash: external_ref,
  });
  // Both have emitted the same message; whose a mint is nothing tells.
  const [row] = await own.query<{ message: Hex }>(
    `SELECT output ->> 'message' AS message FROM movement_nodes
      WHERE movement_id = $1 AND node_key = 'burn'`,
    [first],
  );
  const minted: string[] = [];
  for (const nonce of ['one', 'the other']) {
    const signed = await attest(row!.message, nonceOf(nonce));
    const stranger = createWalletClient({
      account: privateKeyToAccount(own.stack.chain.accounts.venueHotWallet.privateKey),
      transport: http(far.rpcUrl),
    });
    const hash = await stranger.writeContract({
      chain: null,
      address: far.contracts.messageTransmitter,
      abi: parseAbi(['function receiveMessage(bytes message, bytes attestation)']),
      functionName: 'receiveMessage',
      args: [signed.message, signed.attestation],
    });
    await createPublicClient({ transport: http(far.rpcUrl) }).waitForTransactionReceipt({ hash });
    minted.push(hash);
  }
  const [one = '', other = ''] = minted;
  const final = await eventually(
    async () => {
      const said = (await refused(named(first, one, one))) as { readonly reason: string };
      return said.reason === 'not_final' ? null : said;
    },
    { what: () => 'its block to be final', timeoutMs: LIMIT_MS },
  );
  expect(final).toMatchObject({
    error: 'mint_not_proven',
    reason: 'ambiguous',
    nodes: [{ movement_id: second, node_key: 'burn' }],
  });
  const mintOf = async (id: string) => (await nodeOf(id, 'mint')).output?.['tx_hash'];
  await eventually(async () => ((await named(first, one, other)).status === 200 ? true : null), {
    what: () => 'both to be final',
    timeoutMs: LIMIT_MS,
  });
  await own.api.reaches(first, 'COMPLETED', LIMIT_MS);
  expect(await mintOf(first)).toBe(one);
  // One mint completes one burn.
  expect(await refused(named(second, one))).toMatchObject({
    error: 'already_claimed',
    claimed_by: { movement_id: first, node_key: 'burn' },
  });
  expect((await named(second, one, other)).status).toBe(200);
  await own.api.reaches(second, 'COMPLETED', LIMIT_MS);
  expect(await mintOf(second)).toBe(other);
  expect(await detail(second)).toMatchObject({ reservation_status: 'consumed', attention: null });
}, 300_000);

test('a burn whose attester is away', async () => {
  await attester({ error_rate: 1 });
  const id = await startMovement(await burnAndMint(), '7', 'USDB');
  await eventually(
    async () => ((await nodeOf(id, 'burn')).error_code === 'ATTESTER_UNAVAILABLE' ? true : null),
    { what: () => 'a call of its attester', timeoutMs: LIMIT_MS },
  );
  await shift(id, 'submitted_at', USUAL_SECONDS);
  await mayBeCompleted(id);
  expect((await detail(id)).attention).toMatchObject({
    node_key: 'burn',
    last_answer: expect.stringContaining('ATTESTER_UNAVAILABLE'),
    actions: expect.arrayContaining([expect.objectContaining({ action: 'resolve' })]),
  });
  // The burn is recorded after a long silence, whichever side is away.
  await shift(id, 'unanswered_since', 3_600);
  const said = await eventually(
    async () => {
      const mint_tx_hashes = [`0x${'7'.repeat(64)}`];
      const { body } = await resolve(id, 'burn', 'completed', { mint_tx_hashes });
      const { reason } = body['detail'] as { readonly reason?: string };
      return reason === 'burn_unrecorded' ? null : body['detail'];
    },
    { what: () => 'its message to be recorded', timeoutMs: LIMIT_MS },
  );
  expect(said).toMatchObject({ error: 'mint_not_proven', reason: 'not_found' });
  await attester({});
  await own.api.reaches(id, 'COMPLETED', LIMIT_MS);
}, 240_000);
