/** Which routes are recommended, and why one is before another. */
import { infeasibleReasons, recommend, serves } from '../../../domain/fund-routes/recommend.ts';
import { candidate, node, request, statsOf } from './build.ts';

const serving = (config: Record<string, string>, wanted: Parameters<typeof request>[0]) =>
  serves(candidate({ nodes: [node('cex_internal_transfer', { config })] }).route, request(wanted));

describe('a route serves', () => {
  test.each([
    [true, { asset: 'USDC' }, {}],
    [true, { asset: 'usdc' }, {}],
    [false, { asset: 'USDT' }, {}],
    [true, {}, {}],
    [true, { venue: 'v' }, {}],
    [true, { venue: 'v' }, { source_venue: 'v' }],
    [false, { venue: 'w' }, { source_venue: 'v' }],
    [false, {}, { source_venue: 'v' }],
    [true, { destination_venue: 'v' }, { destination_venue: 'v' }],
    [false, { destination_venue: 'w' }, { destination_venue: 'v' }],
    [false, {}, { destination_venue: 'v' }],
    [false, { venue: 'v', destination_venue: 'w' }, { source_venue: 'v', destination_venue: 'x' }],
  ])('%s: %j for the request %j', (answer, config, wanted) => {
    expect(serving(config, wanted)).toBe(answer);
  });

  test('not one that movements may not be made of', () => {
    expect(serves(candidate({ nodes: [node('agent_wallet_top_up')] }).route, request())).toBe(
      false,
    );
  });
});

describe('a route is infeasible', () => {
  const controls = { min_amount: '10', max_amount: '100' };
  test.each([
    ['9.999999999999999999', ['amount_below_min']],
    ['10', []],
    ['10.000', []],
    ['100', []],
    ['100.000000000000000001', ['amount_above_max']],
    // As text or as a double, these would be within the limits.
    ['9', ['amount_below_min']],
    ['1000', ['amount_above_max']],
    [null, []],
  ])('with the amount %s: %j', (amount, reasons) => {
    expect(infeasibleReasons(candidate({ controls }), amount)).toEqual(reasons);
  });

  test.each([
    ['10', true],
    ['10.000001', false],
  ])('with %s where a burn of the amount may cost 10: %s', (amount, refused) => {
    const isRefused = (config: Record<string, string>): boolean => {
      const burns = { source_chain_id: 1, destination_chain_id: 8453, max_fee: '10', ...config };
      const route = candidate({ nodes: [node('cctp_burn', { config: burns })] });
      return infeasibleReasons(route, amount).includes('amount_below_min');
    };
    expect(isRefused({})).toBe(refused);
    // This burn does not send the request's amount.
    expect(isRefused({ amount: '50' })).toBe(false);
  });

  test('when only its executors, or its graph, keep it from running', () => {
    expect(infeasibleReasons(candidate({ can_work: false }), '1')).toEqual([
      'executor_unavailable',
    ]);
    // Whatever the health of all of them together, a gate's included, is called.
    expect(infeasibleReasons(candidate({ health: 'degraded', can_work: false }), '1')).toEqual([
      'executor_unavailable',
    ]);
    expect(infeasibleReasons(candidate({ health: 'degraded' }), '1')).toEqual([]);
    expect(infeasibleReasons(candidate({ health: 'unavailable' }), '1')).toEqual([]);
    expect(infeasibleReasons(candidate({ nodes: [node('evm_erc20_transfer')] }), '1')).toEqual([
      'not_executable',
    ]);
  });

  test('with every reason that holds, in one order', () => {
    const broken = candidate({
      nodes: [node('cctp_burn')],
      can_work: false,
      controls: { min_amount: '5', max_amount: '1' },
    });
    expect(infeasibleReasons(broken, '3')).toEqual([
      'not_executable',
      'executor_unavailable',
      'amount_below_min',
      'amount_above_max',
    ]);
  });
});

