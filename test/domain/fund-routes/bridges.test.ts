/** What a route shows of the bridges that it goes over. */
import { pathContracts } from '../../../domain/bridges/contracts.ts';
import type { BridgeChain, BridgePath } from '../../../domain/bridges/registry.ts';
import { KNOWN_CHAINS } from '../../../domain/chains/finality-table.ts';
import { fastAttestationSeconds } from '../../../domain/chains/fast-attestation.ts';
import { routeBridge, type BridgeWorld } from '../../../domain/fund-routes/bridges.ts';
import { toFundRoute } from '../../../domain/fund-routes/fund-route.ts';
import type { EdgeType } from '../../../domain/graph/types.ts';
import type { JsonObject } from '../../../domain/json.ts';
import type { TemplateNode } from '../../../domain/plan/types.ts';
import { node, source } from './build.ts';

const NOW = '2026-11-23T12:00:00.000Z';
const EARLIER = '2026-11-23T11:59:00.000Z';
const [ETHEREUM, OPTIMISM, BASE, LOCAL, BARE] = [1, 10, 8453, 31_337, 137];

const BURNS = {
  burn_and_mint: { endpoint_identity: null, carriers: [{ asset: 'USDC', address: '0x2' }] },
};
const bound = (chain_id: number, more: object = {}) => ({
  chain_id,
  venue_key: `venue-${String(chain_id)}`,
  native_asset: 'ETH',
  tokens: [{ asset: 'USDC', address: '0x1' }],
  bridges: BURNS,
  ...more,
});
const onBridge = (endpoint_identity: string, { asset = 'USDC', burns = true } = {}) => ({
  bridges: {
    ...(burns ? BURNS : {}),
    bridge_c: { endpoint_identity, carriers: [{ asset, address: '0x3' }] },
  },
});
const chains = [
  ...[ETHEREUM, OPTIMISM, LOCAL].map((id) => bound(id)),
  bound(BASE, onBridge('1:other-name')),
  bound(BARE, { native_asset: 'POL', ...onBridge('1:VENUE-137', { burns: false }) }),
  bound(480, { tokens: [] }),
];
const row = (chain: string, more: Partial<BridgeChain> = {}): BridgeChain => ({
  chain,
  endpoint_identity: `1:${chain}`,
  finality_age_seconds: 1,
  snapshot_version: 1,
  snapshot_stale: false,
  stale_detected_at: null,
  operator_label: null,
  snapshot_at: EARLIER,
  created_at: EARLIER,
  updated_at: EARLIER,
  ...more,
});
const path = (more: Partial<BridgePath> = {}): BridgePath => ({
  src_chain: 'venue-137',
  dst_chain: 'other-name',
  asset: 'USDC',
  expected_latency_seconds: 180,
  detection_latency_budget_seconds: 900,
  fee_native_budget: '0.002',
  enabled: true,
  disabled_reason: null,
  last_drill_pass_at: EARLIER,
  last_drill_evidence_path: 'e',
  baseline_source: null,
  last_drill_contracts: pathContracts(
    chains,
    { source: '1:venue-137', destination: '1:other-name' },
    'USDC',
  ),
  operator_label: null,
  created_at: EARLIER,
  updated_at: EARLIER,
  ...more,
});
const registry = (more: Partial<BridgePath> = {}, of: Partial<BridgeChain> = {}) => ({
  now: NOW,
  chains: [row('venue-137', of), row('other-name')],
  paths: [path(more)],
});
const world = (more: Partial<BridgeWorld> = {}): BridgeWorld => ({
  chains,
  registry: registry(),
  maxAgeSeconds: 600,
  ...more,
});

const burn = (node_key: string, config: JsonObject = {}): TemplateNode =>
  node('cctp_burn', {
    node_key,
    config: { source_chain_id: ETHEREUM, destination_chain_id: BASE, ...config },
  });
const send = (node_key: string, config: JsonObject = {}): TemplateNode =>
  node('bridge_c_send', {
    node_key,
    config: { source_chain_id: BARE, destination_chain_id: BASE, ...config },
  });
type Edge = readonly [string, string, EdgeType?];

function bridge(
  nodes: readonly TemplateNode[],
  {
    edges = [],
    asset = 'USDC',
    ...more
  }: Partial<BridgeWorld> & {
    readonly edges?: readonly Edge[];
    readonly asset?: string | null;
  } = {},
) {
  const drawn = edges.map(([from, to, edge_type = 'on_success']) => ({
    from,
    to,
    edge_type,
    priority: 0,
    join_key: null,
    condition_expr: null,
  }));
  const { bridge_legs } = toFundRoute(source({ nodes, edges: drawn }), true);
  return routeBridge(bridge_legs, asset, world(more));
}
const leg = (one: TemplateNode, more: Parameters<typeof bridge>[1] = {}) =>
  bridge([one], more)?.legs[0];

