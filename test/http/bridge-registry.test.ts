/** The registry of the bridge as its callers see it. */
import { randomUUID } from 'node:crypto';
import { createWalletClient, http, publicActions } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
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
} from '../support/http.ts';

// A refresh asks every chain, whoever's it is.
alone('the refresh of the bridge registry');

const CHAINS = '/bridge-c/chain-registry';
const PATHS = '/bridge-c/path-baselines';
const REFRESH = '/executors/bridge-c/refresh-registry';
const STAMP = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
/** Of the embedded stack's venue. */
const LOCAL = 'local-chain';

interface ChainRow {
  readonly chain: string;
  readonly endpoint_identity: string;
  readonly snapshot_version: number;
  readonly [field: string]: unknown;
}
interface PathRow {
  readonly src_chain: string;
  readonly dst_chain: string;
  readonly asset: string;
  readonly [field: string]: unknown;
}

const hex = (): string => randomUUID().replaceAll('-', '');
const address = (): string => `0x${hex()}${hex().slice(0, 8)}`;
const identity = (eid = 30_101): string => `${String(eid)}:${address()}`;
const name = (): string => `chain-${hex().slice(0, 12)}`;

const chainBody = (more: object = {}) => ({
  chain: name(),
  endpoint_identity: identity(),
  finality_age_seconds: 900,
  ...more,
});
const addChain = (more: object = {}) => must<ChainRow>(200, post(CHAINS, chainBody(more)));
const at = ({ src_chain, dst_chain, asset }: PathRow): string =>
  `${PATHS}/${src_chain}/${dst_chain}/${asset}`;
const budgets = {
  expected_latency_seconds: 180,
  detection_latency_budget_seconds: 900,
  fee_native_budget: '0.002',
};
async function addPath(more: object = {}): Promise<PathRow> {
  const [src, dst] = [await addChain(), await addChain()];
  const ends = { src_chain: src.chain, dst_chain: dst.chain, asset: 'USDC' };
  return must<PathRow>(200, post(PATHS, { ...ends, ...budgets, ...more }));
}
const requestId = () => ({ 'X-Request-Id': `bridge-${randomUUID()}` });

