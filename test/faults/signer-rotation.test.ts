/**
 * A signer is replaced while movements are under way: what was not sent is signed by the other one,
 * what is tied to the old address stays with it, nothing is sent twice and nothing is left behind.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { createPublicClient, createWalletClient, http, parseEther, type Address } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { eventually, MovementApi, ownStack } from '../support/own-stack.ts';
import { edge, gate, storeTemplate, type PlanNode } from '../support/plans.ts';

const NAMES = ['live', 'live-next', 'drill', 'drill-next', 'busy', 'busy-next', 'nonce'] as const;
const MORE = [
  'nonce-next',
  'tied',
  'tied-next',
  'poor',
  'poor-next',
  'wrong',
  'wrong-next',
] as const;
const RACES = ['made', 'made-next', 'stale', 'stale-next', 'fence', 'fence-next'] as const;
const LAST = ['late', 'late-next', 'gone', 'gone-next', 'failed', 'failed-next'] as const;
const FROZEN = ['frozen', 'frozen-next'] as const;
const KEYS = [...NAMES, ...MORE, ...RACES, ...LAST, ...FROZEN];
type Name = (typeof KEYS)[number];
const secrets = Object.fromEntries(KEYS.map((key) => [key, generatePrivateKey()]));
const addressOf = (key: Name): Address => privateKeyToAccount(secrets[key]!).address;
let treasury: Address;
const own = ownStack({ localSigners: secrets });
beforeAll(async () => {
  const { rpcUrl, accounts, chainId } = own.stack.chain;
  treasury = accounts.treasury.address;
  const chain = {
    id: chainId,
    name: 'local',
    rpcUrls: { default: { http: [rpcUrl] } },
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  };
  const wallet = createWalletClient({
    account: privateKeyToAccount(accounts.deployer.privateKey),
    transport: http(rpcUrl),
    chain,
  });
  const client = createPublicClient({ transport: http(rpcUrl), chain });
  for (const key of KEYS.filter((each) => each !== 'poor-next' && each !== 'gone')) {
    const hash = await wallet.sendTransaction({ to: addressOf(key), value: parseEther('10') });
    await client.waitForTransactionReceipt({ hash, pollingInterval: 50 });
  }
});

const pay = (signer: Name, more: object = {}, node_key = 'pay'): PlanNode => ({
  node_key,
  node_kind: 'action',
  action_type: 'evm_native_transfer',
  signer_selector: { chain_family: 'evm', profile: signer },
  has_side_effect: true,
  config: { asset: 'ETH', chain_id: own.stack.chain.chainId, destination_address: treasury },
  ...more,
});
const gated = (signer: Name, more: object = {}): Promise<string> =>
  storeTemplate(own.api, [gate('ask'), pay(signer, more)], { edges: [edge('ask', 'pay')] });
const create = (template: string, amount = '0.001') =>
  own.api.create(template, { amount, intent: { asset: 'ETH' } });
/** A movement that waits at its gate, the payment behind it. */
async function waiting(template: string, amount?: string): Promise<string> {
  const movement = await create(template, amount);
  await own.api.approve(movement);
  await own.api.reaches(movement.movement_id, 'WAITING_MANUAL_ACTION');
  return movement.movement_id;
}
const pin = (key: Name) =>
  own.api.expect(200, 'PUT', `/signers/${key}/expected-identity`, {
    expected_address: addressOf(key),
    previous_expected_address: null,
    reason: 'a test',
  });
const asking = (to: string, more: object = {}) => ({
  replace_with: to,
  reason: 'a test',
  ack_impact: true,
  ...more,
});
const rotate = (from: string, to: string, more: object = {}) =>
  own.api.send('POST', `/admin/signers/${from}/rotate`, asking(to, more));
const mustRotate = async (from: Name, to: Name, more: object = {}) => {
  const answer = await rotate(from, to, more);
  expect(answer).toMatchObject({ status: 200 });
  return answer.body as unknown as {
    readonly impact: {
      readonly remapped: number;
      readonly kept: readonly { movement_id: string; node_key: string; reason: string }[];
      readonly open_nonces: number;
      readonly pending_approval: number;
    };
    readonly audit_event_id: string;
    readonly signer_rotation_event_id: string;
  };
};
const statusOf = async (key: Name) =>
  (
    await own.query<{ status: string }>('SELECT status FROM signers WHERE signer_key = $1', [key])
  )[0]?.status;
