/**
 * The end of a signer: what its account has and gave away is looked up, and each gate in its order
 * has to be passed; and what the registries say against what runs.
 */
import {
  createPublicClient,
  createWalletClient,
  erc20Abi,
  http,
  maxUint256,
  parseEther,
  type Address,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { MovementApi, startOwnStack, ownStack, type OwnStack } from '../support/own-stack.ts';
import { edge, gate, storeTemplate, type PlanNode } from '../support/plans.ts';

const KEYS = ['old', 'new', 'looked'] as const;
type Name = (typeof KEYS)[number];
const secrets = Object.fromEntries(KEYS.map((key) => [key, generatePrivateKey()]));
const accountOf = (key: Name) => privateKeyToAccount(secrets[key]!);
const own = ownStack({ localSigners: secrets });
beforeAll(async () => {
  for (const key of ['old', 'looked'] as const)
    await send(own.stack.chain.accounts.deployer.privateKey, accountOf(key).address, '10');
});

const chainOf = () => {
  const { rpcUrl, chainId } = own.stack.chain;
  return {
    id: chainId,
    name: 'local',
    rpcUrls: { default: { http: [rpcUrl] } },
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  };
};
const wallet = (secret: `0x${string}`) =>
  createWalletClient({
    account: privateKeyToAccount(secret),
    transport: http(own.stack.chain.rpcUrl),
    chain: chainOf(),
  });
const client = () => createPublicClient({ transport: http(own.stack.chain.rpcUrl) });
async function send(secret: `0x${string}`, to: Address, ether: string): Promise<void> {
  const hash = await wallet(secret).sendTransaction({ to, value: parseEther(ether) });
  await client().waitForTransactionReceipt({ hash, pollingInterval: 50 });
}
async function allow(key: Name, spender: Address, value: bigint): Promise<void> {
  const hash = await wallet(secrets[key]!).writeContract({
    address: own.stack.chain.tokens.USDC.address,
    abi: erc20Abi,
    functionName: 'approve',
    args: [spender, value],
  });
  await client().waitForTransactionReceipt({ hash, pollingInterval: 50 });
}
const at = (key: string, verb: string) => `/admin/signers/${key}/${verb}`;
const pay = (signer: Name): PlanNode => ({
  node_key: 'pay',
  node_kind: 'action',
  action_type: 'evm_native_transfer',
  signer_selector: { chain_family: 'evm', profile: signer },
  has_side_effect: true,
  config: {
    asset: 'ETH',
    chain_id: own.stack.chain.chainId,
    destination_address: own.stack.chain.accounts.treasury.address,
  },
});
const eventsOf = async (key: string) =>
  (await own.api.expect(200, 'GET', at(key, 'rotation-history')))['events'] as readonly {
    readonly event_id: string;
    readonly event_type: string;
    readonly data: Record<string, unknown>;
  }[];

test('the inventory shows what an account has on each chain, and is stored by default', async () => {
  const looked = await own.api.expect(200, 'POST', at('looked', 'inventory'), {});
  const ids = { audit_event_id: expect.any(String), evidence_id: expect.any(String) };
  const chain = String(own.stack.chain.chainId);
  const row = { chain, problem: null };
  expect(looked).toEqual({
    signer_key: 'looked',
    address: accountOf('looked').address,
    rotation_state: 'active',
    ...ids,
    checked_at: expect.any(String),
    balances: expect.arrayContaining([
      { ...row, asset: 'ETH', token_address: null, amount: '10' },
      { ...row, asset: 'USDC', token_address: own.stack.chain.tokens.USDC.address, amount: '0' },
    ]),
  });
  const before = await eventsOf('looked');
  expect(before).toMatchObject([{ event_type: 'inventory', event_id: looked['evidence_id'] }]);
  const unkept = { chains: [chain], persist: false };
  expect(await own.api.expect(200, 'POST', at('looked', 'inventory'), unkept)).toMatchObject({
    balances: looked['balances'],
    audit_event_id: null,
    evidence_id: null,
  });
  expect(await eventsOf('looked')).toEqual(before);
  for (const chains of [['1'], ['0x1'], [31337]])
    expect((await own.api.send('POST', at('looked', 'inventory'), { chains })).status).toBe(422);
  expect(await own.api.send('POST', at('unknown', 'inventory'), {})).toMatchObject({
    status: 404,
    body: { detail: { error: 'signer_not_found', signer_key: 'unknown' } },
  });
});

test('allowances are found by their logs, without those that are zero again', async () => {
  const { treasury, deployer } = own.stack.chain.accounts;
  await allow('looked', treasury.address, maxUint256);
  await allow('looked', deployer.address, 5_000_000n);
  await allow('looked', deployer.address, 0n);
  const scan = await own.api.expect(200, 'POST', at('looked', 'allowances'), {});
  expect(scan).toMatchObject({
    signer_key: 'looked',
    unsupported_spender_not_checked: false,
    allowances: [
      {
        chain: String(own.stack.chain.chainId),
        token_address: own.stack.chain.tokens.USDC.address,
        spender: treasury.address,
        amount: '115792089237316195423570985008687907853269984665640564039457584007913129.639935',
      },
    ],
  });
  expect((await eventsOf('looked')).at(-1)).toMatchObject({
    event_type: 'allowances',
    event_id: scan['evidence_id'],
    data: { allowances: scan['allowances'] },
  });
  await allow('looked', treasury.address, 0n);
  expect(await own.api.expect(200, 'POST', at('looked', 'allowances'), {})).toMatchObject({
    allowances: [],
  });
});

test('a chain without answers is shown, and its scan is partial', async () => {
  await own.stack.kill('chain');
  try {
    const { balances } = await own.api.expect(200, 'POST', at('looked', 'inventory'), {});
    expect(balances).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ asset: 'ETH', amount: null, problem: 'EVM_RPC_UNREACHABLE' }),
      ]),
    );
    expect(await own.api.expect(200, 'POST', at('looked', 'allowances'), {})).toMatchObject({
      allowances: [],
      unsupported_spender_not_checked: true,
    });
  } finally {
    await own.stack.startChild('chain');
  }
});

