/** A path may be used when everything about it holds; what does not is named, one by one. */
import fc from 'fast-check';
import { pathContracts } from '../../../domain/bridges/contracts.ts';
import { feeWithinBudget, pathReadiness } from '../../../domain/bridges/path-ready.ts';
import {
  readEndpointIdentity,
  type BridgeChain,
  type BridgePath,
} from '../../../domain/bridges/registry.ts';
import { staleSince } from '../../../domain/bridges/snapshot.ts';
import { fromBaseUnits } from '../../../domain/money.ts';

const MAX_AGE = 3_600;
const NOW = Date.parse('2026-11-23T12:00:00.000Z');
const at = (secondsAgo: number): string => new Date(NOW - secondsAgo * 1_000).toISOString();
const CONTRACTS = 'chain 1 endpoint 1:0x1; chain 2 endpoint 2:0x2';
const clock = { now: at(0), maxAgeSeconds: MAX_AGE, contracts: CONTRACTS };

/** The ways a snapshot can be, and since when (seconds ago) it is stale by the contract. */
const SNAPSHOTS = {
  read_just_now: { snapshot_stale: false, stale_detected_at: null, snapshot_at: at(0) },
  at_its_limit: { snapshot_stale: false, stale_detected_at: null, snapshot_at: at(MAX_AGE) },
  too_old: { snapshot_stale: false, stale_detected_at: null, snapshot_at: at(MAX_AGE + 1) },
  marked: { snapshot_stale: true, stale_detected_at: at(60), snapshot_at: at(90) },
  never_read: { snapshot_stale: true, stale_detected_at: at(5_000), snapshot_at: null },
} as const;
type Snapshot = keyof typeof SNAPSHOTS;
const STALE_SINCE: Readonly<Record<Snapshot, string | null>> = {
  read_just_now: null,
  at_its_limit: null,
  too_old: at(1),
  marked: at(60),
  never_read: at(5_000),
};
const snapshots = Object.keys(SNAPSHOTS) as Snapshot[];

const chain = (name: string, snapshot: Snapshot): BridgeChain => ({
  chain: name,
  endpoint_identity: `1:0x${'1'.repeat(40)}`,
  finality_age_seconds: 900,
  snapshot_version: 3,
  operator_label: null,
  created_at: at(9_000),
  updated_at: at(9_000),
  ...SNAPSHOTS[snapshot],
});

const baseline = (more: Partial<BridgePath> = {}): BridgePath => ({
  src_chain: 'a',
  dst_chain: 'b',
  asset: 'USDC',
  expected_latency_seconds: 60,
  detection_latency_budget_seconds: 600,
  fee_native_budget: '0.01',
  enabled: true,
  disabled_reason: null,
  last_drill_pass_at: at(10),
  last_drill_evidence_path: 'x',
  last_drill_contracts: CONTRACTS,
  baseline_source: null,
  operator_label: null,
  created_at: at(99),
  updated_at: at(99),
  ...more,
});

describe('every combination', () => {
  const ways = snapshots.flatMap((source) =>
    snapshots.flatMap((destination) =>
      [true, false].flatMap((enabled) =>
        [true, false].map((drilled) => ({ source, destination, enabled, drilled })),
      ),
    ),
  );

  it.each(ways)('$source, $destination, enabled $enabled, drilled $drilled', (way) => {
    const path = baseline({
      enabled: way.enabled,
      last_drill_pass_at: way.drilled ? at(10) : null,
      last_drill_evidence_path: way.drilled ? 'x' : null,
    });
    const answer = pathReadiness(
      { source: chain('a', way.source), destination: chain('b', way.destination), baseline: path },
      clock,
    );
    const missing = [
      ...(way.enabled ? [] : ['disabled']),
      ...(STALE_SINCE[way.source] === null ? [] : ['source_snapshot_stale']),
      ...(STALE_SINCE[way.destination] === null ? [] : ['destination_snapshot_stale']),
      ...(way.drilled ? [] : ['no_drill_pass']),
    ];
    if (missing.length === 0) expect(answer).toEqual({ ready: true, baseline: path });
    else
      expect(answer).toEqual({
        ready: false,
        code: 'BRIDGE_PATH_NOT_READY',
        problems: missing,
        reason: expect.any(String),
      });
  });
});