const nodeOf = async (movementId: string, key = 'pay') =>
  (await own.api.movement(movementId)).nodes.find(
    ({ node_key }) => node_key === key,
  ) as unknown as {
    readonly state: string;
    readonly signer_binding: { readonly signer_key: string };
    readonly original_signer_binding: { readonly signer_key: string };
  };
/** Who paid for a movement, from the chain. */
async function payers(movementId: string): Promise<readonly string[]> {
  const rows = await own.query<{ tx_hash: `0x${string}` }>(
    'SELECT tx_hash FROM evm_transactions WHERE movement_id = $1 AND tx_hash IS NOT NULL',
    [movementId],
  );
  const client = createPublicClient({ transport: http(own.stack.chain.rpcUrl) });
  const receipts = await Promise.all(
    rows.map(({ tx_hash }) => client.getTransactionReceipt({ hash: tx_hash }).catch(() => null)),
  );
  return receipts.flatMap((receipt) => (receipt === null ? [] : [receipt.from.toLowerCase()]));
}

test('refused: every row of the table, in its order', async () => {
  const { api } = own;
  const set = (key: Name, column: string, value: string | null) =>
    own.query(`UPDATE signers SET ${column} = $1 WHERE signer_key = $2`, [value, key]);
  const refuses = async (answer: Promise<unknown>, status: number, detail: object) =>
    expect(await answer).toMatchObject({ status, body: { detail } });
  const operator = new MovementApi(own.stack.apiUrl, own.stack.keys.operator);
  expect((await operator.send('POST', '/admin/signers/wrong/rotate', asking('x'))).status).toBe(
    403,
  );
  await refuses(rotate('unknown', 'x', { reason: '' }), 422, { error: 'invalid_request' });
  await refuses(rotate('unknown', 'wrong', { ack_impact: false }), 404, {
    error: 'signer_not_found',
    signer_key: 'unknown',
  });
  await refuses(rotate('wrong', 'unknown'), 404, {
    error: 'signer_not_found',
    signer_key: 'unknown',
  });
  await refuses(rotate('wrong', 'wrong', { ack_impact: false }), 400, {
    error: 'ack_impact_required',
  });
  const invalid = (cause: string) => ({ error: 'validation_failed', cause });
  await refuses(rotate('wrong', 'wrong'), 409, invalid('same_signer'));
  await set('wrong', 'status', 'disabled');
  await set('wrong-next', 'status', 'disabled');
  await refuses(rotate('wrong', 'wrong-next'), 409, invalid('old_not_active'));
  await set('wrong', 'status', 'active');
  await refuses(rotate('wrong', 'wrong-next'), 409, invalid('replacement_not_active'));
  await own.query(
    `INSERT INTO signers (signer_key, status, backend, chain_family, created_at, updated_at) VALUES
     ('elsewhere', 'active', 'remote', 'solana', now(), now()),
     ('orphan', 'active', 'remote', 'evm', now(), now())`,
  );
  await refuses(rotate('wrong', 'elsewhere'), 409, invalid('chain_family_mismatch'));
  // Stored, and no process has it: neither its health nor its pin is there, and health is said.
  await refuses(rotate('wrong', 'orphan'), 409, { error: 'new_signer_health_check_failed' });
  await set('wrong-next', 'status', 'active');
  await refuses(rotate('wrong', 'wrong-next'), 409, { error: 'signer_expected_identity_missing' });
  for (const broken of ['0x12', `0x${'0'.repeat(40)}`]) {
    await set('wrong-next', 'expected_signer_address', broken);
    await refuses(rotate('wrong', 'wrong-next'), 409, {
      error: 'signer_expected_identity_invalid',
    });
  }
  // What the perps venue holds for an address stays there: only a signer with the same address may
  // follow.
  await own.query(
    `INSERT INTO perp_master (master_address, signer_key, network, created_at)
     VALUES ($1, 'wrong', 'testnet', now())`,
    [addressOf('wrong').toLowerCase()],
  );
  await set('wrong-next', 'expected_signer_address', addressOf('wrong-next'));
  for (const drill of [true, false])
    await refuses(rotate('wrong', 'wrong-next', { drill }), 409, invalid('perp_master_account'));
  await set('wrong-next', 'expected_signer_address', addressOf('wrong'));
  await refuses(rotate('wrong', 'wrong-next'), 409, { error: 'signer_identity_mismatch' });
  await own.query('DELETE FROM perp_master');
  await set('wrong-next', 'expected_signer_address', addressOf('wrong'));
  await refuses(rotate('wrong', 'wrong-next', { drill: true }), 409, {
    error: 'signer_identity_mismatch',
    runtime_address: addressOf('wrong-next'),
  });
  expect(await statusOf('wrong')).toBe('active');
  const denied = await api.expect(
    200,
    'GET',
    '/registry/audit?entity_key=wrong&action=signer.rotate&outcome=denied',
  );
  expect((denied['events'] as readonly { reason: string }[]).map(({ reason }) => reason)).toContain(
    'signer_identity_mismatch',
  );
});

