/**
 * The figures of the metrics page: read rarely, never twice at once, and missing rather than wrong.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createOperationMetrics } from '../../../api/operations/metrics.ts';
import type { OperationFigures } from '../../../store/metrics.ts';

const FIGURES: OperationFigures = {
  transfers: { MANUAL_INTERVENTION: 1 },
  movements: { EXECUTING: 2, COMPLETED: 5 },
  oldest_pending_approval: 12.5,
  callbacks_pending: 3,
  callbacks_dead_letter: 1,
  oldest_command: 0,
  oldest_callback: 4,
  oldest_webhook: 2.5,
  oldest_transfer: 6.5,
  unanswered: 2,
  oldest_unanswered: 61.5,
  late_looks_overdue: 7,
  late_looks_failing: 8,
  pools: [
    { venue_key: 'main "1"', account_type: 'SPOT', asset: 'USDC', held: '1000.500000000000000001' },
  ],
  quotas: [{ venue_key: 'cex-main', unit: 'USD', left: '9000.500000000000000001' }],
  balance_ages: [
    { venue_key: 'cex-main', seconds: 31.5 },
    { venue_key: 'cex-removed', seconds: 99_000 },
  ],
  executors: [
    { executor_key: 'acme.payouts', down: true },
    { executor_key: 'paper.withdrawal', down: false },
  ],
  lanes: [
    {
      chain_id: 1,
      address: '0xa',
      signer_key: 'treasury',
      next_nonce: 9,
      mined_nonce: 6,
      final_nonce: 5,
      seen_at: null,
      open_nonces: 3,
      oldest_open_seconds: 70,
      unfinal_nonces: 1,
      stuck: { nonce: 6, why: 'no coins', since: '' },
      raise: null,
    },
  ],
  perp_agents: [{ strategy_id: 'basis', agent_name: 'trader', seconds_left: 86_400.5 }],
  perp_agents_failing: 9,
  attention: { unknown_outcome: 2, run_stuck: 1 },
  oldest_unsealed: 7.5,
  cutover_mode: 'drain',
  synchronous: true,
  standbys: 1,
  commits_waiting: 4,
};

test('shows every figure', async () => {
  const balances = () => [{ signer_key: 'treasury', address: '0xA', chain_id: 1, balance: 0.25 }];
  const chains = [
    { chain_id: 1, caps: { max_gas_cost_wei: '50000000000000000', max_fee_per_gas_gwei: null } },
  ];
  const text = await createOperationMetrics({
    read: () => Promise.resolve(FIGURES),
    balances,
    chains,
    venues: ['cex-main', 'cex-empty', 'cex-never-read'],
    failingSeconds: (venue) => (venue === 'cex-empty' ? null : 420),
    certificateDaysLeft: () => 9,
    databaseCertificateDaysLeft: () => 24,
  })();
  for (const line of [
    'svc_metrics_up 1',
    'svc_movements{state="EXECUTING"} 2',
    'svc_capital_transfers{state="MANUAL_INTERVENTION"} 1',
    'svc_approval_oldest_seconds 12.5',
    'svc_callbacks{status="pending"} 3',
    'svc_callbacks{status="dead_letter"} 1',
    'svc_relay_lag_seconds{relay="commands"} 0',
    'svc_relay_lag_seconds{relay="callbacks"} 4',
    'svc_relay_lag_seconds{relay="webhooks"} 2.5',
    'svc_relay_lag_seconds{relay="transfers"} 6.5',
    'svc_nodes_unanswered 2',
    'svc_nodes_unanswered_oldest_seconds 61.5',
    'svc_late_looks_overdue 7',
    'svc_late_looks_failing 8',
    'svc_reservations_held{venue="main \\"1\\"",account_type="SPOT",asset="USDC"} 1000.5',
    'svc_withdrawal_quota_left{venue="cex-main",unit="USD"} 9000.5',
    'svc_balance_age_seconds{venue="cex-main"} 31.5',
    'svc_balance_age_seconds{venue="cex-never-read"} 420',
    'svc_executor_down{executor_key="acme.payouts"} 1',
    'svc_executor_down{executor_key="paper.withdrawal"} 0',
    'svc_lane_open_nonces{signer_key="treasury",address="0xa",chain_id="1"} 3',
    'svc_lane_oldest_open_seconds{signer_key="treasury",address="0xa",chain_id="1"} 70',
    'svc_lane_unfinal_nonces{signer_key="treasury",address="0xa",chain_id="1"} 1',
    'svc_lane_stuck{signer_key="treasury",address="0xa",chain_id="1"} 1',
    'svc_signer_native_balance{signer_key="treasury",address="0xA",chain_id="1"} 0.25',
    'svc_chain_gas_cost_limit{chain_id="1"} 0.05',
    'svc_perp_agent_left_seconds{strategy_id="basis",agent_name="trader"} 86400.5',
    'svc_perp_agents_failing 9',
    'svc_attention{reason="unknown_outcome"} 2',
    'svc_attention{reason="run_stuck"} 1',
    'svc_attention{reason="lane_stuck"} 0',
    'svc_audit_unsealed_oldest_seconds 7.5',
    'svc_cutover_mode{mode="normal"} 0',
    'svc_cutover_mode{mode="drain"} 1',
    'svc_cutover_mode{mode="frozen"} 0',
    'svc_database_synchronous 1',
    'svc_database_standbys 1',
    'svc_database_commits_waiting 4',
    'svc_temporal_certificate_days_left 9',
    'svc_database_certificate_days_left 24',
  ])
    expect(text).toContain(`${line}\n`);
  expect(text).not.toMatch(/cex-removed|cex-empty/);
  expect(
    text.match(/# HELP svc_(reservations|withdrawal|signer)_\w+ .*for display only/g),
  ).toHaveLength(3);
});

test('standbys that the role may not see are left out', async () => {
  const read = () => Promise.resolve({ ...FIGURES, synchronous: false, standbys: null });
  const text = await createOperationMetrics({ read })();
  expect(text).toContain('svc_database_synchronous 0\n');
  expect(text).not.toContain('svc_database_standbys');
});

test('scrapes at once and soon after one another cost one statement', async () => {
  let reads = 0;
  let time = 0;
  const read = async () => {
    reads += 1;
    await sleep(20);
    return FIGURES;
  };
  const metrics = createOperationMetrics({ read, now: () => time });
  await Promise.all(Array.from({ length: 50 }, metrics));
  time = 4_999;
  await metrics();
  expect(reads).toBe(1);
  time = 5_001;
  await metrics();
  expect(reads).toBe(2);
});

test('what took long is read again the later', async () => {
  let reads = 0;
  let time = 0;
  const read = () => {
    reads += 1;
    time += 1_500;
    return Promise.resolve(FIGURES);
  };
  const metrics = createOperationMetrics({ read, now: () => time });
  await metrics();
  time += 29_000;
  await metrics();
  expect(reads).toBe(1);
  time += 1_001;
  await metrics();
  expect(reads).toBe(2);
});

test('a database that is away or hangs leaves figures out, with one read at a time', async () => {
  const away = await createOperationMetrics({ read: () => Promise.reject(new Error('away')) })();
  expect(away).toContain('svc_metrics_up 0\n');
  expect(away).not.toMatch(/^svc_(?!metrics_up|signer_native_balance|chain_gas_cost_limit)/m);

  let reads = 0;
  const hanging = createOperationMetrics({
    read: () => {
      reads += 1;
      return new Promise(() => undefined);
    },
  });
  expect(await Promise.all([hanging(), hanging()])).toEqual([away, away]);
  expect(await hanging()).toBe(away);
  expect(reads).toBe(1);
}, 15_000);