test('a retirement passes each gate in its order, and nothing forces it', async () => {
  const { api } = own;
  const retire = (body: object = {}) => api.send('POST', at('old', 'retire'), body);
  const denies = async (failed_gate: string, more: object = {}, body: object = {}) => {
    expect(await retire(body)).toMatchObject({
      status: 409,
      body: { detail: { error: 'retirement_denied', outcome: 'denied', failed_gate, ...more } },
    });
    expect((await eventsOf('old')).at(-1)).toMatchObject({
      event_type: 'retirement_denied',
      data: { failed_gate },
    });
  };
  const { treasury } = own.stack.chain.accounts;
  await allow('old', treasury.address, 7n);
  const template = await storeTemplate(api, [gate('ask'), pay('old')], {
    edges: [edge('ask', 'pay')],
  });
  const movement = await api.create(template, { amount: '1', intent: { asset: 'ETH' } });
  await api.approve(movement);
  await api.reaches(movement.movement_id, 'WAITING_MANUAL_ACTION');
  await denies('signer_not_deprecated', { status: 'active' });
  expect((await retire({ force: true })).status).toBe(422);

  await api.expect(200, 'PUT', '/signers/new/expected-identity', {
    expected_address: accountOf('new').address,
    previous_expected_address: null,
    reason: 'a test',
  });
  // The replacement has nothing, so the node stays.
  expect(
    await api.expect(200, 'POST', at('old', 'rotate'), {
      replace_with: 'new',
      reason: 'a test',
      ack_impact: true,
    }),
  ).toMatchObject({ impact: { remapped: 0, kept: [{ reason: 'no_room' }] } });
  await own.stack.kill('chain');
  try {
    await denies('inventory_unavailable', { reason: 'chain_unavailable' });
  } finally {
    await own.stack.startChild('chain');
  }
  await denies('balance_above_dust', { balances: [{ asset: 'ETH' }] });
  // No chain shows what the perps venue holds for the address.
  const master = accountOf('old').address.toLowerCase();
  await own.query(
    `INSERT INTO perp_master (master_address, signer_key, network, created_at)
     VALUES ($1, 'old', 'testnet', now())`,
    [master],
  );
  await denies('perp_master_account', {}, { dust_threshold_usd: 10 });
  await own.query('DELETE FROM perp_master');
  await denies(
    'non_terminal_nodes',
    {
      non_terminal_nodes: expect.arrayContaining([
        { movement_id: movement.movement_id, node_key: 'pay', state: 'BLOCKED' },
      ]),
    },
    { dust_threshold_usd: 10 },
  );
  await api.act('resume', movement.movement_id);
  await api.reaches(movement.movement_id, 'COMPLETED');
  // Signed and never seen: it may still land.
  const address = accountOf('old').address.toLowerCase();
  await own.query(
    `INSERT INTO evm_transactions (transaction_id, signer_key, chain_id, address, nonce, movement_id,
       node_key, attempt, unsigned, raw_tx, tx_hash, created_at)
     SELECT gen_random_uuid(), signer_key, chain_id, address, nonce + 1, movement_id, node_key, 9, unsigned,
       raw_tx, tx_hash, created_at FROM evm_transactions WHERE address = $1`,
    [address],
  );
  const dust = { dust_threshold_usd: 9 };
  await denies('open_nonces', { open_nonces: [{ nonce: 2 }] }, dust);
  await own.query('UPDATE evm_transactions SET released_at = now() WHERE attempt = 9');
  await denies(
    'allowances_not_acknowledged',
    { allowances: [{ spender: treasury.address, amount: '0.000007' }] },
    dust,
  );
  const operator = new MovementApi(own.stack.apiUrl, own.stack.keys.operator);
  expect((await operator.send('POST', at('old', 'retire'), dust)).status).toBe(403);
  const retired = await api.expect(200, 'POST', at('old', 'retire'), {
    ...dust,
    ack_allowances: true,
  });
  expect(retired).toMatchObject({ outcome: 'retired', signer_key: 'old' });
  expect(await operator.expect(200, 'GET', at('old', 'rotation-history'))).toMatchObject({
    status: 'retired',
    replaced_by: 'new',
  });
  expect((await eventsOf('old')).at(-1)).toMatchObject({
    event_type: 'retired',
    event_id: retired['evidence_id'],
  });
  await denies('signer_not_deprecated', { status: 'retired' });
  expect(await api.send('PATCH', '/signers/old', { status: 'active' })).toMatchObject({
    status: 409,
  });
}, 120_000);