test.each([
  ['its pin', `UPDATE signers SET expected_signer_address = $1 WHERE signer_key = 'late-next'`],
  [
    'the address that it was seen with',
    `UPDATE signers SET observed_signer_address = $1, observed_at = observed_at + interval '1 ms'
     WHERE signer_key = 'late-next'`,
  ],
])(
  'refused: the replacement changes between check and lock (%s)',
  async (_what, change) => {
    await own.query('UPDATE signers SET expected_signer_address = $1 WHERE signer_key = $2', [
      addressOf('late-next'),
      'late-next',
    ]);
    const holder = new pg.Client({ connectionString: own.stack.databaseUrl });
    await holder.connect();
    try {
      await holder.query('BEGIN');
      await holder.query("SELECT FROM signers WHERE signer_key = 'late-next' FOR UPDATE");
      const answer = rotate('late', 'late-next');
      await eventually(
        async () => {
          const [lock] = await own.query(
            `SELECT FROM pg_locks a JOIN pg_locks w ON w.pid = a.pid AND NOT w.granted
             WHERE a.locktype = 'advisory' AND a.mode = 'ExclusiveLock' AND a.granted`,
          );
          return lock === undefined ? null : true;
        },
        { what: () => 'a rotation that waits for the row' },
      );
      await holder.query(change, [addressOf('wrong')]);
      await holder.query('COMMIT');
      expect(await answer).toMatchObject({
        status: 409,
        body: { detail: { error: 'signer_runtime_identity_unavailable' } },
      });
      expect(await statusOf('late')).toBe('active');
    } finally {
      await holder.end();
    }
  },
  30_000,
);

test('a drill changes nothing and leaves its evidence', async () => {
  const template = await gated('drill');
  const movement_id = await waiting(template);
  await pin('drill-next');
  const rows = () =>
    own.query(
      `SELECT to_jsonb(n) AS n, m.version, m.next_sequence FROM movement_nodes n
       JOIN movements m USING (movement_id) WHERE movement_id = $1 ORDER BY position`,
      [movement_id],
    );
  const pools = () => own.query('SELECT * FROM reservation_pools ORDER BY venue_key, asset');
  const before = [await rows(), await pools(), await statusOf('drill')];
  const drilled = await mustRotate('drill', 'drill-next', { drill: true, ack_impact: false });
  expect(drilled).toMatchObject({
    outcome: 'drilled',
    signer_key: 'drill',
    replace_with: 'drill-next',
    impact: { remapped: 1, kept: [], open_nonces: 0, pending_approval: 0 },
  });
  expect([await rows(), await pools(), await statusOf('drill')]).toEqual(before);
  const history = await own.api.expect(200, 'GET', '/admin/signers/drill/rotation-history');
  expect(history).toMatchObject({
    signer_key: 'drill',
    status: 'active',
    replaced_by: null,
    events: [
      {
        event_type: 'rotation_drilled',
        replace_with: 'drill-next',
        reason: 'a test',
        event_id: drilled.signer_rotation_event_id,
        audit_event_id: drilled.audit_event_id,
        data: { impact: drilled.impact },
      },
    ],
  });
  await own.api.act('resume', movement_id);
  await own.api.reaches(movement_id, 'COMPLETED');
  expect(await payers(movement_id)).toEqual([addressOf('drill').toLowerCase()]);
}, 90_000);

