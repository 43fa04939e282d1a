/** An outcome that no venue can tell, and what a person makes of it. */
import { createWalletClient, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { assertConsistent, ledgerOf, transfersOnChain } from '../support/evidence.ts';
import { eventually, ownStack, type JsonAnswer } from '../support/own-stack.ts';
import { clientEnv, runFundctl } from '../support/fundctl.ts';
import { SeenExamples } from '../support/seen.ts';
import { storeTemplate, transfer, withdrawal as fromMain } from '../support/plans.ts';

/** An executor that may keep an effect to itself for an hour. */
const slow = (url: string) => ({
  executor_key: 'test.slow',
  kind: 'remote',
  url,
  timeout_seconds: 5,
  same_key_safe: true,
  settle_seconds: 3_600,
  action_types: ['cex_withdrawal'],
  provider: 'slow',
  completion_assurances: ['destination_credited'],
});
let amounts = 100;
// A person has to decide at once where no answer comes.
const own = ownStack({
  executors: (paperVenueUrl) => [slow(paperVenueUrl)],
  env: { SVC_NODE_UNANSWERED_TIMEOUT_SECONDS: '1' },
});
beforeAll(async () => {
  const withdrawal = {
    node_key: 'out',
    node_kind: 'action',
    action_type: 'cex_withdrawal',
    executor_selector: { action_type: 'cex_withdrawal', provider: 'paper' },
    has_side_effect: true,
    config: {
      venue: 'paper-sub-a',
      asset: 'USDC',
      network: 'local',
      destination_address: own.stack.chain.accounts.treasury.address,
    },
    retry_policy: { max_attempts: 2, initial_interval_seconds: 0.1 },
  };
  const noop = (node_key: string) => ({
    node_key,
    node_kind: 'action',
    action_type: 'noop',
    has_side_effect: false,
  });
  await own.api.expect(201, 'POST', '/plan-templates', {
    template_key: 'test/unknown',
    version: 1,
    name: 'An outcome that may stay unknown',
    nodes: [withdrawal, noop('then'), noop('instead')],
    edges: [
      { from: 'out', to: 'then', edge_type: 'on_success' },
      { from: 'out', to: 'instead', edge_type: 'on_failure' },
    ],
    completion_policy: { completion_assurance: 'provider_completed' },
  });
  await own.api.expect(201, 'POST', '/plan-templates', {
    template_key: 'test/alone',
    version: 1,
    name: 'An outcome that may stay unknown, with no other way',
    nodes: [withdrawal],
    edges: [],
    completion_policy: { completion_assurance: 'provider_completed' },
  });
});

afterEach(() => own.venueFaults(null));

/** A movement whose withdrawal was booked by a venue that then no longer answers. */
async function unknown(faults: object, template = 'test/unknown'): Promise<string> {
  amounts += 1;
  await own.venueFaults(faults);
  const movement = await own.api.create(template, { amount: `${amounts}.5` });
  await own.api.approve(movement);
  await own.api.reaches(movement.movement_id, 'MANUAL_INTERVENTION');
  return movement.movement_id;
}

const SILENT = { lose_answer_rate: 1, phases: ['submit', 'recover'] };
const DEAD = { error_rate: 1, phases: ['submit', 'recover'] };

/** What a person says, at once. */
const say = (
  movementId: string,
  outcome: 'completed' | 'failed',
  { node = 'out', ...more }: { node?: string; output?: object; attempt?: number } = {},
) =>
  own.api.send('POST', `/movements/${movementId}/nodes/${node}/actions/resolve`, {
    outcome,
    reason: 'the statement of the venue',
    evidence: { statement: 'line 7' },
    ...more,
  });

/** As if the send had to end so many seconds from now, by the database's clock. */
const sendEnds = (movementId: string, seconds: number) =>
  own.query(
    'UPDATE movement_nodes SET send_not_after = svc_now() + make_interval(secs => $2) WHERE movement_id = $1 AND send_not_after IS NOT NULL',
    [movementId, seconds],
  );

/** What a person says long after the send. */
async function resolve(...args: Parameters<typeof say>): Promise<JsonAnswer> {
  await sendEnds(args[0], -7_200);
  return say(...args);
}

const consistent = async (movementId: string): Promise<void> =>
  assertConsistent(await own.api.movement(movementId), await own.api.timeline(movementId));
const nodeStates = async (movementId: string) =>
  Object.fromEntries(
    (await own.api.movement(movementId)).nodes.map((node) => [node.node_key, node.state]),
  );

test('it is resolved as the document of the API shows it', async () => {
  const examples = await SeenExamples.servedBy(own.stack.opsUrl);
  const id = await unknown(SILENT);
  examples.refused((await say(id, 'failed')).body);
  examples.refused((await say(id, 'failed', { node: 'unknown' })).body);
  await sendEnds(id, -7_200);
  const { status, body } = await own.api.send(
    'POST',
    `/movements/${id}/nodes/out/actions/resolve`,
    examples.request('resolveMovementNode'),
  );
  expect([status, [...examples.refusals.keys()]]).toEqual([
    200,
    ['send_not_over', 'node_not_found'],
  ]);
  examples.answered('resolveMovementNode', 200, body);
  await examples.write();
});

test('show and timeline say by which key to ask, the last words, and how to answer for it', async () => {
  const id = await unknown(SILENT);
  const env = clientEnv(own.stack.apiUrl, own.stack.keys.admin);
  for (const [word, last] of [
    ['show', 'last answer +RECOVERY_INCONCLUSIVE: \\S'],
    ['timeline', 'last words +Unknown: \\S'],
  ] as const) {
    const { out } = await runFundctl(env, ['movements', word, id]);
    expect(out).toMatch(new RegExp(`idempotency key +${id}:out:1\\n`));
    expect(out).toMatch(new RegExp(last));
    expect(out).toContain(
      `fundctl movements resolve ${id} out --outcome completed|failed|abandoned`,
    );
  }
  expect((await resolve(id, 'completed')).status).toBe(200);
  const after = await runFundctl(env, ['movements', 'timeline', id]);
  expect(after.out).not.toContain('fundctl movements resolve');
});

test('a person resolves it as completed, and the success path goes on', async () => {
  const id = await unknown(SILENT);
  expect((await resolve(id, 'completed')).status).toBe(200);
  await own.api.reaches(id, 'COMPLETED');
  expect(await nodeStates(id)).toEqual({ out: 'COMPLETED', then: 'COMPLETED', instead: 'SKIPPED' });
  await consistent(id);
  const audit = await own.query<{
    outcome: string;
    reason: string;
    details: Record<string, unknown>;
  }>(
    "SELECT outcome, reason, details FROM audit_events WHERE action = 'movement.resolve' AND entity_key = $1",
    [id],
  );
  expect(audit).toMatchObject([
    {
      outcome: 'success',
      reason: 'the statement of the venue',
      details: { node_key: 'out', outcome: 'completed' },
    },
  ]);
  expect((await resolve(id, 'failed')).status).toBe(409);
});

test('a person resolves it as failed, and the failure path goes on', async () => {
  const id = await unknown(DEAD);
  expect((await resolve(id, 'failed')).status).toBe(200);
  await own.api.reaches(id, 'COMPLETED');
  expect(await nodeStates(id)).toEqual({ out: 'FAILED', then: 'SKIPPED', instead: 'COMPLETED' });
  expect(await ledgerOf(own.stack.paperVenueUrl, id)).toEqual([]);
  await consistent(id);
});

test('only an unknown node can be resolved, and two people at once resolve it once', async () => {
  const id = await unknown(SILENT);
  expect(await resolve(id, 'completed', { node: 'then' })).toMatchObject({
    status: 409,
    body: {
      detail: {
        error: 'invalid_state',
        node_key: 'then',
        current_state: 'BLOCKED',
        allowed_states: ['UNKNOWN'],
      },
    },
  });
  expect(await resolve(id, 'completed', { node: 'unknown' })).toMatchObject({
    status: 404,
    body: { detail: { error: 'node_not_found' } },
  });
  expect(await resolve(id, 'failed', { attempt: 2 })).toMatchObject({
    status: 409,
    body: { detail: { error: 'node_differs', node_key: 'out', attempt: 1, state: 'UNKNOWN' } },
  });
  const answers = await Promise.all([
    resolve(id, 'completed', { attempt: 1 }),
    resolve(id, 'failed'),
    resolve(id, 'completed'),
  ]);
  expect(answers.map((answer) => answer.status).sort()).toEqual([200, 409, 409]);
  await own.api.reaches(id, 'COMPLETED');
  await consistent(id);
});

test('a word that names no attempt is about the first one', async () => {
  const id = await unknown(DEAD, 'test/alone');
  expect((await resolve(id, 'failed')).status).toBe(200);
  await own.api.reaches(id, 'FAILED');
  await own.api.act('retry', id);
  await own.api.reaches(id, 'MANUAL_INTERVENTION');
  expect(await resolve(id, 'failed')).toMatchObject({
    status: 409,
    body: { detail: { error: 'node_differs', node_key: 'out', attempt: 2, state: 'UNKNOWN' } },
  });
  const env = clientEnv(own.stack.apiUrl, own.stack.keys.admin);
  for (const word of ['show', 'timeline'])
    expect((await runFundctl(env, ['movements', word, id])).out).toContain(
      `fundctl movements resolve ${id} out --outcome completed|failed|abandoned --attempt 2 --reason`,
    );
  expect((await resolve(id, 'failed', { attempt: 2 })).status).toBe(200);
  await own.api.reaches(id, 'FAILED');
  await consistent(id);
});

test('resume observes it again, and what landed meanwhile is seen', async () => {
  const id = await unknown(SILENT);
  await own.venueFaults(null);
  await own.api.act('resume', id);
  await own.api.reaches(id, 'COMPLETED');
  const [entry] = await ledgerOf(own.stack.paperVenueUrl, id);
  expect(entry).toMatchObject({ effects: 1, submit_calls: 1 });
  await consistent(id);
});

test('a retry asks about the earlier send first: landed is not sent again', async () => {
  const id = await unknown(SILENT);
  await own.venueFaults(null);
  await own.api.act('retry', id);
  const ended = await own.api.reaches(id, 'COMPLETED');
  expect(ended.nodes.find((node) => node.node_key === 'out')).toMatchObject({
    attempt: 1,
    state: 'COMPLETED',
  });
  expect(await ledgerOf(own.stack.paperVenueUrl, id)).toMatchObject([
    { effects: 1, submit_calls: 1 },
  ]);
  await consistent(id);
});

test('a retry of one that never landed sends once, under the same key', async () => {
  const id = await unknown(DEAD);
  await own.venueFaults(null);
  await own.api.act('retry', id);
  await own.api.reaches(id, 'COMPLETED');
  const entries = await ledgerOf(own.stack.paperVenueUrl, id);
  expect(entries).toMatchObject([{ effects: 1, idempotency_key: `${id}:out:1` }]);
  await consistent(id);
});

test('a retry while the venue is still silent is unknown again', async () => {
  const id = await unknown(SILENT);
  await own.api.act('retry', id);
  await eventually(async () =>
    (await own.api.timeline(id)).filter((event) => event.event_type === 'node_unknown').length >= 2
      ? true
      : null,
  );
  await own.api.reaches(id, 'MANUAL_INTERVENTION');
  expect(await ledgerOf(own.stack.paperVenueUrl, id)).toMatchObject([
    { effects: 1, submit_calls: 1 },
  ]);
  await consistent(id);
});

describe('the outcome cannot be known yet', () => {
  const tooEarly = (answer: JsonAnswer): number => {
    expect(answer).toMatchObject({
      status: 409,
      body: { detail: { error: 'send_not_over', retry_after_seconds: expect.any(Number) } },
    });
    return (answer.body as { detail: { retry_after_seconds: number } }).detail.retry_after_seconds;
  };

  test('while the send may be under way: the node stays unknown, and its retry pays once', async () => {
    const id = await unknown(SILENT);
    await sendEnds(id, 1_000);
    for (const outcome of ['failed', 'completed'] as const) {
      const seconds = tooEarly(await say(id, outcome));
      // Up to the second in which the window of the executor, which settles in one, is over.
      expect(seconds).toBeGreaterThan(900);
      expect(seconds).toBeLessThanOrEqual(1_001);
    }
    expect(await nodeStates(id)).toMatchObject({ out: 'UNKNOWN' });
    const audit = await own.query<{ outcome: string }>(
      "SELECT outcome FROM audit_events WHERE action = 'movement.resolve' AND entity_key = $1",
      [id],
    );
    expect(audit.map(({ outcome }) => outcome)).toEqual(['denied', 'denied']);
    await own.venueFaults(null);
    await own.api.act('retry', id);
    await own.api.reaches(id, 'COMPLETED');
    expect(await ledgerOf(own.stack.paperVenueUrl, id)).toMatchObject([
      { effects: 1, submit_calls: 1 },
    ]);
  });

  test('while the effect may still appear at the venue', async () => {
    const [chain, venue] = [
      own.stack.chain,
      { destination_address: own.stack.chain.accounts.treasury.address },
    ];
    const template = await storeTemplate(own.api, [
      fromMain(chain, 'out', {
        provider: 'slow',
        config: venue,
        more: { retry_policy: { max_attempts: 2, initial_interval_seconds: 0.1 } },
      }),
    ]);
    const id = await unknown(DEAD, template);
    await sendEnds(id, 0);
    const seconds = tooEarly(await say(id, 'failed'));
    expect(seconds).toBeGreaterThan(3_000);
    expect(seconds).toBeLessThanOrEqual(3_600);
    await sendEnds(id, -3_600);
    expect((await say(id, 'failed')).status).toBe(200);
    await own.api.reaches(id, 'FAILED');
  });

  test('that it failed, while what was signed may still be mined', async () => {
    const { chain } = own.stack;
    const fund = await own.api.create(await storeTemplate(own.api, [fromMain(chain, 'fund')]), {
      amount: '1000',
    });
    await own.api.approve(fund);
    await own.api.reaches(fund.movement_id, 'COMPLETED');
    // It counts as present some blocks later, which would never come.
    const pool = `/balances?venue_key=${encodeURIComponent('local-chain:dev-treasury')}&asset=USDC&fresh=true`;
    await eventually(async () => {
      const { balances } = (await own.api.expect(200, 'GET', pool)) as {
        balances?: readonly { withdrawable: string }[];
      };
      return balances?.[0]?.withdrawable === '1000' ? true : null;
    });
    const pay = transfer(chain, 'out', { more: { timeout_policy: { observe_seconds: 1 } } });
    const template = await storeTemplate(own.api, [pay]);
    await own.chainFaults({ mining: 'paused' });
    try {
      const id = await unknown({}, template);
      const claims = () =>
        own.query<{ nonce: number; tx_hash: string; released: boolean }>(
          'SELECT nonce::integer AS nonce, tx_hash, released_at IS NOT NULL AS released FROM evm_transactions WHERE movement_id = $1',
          [id],
        );
      const [{ nonce = -1, tx_hash = '' } = {}] = await claims();
      const open = {
        error: 'nonce_open',
        signer: 'dev-treasury',
        chain: chain.chainId,
        nonce,
        hashes: [tx_hash],
      };
      expect(await resolve(id, 'failed')).toMatchObject({ status: 409, body: { detail: open } });
      expect(await nodeStates(id)).toMatchObject({ out: 'UNKNOWN' });

      // Somebody uses the nonce for nothing, and it becomes final.
      const { privateKey, address } = chain.accounts.signer;
      const wallet = createWalletClient({
        account: privateKeyToAccount(privateKey),
        transport: http(chain.rpcUrl),
      });
      const fees = { maxFeePerGas: 400_000_000_000n, maxPriorityFeePerGas: 100_000_000_000n };
      await wallet.sendTransaction({
        chain: null,
        to: address,
        value: 0n,
        nonce,
        gas: 21_000n,
        ...fees,
      });
      await own.chainFaults({ mining: 'automatic' });
      await eventually(async () => {
        const [node] = (await own.api.movement(id)).nodes;
        if (node?.state === 'UNKNOWN' && !(await claims())[0]?.released)
          await own.api.act('resume', id).catch(() => undefined);
        return (await claims())[0]?.released === true &&
          ['UNKNOWN', 'FAILED'].includes(node?.state ?? '')
          ? true
          : null;
      });
      // Either the service has proven it by itself by now, or a person may say so.
      const [node] = (await own.api.movement(id)).nodes;
      const answer = await resolve(id, 'failed');
      expect([node?.state, answer.status]).toEqual(
        answer.status === 200 ? ['UNKNOWN', 200] : ['FAILED', 409],
      );
      await own.api.reaches(id, 'FAILED');
      const hashes = (await transfersOnChain(chain)).map((each) => each.tx_hash);
      expect(hashes).not.toContain(tx_hash);
    } finally {
      await own.chainFaults({ mining: 'automatic' });
    }
  }, 120_000);
});

describe('what it has put out', () => {
  const passingOn = () =>
    storeTemplate(own.api, [
      fromMain(own.stack.chain, 'out', {
        more: { retry_policy: { max_attempts: 2, initial_interval_seconds: 0.1 } },
      }),
      {
        node_key: 'then',
        node_kind: 'action',
        action_type: 'noop',
        config: { amount_ref: 'nodes.out.output.received_amount' },
      },
    ]);
  const nodeOf = async (id: string, key: string) =>
    (await own.api.movement(id)).nodes.find((node) => node.node_key === key);

  test('is its amount where a person does not say otherwise, and a later node goes on with it', async () => {
    const id = await unknown(SILENT, await passingOn());
    expect((await resolve(id, 'completed')).status).toBe(200);
    await own.api.reaches(id, 'COMPLETED');
    const amount = `${String(amounts)}.5`;
    expect(await nodeOf(id, 'out')).toMatchObject({
      state: 'COMPLETED',
      amount,
      output: { received_amount: amount },
    });
    expect(await nodeOf(id, 'then')).toMatchObject({ amount });
  });

  test('is what a person says', async () => {
    const id = await unknown(SILENT, await passingOn());
    expect(await resolve(id, 'failed', { output: { received_amount: '7' } })).toMatchObject({
      status: 422,
      body: { detail: { error: 'invalid_request', issues: [{ path: 'output' }] } },
    });
    expect(
      (await resolve(id, 'completed', { output: { received_amount: '7.25', fee_amount: '1' } }))
        .status,
    ).toBe(200);
    await own.api.reaches(id, 'COMPLETED');
    expect(await nodeOf(id, 'out')).toMatchObject({
      output: { received_amount: '7.25', fee_amount: '1' },
    });
    expect(await nodeOf(id, 'then')).toMatchObject({ amount: '7.25' });
  });
});
