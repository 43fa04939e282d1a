/** Dashboard of the money: what moves, what waits, what is unknown, and what the record lacks. */
import { perSecond, quantile, query, shared, type Dashboard, type Section } from './panels.ts';

const LANE = ['signer_key', 'address', 'chain_id'] as const;
const LANE_LEGEND = '{{signer_key}} on {{chain_id}} ({{address}})';
const PHASES = 'svc_phase_duration_seconds';

const movements: Section = {
  title: 'Movements and transfers',
  panels: [
    {
      title: 'Movements by state',
      unit: 'count',
      rising:
        'EXECUTING that grows while COMPLETED stands still: money leaves and does not arrive. MANUAL_INTERVENTION: of some money it is unknown whether it was sent.',
      queries: [query(shared('svc_movements', 'state'), '{{state}}')],
    },
    {
      title: 'Capital transfers by state',
      unit: 'count',
      rising:
        'A state before the end that grows: money between accounts of an exchange is under way and is counted in neither account.',
      queries: [query(shared('svc_capital_transfers', 'state'), '{{state}}', 'exchange')],
    },
    {
      title: 'Unknown outcomes',
      unit: 'count',
      rising:
        'A send may have paid. Repeated by hand before its outcome is proven, it may pay twice.',
      alert: 'UnknownOutcome',
      queries: [
        query(shared('svc_attention{reason="unknown_outcome"}', 'reason'), 'movements: {{reason}}'),
        query(
          shared('svc_capital_transfers{state="MANUAL_INTERVENTION"}', 'state'),
          'transfers: {{state}}',
          'exchange',
          'event',
        ),
      ],
    },
    {
      title: 'Attention by reason',
      unit: 'count',
      rising: 'Each is a movement that waits for a person, with its money where it is.',
      alert: 'MovementHeldUp',
      queries: [query(shared('svc_attention', 'reason'), '{{reason}}')],
    },
    {
      title: 'Approved with a compromised key',
      unit: 'count',
      rising: 'Each is a movement that goes on and pays.',
      alert: 'ApprovalCompromised',
      queries: [
        query(shared('svc_attention{reason="approval_compromised"}', 'reason'), '{{reason}}'),
      ],
    },
    {
      title: 'Approvals that cannot come about',
      unit: 'count',
      rising: 'Each is a movement that expires, since too few people are left for its rule.',
      alert: 'ApprovalUnsatisfiable',
      queries: [
        query(shared('svc_attention{reason="approval_unsatisfiable"}', 'reason'), '{{reason}}'),
      ],
    },
    {
      title: 'Oldest approval that waits',
      unit: 'seconds',
      rising:
        'No caller decides: the movement sends nothing, and expires at the end of its approval time.',
      queries: [query(shared('svc_approval_oldest_seconds'), 'oldest')],
    },
    {
      title: 'Wait for an approval',
      unit: 'seconds',
      rising:
        'Callers approve more slowly; quotes and fees that a plan assumes grow old meanwhile.',
      queries: [
        query(quantile('0.5', 'svc_approval_wait_seconds_bucket'), 'p50'),
        query(quantile('0.95', 'svc_approval_wait_seconds_bucket'), 'p95'),
      ],
    },
    {
      title: 'Automatic decisions on new movements',
      unit: 'per-second',
      rising:
        'approved: money moves without a person. A step up with no change of policy means that a caller creates more than it used to.',
      queries: [
        query(
          perSecond('svc_auto_approvals_total', 'outcome', 'reason'),
          '{{outcome}}: {{reason}}',
          'event',
        ),
      ],
    },
  ],
};

