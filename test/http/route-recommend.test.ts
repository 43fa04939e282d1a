/**
 * Recommendations over HTTP. Every test has an asset of its own and a venue of that name, so that
 * it meets no routes but its own.
 */
import { randomBytes } from 'node:crypto';
import {
  create,
  expectInvalid,
  gate,
  must,
  noop,
  patch,
  post,
  register,
  run,
  shared,
  sql,
  template,
  transfer,
  waitFor,
  type Answer,
} from '../support/http.ts';

interface Part {
  readonly weight: number;
  readonly value: number;
}
interface Recommendation {
  readonly rank: number;
  readonly score: number;
  readonly score_parts: {
    readonly speed: Part;
    readonly cost: Part;
    readonly health: Part;
    readonly reliability: { readonly value: number };
  };
  readonly feasibility: string;
  readonly infeasible_reasons: readonly string[];
  readonly route: { readonly template_key: string; readonly [field: string]: unknown };
}
interface Recommended {
  readonly recommendations: readonly Recommendation[];
  readonly request: Readonly<Record<string, unknown>>;
  readonly generated_at: string;
}

const ask = (body: unknown): Promise<Answer<Recommended>> =>
  post<Recommended>('/routes/recommend', body);
const recommended = (body: object): Promise<Recommended> => must(200, ask(body));
/** Asks for routes of the asset from the venue of its name. */
const ranked = (asset: string, body: object = {}): Promise<Recommended> =>
  recommended({ asset, source_venue: asset, ...body });
const assetOf = (): string => `T${randomBytes(6).toString('hex').toUpperCase()}`;

/** What makes a plan one that moves funds, without a movement of it ever getting there. */
const pays = () => ({
  node_key: 'pays',
  node_kind: 'action',
  action_type: 'cex_internal_transfer',
  executor_selector: { action_type: 'cex_internal_transfer', provider: 'paper' },
});
const UNLESS_IT_FAILS = [{ from: 'a', to: 'pays', edge_type: 'on_failure' }];

/** A route whose first node is of this asset; its key begins with `name`. */
async function route(
  asset: string,
  name: string,
  more: { controls?: object; node?: object; config?: object } = {},
): Promise<string> {
  const { template_key } = await register(
    template(
      [noop('a', { config: { asset, venue: asset, ...more.config }, ...more.node }), pays()],
      {
        edges: UNLESS_IT_FAILS,
        template_key: `${name}/${randomBytes(6).toString('hex')}`,
        ...(more.controls === undefined ? {} : { risk_controls: more.controls }),
      },
    ),
  );
  return template_key;
}
/** As if movements of the route had ended so, `seconds` after their approval. */
async function history(
  template_key: string,
  ends: readonly (readonly [state: string, seconds: number])[],
): Promise<void> {
  for (const [state, seconds] of ends) {
    const { movement_id } = await create({ template_key, version: 1 });
    await sql(
      `UPDATE movements SET request_state = $2, ended_at = clock.now,
        approved_at = clock.now - make_interval(secs => $3)
       FROM (SELECT svc_now() AS now OFFSET 0) clock WHERE movement_id = $1`,
      [movement_id, state, seconds],
    );
  }
}
const keysOf = ({ recommendations }: Recommended): readonly string[] =>
  recommendations.map((each) => each.route.template_key);

test('a request is answered with its echo, and every default in it', async () => {
  const asset = assetOf();
  expect(await recommended({ asset: asset.toLowerCase() })).toEqual({
    recommendations: expect.any(Array) as unknown,
    request: {
      asset,
      source_venue: null,
      destination_venue: null,
      amount: null,
      priority: 'speed',
    },
    generated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown,
  } as never);
  const whole = {
    asset,
    source_venue: 'a',
    destination_venue: 'b',
    amount: '1.5',
    priority: 'cost',
  };
  expect((await recommended(whole)).request).toEqual(whole);
});