test('a route without a bridge shows none', () => {
  expect(bridge([node('evm_erc20_transfer'), node('cctp_mint')])).toBeNull();
});

describe('a burn', () => {
  test('takes as long as its chain takes to be final, and costs at most its max_fee', () => {
    expect(leg(burn('burn', { asset: 'usdc', max_fee: '0.50' }), { asset: null })).toEqual({
      node_key: 'burn',
      lane: 'burn_and_mint',
      asset: 'USDC',
      finality: 'standard',
      source_chain_id: ETHEREUM,
      destination_chain_id: BASE,
      latency_baseline_seconds: 900,
      latency_source: 'chain_finality',
      max_fee: '0.5',
      fee_native_budget: null,
      fee_native_asset: null,
      usable: true,
      problem: null,
    });
    expect(leg(burn('burn'))?.max_fee).toBe('0');
  });

  test.each([
    [ETHEREUM, 20, 'fast_attestation'],
    [OPTIMISM, 8, 'fast_attestation'],
    // How soon a burn there is signed for before it is final is not published.
    [LOCAL, null, null],
  ])('that is fast from chain %d takes %p s (%p)', (source_chain_id, seconds, from) => {
    expect(leg(burn('burn', { source_chain_id, finality: 'fast' }))).toMatchObject({
      finality: 'fast',
      latency_baseline_seconds: seconds,
      latency_source: from,
      usable: true,
    });
  });

  test('from a chain of unknown finality has no baseline', () => {
    expect(leg(burn('burn', { source_chain_id: LOCAL }))).toMatchObject({
      latency_baseline_seconds: null,
      latency_source: null,
      usable: true,
    });
  });

  test.each([
    ['CHAIN_NOT_CONFIGURED', /chain 999$/, { source_chain_id: 999 }],
    ['CHAIN_NOT_CONFIGURED', /chain 999$/, { destination_chain_id: 999 }],
    ['BRIDGE_ROUTE_MISSING', /^venue venue-137 has no cctp/, { source_chain_id: BARE }],
    ['BRIDGE_ROUTE_MISSING', /^venue venue-137 has no cctp/, { destination_chain_id: BARE }],
    ['DESTINATION_TOKEN_MISSING', /no token of USDC/, { destination_chain_id: 480 }],
  ])('cannot begin: %s %s', (error_code, reason, config) => {
    expect(leg(burn('burn', config))).toMatchObject({
      usable: false,
      problem: { error_code, reason: expect.stringMatching(reason) },
    });
  });

  test('carries no asset but that of its token', () => {
    const both = [
      { asset: 'USDC', address: '0xAA' },
      { asset: 'EURC', address: '0xBB' },
    ];
    const bridges = { burn_and_mint: { endpoint_identity: null, carriers: both } };
    const listing = [ETHEREUM, BASE].map((id) => bound(id, { tokens: both, bridges }));
    const carries = (asset: string) =>
      leg(burn('burn', { token_address: '0xaa' }), { asset, chains: listing });
    expect(carries('USDC')).toMatchObject({ usable: true, problem: null });
    expect(carries('EURC')).toMatchObject({
      usable: false,
      problem: { error_code: 'TOKEN_ASSET_MISMATCH' },
    });
    expect(carries('USDC')).not.toHaveProperty('token_address');
  });

  test('whose chains the caller says promises nothing', () => {
    const config = { asset: 'USDC', max_fee: '1', finality: 'fast', source_chain_id: null };
    expect(leg(burn('burn', config))).toMatchObject({
      source_chain_id: null,
      finality: null,
      max_fee: null,
      latency_baseline_seconds: null,
      usable: null,
      problem: null,
    });
  });
});