test('live: what was not sent goes over, by the plan that was approved', async () => {
  const template = await gated('live');
  const pending = await create(template);
  const running = await waiting(template);
  await pin('live-next');
  const plans = () =>
    Promise.all(
      [pending.movement_id, running].map((id) =>
        own.api.expect(200, 'GET', `/movements/${id}/plan`),
      ),
    );
  const held = async (key: Name) =>
    Number(
      (
        await own.query<{ held: string }>(
          'SELECT held FROM reservation_pools WHERE venue_key = $1 AND asset = $2',
          [`local-chain:${key}`, 'ETH'],
        )
      )[0]?.held ?? 0,
    );
  const before = await plans();
  expect([await held('live'), await held('live-next')]).toEqual([0.001, 0]);
  expect(await mustRotate('live', 'live-next')).toMatchObject({
    outcome: 'changed',
    impact: { remapped: 2, kept: [], open_nonces: 0, pending_approval: 1 },
  });
  expect([await held('live'), await held('live-next')]).toEqual([0, 0.001]);
  expect(await plans()).toEqual(before);
  for (const id of [pending.movement_id, running]) {
    expect(await nodeOf(id)).toMatchObject({
      signer_binding: { signer_key: 'live-next' },
      original_signer_binding: { signer_key: 'live' },
    });
    expect(await own.api.timeline(id)).toContainEqual(
      expect.objectContaining({
        event_type: 'signer_remapped',
        node_key: 'pay',
        data: { signer_key: 'live-next', original_signer_key: 'live' },
      }),
    );
  }
  await own.api.approve(pending);
  await own.api.reaches(pending.movement_id, 'WAITING_MANUAL_ACTION');
  const later = await waiting(template);
  expect(await nodeOf(later)).toMatchObject({ signer_binding: { signer_key: 'live-next' } });
  expect(await nodeOf(later)).not.toHaveProperty('original_signer_binding');
  for (const id of [pending.movement_id, running, later]) {
    await own.api.act('resume', id);
    await own.api.reaches(id, 'COMPLETED');
    expect(await payers(id)).toEqual([addressOf('live-next').toLowerCase()]);
  }
  expect(await statusOf('live')).toBe('deprecated');
  expect(await rotate('live', 'live-next')).toMatchObject({
    body: { detail: { error: 'validation_failed', cause: 'old_not_active' } },
  });
  const history = await own.api.expect(200, 'GET', '/admin/signers/live-next/rotation-history');
  expect(history['events']).toMatchObject([{ event_type: 'rotated', signer_key: 'live' }]);
}, 120_000);

test('an open nonce stays with the old signer until it is final', async () => {
  const template = await storeTemplate(own.api, [pay('nonce')]);
  await pin('nonce-next');
  await own.chainFaults({ mining: 'paused' });
  try {
    const sent = await create(template);
    await own.api.approve(sent);
    await own.api.nodeReaches(sent.movement_id, 'pay', ['OBSERVING']);
    const { impact } = await mustRotate('nonce', 'nonce-next');
    expect(impact).toEqual({
      remapped: 0,
      open_nonces: 1,
      pending_approval: 0,
      kept: [{ movement_id: sent.movement_id, node_key: 'pay', reason: 'open_nonce' }],
    });
    expect(await own.api.send('POST', '/admin/signers/nonce/retire', {})).toMatchObject({
      body: { detail: { failed_gate: 'balance_above_dust' } },
    });
    await own.chainFaults({ mining: 'automatic' });
    await own.api.reaches(sent.movement_id, 'COMPLETED');
    expect(await nodeOf(sent.movement_id)).toMatchObject({
      signer_binding: { signer_key: 'nonce' },
    });
    expect(await payers(sent.movement_id)).toEqual([addressOf('nonce').toLowerCase()]);
  } finally {
    await own.chainFaults({ mining: 'automatic' });
  }
}, 90_000);