test.each([
  [['asset'], {}],
  [['asset'], { asset: null }],
  [['asset'], { asset: '' }],
  [['asset'], { asset: 'X'.repeat(33) }],
  [['amount'], { asset: 'X', amount: '0' }],
  [['amount'], { asset: 'X', amount: '0.000' }],
  [['amount'], { asset: 'X', amount: '-1' }],
  [['amount'], { asset: 'X', amount: 1 }],
  [['amount'], { asset: 'X', amount: '1e3' }],
  [['amount'], { asset: 'X', amount: '0.0000000000000000001' }],
  [['priority'], { asset: 'X', priority: 'price' }],
  [['priority'], { asset: 'X', priority: null }],
  [['source_venue'], { asset: 'X', source_venue: '' }],
  [['extra'], { asset: 'X', extra: 1 }],
])('%j is at fault in %j', async (paths, body) => {
  expectInvalid(await ask(body), ...paths);
});

test('the proven and quick, or the cheap, come first; its parts make up each score', async () => {
  const asset = assetOf();
  const quick = await route(asset, 'z-quick', { controls: { expected_fee: '2' } });
  const cheap = await route(asset, 'y-cheap', { controls: { max_fee_pct: '0.01' } });
  const unproven = await route(asset, 'a-unproven');
  await history(quick, [['COMPLETED', 2]]);
  await history(cheap, [['COMPLETED', 4_000]]);
  for (const [priority, order] of [
    ['speed', [quick, cheap, unproven]],
    ['cost', [cheap, quick, unproven]],
  ] as const) {
    const answer = await ranked(asset, { amount: '100', priority });
    expect(keysOf(answer)).toEqual(order);
    expect(answer.recommendations.map(({ rank, feasibility }) => [rank, feasibility])).toEqual(
      [1, 2, 3].map((rank) => [rank, 'feasible']),
    );
    for (const { score, score_parts } of answer.recommendations) {
      const { speed, cost, health, reliability } = score_parts;
      const sum = [speed, cost, health].reduce((all, { weight, value }) => all + weight * value, 0);
      expect(score).toBeCloseTo(reliability.value * sum, 12);
      expect(speed.weight + cost.weight + health.weight).toBeCloseTo(1, 12);
    }
  }
  const [first] = (await ranked(asset, { amount: '100', priority: 'cost' })).recommendations;
  expect(first).toMatchObject({
    score_parts: {
      cost: { fee: '0.01', basis: 'max_fee_pct', weight: 0.7 },
      speed: { avg_duration_seconds: 4_000 },
      health: { status: 'healthy' },
    },
    route: { executable: true, stats: { total_completed: 1 }, metadata: { asset } },
  });
  expect(Object.keys(first?.route ?? {})).not.toContain('health');
});

test('a route that mostly fails is behind one that arrives', async () => {
  const asset = assetOf();
  const failing = await route(asset, 'a');
  const steady = await route(asset, 'b');
  await history(failing, [
    ['COMPLETED', 1],
    ['FAILED', 1],
    ['FAILED', 1],
    ['FAILED', 1],
  ]);
  await history(steady, [
    ['COMPLETED', 100],
    ['COMPLETED', 100],
  ]);
  expect(keysOf(await ranked(asset))).toEqual([steady, failing]);
});