test('drift: what is stored and not here, here and not stored, and who is not whom it is pinned to', async () => {
  const { api } = own;
  const drift = async () =>
    (await api.expect(200, 'POST', '/registry/verify-drift', {})) as {
      readonly ok: boolean;
      readonly drift: readonly unknown[];
    };
  // Retired, and in no configuration any longer: no check reports it.
  expect(await drift()).toMatchObject({ ok: true, drift: [] });
  await own.query(
    `INSERT INTO signers (signer_key, backend, chain_family, created_at, updated_at)
     VALUES ('lost', 'remote', 'evm', now(), now())`,
  );
  await own.query(
    `INSERT INTO executors (executor_key, kind, action_types, created_at, updated_at)
     VALUES ('lost.bank', 'remote', '{}', now(), now())`,
  );
  await own.query(
    `UPDATE executors SET endpoint = 'http://elsewhere' WHERE executor_key = 'paper.withdrawal'`,
  );
  await own.query("UPDATE signers SET expected_signer_address = $1 WHERE signer_key = 'looked'", [
    accountOf('new').address,
  ]);
  const found = await drift();
  const none = { expected: null, observed: null };
  expect(found).toMatchObject({
    ok: false,
    drift: expect.arrayContaining([
      { kind: 'executor', key: 'lost.bank', problem: 'missing_in_memory', ...none },
      {
        kind: 'executor',
        key: 'paper.withdrawal',
        problem: 'endpoint_changed',
        expected: 'http://elsewhere',
        observed: expect.stringContaining('http://127'),
      },
      { kind: 'signer', key: 'lost', problem: 'missing_in_memory', ...none },
      {
        kind: 'signer',
        key: 'looked',
        problem: 'identity_mismatch',
        expected: accountOf('new').address,
        observed: accountOf('looked').address,
      },
    ]),
  });
  expect(found.drift).toHaveLength(4);
  const audit = await api.expect(200, 'GET', '/registry/audit?entity_type=registry');
  expect(audit).toMatchObject({
    events: expect.arrayContaining([
      expect.objectContaining({ action: 'registry.verify_drift', details: found_of(found) }),
    ]),
  });
});

const found_of = ({ ok, drift }: { ok: boolean; drift: readonly unknown[] }) => ({ ok, drift });

test('the free edition has no lifecycle and no registry of the bridge, and says so', async () => {
  const free = await startOwnStack({ env: { SVC_EDITION: 'free' } });
  try {
    const routes = [
      ...['rotate', 'inventory', 'allowances', 'retire'].map((verb) => ['POST', at('x', verb)]),
      ['GET', at('x', 'rotation-history')],
      ['GET', '/bridge-c/chain-registry'],
    ] as const;
    for (const [method = '', path = ''] of routes)
      expect(await free.api.send(method, path, method === 'GET' ? undefined : {})).toMatchObject({
        status: 404,
        body: { detail: { error: 'route_not_found' } },
      });
    // Nothing of these two is marked as commercial.
    for (const path of ['/registry/verify-drift', '/executors/bridge-c/refresh-registry'])
      await free.api.expect(200, 'POST', path);
    const document = async (of: OwnStack) =>
      (await (await fetch(`${of.stack.opsUrl}/openapi.json`)).json()) as {
        readonly info: Record<string, string>;
        readonly paths: Record<string, object>;
      };
    const lifecycle = ({ paths }: { readonly paths: object }) =>
      Object.keys(paths).filter((path) => /admin\/signers/.test(path));
    const [without, whole] = [await document(free), await document(own)];
    expect([without.info['x-edition'], lifecycle(without)]).toEqual(['free', []]);
    expect(without.info['description']).toContain('This is the free edition');
    expect([whole.info['x-edition'], lifecycle(whole).length]).toEqual(['commercial', 5]);
  } finally {
    await free.close();
  }
}, 120_000);