const phases: Section = {
  title: 'Phases of nodes',
  panels: [
    {
      title: 'Outcomes of phases',
      unit: 'per-second',
      rising:
        'done is progress. failed: nothing was sent, and the node ends. not_yet: the other side has not finished.',
      queries: [query(perSecond(`${PHASES}_count`, 'phase', 'outcome'), '{{phase}}: {{outcome}}')],
    },
    {
      title: 'Outcomes that leave money open',
      unit: 'per-second',
      rising:
        'unknown: a send whose outcome is not proven. recover: an executor returned no usable answer. error: the phase runs again.',
      queries: [
        query(
          perSecond(`${PHASES}_count{outcome=~"unknown|recover|error"}`, 'phase', 'outcome'),
          '{{phase}}: {{outcome}}',
          'event',
        ),
      ],
    },
    {
      title: 'Duration of phases',
      unit: 'seconds',
      rising:
        'Executors or the database answer more slowly. A submit near its time limit ends unknown.',
      queries: [
        query(quantile('0.5', `${PHASES}_bucket`, 'phase'), '{{phase}} p50'),
        query(quantile('0.95', `${PHASES}_bucket`, 'phase'), '{{phase}} p95'),
      ],
    },
    {
      title: "Duration of phases of teams' executors",
      unit: 'seconds',
      rising: 'Executors outside this service, or the network to them, answer more slowly.',
      queries: [
        query(
          quantile('0.95', `${PHASES}_bucket{executor_kind="remote"}`, 'phase'),
          '{{phase}} p95',
          'remote-executor',
        ),
      ],
    },
    {
      title: 'Nodes whose last call brought no result',
      unit: 'count',
      rising:
        'Venues, chains or executors do not answer, or only say to wait. Sent money stays unproven meanwhile.',
      alert: 'NodesUnanswered',
      queries: [query(shared('svc_nodes_unanswered'), 'nodes')],
    },
    {
      title: 'Executors that are down',
      unit: 'count',
      rising: '1: movements that need this executor wait, and what it has sent is not followed.',
      alert: 'ExecutorDown',
      queries: [query(shared('svc_executor_down', 'executor_key'), '{{executor_key}}')],
    },
    {
      title: 'Longest time without a result',
      unit: 'seconds',
      rising: 'One of these nodes has been looked at in vain for this long.',
      alert: 'NodesUnanswered',
      queries: [query(shared('svc_nodes_unanswered_oldest_seconds'), 'oldest')],
    },
    {
      title: 'Abandoned sends that no worker looks for',
      unit: 'count',
      rising: 'Should one of them land, it is not noticed. A person has to look at the venue.',
      alert: 'LateLooksOverdue',
      queries: [query(shared('svc_late_looks_overdue'), 'nodes')],
    },
    {
      title: 'Abandoned sends whose looks fail',
      unit: 'count',
      rising:
        'For an hour the venue, chain or executor has not answered, or its answer proves nothing: one of them may have landed.',
      alert: 'LateLooksFail',
      queries: [query(shared('svc_late_looks_failing'), 'nodes')],
    },
  ],
};

const lanes: Section = {
  title: 'Nonce lanes and gas',
  panels: [
    {
      title: 'Nonces in no block',
      unit: 'count',
      rising: 'Payments of this account queue up behind one that the chain does not take.',
      alert: 'LaneBlocked',
      queries: [query(shared('svc_lane_open_nonces', ...LANE), LANE_LEGEND, 'chain')],
    },
    {
      title: 'Age of the oldest such nonce',
      unit: 'seconds',
      rising: 'The nonce lane waits: each later payment of this account waits with it.',
      alert: 'LaneBlocked',
      queries: [query(shared('svc_lane_oldest_open_seconds', ...LANE), LANE_LEGEND, 'chain')],
    },
    {
      title: 'Nonces mined and not final',
      unit: 'count',
      rising: 'The chain becomes final more slowly; a reorganisation could still undo these.',
      queries: [query(shared('svc_lane_unfinal_nonces', ...LANE), LANE_LEGEND, 'chain')],
    },
    {
      title: 'Stuck nonce lanes',
      unit: 'count',
      rising:
        '1: the transaction that is to use up a nonce can be neither signed nor paid for. No payment of this account goes out.',
      alert: 'LaneStuck',
      queries: [query(shared('svc_lane_stuck', ...LANE), LANE_LEGEND, 'chain')],
    },
    {
      title: 'Gas that signers hold, and the most that one transaction may cost',
      unit: 'count',
      rising:
        'In the chain’s own coin, for display only. A balance that falls towards the limit: soon no transaction of this signer can be paid for.',
      alert: 'SignerLowOnGas',
      queries: [
        query(`min by (${LANE.join(', ')}) (svc_signer_native_balance)`, LANE_LEGEND, 'chain'),
        query(shared('svc_chain_gas_cost_limit', 'chain_id'), 'limit on {{chain_id}}', 'chain'),
      ],
    },
    {
      title: 'Scrapes in 15 minutes that had the gas of a signer',
      unit: 'count',
      rising:
        'A line that falls to 0 and ends: no worker can read the balance, so that it may run out unseen.',
      alert: 'SignerBalanceUnread',
      queries: [
        query(
          shared('count_over_time(svc_signer_native_balance[15m])', ...LANE),
          LANE_LEGEND,
          'chain',
        ),
      ],
    },
  ],
};