describe('a chain', () => {
  test('is made, read, listed, replaced and removed', async () => {
    const body = chainBody({ operator_label: 'treasury' });
    const made = {
      ...body,
      snapshot_version: 0,
      snapshot_stale: true,
      stale_detected_at: STAMP,
      snapshot_at: null,
      created_at: STAMP,
      updated_at: STAMP,
    };
    const created = await must<ChainRow>(200, post(CHAINS, body));
    expect(created).toEqual(made);
    const one = `${CHAINS}/${body.chain}`;
    expect(await must(200, get(one))).toEqual(created);
    expect(await must(200, get(CHAINS))).toEqual(expect.arrayContaining([created]));
    const { endpoint_identity } = body;
    const replaced = await must(
      200,
      send('PUT', one, { endpoint_identity, finality_age_seconds: 60 }),
    );
    expect(replaced).toEqual({
      ...created,
      finality_age_seconds: 60,
      operator_label: null,
      updated_at: STAMP,
    });
    expect(await must(200, send('DELETE', one))).toEqual(replaced);
    for (const [method, more] of [
      ['GET', undefined],
      ['PUT', { endpoint_identity, finality_age_seconds: 60 }],
      ['DELETE', undefined],
    ] as const)
      expectRefusal(await send(method, one, more), 404, 'chain_not_found', { chain: body.chain });
  });

  test('is one of its name and of its identity, however its letters are written', async () => {
    const first = await addChain();
    const { chain, endpoint_identity } = first;
    expectRefusal(await post(CHAINS, chainBody({ chain })), 409, 'chain_exists', { chain });
    const upper = endpoint_identity.toUpperCase().replace('0X', '0x');
    for (const same of [endpoint_identity, upper])
      expectRefusal(
        await post(CHAINS, chainBody({ endpoint_identity: same })),
        409,
        'endpoint_identity_conflict',
        { endpoint_identity: same, chain },
      );
    const second = await addChain();
    expectRefusal(
      await send('PUT', `${CHAINS}/${second.chain}`, {
        endpoint_identity,
        finality_age_seconds: 1,
      }),
      409,
      'endpoint_identity_conflict',
      { endpoint_identity, chain },
    );
    expect(await must(200, get(`${CHAINS}/${second.chain}`))).toEqual(second);
    // Written otherwise it is the one that it is.
    const again = { endpoint_identity: upper, finality_age_seconds: 900 };
    expect(await must(200, send('PUT', `${CHAINS}/${chain}`, again))).toMatchObject({
      endpoint_identity: upper,
    });
  });

  test('of many at once is made by one of them', async () => {
    const body = chainBody();
    const answers = await Promise.all(Array.from({ length: 8 }, () => post(CHAINS, body)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(409)]);
    const endpoint_identity = identity();
    const others = await Promise.all(
      Array.from({ length: 8 }, () => post(CHAINS, chainBody({ endpoint_identity }))),
    );
    expect(others.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(409)]);
    const codes = others.flatMap(({ body: refused }) =>
      'detail' in (refused as object)
        ? [(refused as { detail: { error: string } }).detail.error]
        : [],
    );
    expect(new Set(codes)).toEqual(new Set(['endpoint_identity_conflict']));
  });

  test('at which paths end stays, also when both come at once', async () => {
    const path = await addPath();
    for (const chain of [path.src_chain, path.dst_chain])
      expectRefusal(await send('DELETE', `${CHAINS}/${chain}`), 409, 'chain_in_use', {
        chain,
        path_baselines: 1,
      });
    const [src, dst] = [await addChain(), await addChain()];
    const ends = { src_chain: src.chain, dst_chain: dst.chain, asset: 'USDC' };
    const [made, removed] = await Promise.all([
      post(PATHS, { ...ends, ...budgets }),
      send('DELETE', `${CHAINS}/${dst.chain}`),
    ]);
    expect([
      [200, 409],
      [404, 200],
    ]).toContainEqual([made.status, removed.status]);
  });

  test('that is malformed is refused place by place', async () => {
    expectInvalid(await post(CHAINS, {}), 'chain', 'endpoint_identity', 'finality_age_seconds');
    for (const endpoint_identity of ['1', '0:0x12', `x:${address()}`, `1:${address()}0`, '1:0xzz'])
      expectInvalid(await post(CHAINS, chainBody({ endpoint_identity })), 'endpoint_identity');
    for (const chain of ['', 'a/b', '..', 'a b', 'x'.repeat(65)])
      expectInvalid(await post(CHAINS, chainBody({ chain })), 'chain');
    expectInvalid(
      await post(CHAINS, chainBody({ finality_age_seconds: -1 })),
      'finality_age_seconds',
    );
    expectInvalid(await post(CHAINS, chainBody({ snapshot_version: 3 })), 'snapshot_version');
    const { chain, endpoint_identity } = await addChain();
    const other = { chain: name(), endpoint_identity, finality_age_seconds: 1 };
    expectInvalid(await send('PUT', `${CHAINS}/${chain}`, other), 'chain');
    expectInvalid(await get(`${CHAINS}?limit=1`), 'limit');
  });
});

