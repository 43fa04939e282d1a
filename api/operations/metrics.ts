/** Metrics read when the metrics page is requested: waiting work, holds, signer balances. */
import { Gauge, Registry } from 'prom-client';
import { ATTENTION_REASONS } from '../../domain/attention-reasons.ts';
import { CUTOVER_MODES } from '../../domain/cutover.ts';
import { fromBaseUnits } from '../../domain/money.ts';
import type { BoundChain } from '../../domain/plan/tokens.ts';
import { within } from '../../platform/time-limit.ts';
import type { OperationFigures } from '../../store/metrics.ts';

export interface SignerBalance {
  readonly signer_key: string;
  readonly address: string;
  readonly chain_id: number;
  /** In the chain's native coin, for display only. */
  readonly balance: number;
}

export interface OperationMetricsOptions {
  readonly read: () => Promise<OperationFigures>;
  /** Returns the balances known without a new read. */
  readonly balances?: () => readonly SignerBalance[];
  /** The chains of the venues file, whose caps say what a transaction may cost. */
  readonly chains?: readonly Pick<BoundChain, 'chain_id' | 'caps'>[];
  /** The venues whose balances this process can read; the age of others is not shown. */
  readonly venues?: readonly string[];
  /** Returns for how many seconds this process could not read a venue; null when it could. */
  readonly failingSeconds?: (venueKey: string) => number | null;
  /** Returns the days until the first Temporal certificate expires; null without certificates. */
  readonly certificateDaysLeft?: () => number | null;
  /** The same of the certificates for the database. */
  readonly databaseCertificateDaysLeft?: () => number | null;
  readonly now?: () => number;
}

/** Milliseconds for which figures are shown again without a new read. */
const FRESH_MS = 5_000;
/** Maximum share of time for the statement: with large tables, figures are read less often. */
const SHARE = 0.05;
/**
 * Milliseconds to wait for the figures. Prometheus gives up after 10 s; the other metrics must not
 * be lost with these.
 */
const PATIENCE_MS = 3_000;
const DISPLAY = 'A number for display only, never to reckon with.';
/** Decimals of a chain's own coin, the same on every EVM chain. */
const COIN_DECIMALS = 18;

/**
 * Returns a function that returns the text of these metrics; it never fails and never runs two
 * statements at once.
 */
export function createOperationMetrics(options: OperationMetricsOptions): () => Promise<string> {
  const {
    balances = () => [],
    chains = [],
    venues = [],
    failingSeconds = () => null,
    certificateDaysLeft = () => null,
    databaseCertificateDaysLeft = () => null,
    now = () => performance.now(),
  } = options;
  const figures = remembered(options.read, now);
  return async () => {
    const read = await within(figures(), PATIENCE_MS).catch(() => null);
    const registry = new Registry();
    const gauge = (name: string, help: string, labelNames: readonly string[] = []) =>
      new Gauge({ name, help, labelNames: [...labelNames], registers: [registry] });
    gauge(
      'svc_metrics_up',
      'Whether the figures that come from Postgres are on this page (1) or missing (0).',
    ).set(read === null ? 0 : 1);
    if (read !== null) {
      for (const show of [
        showWork,
        showPeople,
        showQuotas,
        showLanes,
        showAgents,
        showExecutors,
        showDatabase,
      ])
        show(read, gauge);
      showBalanceAges(read, { venues, failingSeconds }, gauge);
    }
    showGas(balances(), chains, gauge);
    const days = certificateDaysLeft();
    if (days !== null)
      gauge(
        'svc_temporal_certificate_days_left',
        'Days until the first of the certificates for Temporal is over.',
      ).set(days);
    const databaseDays = databaseCertificateDaysLeft();
    if (databaseDays !== null)
      gauge(
        'svc_database_certificate_days_left',
        'Days until the first of the certificates for the database is over.',
      ).set(databaseDays);
    return registry.metrics();
  };
}

type MakeGauge = (name: string, help: string, labelNames?: readonly string[]) => Gauge;