describe('a bridge_c send', () => {
  test('takes and costs what the registry says of its path', () => {
    expect(leg(send('send'))).toEqual({
      node_key: 'send',
      lane: 'bridge_c',
      asset: 'USDC',
      finality: null,
      source_chain_id: BARE,
      destination_chain_id: BASE,
      latency_baseline_seconds: 180,
      latency_source: 'bridge_registry',
      max_fee: null,
      fee_native_budget: '0.002',
      fee_native_asset: 'POL',
      usable: true,
      problem: null,
    });
  });

  test.each([
    ['disabled: for now', { enabled: false, disabled_reason: 'for now' }, {}],
    ['stale since', {}, { snapshot_at: '2026-11-23T11:00:00.000Z' }],
    ['no drill', { last_drill_pass_at: null }, {}],
    ['drill it again', { last_drill_contracts: 'others' }, {}],
  ])('is not ready (%s), and still shows its baseline', (words, of, chain) => {
    expect(leg(send('send'), { registry: registry(of, chain) })).toMatchObject({
      latency_baseline_seconds: 180,
      fee_native_budget: '0.002',
      usable: false,
      problem: { error_code: 'BRIDGE_PATH_NOT_READY', reason: expect.stringContaining(words) },
    });
  });

  test('the other way round is not the path', () => {
    const back = { source_chain_id: BASE, destination_chain_id: BARE };
    expect(leg(send('send', back))).toMatchObject({
      latency_baseline_seconds: null,
      fee_native_budget: null,
      usable: false,
      problem: { error_code: 'BRIDGE_PATH_NOT_READY' },
    });
  });

  test.each([
    ['BRIDGE_ROUTE_MISSING', 'USDC', { source_chain_id: ETHEREUM }],
    ['BRIDGE_ROUTE_MISSING', null, { destination_chain_id: ETHEREUM }],
    ['TOKEN_ASSET_MISMATCH', 'USDT', {}],
    ['DESTINATION_TOKEN_MISSING', 'USDC', { destination_chain_id: 324 }],
  ])('cannot begin: %s with %s and %j', (error_code, asset, config) => {
    const other = [...chains, bound(324, onBridge('1:324', { asset: 'OMNI' }))];
    expect(leg(send('send', config), { asset, chains: other })).toMatchObject({
      usable: false,
      problem: { error_code },
    });
  });

  test('from a chain that is not on the bridge still shows what a row of its name says', () => {
    const named = { ...registry({ src_chain: '10' }), chains: [row('10'), row('other-name')] };
    const from = { source_chain_id: OPTIMISM };
    expect(leg(send('send', from), { registry: named })).toMatchObject({
      latency_baseline_seconds: 180,
      problem: { error_code: 'BRIDGE_ROUTE_MISSING' },
    });
  });

  test('says nothing where the asset is not known, or the registry was not read', () => {
    const nothing = { latency_baseline_seconds: null, usable: null, problem: null };
    expect(leg(send('send'), { asset: null })).toMatchObject(nothing);
    expect(leg(send('send'), { registry: null })).toMatchObject(nothing);
  });

  test('over a chain that is not bound cannot begin', () => {
    const bare = chains.filter(({ chain_id }) => chain_id !== BASE);
    expect(leg(send('send'), { chains: bare })).toMatchObject({
      usable: false,
      problem: { error_code: 'CHAIN_NOT_CONFIGURED' },
    });
  });
});

describe('several bridges', () => {
  const slow = burn('slow', { max_fee: '1' });
  const quick = burn('quick', { finality: 'fast', max_fee: '0.25' });
  const over = send('over');
  const edgesOf = (...edges: readonly Edge[]) => ({ edges });

  test('one after the other take their times together, in whichever order they are written', () => {
    const edges = edgesOf(['quick', 'between'], ['between', 'slow']);
    const found = bridge([slow, node('noop', { node_key: 'between' }), quick], edges);
    expect(found).toMatchObject({ latency_baseline_seconds: 920, max_fee: '1.25' });
    expect(found?.legs.map(({ node_key }) => node_key)).toEqual(['quick', 'slow']);
  });

  test('beside one another take as long as the longest, and cost as much as all', () => {
    const start = node('noop', { node_key: 'start' });
    const edges = edgesOf(['start', 'slow'], ['start', 'quick']);
    expect(bridge([start, slow, quick], edges)).toMatchObject({
      latency_baseline_seconds: 900,
      max_fee: '1.25',
    });
  });

  test('of which one is only for a failure: the way does not take it', () => {
    const edges = edgesOf(['quick', 'slow', 'on_failure']);
    const found = bridge([quick, slow], edges);
    expect(found).toMatchObject({ latency_baseline_seconds: 20, max_fee: '0.25' });
    expect(found?.legs).toHaveLength(2);
  });

  test('of which one is not known have no sum', () => {
    expect(bridge([quick, over], edgesOf(['quick', 'over']))).toMatchObject({
      latency_baseline_seconds: 200,
      max_fee: null,
    });
    expect(bridge([quick, over], { ...edgesOf(['quick', 'over']), registry: null })).toMatchObject({
      latency_baseline_seconds: null,
      max_fee: null,
    });
    const other = burn('other', { asset: 'EURC' });
    expect(bridge([quick, other], edgesOf(['quick', 'other']))).toMatchObject({ max_fee: null });
  });
});

test('a fast burn is faster than a final block wherever both are known', () => {
  for (const { chain_id, typical_age_seconds } of KNOWN_CHAINS) {
    const fast = fastAttestationSeconds(chain_id);
    if (fast !== null) expect(fast).toBeLessThan(typical_age_seconds ?? 0);
  }
});