test('what spends what came to the old address stays, and a deprecated signer signs it', async () => {
  const observe: PlanNode = {
    node_key: 'arrives',
    node_kind: 'observe',
    action_type: 'evm_balance_observe',
    config: {
      asset: 'ETH',
      chain_id: own.stack.chain.chainId,
      address: addressOf('tied'),
      min_increase: '0',
      baseline_amount: '0',
    },
  };
  const template = await storeTemplate(own.api, [gate('ask'), pay('tied')], {
    edges: [edge('ask', 'pay')],
  });
  const passing = await storeTemplate(
    own.api,
    [
      gate('ask'),
      { ...observe, config: { ...(observe['config'] as object), min_increase: '1' } },
      pay('tied'),
    ],
    { edges: [edge('ask', 'arrives'), edge('arrives', 'pay')] },
  );
  const free = await waiting(template);
  const tied = await waiting(passing);
  await pin('tied-next');
  const { impact } = await mustRotate('tied', 'tied-next');
  expect(impact).toMatchObject({
    remapped: 1,
    kept: [{ movement_id: tied, node_key: 'pay', reason: 'old_address' }],
  });
  for (const [id, by] of [
    [free, 'tied-next'],
    [tied, 'tied'],
  ] as const) {
    await own.api.act('resume', id);
    await own.api.reaches(id, 'COMPLETED');
    expect(await payers(id)).toEqual([addressOf(by).toLowerCase()]);
  }
  // Nothing new is bound to it.
  expect(await nodeOf((await create(template)).movement_id)).toMatchObject({
    signer_binding: { signer_key: 'tied-next' },
  });
}, 90_000);

test('where the replacement has no room the hold stays, and its node with it', async () => {
  const template = await gated('poor');
  const movement_id = await waiting(template, '2');
  await pin('poor-next');
  const { impact } = await mustRotate('poor', 'poor-next');
  expect(impact.kept).toEqual([{ movement_id, node_key: 'pay', reason: 'no_room' }]);
  await own.api.act('resume', movement_id);
  await own.api.reaches(movement_id, 'COMPLETED');
  expect(await payers(movement_id)).toEqual([addressOf('poor').toLowerCase()]);
});

test('a retry behind a rotation goes to the replacement', async () => {
  const template = await gated('failed');
  const movement_id = await waiting(template);
  await pin('failed-next');
  await own.api.expect(200, 'PATCH', '/signers/failed', { status: 'disabled' });
  await own.api.act('resume', movement_id);
  await own.api.reaches(movement_id, 'FAILED');
  await own.api.expect(200, 'PATCH', '/signers/failed', { status: 'active' });
  expect((await mustRotate('failed', 'failed-next')).impact.remapped).toBe(0);
  await own.api.act('retry', movement_id);
  await own.api.reaches(movement_id, 'COMPLETED');
  expect(await payers(movement_id)).toEqual([addressOf('failed-next').toLowerCase()]);
});

/** Runs `work` while another session holds what `holds` takes; `work` lets it go. */
async function held<T>(holds: string, work: (release: () => Promise<unknown>) => Promise<T>) {
  const holder = new pg.Client({ connectionString: own.stack.databaseUrl });
  await holder.connect();
  try {
    await holder.query('BEGIN');
    await holder.query(holds);
    return await work(() => holder.query('COMMIT'));
  } finally {
    await holder.end();
  }
}
const SWITCH = 'SELECT pg_advisory_xact_lock(7203118846)';
/** Waits until so many sessions wait for a lock of this kind. */
const waiters = (kind: 'advisory' | 'relation', count: number) =>
  eventually(
    async () =>
      (await own.query('SELECT FROM pg_locks WHERE NOT granted AND locktype = $1', [kind]))
        .length >= count || null,
    { what: () => `${count} that wait for a lock (${kind})` },
  );

test('a create that is under way when a rotation begins is not left behind', async () => {
  const template = await gated('made');
  await pin('made-next');
  const [movement] = await held('LOCK TABLE audit_events IN SHARE MODE', async (release) => {
    // Its nodes are written, and not visible yet.
    const creating = create(template);
    await waiters('relation', 1);
    const rotating = mustRotate('made', 'made-next');
    await waiters('advisory', 1).catch(() => undefined);
    await release();
    return Promise.all([creating, rotating]);
  });
  expect(await nodeOf(movement.movement_id)).toMatchObject({
    signer_binding: { signer_key: 'made-next' },
    original_signer_binding: { signer_key: 'made' },
  });
});