describe('the score', () => {
  const proven = { stats: statsOf(8, 0, 300), controls: { expected_fee: '0.1' } };

  test.each([
    ['speed', 0.7, 0.1],
    ['cost', 0.1, 0.7],
  ] as const)('with priority %s is what its parts say', (priority, speed, cost) => {
    const [first] = recommend([candidate(proven)], request({ priority }));
    expect(first?.score_parts).toEqual({
      // Half the value at five minutes, and at a thousandth of the amount.
      speed: {
        weight: speed,
        value: 0.5,
        avg_duration_seconds: 300,
        latency_baseline_seconds: null,
        basis: 'avg_duration',
      },
      cost: { weight: cost, value: 0.5, fee: '0.1', basis: 'expected_fee' },
      health: { weight: 0.2, value: 1, status: 'healthy' },
      reliability: { value: 0.9, total_completed: 8, total_failed: 0 },
    });
    expect(first?.score).toBeCloseTo(0.9 * (0.8 * 0.5 + 0.2), 12);
  });

  test('of a route of which nothing is known', () => {
    const [first] = recommend([candidate({})], request());
    expect(first?.score_parts).toMatchObject({
      speed: { value: 0, avg_duration_seconds: null },
      cost: { value: 0, fee: null, basis: null },
      reliability: { value: 0.5, total_completed: 0, total_failed: 0 },
    });
    expect(first?.score).toBeCloseTo(0.1, 12);
  });

  test('of a bridge goes by its baseline until a movement has completed', () => {
    const bridge = { latency_baseline_seconds: 900, max_fee: '0.1', legs: [] };
    const nodes = [node('cctp_burn'), node('cctp_mint')];
    const partsOf = (more: Parameters<typeof candidate>[0]) =>
      recommend([candidate({ nodes, bridge, ...more })], request())[0]?.score_parts;
    expect(partsOf({})).toMatchObject({
      speed: {
        value: 0.25,
        avg_duration_seconds: null,
        latency_baseline_seconds: 900,
        basis: 'latency_baseline',
      },
      cost: { value: 0.5, fee: '0.1', basis: 'bridge_max_fee' },
    });
    expect(partsOf({ stats: statsOf(0, 3, null) })?.speed.value).toBe(0.25);
    expect(partsOf({ stats: statsOf(1, 0, 300) })).toMatchObject({
      speed: { value: 0.5, latency_baseline_seconds: 900, basis: 'avg_duration' },
    });
    // What else moves the funds has a price too, which is unknown.
    const mixed = [node('cex_withdrawal'), ...nodes];
    expect(partsOf({ nodes: mixed })?.cost).toMatchObject({ value: 0, fee: null, basis: null });
  });

  test('is nought where the route cannot be taken, with the parts as they are', () => {
    const [first] = recommend(
      [candidate({ ...proven, controls: { ...proven.controls, max_amount: '1' } })],
      request(),
    );
    expect(first).toMatchObject({
      score: 0,
      feasibility: 'infeasible',
      score_parts: { reliability: { value: 0.9 } },
    });
  });

  test('of a route that fails at once is below that of a slow one that arrives', () => {
    const quickToFail = candidate({ key: 'a', stats: statsOf(1, 40, 0.1) });
    const slow = candidate({ key: 'b', stats: statsOf(40, 0, 900) });
    expect(
      recommend([quickToFail, slow], request()).map(
        ({ candidate: { route } }) => route.template_key,
      ),
    ).toEqual(['b', 'a']);
  });
});

test('of two bridges without a completed movement the faster is first, by however little', () => {
  const over = (key: string, latency_baseline_seconds: number | null) =>
    candidate({ key, bridge: { latency_baseline_seconds, max_fee: null, legs: [] } });
  const far = Number.MAX_SAFE_INTEGER;
  const ranked = recommend([over('a', null), over('b', far), over('c', far - 1)], request());
  expect(ranked.map(({ candidate: { route } }) => route.template_key)).toEqual(['c', 'b', 'a']);
});

test('what is equal otherwise comes by key, and of one key the newest version first', () => {
  const routes = [
    candidate({ key: 'b' }),
    candidate({ key: 'a', version: 1 }),
    candidate({ key: 'a', version: 10 }),
    candidate({ key: 'Z' }),
  ];
  const ranked = recommend(routes, request());
  expect(
    ranked.map(({ rank, candidate: { route } }) => [rank, route.template_key, route.version]),
  ).toEqual([
    [1, 'Z', 1],
    [2, 'a', 10],
    [3, 'a', 1],
    [4, 'b', 1],
  ]);
});