test('the reason says all of it in words', () => {
  const answer = pathReadiness(
    {
      source: chain('base', 'marked'),
      destination: chain('arbitrum', 'too_old'),
      baseline: baseline({
        enabled: false,
        disabled_reason: 'The deliverer is being replaced.',
        last_drill_pass_at: null,
        last_drill_evidence_path: null,
      }),
    },
    clock,
  );
  expect(answer).toMatchObject({
    reason:
      'the path is disabled: The deliverer is being replaced.; ' +
      `the snapshot of its source base is stale since ${at(60)}; ` +
      `the snapshot of its destination arbitrum is stale since ${at(1)}; ` +
      'no drill has passed with the present endpoints',
  });
});

test.each([null, CONTRACTS, 'chain 1 endpoint 1:0x1; chain 2 endpoint 2:0x3'])(
  'a drill counts for the contracts that it went through, and not for %s',
  (now) => {
    const ready = { source: chain('a', 'read_just_now'), destination: chain('b', 'read_just_now') };
    const answer = (last: string | null) =>
      pathReadiness(
        { ...ready, baseline: baseline({ last_drill_contracts: last }) },
        { ...clock, contracts: now },
      );
    expect(answer(CONTRACTS).ready).toBe(now === CONTRACTS);
    expect(answer(null)).toMatchObject({ ready: false, problems: ['no_drill_pass'] });
  },
);

test('what a path goes through is known only where both ends are bound', () => {
  const end = (chain_id: number, oft: string) => ({
    chain_id,
    tokens: [{ asset: 'USDC', address: '0xAA' }],
    bridges: {
      bridge_c: {
        endpoint_identity: `${String(chain_id)}:0xEE`,
        carriers: [{ asset: 'USDC', address: oft }],
      },
    },
  });
  const ends = { source: '1:0xee', destination: '2:0xEE' };
  const of = (chains: ReturnType<typeof end>[]) => pathContracts(chains, ends, 'USDC');
  const both = of([end(1, '0xC1'), end(2, '0xc2')]);
  expect(both).toBe(of([end(2, '0xC2'), end(1, '0xc1')]));
  expect(both).not.toBe(of([end(1, '0xC1'), end(2, '0xc3')]));
  expect(of([end(1, '0xC1')])).toBeNull();
  expect(pathContracts([end(1, '0xC1'), end(2, '0xc2')], ends, 'EURC')).toBeNull();
});

test.each([
  [{ source: null, destination: chain('b', 'read_just_now'), baseline: null }],
  [{ source: chain('a', 'read_just_now'), destination: null, baseline: null }],
  [{ source: chain('a', 'read_just_now'), destination: chain('b', 'marked'), baseline: null }],
])('what the registry does not have is not ready', (facts) => {
  expect(pathReadiness(facts, clock)).toMatchObject({ ready: false, problems: ['no_baseline'] });
});

test.each(snapshots)('a snapshot that is %s', (snapshot) => {
  expect(staleSince(chain('a', snapshot), clock)).toBe(STALE_SINCE[snapshot]);
});

test('a fee is held against the budget as a number, exactly', () => {
  const units = fc.bigInt({ min: 0n, max: 10n ** 38n - 1n });
  fc.assert(
    fc.property(units, units, fc.boolean(), (fee, other, same) => {
      const budget = same ? fee : other;
      const answer = feeWithinBudget(fromBaseUnits(fee, 18), {
        fee_native_budget: fromBaseUnits(budget, 18),
      });
      expect(answer).toEqual(
        fee <= budget ? { ok: true } : { ok: false, code: 'BRIDGE_FEE_OVER_BUDGET' },
      );
    }),
  );
});

test.each([
  ['30184:0x1a44076050125825900e736c501f859c50fe728c', true],
  ['30168:76y77prsiCMvXMjuoZ5VRrhG5qYBrUMYTE5WgHqgjEn6', true],
  ['030184:0x1a44076050125825900e736c501f859c50fe728c', false],
  ['30184:0x1a44', false],
  ['30184', false],
  [':0x1a44076050125825900e736c501f859c50fe728c', false],
  ['30184:0x1a44076050125825900e736c501f859c50fe728c ', false],
])('an identity %s', (identity, is) => {
  expect(readEndpointIdentity(identity) !== null).toBe(is);
});