describe('a path', () => {
  test('is made, read, listed, replaced and removed', async () => {
    const [src, dst] = [await addChain(), await addChain()];
    const key = { src_chain: src.chain, dst_chain: dst.chain, asset: 'USDC' };
    const created = await must<PathRow>(
      200,
      post(PATHS, { ...key, ...budgets, asset: 'usdc', fee_native_budget: '0.0020' }),
    );
    expect(created).toEqual({
      ...key,
      ...budgets,
      enabled: true,
      disabled_reason: null,
      baseline_source: null,
      operator_label: null,
      last_drill_pass_at: null,
      last_drill_evidence_path: null,
      last_drill_contracts: null,
      created_at: STAMP,
      updated_at: STAMP,
    });
    expect(await must(200, get(at(created)))).toEqual(created);
    expect(await must(200, get(PATHS))).toEqual(expect.arrayContaining([created]));
    const exact = '12345678901234567890.123456789012345678';
    const change = {
      expected_latency_seconds: 1,
      detection_latency_budget_seconds: 2,
      fee_native_budget: exact,
      enabled: false,
      disabled_reason: 'a pause',
    };
    const replaced = await must<PathRow>(200, send('PUT', at(created), { ...key, ...change }));
    expect(replaced).toEqual({ ...created, ...change, updated_at: STAMP });
    expect(await must(200, send('DELETE', at(created)))).toEqual(replaced);
    const drill = `${at(created)}/drill-pass`;
    for (const [method, where, body] of [
      ['GET', at(created), undefined],
      ['PUT', at(created), change],
      ['DELETE', at(created), undefined],
      ['POST', drill, { evidence_path: 'x' }],
    ] as const)
      expectRefusal(await send(method, where, body), 404, 'path_baseline_not_found', key);
  });

  test('joins two chains that there are, once for each asset', async () => {
    const { src_chain, dst_chain } = await addPath();
    const make = (more: object) =>
      post(PATHS, { src_chain, dst_chain, asset: 'USDC', ...budgets, ...more });
    expectRefusal(await make({}), 409, 'path_baseline_exists', {
      src_chain,
      dst_chain,
      asset: 'USDC',
    });
    expect(await make({ asset: 'USDT' })).toMatchObject({ status: 200 });
    expect(await make({ src_chain: dst_chain, dst_chain: src_chain })).toMatchObject({
      status: 200,
    });
    expectRefusal(await make({ src_chain: 'none' }), 404, 'chain_not_found', { chain: 'none' });
    expectRefusal(await make({ dst_chain: 'none' }), 404, 'chain_not_found', { chain: 'none' });
    const many = await Promise.all(Array.from({ length: 8 }, () => make({ asset: 'DAI' })));
    expect(many.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(409)]);
  });

  test('that is malformed is refused place by place', async () => {
    const { src_chain, dst_chain } = await addPath();
    const make = (more: object) =>
      post(PATHS, { src_chain, dst_chain, asset: 'DAI', ...budgets, ...more });
    expectInvalid(await make({ dst_chain: src_chain }), 'dst_chain');
    for (const fee_native_budget of [0.002, '-1', '1e3', '1.0000000000000000001'])
      expectInvalid(await make({ fee_native_budget }), 'fee_native_budget');
    expectInvalid(await make({ asset: 'U/SD' }), 'asset');
    expectInvalid(await make({ enabled: 'yes' }), 'enabled');
    expectInvalid(await make({ last_drill_pass_at: null }), 'last_drill_pass_at');
    const path = `${PATHS}/${src_chain}/${dst_chain}/USDC`;
    // What is left out must not put a path in force again.
    expectInvalid(await send('PUT', path, budgets), 'enabled');
    const other = { ...budgets, enabled: true, asset: 'DAI', src_chain: dst_chain };
    expectInvalid(await send('PUT', path, other), 'src_chain', 'asset');
    expectInvalid(await post(`${path}/drill-pass`, {}), 'evidence_path');
  });

  test('keeps its drill until an identity of its chains is another', async () => {
    for (const end of ['src_chain', 'dst_chain'] as const) {
      const path = await addPath();
      // Stored as it is, never opened.
      const evidence_path = '/nowhere/../drill 1.json';
      const drilled = await must<PathRow>(200, post(`${at(path)}/drill-pass`, { evidence_path }));
      expect(drilled).toEqual({
        ...path,
        last_drill_pass_at: STAMP,
        last_drill_evidence_path: evidence_path,
        updated_at: STAMP,
      });
      const replaced = { ...budgets, enabled: true };
      expect(await must(200, send('PUT', at(path), replaced))).toMatchObject({
        last_drill_pass_at: drilled['last_drill_pass_at'],
      });
      const chain = `${CHAINS}/${path[end]}`;
      const { endpoint_identity } = await must<ChainRow>(200, get(chain));
      await must(200, send('PUT', chain, { endpoint_identity, finality_age_seconds: 1 }));
      expect(await must(200, get(at(path)))).toMatchObject({
        last_drill_evidence_path: evidence_path,
      });
      const moved = { endpoint_identity: identity(), finality_age_seconds: 1 };
      const headers = requestId();
      await must(200, send('PUT', chain, moved, headers));
      expect(await must(200, get(at(path)))).toMatchObject({
        last_drill_pass_at: null,
        last_drill_evidence_path: null,
      });
      const { src_chain, dst_chain, asset } = path;
      expect(await auditOfRequest(headers['X-Request-Id'])).toMatchObject([
        { details: { cleared_drill_passes: [{ src_chain, dst_chain, asset }] } },
      ]);
    }
  });
});

