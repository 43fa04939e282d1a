/** What holds of every ranking, whatever the routes. */
import fc from 'fast-check';
import { fromBaseUnits } from '../../../domain/money.ts';
import type { RouteBridge } from '../../../domain/fund-routes/bridges.ts';
import {
  recommend,
  type Candidate,
  type FundRouteRequest,
} from '../../../domain/fund-routes/recommend.ts';
import { candidate, node, request, statsOf, type CandidateFields } from './build.ts';

/**
 * Few different values, so that ties are common; and neighbours too close for a score to tell
 * apart.
 */
const seconds = fc.oneof(
  fc.constantFrom(0, 0.001, 1, 300, 1e9, 1e9 + 1e-6),
  fc.double({ min: 0, max: 1e12, noNaN: true }),
);
const stats = fc.option(
  fc
    .tuple(fc.nat(3), fc.nat(3), seconds)
    .filter(([completed, failed]) => completed + failed > 0)
    .map(([completed, failed, time]) => statsOf(completed, failed, completed === 0 ? null : time)),
);
const money = fc.oneof(
  fc.constantFrom(
    '0',
    '1',
    '100',
    '0.000000000000000001',
    '99999999999999999999',
    '99999999999999999999.999999999999999999',
  ),
  fc.bigInt({ min: 0n, max: 10n ** 38n - 1n }).map((units) => fromBaseUnits(units, 18)),
);
const controls = fc.record(
  {
    expected_fee: money,
    max_fee_abs: money,
    max_fee_pct: money,
    min_amount: money,
    max_amount: money,
  },
  { requiredKeys: [] },
);
const fields: fc.Arbitrary<CandidateFields> = fc.record({
  controls,
  stats,
  health: fc.constantFrom('healthy' as const, 'degraded' as const, 'unavailable' as const),
  can_work: fc.boolean(),
  nodes: fc.constantFrom([node('cex_internal_transfer')], [node('cctp_burn')]),
  bridge: fc.option<RouteBridge>(
    fc.record({
      latency_baseline_seconds: fc.option(fc.nat(100_000)),
      max_fee: fc.option(money),
      legs: fc.constant([]),
    }),
  ),
});
/** As in the database: no two have key and version in common. */
const routes: fc.Arbitrary<Candidate[]> = fc
  .uniqueArray(
    fc.tuple(fc.constantFrom('a', 'B', 'c/d', 'é'), fc.integer({ min: 1, max: 5 }), fields),
    {
      maxLength: 12,
      selector: ([key, version]) => `${key}@${String(version)}`,
    },
  )
  .map((all) => all.map(([key, version, more]) => candidate({ key, version, ...more })));
const requests: fc.Arbitrary<FundRouteRequest> = fc
  .record({
    amount: fc.option(money.filter((each) => each !== '0')),
    priority: fc.constantFrom('speed' as const, 'cost' as const),
  })
  .map(request);

const shuffled = <T>(all: readonly T[], hand: readonly number[]): T[] =>
  all
    .map((each, index) => ({ each, by: hand[index] ?? 0 }))
    .sort((a, b) => a.by - b.by)
    .map(({ each }) => each);
const names = (ranked: ReturnType<typeof recommend>): string[] =>
  ranked.map(({ candidate: { route } }) => `${route.template_key}@${String(route.version)}`);
const before = (first: Candidate, second: Candidate, request: FundRouteRequest): boolean =>
  recommend([second, first], request)[0]?.candidate === first;

const RUNS = { numRuns: 300 };

