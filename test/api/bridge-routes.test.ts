/**
 * Routes over bridges, over a database of its own: what the registry and the chains of the venues
 * file say decides whether a route can be taken, and what it is said to take and to cost.
 */
import type { BridgeReader } from '../../domain/bridges/registry.ts';
import type { ExecutorDescriptor } from '../../domain/executor.ts';
import type { BoundChain } from '../../domain/plan/tokens.ts';
import type { SignerDescriptor } from '../../domain/signer.ts';
import { commercial } from '../../api/commercial.ts';
import { withExtensions } from '../../api/extension.ts';
import { createApi } from '../../api/app.ts';
import { routes } from '../../venues/routes.ts';
import { connectDatabase } from '../../prisma/client.ts';
import { storeBench } from '../store/support.ts';
import { dependencies, guardOf, post, send, serve, type Answer } from './support.ts';

const COMMERCIAL = [commercial({ autoApproveDryRun: false })];
const MAX_AGE = 600;
const [NEAR, FAR, BARE] = [8453, 42_161, 480];
const closing: (() => Promise<unknown>)[] = [];

const bench = storeBench();
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await bench.sql('DELETE FROM bridge_paths');
  await bench.sql('DELETE FROM bridge_chains');
});

const executor = (executor_key: string, ...action_types: string[]): ExecutorDescriptor => ({
  ...{ executor_key, kind: 'local', action_types, same_key_safe: false, settle_seconds: 0 },
  ...{ timeout_seconds: 1, in_process: false, sends: true, not_payees: [] },
  completion_assurances: ['provider_completed'],
});
const BRIDGES = [
  executor('cctp.burn', 'cctp_burn'),
  executor('cctp.mint', 'cctp_mint'),
  executor('bridge_c.send', 'bridge_c_send'),
  executor('bridge_c.observe', 'bridge_c_observe'),
];
const WALLET: SignerDescriptor = { signer_key: 'wallet', backend: 'local', chain_family: 'evm' };
const address = (digit: number): string => `0x${String(digit).repeat(40)}`;
const identity = (digit: number): string => `3018${String(digit)}:${address(digit)}`;
const burnt = (asset: string) => ({ asset, address: address(6) });
const carried = (asset: string) => [{ asset, address: address(7) }];
/** On the bridge with an endpoint of this digit; without one on no bridge at all. */
const bound = (
  chain_id: number,
  venue_key: string,
  digit: number | null,
): readonly BoundChain[] => [
  {
    ...{ chain_id, venue_key, native_asset: 'ETH', deposit_venues: [] },
    tokens: ['USDC', 'OMNI'].flatMap(carried),
    bridges:
      digit === null
        ? {}
        : {
            burn_and_mint: { endpoint_identity: null, carriers: [burnt('USDC'), burnt('OMNI')] },
            bridge_c: {
              endpoint_identity: identity(digit),
              carriers: ['USDC', 'OMNI'].flatMap(carried),
            },
          },
    finality: {
      ...{ read: 'finalized_tag', confirmations: null, typical_age_seconds: null },
      override_reason: null,
    },
    caps: { max_gas_cost_wei: '1', max_fee_per_gas_gwei: null },
  },
];
const CHAINS = [
  ...bound(NEAR, 'base', 1),
  ...bound(FAR, 'arbitrum', 2),
  ...bound(BARE, 'world', null),
];

interface Service {
  call(method: string, path: string, body?: object): Promise<Answer['body']>;
}