/** A contract that answers every call with one number; its address. */
async function deploy(number: number): Promise<string> {
  const { rpcUrl, accounts } = shared.chain;
  const client = createWalletClient({
    account: privateKeyToAccount(accounts.deployer.privateKey),
    transport: http(rpcUrl),
  }).extend(publicActions);
  // PUSH4 number, MSTORE at 0, RETURN 32 bytes; before it what puts that where the address is.
  const runtime = `63${number.toString(16).padStart(8, '0')}60005260206000f3`;
  const hash = await client.sendTransaction({
    data: `0x6c${runtime}600052600d6013f3`,
    chain: null,
    gas: 200_000n,
  });
  const { contractAddress } = await client.waitForTransactionReceipt({
    hash,
    pollingInterval: 50,
  });
  if (!contractAddress) throw new Error('nothing was deployed');
  return contractAddress.toLowerCase();
}

interface Refreshed {
  readonly refreshed_at: string;
  readonly changed: readonly string[];
  readonly stale: readonly string[];
  readonly chains: readonly ChainRow[];
}

test('a refresh asks the endpoints of bound chains what they are', async () => {
  const eid = 30_999;
  const endpoint = await deploy(eid);
  const unbound = await addChain();
  const local = `${CHAINS}/${LOCAL}`;
  await addChain({ chain: LOCAL, endpoint_identity: `${String(eid)}:${endpoint}` });
  try {
    const refresh = async () => {
      const { refreshed_at, changed, stale, chains } = await must<Refreshed>(200, post(REFRESH));
      const [row] = chains.filter(({ chain }) => chain === LOCAL);
      expect(stale).toContain(unbound.chain);
      expect(await must(200, get(local))).toEqual(row);
      return { refreshed_at, row, changed: changed.includes(LOCAL), stale: stale.includes(LOCAL) };
    };
    expect(await refresh()).toEqual({
      refreshed_at: STAMP,
      changed: true,
      stale: false,
      row: expect.objectContaining({
        snapshot_version: 1,
        snapshot_stale: false,
        stale_detected_at: null,
        snapshot_at: STAMP,
      }),
    });
    expect(await refresh()).toMatchObject({ changed: false, row: { snapshot_version: 1 } });
    // Past its age it is stale, and fresh again once it was read.
    await sql(
      `UPDATE bridge_chains SET snapshot_at = svc_now() - interval '3601 seconds'
       WHERE chain = $1`,
      [LOCAL],
    );
    expect(await must(200, get(local))).toMatchObject({
      snapshot_stale: true,
      stale_detected_at: STAMP,
    });
    expect(await refresh()).toMatchObject({ row: { snapshot_stale: false } });
    // What is there says that it is another one than the row says.
    const be = (reported: number) =>
      must<ChainRow>(
        200,
        send('PUT', local, {
          endpoint_identity: `${String(reported)}:${endpoint}`,
          finality_age_seconds: 1,
        }),
      );
    expect(await be(eid + 1)).toMatchObject({
      snapshot_stale: true,
      snapshot_at: null,
      snapshot_version: 1,
    });
    expect(await refresh()).toMatchObject({ changed: false, stale: true });
    await be(eid);
    expect(await refresh()).toMatchObject({
      changed: true,
      stale: false,
      row: { snapshot_version: 2 },
    });
  } finally {
    await must(200, send('DELETE', local));
  }
});