describe('every ranking', () => {
  it('is the same in whichever order the routes come', () => {
    const hands = fc.array(fc.nat(), { minLength: 12, maxLength: 12 });
    fc.assert(
      fc.property(routes, requests, hands, (all, request, hand) => {
        expect(names(recommend(shuffled(all, hand), request))).toEqual(
          names(recommend(all, request)),
        );
      }),
      RUNS,
    );
  });

  it('is a total order: it follows from pairs, so no third route turns two around', () => {
    fc.assert(
      fc.property(routes, requests, (all, request) => {
        const ranked = recommend(all, request).map(({ candidate: each }) => each);
        for (const [index, first] of ranked.entries())
          for (const second of ranked.slice(index + 1))
            expect([before(first, second, request), before(second, first, request)]).toEqual([
              true,
              false,
            ]);
      }),
      { numRuns: 100 },
    );
  });

  it('has what is feasible first, ranks from 1, and scores that never rise', () => {
    fc.assert(
      fc.property(routes, requests, (all, request) => {
        const ranked = recommend(all, request);
        expect(ranked.map(({ rank }) => rank)).toEqual(ranked.map((_, index) => index + 1));
        const feasible = ranked.map(({ feasibility }) => feasibility === 'feasible');
        expect(feasible).toEqual([...feasible].sort((a, b) => Number(b) - Number(a)));
        const scores = ranked.map(({ score }) => score);
        expect(scores).toEqual([...scores].sort((a, b) => b - a));
        for (const { score, infeasible_reasons, feasibility, score_parts } of ranked) {
          expect(feasibility === 'feasible').toBe(infeasible_reasons.length === 0);
          // Where all that is down are executors that do no work, a route of which nothing is known
          // has nothing to score by.
          if (feasibility === 'infeasible' || score_parts.health.value > 0)
            expect(score > 0).toBe(feasibility === 'feasible');
          expect(score).toBeLessThanOrEqual(1);
        }
      }),
      RUNS,
    );
  });
});

describe('of two routes that are equal otherwise', () => {
  const pair = fc.tuple(fields, requests, fc.constantFrom(['a', 'b'], ['b', 'a']));
  /** The better of the two is first, whichever name it has. */
  const first = (
    better: CandidateFields,
    worse: CandidateFields,
    [mine = '', other = '']: readonly string[],
    request: FundRouteRequest,
  ): boolean =>
    before(candidate({ ...better, key: mine }), candidate({ ...worse, key: other }), request);

  it('the faster is first, by however little', () => {
    fc.assert(
      fc.property(
        pair,
        fc.nat(3),
        fc.tuple(seconds, seconds),
        ([one, request, keys], failed, times) => {
          const [quick, slow] = [...times].sort((a, b) => a - b) as [number, number];
          fc.pre(quick < slow);
          expect(
            first(
              { ...one, stats: statsOf(2, failed, quick) },
              { ...one, stats: statsOf(2, failed, slow) },
              keys,
              request,
            ),
          ).toBe(true);
        },
      ),
      RUNS,
    );
  });

  it('the cheaper is first, by however little', () => {
    fc.assert(
      fc.property(
        pair,
        fc.bigInt({ min: 0n, max: 10n ** 38n - 2n }),
        ([one, request, keys], units) => {
          const costing = (fee: bigint) => ({
            ...one,
            controls: { ...one.controls, expected_fee: fromBaseUnits(fee, 18) },
          });
          expect(first(costing(units), costing(units + 1n), keys, request)).toBe(true);
        },
      ),
      RUNS,
    );
  });

  it('one with a known duration, fee or better health is first', () => {
    fc.assert(
      fc.property(pair, money, ([one, request, keys], fee) => {
        expect(
          first({ ...one, health: 'healthy' }, { ...one, health: 'degraded' }, keys, request),
        ).toBe(true);
        const {
          expected_fee: _,
          max_fee_abs: __,
          max_fee_pct: ___,
          ...limits
        } = one.controls as Record<string, string>;
        // A bridge that says what it costs has a known fee in either case.
        fc.pre(one.bridge == null || one.bridge.max_fee === null);
        expect(
          first(
            { ...one, controls: { ...limits, max_fee_abs: fee } },
            { ...one, controls: limits },
            keys,
            request,
          ),
        ).toBe(true);
      }),
      RUNS,
    );
  });

  it('one that failed less is first', () => {
    fc.assert(
      fc.property(
        pair,
        fc.nat(50),
        fc.integer({ min: 1, max: 50 }),
        ([one, request, keys], failed, more) => {
          const having = (failures: number) => ({ ...one, stats: statsOf(3, failures, 60) });
          expect(first(having(failed), having(failed + more), keys, request)).toBe(true);
        },
      ),
      RUNS,
    );
  });
});