test('a plan that was compiled before a rotation is stored with the replacement', async () => {
  const template = await storeTemplate(own.api, [pay('stale')]);
  await pin('stale-next');
  const [, movement] = await held(SWITCH, async (release) => {
    const rotating = mustRotate('stale', 'stale-next');
    await waiters('advisory', 1);
    const creating = create(template);
    await waiters('advisory', 2);
    await release();
    return Promise.all([rotating, creating]);
  });
  expect(await nodeOf(movement.movement_id)).toMatchObject({
    signer_binding: { signer_key: 'stale-next' },
    original_signer_binding: { signer_key: 'stale' },
  });
  await own.api.approve(movement);
  await own.api.reaches(movement.movement_id, 'COMPLETED');
  expect(await payers(movement.movement_id)).toEqual([addressOf('stale-next').toLowerCase()]);
});

test('what is prepared and waits at its fence while its signer is replaced is prepared anew', async () => {
  const mode = (to: string) =>
    own.api.expect(200, 'POST', '/admin/cutover-mode', { mode: to, reason: 'a test' });
  const movement_id = await waiting(await gated('frozen'));
  await pin('frozen-next');
  const prepared = async (): Promise<number> =>
    (await own.api.timeline(movement_id)).filter(({ event_type }) => event_type === 'node_prepared')
      .length;
  await mode('frozen');
  try {
    await own.api.act('resume', movement_id);
    await eventually(async () => ((await prepared()) > 0 ? true : null));
    expect((await mustRotate('frozen', 'frozen-next')).impact).toMatchObject({ remapped: 1 });
  } finally {
    await mode('normal');
  }
  await own.api.reaches(movement_id, 'COMPLETED');
  expect(await payers(movement_id)).toEqual([addressOf('frozen-next').toLowerCase()]);
  expect(await prepared()).toBe(2);
});

test('what was prepared for the old signer and comes to its fence behind the rotation is prepared anew', async () => {
  const movement_id = await waiting(await gated('fence'));
  await pin('fence-next');
  await held(SWITCH, async (release) => {
    const rotating = mustRotate('fence', 'fence-next');
    await waiters('advisory', 1);
    await own.api.act('resume', movement_id);
    await waiters('advisory', 2);
    await release();
    expect((await rotating).impact).toMatchObject({ remapped: 1, kept: [] });
  });
  await own.api.reaches(movement_id, 'COMPLETED');
  expect(await payers(movement_id)).toEqual([addressOf('fence-next').toLowerCase()]);
  const events = (await own.api.timeline(movement_id)).map(({ event_type }) => event_type);
  // What was prepared for the old signer was recorded by no fence, and is nowhere.
  const shown = ['signer_remapped', 'node_prepared', 'node_failed'];
  expect(events.filter((type) => shown.includes(type))).toEqual([
    'signer_remapped',
    'node_prepared',
  ]);
});

test('under load nothing is sent twice and no node is left behind', async () => {
  const direct = await storeTemplate(own.api, [pay('busy')]);
  const behind = await gated('busy');
  await pin('busy-next');
  const parked = await Promise.all(Array.from({ length: 6 }, () => waiting(behind, '0.0001')));
  const movements = await Promise.all(Array.from({ length: 24 }, () => create(direct, '0.0001')));
  const all = [...movements.map(({ movement_id }) => movement_id), ...parked];
  const approving = (async () => {
    for (const movement of movements) await own.api.approve(movement);
  })();
  const resuming = (async () => {
    for (const id of parked) await own.api.act('resume', id);
  })();
  const creating = (async () => {
    for (let n = 0; n < 10; n += 1) {
      const movement = await create(direct, '0.0001');
      all.push(movement.movement_id);
      await own.api.approve(movement);
    }
  })();
  await sleep(700);
  const { impact } = await mustRotate('busy', 'busy-next');
  await Promise.all([approving, resuming, creating]);
  const by: string[] = [];
  for (const id of all) {
    await own.api.reaches(id, 'COMPLETED', 120_000);
    const paid = await payers(id);
    expect(paid).toHaveLength(1);
    by.push(...paid);
  }
  const old = by.filter((address) => address === addressOf('busy').toLowerCase()).length;
  expect(by.length - old).toBeGreaterThan(0);
  expect(impact.remapped).toBeGreaterThan(0);
  const left = await own.query(
    `SELECT n.movement_id FROM movement_nodes n WHERE signer_binding ->> 'signer_key' = 'busy'
     AND state NOT IN ('COMPLETED')`,
  );
  expect(left).toEqual([]);
}, 240_000);