test('what cannot be taken comes last, with every reason and no score', async () => {
  const asset = assetOf();
  const controls = { min_amount: '10', max_amount: '99.999999999999999999' };
  const limited = await route(asset, 'a-limited', { controls });
  const unserved = await route(asset, 'b-unserved', { node: { action_type: 'unserved_action' } });
  const broken = await register(
    template([transfer('a', { signer_selector: null, config: { asset, venue: asset } })], {
      template_key: `c-broken/${randomBytes(6).toString('hex')}`,
    }),
  );
  const fine = await route(asset, 'd-fine');
  // The best of them by far, were it not too small for the amount.
  await history(limited, [['COMPLETED', 1]]);
  const reasons = async (amount: string | null) =>
    (await ranked(asset, { amount })).recommendations.map((each) => [
      each.route.template_key,
      each.feasibility,
      each.infeasible_reasons,
    ]);
  expect(await reasons('100')).toEqual([
    [fine, 'feasible', []],
    [limited, 'infeasible', ['amount_above_max']],
    [broken.template_key, 'infeasible', ['not_executable']],
    [unserved, 'infeasible', ['executor_unavailable']],
  ]);
  expect((await reasons('9.999999999999999999'))[1]).toEqual([
    limited,
    'infeasible',
    ['amount_below_min'],
  ]);
  for (const amount of ['10', '99.999999999999999999', null])
    expect((await reasons(amount))[0]).toEqual([limited, 'feasible', []]);
  const { recommendations } = await ranked(asset, { amount: '100' });
  expect(recommendations.map(({ score }) => score > 0)).toEqual([true, false, false, false]);
});

describe('a route with one executor that cannot work, though its other is up', () => {
  /** A noop that is up beside a node of this action type, in a route of its own. */
  const feasibility = async (asset: string, node: Readonly<Record<string, unknown>>) => {
    const { template_key } = await register(
      template([noop('a', { config: { asset, venue: asset } }), noop('b', node), pays()], {
        edges: [{ from: 'a', to: 'b', edge_type: 'on_success' }, ...UNLESS_IT_FAILS],
        template_key: `beside/${asset}`,
      }),
    );
    return async () => {
      const { recommendations } = await ranked(asset);
      expect(recommendations.map((each) => each.route.template_key)).toEqual([template_key]);
      return recommendations.map((each) => [
        each.feasibility,
        each.infeasible_reasons,
        each.score > 0,
      ]);
    };
  };
  const feasible = [['feasible', [], true]];
  const infeasible = [['infeasible', ['executor_unavailable'], false]];

  test('that is missing, or ambiguous, cannot be taken', async () => {
    for (const action_type of ['unserved_action', 'test_twin']) {
      expect(await (await feasibility(assetOf(), { action_type }))()).toEqual(infeasible);
    }
  });

  test('that is down or disabled cannot be taken; one that is not checked yet can', async () => {
    const now = await feasibility(assetOf(), { action_type: 'test_recommended' });
    const state = (health_state: string) =>
      sql(`UPDATE executors SET health_state = $1 WHERE executor_key = 'test.recommended'`, [
        health_state,
      ]);
    // The worker looks once when it starts; after that, nothing but this test writes there.
    await waitFor(async () => {
      const [row] = await sql(
        `SELECT 1 FROM executors WHERE executor_key = 'test.recommended' AND health_state = 'down'`,
      );
      return row !== undefined;
    });
    try {
      await state('up');
      expect(await now()).toEqual(feasible);
      await state('down');
      expect(await now()).toEqual(infeasible);
      await state('unknown');
      expect(await now()).toEqual(feasible);
      await state('up');
      await must(200, patch('/executors/test.recommended', { status: 'disabled' }));
      expect(await now()).toEqual(infeasible);
    } finally {
      await must(200, patch('/executors/test.recommended', { status: 'active' }));
      await state('down');
    }
  });

  test('which only a gate or a noop selects can be taken', async () => {
    for (const node of [
      { action_type: 'manual_gate', node_kind: 'manual_gate' },
      { executor_selector: { action_type: 'noop', provider: 'unknown' } },
    ])
      expect(await (await feasibility(assetOf(), node))()).toEqual(feasible);
  });
});