/** The API as if it were so many seconds later; every endpoint of the bridge answers. */
async function service({
  executors = BRIDGES,
  edition = 'commercial' as 'commercial' | 'free',
  later = 0,
} = {}): Promise<Service> {
  const db = connectDatabase({
    url: bench.url,
    sessionSettings: { 'svc.clock_offset_ms': String(later * 1_000) },
  });
  closing.push(() => db.$disconnect());
  const bridge: BridgeReader = { read: () => Promise.resolve({ ok: true, facts: { eid: 1 } }) };
  const deps = {
    ...dependencies({ bridgeSnapshotMaxAgeSeconds: MAX_AGE, edition }),
    ...{ db, bridge, chains: CHAINS, executors: { list: () => executors } },
    signers: { list: () => [WALLET], get: () => undefined },
  };
  const caller = { client_id: null, key_id: null, role: 'admin' } as const;
  const table = withExtensions(routes, edition === 'commercial' ? COMMERCIAL : []);
  const served = await serve(createApi(deps, table, { guard: guardOf(caller) }));
  closing.push(() => served.close());
  return {
    call: async (method, path, body) => {
      const url = `${served.url}/v3${path}`;
      const { status, body: answer } = await (method === 'POST'
        ? post(url, body ?? {})
        : send(url, {
            method,
            ...(body === undefined
              ? {}
              : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
          }));
      if (status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
      return answer;
    },
  };
}

let made = 0;
/** A template of two nodes; answers its key. */
async function template(
  { call }: Service,
  [first, second]: readonly [string, string],
  config: object,
): Promise<string> {
  made += 1;
  const template_key = `bridges/${String(made)}`;
  const signer_selector = { chain_family: 'evm' };
  const sends = { node_kind: 'action', has_side_effect: true, signer_selector };
  const onward = second === 'cctp_mint' ? { burn_from: 'out' } : { match_from: 'out' };
  await call('POST', '/plan-templates', {
    ...{ template_key, version: 1, name: 'Over a bridge' },
    ...{ approval_policy: {}, risk_controls: {} },
    completion_policy: { completion_assurance: 'provider_completed' },
    nodes: [
      { ...sends, node_key: 'out', action_type: first, config },
      second === 'cctp_mint'
        ? { ...sends, node_key: 'in', action_type: second, config: onward }
        : { node_key: 'in', node_kind: 'observe', action_type: second, config: onward },
    ],
    edges: [{ from: 'out', to: 'in', edge_type: 'on_success' }],
  });
  return template_key;
}
const path = { source_chain_id: NEAR, destination_chain_id: FAR };
const sending = (api: Service, config: object = path) =>
  template(api, ['bridge_c_send', 'bridge_c_observe'], config);
const burning = (api: Service, config: object = {}) =>
  template(api, ['cctp_burn', 'cctp_mint'], { ...path, max_fee: '0.2', ...config });

const BASELINE = {
  ...{ src_chain: 'base', dst_chain: 'the-far-one', asset: 'USDC', fee_native_budget: '0.002' },
  ...{ expected_latency_seconds: 180, detection_latency_budget_seconds: 900 },
};
const PATH = '/bridge-c/path-baselines/base/the-far-one/USDC';

/** Both chains, one under another name, and the path, ready to be used. */
async function register({ call }: Service): Promise<void> {
  for (const [index, chain] of ['base', 'the-far-one'].entries())
    await call('POST', '/bridge-c/chain-registry', {
      ...{ chain, endpoint_identity: identity(index + 1), finality_age_seconds: 900 },
    });
  await call('POST', '/bridge-c/path-baselines', BASELINE);
  await call('POST', `${PATH}/drill-pass`, { evidence_path: 'drills/1' });
  await call('POST', '/executors/bridge-c/refresh-registry');
}

interface Leg {
  readonly usable: boolean | null;
  readonly [field: string]: unknown;
}
interface Route {
  readonly template_key: string;
  readonly bridge: { readonly legs: readonly Leg[]; readonly [field: string]: unknown } | null;
  readonly health?: { readonly status: string; readonly executors: readonly object[] };
}
async function recommended({ call }: Service, key: string, asset = 'USDC') {
  const { recommendations } = await call('POST', '/routes/recommend', { asset, amount: '100' });
  return (recommendations as readonly { route: Route; [field: string]: unknown }[]).find(
    ({ route }) => route.template_key === key,
  );
}
async function listed({ call }: Service, key: string): Promise<Route | undefined> {
  const { routes: all } = await call('GET', '/route-catalog?include_health=true');
  return (all as readonly Route[]).find(({ template_key }) => template_key === key);
}

describe('a route over bridge_c', () => {
  test('that may be used is feasible, and shows and scores what the registry says', async () => {
    const api = await service();
    await register(api);
    const key = await sending(api);
    expect(await recommended(api, key)).toMatchObject({
      ...{ feasibility: 'feasible', infeasible_reasons: [] },
      score_parts: {
        speed: {
          ...{ value: 300 / 480, avg_duration_seconds: null },
          ...{ latency_baseline_seconds: 180, basis: 'latency_baseline' },
        },
        // Its price is a coin of the chain, which is no share of the amount.
        cost: { value: 0, fee: null, basis: null },
      },
      route: {
        metadata: { transport_family: 'bridge' },
        bridge: {
          ...{ latency_baseline_seconds: 180, max_fee: null },
          legs: [
            {
              ...{ node_key: 'out', lane: 'bridge_c', asset: 'USDC', finality: null },
              ...{ source_chain_id: NEAR, destination_chain_id: FAR },
              ...{ latency_baseline_seconds: 180, latency_source: 'bridge_registry' },
              ...{ max_fee: null, fee_native_budget: '0.002', fee_native_asset: 'ETH' },
              ...{ usable: true, problem: null },
            },
          ],
        },
      },
    });
    // Without a known asset its path is unknown.
    expect((await listed(api, key))?.bridge?.legs[0]?.usable).toBeNull();
    const own = await listed(api, await sending(api, { ...path, asset: 'USDC' }));
    expect(own?.bridge).toMatchObject({ latency_baseline_seconds: 180, legs: [{ usable: true }] });
  });

  test.each([
    [
      'is disabled',
      /disabled: for now/,
      (api: Service) =>
        api.call('PUT', PATH, { ...BASELINE, enabled: false, disabled_reason: 'for now' }),
    ],
    [
      'has had no drill since an identity changed',
      /no drill has passed/,
      async (api: Service) => {
        for (const digit of [9, 1])
          await api.call('PUT', '/bridge-c/chain-registry/base', {
            ...{ endpoint_identity: identity(digit), finality_age_seconds: 900 },
          });
        await api.call('POST', '/executors/bridge-c/refresh-registry');
      },
    ],
    [
      'begins at another endpoint than that of the venues file',
      /no baseline/,
      (api: Service) =>
        api.call('PUT', '/bridge-c/chain-registry/base', {
          ...{ endpoint_identity: identity(9), finality_age_seconds: 900 },
        }),
    ],
    ['is gone', /no baseline/, (api: Service) => api.call('DELETE', PATH)],
  ])('whose path %s is infeasible, and says why', async (_what, reason, change) => {
    const api = await service();
    await register(api);
    const key = await sending(api, { ...path, asset: 'USDC' });
    expect(await recommended(api, key)).toMatchObject({ feasibility: 'feasible' });
    await change(api);
    const found = await recommended(api, key);
    expect(found).toMatchObject({
      ...{ feasibility: 'infeasible', infeasible_reasons: ['executor_unavailable'], score: 0 },
      route: {
        bridge: {
          legs: [
            {
              usable: false,
              problem: {
                error_code: 'BRIDGE_PATH_NOT_READY',
                reason: expect.stringMatching(reason),
              },
            },
          ],
        },
      },
    });
    expect((await listed(api, key))?.health).toEqual({
      status: 'degraded',
      executors: [
        {
          ...{ executor_key: 'bridge_c.send', health_state: 'down' },
          reason: expect.stringMatching(`^BRIDGE_PATH_NOT_READY: .*${reason.source}`),
        },
        { executor_key: 'bridge_c.observe', health_state: 'unknown' },
      ],
    });
  });

  test('is infeasible once a snapshot is too old, and for an asset without a path', async () => {
    const api = await service();
    await register(api);
    const key = await sending(api);
    const old = await service({ later: MAX_AGE + 60 });
    expect(await recommended(old, key)).toMatchObject({ feasibility: 'infeasible' });
    expect(await recommended(api, key, 'OMNI')).toMatchObject({ feasibility: 'infeasible' });
    expect(await recommended(api, key)).toMatchObject({ feasibility: 'feasible' });
  });

  test('is the same in the free edition, which has no routes of the registry', async () => {
    const paid = await service();
    await register(paid);
    const key = await sending(paid);
    const free = await service({ edition: 'free' });
    expect(await recommended(free, key)).toMatchObject({
      ...{ feasibility: 'feasible', infeasible_reasons: [] },
      route: { bridge: { legs: [{ latency_baseline_seconds: 180, usable: true }] } },
    });
  });
});

describe('a route that burns and mints', () => {
  test('shows and scores the finality of its source and the most that it may cost', async () => {
    const api = await service();
    const [slow, quick] = [await burning(api), await burning(api, { finality: 'fast' })];
    expect(await recommended(api, slow)).toMatchObject({
      feasibility: 'feasible',
      score_parts: {
        speed: { latency_baseline_seconds: 1_200, basis: 'latency_baseline' },
        cost: { value: 1 / 3, fee: '0.2', basis: 'bridge_max_fee' },
      },
      route: {
        bridge: {
          ...{ latency_baseline_seconds: 1_200, max_fee: '0.2' },
          legs: [{ latency_source: 'chain_finality', finality: 'standard', usable: true }],
        },
      },
    });
    expect(await recommended(api, quick)).toMatchObject({
      route: { bridge: { latency_baseline_seconds: 8 } },
    });
    const rank = async (key: string) => Number((await recommended(api, key))?.['rank']);
    expect(await rank(quick)).toBeLessThan(await rank(slow));
  });

  test('over a chain without the lane is infeasible, and says why', async () => {
    const api = await service();
    const key = await burning(api, { destination_chain_id: BARE });
    expect(await recommended(api, key)).toMatchObject({
      ...{ feasibility: 'infeasible', infeasible_reasons: ['executor_unavailable'] },
      route: { bridge: { legs: [{ problem: { error_code: 'BRIDGE_ROUTE_MISSING' } }] } },
    });
    expect((await listed(api, key))?.health?.executors).toEqual([
      {
        ...{ executor_key: 'cctp.burn', health_state: 'down' },
        reason: expect.stringMatching(/^BRIDGE_ROUTE_MISSING: venue world has no cctp entry/),
      },
      { executor_key: 'cctp.mint', health_state: 'unknown' },
    ]);
  });

  test('without an executor of the lane is infeasible', async () => {
    const api = await service({
      executors: BRIDGES.filter((each) => each.executor_key !== 'cctp.mint'),
    });
    const key = await burning(api);
    expect(await recommended(api, key)).toMatchObject({
      ...{ feasibility: 'infeasible', infeasible_reasons: ['executor_unavailable'] },
    });
  });
});