const pools: Section = {
  title: 'Pools and exchanges',
  panels: [
    {
      title: 'Held by movements',
      unit: 'count',
      rising:
        'In units of the asset, for display only. Held amounts that never fall belong to movements that do not end; new movements find less free.',
      queries: [
        query(
          shared('svc_reservations_held', 'venue', 'account_type', 'asset'),
          '{{venue}} {{account_type}} {{asset}}',
        ),
      ],
    },
    {
      title: 'Age of balances',
      unit: 'seconds',
      rising:
        'The venue cannot be read. Balances that are too old allow no new hold: movements from this venue are refused.',
      alert: 'BalancesOld',
      queries: [query(shared('svc_balance_age_seconds', 'venue'), '{{venue}}')],
    },
    {
      title: 'Time until agents of the perps venue end',
      unit: 'seconds',
      rising:
        'It falls. At 0 the strategy can no longer trade with this agent, nor close a position: approve another one before.',
      alert: 'PerpAgentNeedsRenewal',
      queries: [
        query(
          'min by (strategy_id, agent_name) (svc_perp_agent_left_seconds)',
          '{{strategy_id}}: {{agent_name}}',
          'event',
        ),
      ],
    },
    {
      title: 'Agents of the perps venue that are of no use',
      unit: 'count',
      rising: 'They are not approved, refused, expired, or no longer listed by the venue.',
      alert: 'PerpAgentNeedsRenewal',
      queries: [query(shared('svc_perp_agents_failing'), 'agents')],
    },
    {
      title: 'Withdrawal quota that is left',
      unit: 'count',
      rising:
        'In its unit, for display only. Near 0 withdrawals wait until the exchange allows more. Missing: the exchange does not show it, or the figure is too old.',
      queries: [
        query(
          shared('svc_withdrawal_quota_left', 'venue', 'unit'),
          '{{venue}} {{unit}}',
          'exchange',
        ),
      ],
    },
  ],
};

const record: Section = {
  title: 'Delivery and the record',
  panels: [
    {
      title: 'Callbacks that are not delivered',
      unit: 'count',
      rising:
        'dead_letter: a caller never learned how its movement ended, and may create it a second time. All that wait count here; the alert is about new ones.',
      alert: 'DeadLetters',
      queries: [query(shared('svc_callbacks', 'status'), '{{status}}')],
    },
    {
      title: 'Age of the oldest command or transfer that no run has loaded',
      unit: 'seconds',
      rising: 'Approvals, cancels and retries have no effect yet; transfers do not go on.',
      alert: 'RelayLag',
      queries: [
        query(shared('svc_relay_lag_seconds{relay=~"commands|transfers"}', 'relay'), '{{relay}}'),
      ],
    },
    {
      title: 'Age of the oldest callback or message of a webhook to deliver',
      unit: 'seconds',
      rising:
        'Callers learn late how their movements ended, and people that something waits for them.',
      alert: 'CallbacksLate',
      queries: [
        query(shared('svc_relay_lag_seconds{relay=~"callbacks|webhooks"}', 'relay'), '{{relay}}'),
      ],
    },
    {
      title: 'Age of the oldest audit row that is not sealed',
      unit: 'seconds',
      rising: 'Until it is sealed, a change of such a row would not be noticed.',
      alert: 'SealingLag',
      queries: [query(shared('svc_audit_unsealed_oldest_seconds'), 'oldest')],
    },
    {
      title: 'Audit rows that no process with the key wrote',
      unit: 'count',
      rising:
        'Since the processes started. Any means that someone wrote to the audit trail past this service.',
      alert: 'ForeignAuditRows',
      queries: [query('sum(svc_audit_foreign_rows_total)', 'rows')],
    },
    {
      title: 'Audit rows that were sealed',
      unit: 'per-second',
      rising: 'More is recorded. 0 while movements go on: no worker seals.',
      queries: [query(perSecond('svc_audit_sealed_total'), 'rows')],
    },
    {
      title: 'Rows that were removed after their retention time',
      unit: 'per-second',
      rising: 'Only what the settings let go; a movement and its audit rows never are.',
      queries: [query(perSecond('svc_retention_removed_total', 'table'), '{{table}}')],
    },
    {
      title: 'Cutover mode',
      unit: 'count',
      rising:
        '1 for the present mode. drain: no new movement starts. frozen: nothing is sent, and what was sent is followed.',
      alert: 'CutoverNotNormal',
      queries: [query(shared('svc_cutover_mode', 'mode'), '{{mode}}')],
    },
  ],
};

export const money: Dashboard = {
  name: 'money',
  title: 'Fund movements: money',
  sections: [movements, phases, lanes, pools, record],
};