test('everybody reads, and only an admin writes', async () => {
  const path = await addPath();
  const chain = `${CHAINS}/${path.src_chain}`;
  for (const key of [shared.keys.operator, shared.keys.agent]) {
    for (const where of [CHAINS, chain, PATHS, at(path)])
      expect((await sendAs(key, 'GET', where)).status).toBe(200);
    for (const [method, where, body] of [
      ['POST', CHAINS, chainBody()],
      ['PUT', chain, { endpoint_identity: identity(), finality_age_seconds: 1 }],
      ['DELETE', chain, undefined],
      ['POST', PATHS, { ...path, ...budgets }],
      ['PUT', at(path), { ...budgets, enabled: false }],
      ['DELETE', at(path), undefined],
      ['POST', `${at(path)}/drill-pass`, { evidence_path: 'x' }],
      ['POST', REFRESH, {}],
    ] as const)
      expectRefusal(await sendAs(key, method, where, body), 403, 'forbidden');
  }
  expect(await must(200, get(at(path)))).toEqual(path);
});

test('every write is in the audit, and a refusal too', async () => {
  const one = async (
    action: string,
    [method, where, body]: readonly [string, string, object?],
    more: object = {},
  ): Promise<void> => {
    const headers = requestId();
    const answer = await send(method, where, body, headers);
    const [row, ...others] = await auditOfRequest(headers['X-Request-Id']);
    expect([others, row]).toEqual([[], expect.objectContaining({ action, ...more })]);
    if (answer.status === 200 && !where.endsWith(REFRESH)) {
      expect(row).toMatchObject({ outcome: 'success', details: { row: expect.anything() } });
    }
  };
  const [src, dst] = [chainBody(), await addChain()];
  const key = { src_chain: src.chain, dst_chain: dst.chain, asset: 'USDC' };
  const path = `${PATHS}/${src.chain}/${dst.chain}/USDC`;
  const ofChain = { entity_type: 'bridge_chain', entity_key: src.chain };
  const ofPath = { entity_type: 'bridge_path', entity_key: `${src.chain}/${dst.chain}/USDC` };
  await one('bridge_chain.create', ['POST', CHAINS, src], ofChain);
  await one('bridge_chain.create', ['POST', CHAINS, src], {
    ...ofChain,
    outcome: 'denied',
    reason: 'chain_exists',
  });
  const { chain: _name, ...fields } = src;
  await one('bridge_chain.replace', ['PUT', `${CHAINS}/${src.chain}`, fields], ofChain);
  await one('bridge_path.create', ['POST', PATHS, { ...key, ...budgets }], ofPath);
  await one('bridge_path.replace', ['PUT', path, { ...budgets, enabled: false }], ofPath);
  await one('bridge_path.drill_pass', ['POST', `${path}/drill-pass`, { evidence_path: 'e' }], {
    ...ofPath,
  });
  await one('bridge_chain.delete', ['DELETE', `${CHAINS}/${src.chain}`], {
    ...ofChain,
    outcome: 'denied',
    reason: 'chain_in_use',
  });
  await one('bridge_path.delete', ['DELETE', path], ofPath);
  await one('bridge_chain.delete', ['DELETE', `${CHAINS}/${src.chain}`], ofChain);
  await one('bridge_registry.refresh', ['POST', REFRESH], {
    entity_type: 'bridge_registry',
    entity_key: 'bridge-c',
    outcome: 'success',
  });
  const { events } = await must<{ events: { action: string }[] }>(
    200,
    get(`/registry/audit?entity_type=bridge_chain&entity_key=${src.chain}`),
  );
  expect(events.map(({ action }) => action)).toContain('bridge_chain.create');
});