/** Shows what signers have for gas, and what one transaction may cost at most. */
function showGas(
  balances: readonly SignerBalance[],
  chains: NonNullable<OperationMetricsOptions['chains']>,
  gauge: MakeGauge,
): void {
  const native = gauge(
    'svc_signer_native_balance',
    `Balance of a signer in the chain’s own coin. ${DISPLAY}`,
    ['signer_key', 'address', 'chain_id'],
  );
  for (const { balance, signer_key, address, chain_id } of balances) {
    native.set({ signer_key, address, chain_id: String(chain_id) }, balance);
  }
  const limit = gauge(
    'svc_chain_gas_cost_limit',
    `The most that one transaction may cost in the chain’s own coin. ${DISPLAY}`,
    ['chain_id'],
  );
  for (const { chain_id, caps } of chains) {
    const coins = fromBaseUnits(BigInt(caps.max_gas_cost_wei), COIN_DECIMALS);
    limit.set({ chain_id: String(chain_id) }, Number(coins));
  }
}

function showWork(read: OperationFigures, gauge: MakeGauge): void {
  const movements = gauge('svc_movements', 'Movements by state.', ['state']);
  for (const [state, count] of Object.entries(read.movements)) movements.set({ state }, count);
  const transfers = gauge('svc_capital_transfers', 'Capital transfers by state.', ['state']);
  for (const [state, count] of Object.entries(read.transfers)) transfers.set({ state }, count);
  gauge(
    'svc_approval_oldest_seconds',
    'Age of the oldest movement that waits for its approval; 0 when none does.',
  ).set(read.oldest_pending_approval);
  const callbacks = gauge('svc_callbacks', 'Callbacks that are not delivered, by status.', [
    'status',
  ]);
  callbacks.set({ status: 'pending' }, read.callbacks_pending);
  callbacks.set({ status: 'dead_letter' }, read.callbacks_dead_letter);
  const lag = gauge(
    'svc_relay_lag_seconds',
    'Age of the oldest command that no run has applied, of the last step of the oldest capital transfer with a change that no run has seen, and of the oldest callback and the oldest message of a webhook that are still to be delivered; 0 when none is.',
    ['relay'],
  );
  lag.set({ relay: 'commands' }, read.oldest_command);
  lag.set({ relay: 'transfers' }, read.oldest_transfer);
  lag.set({ relay: 'callbacks' }, read.oldest_callback);
  lag.set({ relay: 'webhooks' }, read.oldest_webhook);
  gauge('svc_nodes_unanswered', 'Nodes whose last call brought no usable result.').set(
    read.unanswered,
  );
  gauge(
    'svc_nodes_unanswered_oldest_seconds',
    'For how long calls about the oldest such node have brought none; 0 when there is no such node.',
  ).set(read.oldest_unanswered);
  gauge(
    'svc_late_looks_overdue',
    'Abandoned nodes whose next look has been due for more than an hour.',
  ).set(read.late_looks_overdue);
  gauge(
    'svc_late_looks_failing',
    'Abandoned nodes whose looks have failed for more than an hour.',
  ).set(read.late_looks_failing);
  const held = gauge('svc_reservations_held', `Amount that movements hold of a pool. ${DISPLAY}`, [
    'venue',
    'account_type',
    'asset',
  ]);
  for (const pool of read.pools) {
    held.set(
      { venue: pool.venue_key, account_type: pool.account_type, asset: pool.asset },
      Number(pool.held),
    );
  }
}

/** Shows what needs a person, how far the audit is sealed, and whether new money is stopped. */
function showPeople(read: OperationFigures, gauge: MakeGauge): void {
  const attention = gauge('svc_attention', 'Movements that need a person, by reason.', ['reason']);
  for (const reason of ATTENTION_REASONS) attention.set({ reason }, read.attention[reason] ?? 0);
  gauge(
    'svc_audit_unsealed_oldest_seconds',
    'Age of the oldest audit row after the newest sealed one that has no seal; 0 when none waits.',
  ).set(read.oldest_unsealed);
  const cutover = gauge(
    'svc_cutover_mode',
    '1 for the present mode of the cutover switch, 0 for the others.',
    ['mode'],
  );
  for (const mode of CUTOVER_MODES) cutover.set({ mode }, mode === read.cutover_mode ? 1 : 0);
}

/** Shows how long agents of the perps venue last, and how many are of no use. */
function showAgents(read: OperationFigures, gauge: MakeGauge): void {
  const left = gauge(
    'svc_perp_agent_left_seconds',
    'Time until an active agent of the perps venue ends; 0 after that.',
    ['strategy_id', 'agent_name'],
  );
  for (const { seconds_left, ...labels } of read.perp_agents) left.set(labels, seconds_left);
  gauge(
    'svc_perp_agents_failing',
    'Names of agents of the perps venue whose newest wallet has had an error for ten minutes, or was refused or has expired within a week.',
  ).set(read.perp_agents_failing);
}