test('venues and asset choose; a route without an asset carries any', async () => {
  const asset = assetOf();
  const [here, there] = [`${asset}-here`, `${asset}-there`];
  const both = await route(asset, 'a', { config: { venue: here, destination_venue: there } });
  const out = await route(asset, 'b', { config: { source_venue: here } });
  const other = await route(assetOf(), 'c', { config: { venue: here, destination_venue: there } });
  const { template_key: any } = await register(
    template([noop('a', { config: { venue: here } }), gate('g'), pays()], {
      edges: [{ from: 'a', to: 'g', edge_type: 'on_success' }, ...UNLESS_IT_FAILS],
    }),
  );
  const found = async (body: object) => keysOf(await recommended({ asset, ...body }));
  expect(await found({ source_venue: here })).toEqual([both, out, any].sort());
  expect(await found({ source_venue: here, destination_venue: there })).toEqual([both]);
  expect(await found({ destination_venue: there })).toEqual([both]);
  expect(await found({ source_venue: there })).toEqual([]);
  expect(await found({ source_venue: here })).not.toContain(other);
});

test('a plan that moves nothing is never ranked, and stands in the catalog', async () => {
  const asset = assetOf();
  const config = { asset, venue: asset };
  const observes = { node_kind: 'observe', action_type: 'cex_deposit_observe', config };
  for (const node of [{ config }, observes]) await register(template([noop('a', node)]));
  const moving = await route(asset, 'a');
  expect(keysOf(await ranked(asset))).toEqual([moving]);
});

test('what is reserved for a route of its own is not recommended', async () => {
  const asset = assetOf();
  await register(
    template([
      noop('a', {
        action_type: 'agent_wallet_top_up',
        signer_selector: { chain_family: 'evm' },
        config: { asset, venue: asset },
      }),
    ]),
  );
  expect(keysOf(await ranked(asset))).toEqual([]);
});

test('a movement that completes counts at once', async () => {
  const asset = assetOf();
  const key = await route(asset, 'a');
  const reliability = async () => (await ranked(asset)).recommendations[0]?.score_parts.reliability;
  expect(await reliability()).toEqual({ value: 1 / 2, total_completed: 0, total_failed: 0 });
  await run({ template_key: key, version: 1 }, 'COMPLETED');
  expect(await reliability()).toEqual({ value: 2 / 3, total_completed: 1, total_failed: 0 });
});

test('a route over bridges shows where it crosses, how long that takes and what it may cost', async () => {
  const asset = assetOf();
  const signed = { signer_selector: { chain_family: 'evm' }, has_side_effect: true };
  const { chainId } = shared.chain;
  const burn = noop('burn', {
    ...signed,
    action_type: 'cctp_burn',
    config: {
      asset,
      venue: asset,
      source_chain_id: 1,
      destination_chain_id: chainId,
      max_fee: '0.5',
      finality: 'fast',
    },
  });
  const mint = noop('mint', {
    ...signed,
    action_type: 'cctp_mint',
    config: { burn_from: 'burn' },
  });
  const { template_key } = await register(
    template([burn, mint], { edges: [{ from: 'burn', to: 'mint', edge_type: 'on_success' }] }),
  );
  const [first] = (await ranked(asset)).recommendations;
  expect(first).toMatchObject({
    // This stack has no executors of the lane.
    feasibility: 'infeasible',
    infeasible_reasons: ['executor_unavailable'],
    score: 0,
    score_parts: {
      speed: { value: 300 / 320, latency_baseline_seconds: 20, basis: 'latency_baseline' },
      cost: { fee: '0.5', basis: 'bridge_max_fee' },
    },
  });
  expect(first?.route).toMatchObject({ template_key, metadata: { transport_family: 'bridge' } });
  expect(first?.route['bridge']).toEqual({
    latency_baseline_seconds: 20,
    max_fee: '0.5',
    legs: [
      {
        node_key: 'burn',
        lane: 'burn_and_mint',
        asset,
        finality: 'fast',
        source_chain_id: 1,
        destination_chain_id: chainId,
        latency_baseline_seconds: 20,
        latency_source: 'fast_attestation',
        max_fee: '0.5',
        fee_native_budget: null,
        fee_native_asset: null,
        usable: false,
        problem: { error_code: 'CHAIN_NOT_CONFIGURED', reason: expect.any(String) },
      },
    ],
  });
});