/** Shows whether commits wait for a standby, and how many do at present. */
function showDatabase(read: OperationFigures, gauge: MakeGauge): void {
  gauge(
    'svc_database_synchronous',
    '1 where commits of this service wait for a synchronous standby.',
  ).set(read.synchronous ? 1 : 0);
  // Left out where the role may not see standbys: 0 would say that there are none.
  if (read.standbys !== null)
    gauge('svc_database_standbys', 'Synchronous standbys that stream at present.').set(
      read.standbys,
    );
  gauge(
    'svc_database_commits_waiting',
    'Sessions whose commit waits for a synchronous standby at present.',
  ).set(read.commits_waiting);
}

function showQuotas({ quotas }: OperationFigures, gauge: MakeGauge): void {
  const left = gauge(
    'svc_withdrawal_quota_left',
    `What an account may still withdraw at present, in its unit. ${DISPLAY}`,
    ['venue', 'unit'],
  );
  for (const quota of quotas)
    left.set({ venue: quota.venue_key, unit: quota.unit }, Number(quota.left));
}

/**
 * Shows how old the balances of these venues are. A venue without any has an age only while it
 * cannot be read: an account that has always been empty is read well, and leaves no row.
 */
function showBalanceAges(
  { balance_ages }: OperationFigures,
  { venues, failingSeconds }: Required<Pick<OperationMetricsOptions, 'venues' | 'failingSeconds'>>,
  gauge: MakeGauge,
): void {
  const age = gauge(
    'svc_balance_age_seconds',
    'Age of the newest balances of a venue; where none was ever stored, for how long reads have failed.',
    ['venue'],
  );
  const ages = new Map(balance_ages.map(({ venue_key, seconds }) => [venue_key, seconds]));
  for (const venue of venues) {
    const seconds = ages.get(venue) ?? failingSeconds(venue);
    if (seconds !== null) age.set({ venue }, seconds);
  }
}

function showExecutors({ executors }: OperationFigures, gauge: MakeGauge): void {
  const isDown = gauge(
    'svc_executor_down',
    '1 while an executor that is switched on is down for the workers that check it.',
    ['executor_key'],
  );
  for (const { executor_key, down } of executors) isDown.set({ executor_key }, down ? 1 : 0);
}

/** Shows for each account on each chain how many of its nonces are not mined, and since when. */
function showLanes({ lanes }: OperationFigures, gauge: MakeGauge): void {
  const labels = ['signer_key', 'address', 'chain_id'];
  const open = gauge(
    'svc_lane_open_nonces',
    'Claimed nonces of an account that are in no block that was seen.',
    labels,
  );
  const oldest = gauge(
    'svc_lane_oldest_open_seconds',
    'Age of the oldest such nonce; 0 when there is none.',
    labels,
  );
  const unfinal = gauge(
    'svc_lane_unfinal_nonces',
    'Nonces of an account that are mined and not final.',
    labels,
  );
  const stuck = gauge(
    'svc_lane_stuck',
    '1 while what is to use up one of them can be neither signed nor paid for.',
    labels,
  );
  for (const lane of lanes) {
    const { address, signer_key } = lane;
    const of = { signer_key: signer_key ?? '', address, chain_id: String(lane.chain_id) };
    open.set(of, lane.open_nonces);
    oldest.set(of, lane.oldest_open_seconds ?? 0);
    unfinal.set(of, lane.unfinal_nonces);
    stuck.set(of, lane.stuck === null ? 0 : 1);
  }
}

/**
 * Returns a function that returns the last value while it is fresh; otherwise all callers share one
 * new read.
 */
function remembered<T>(read: () => Promise<T>, now: () => number): () => Promise<T> {
  let last: { readonly value: T; readonly until: number } | null = null;
  let current: Promise<T> | null = null;
  return () => {
    if (last !== null && now() < last.until) return Promise.resolve(last.value);
    if (current !== null) return current;
    const started = now();
    current = read()
      .then((value) => {
        last = { value, until: now() + Math.max(FRESH_MS, (now() - started) / SHARE) };
        return value;
      })
      .finally(() => {
        current = null;
      });
    return current;
  };
}
