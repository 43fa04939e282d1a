/** Evidence of a small run in which everything went well, for tests to doctor. */
import { planOf } from '../support/movement-model.ts';
import type { CapitalEvidence, Evidence, MovementEvidence, NodeEvidence } from './evidence.ts';

/** Addresses and hashes that are easy to tell from each other. */
export const SIGNER = `0x${'a'.repeat(40)}` as const;
const HOT_WALLET = `0x${'b'.repeat(40)}` as const;
const NOWHERE = `0x${'0'.repeat(40)}` as const;
const hash = (digit: number): string => `0x${String(digit).repeat(64)}`;

const AT = '2026-01-01T00:00:00.000Z';
const URL = 'http://127.0.0.1:1/callbacks';
export const COMPLETED_ID = 'completed-movement';
export const WAITING_ID = 'waiting-movement';
export const CAPITAL_ID = 'capital-transfer';

type Event = readonly [
  event_type: string,
  node_key: string | null,
  from: string | null,
  to: string | null,
];

function timelineOf(movement: string, events: readonly Event[]): MovementEvidence['timeline'] {
  return events.map(([event_type, node_key, from_state, to_state], at) => ({
    event_id: `${movement}-${at + 1}`,
    sequence: at + 1,
    event_type,
    node_key,
    attempt: node_key === null ? null : 1,
    from_state,
    to_state,
    occurred_at: AT,
  }));
}

function sent(node_key: string): Event[] {
  return [
    ['node_submitting', node_key, 'READY', 'SUBMITTING'],
    ['node_submitted', node_key, 'SUBMITTING', 'SUBMITTED'],
    ['node_completed', node_key, 'SUBMITTED', 'COMPLETED'],
  ];
}

function node(
  node_key: string,
  action_type: string,
  state: string,
  tx_hash: string | null,
): NodeEvidence {
  const ended = state === 'COMPLETED' ? AT : null;
  return {
    node_key,
    action_type,
    state,
    amount: null,
    attempt: 1,
    error_code: null,
    completed_at: ended,
    output: tx_hash === null ? null : { tx_hash },
  };
}

const action = (node_key: string, action_type: string, config: object) => ({
  node_key,
  node_kind: 'action',
  action_type,
  config: { ...config },
});
const withdrawal = (node_key: string) =>
  action(node_key, 'cex_withdrawal', { venue: 'paper-main', asset: 'USDC' });
const intentOf = (amount: string) => ({ intent: { asset: 'USDC', amount } });
const edge = (from: string, to: string) => ({ from, to, edge_type: 'on_success' });
const COMPLETED_PLAN = planOf(
  {
    nodes: [
      withdrawal('withdraw'),
      action('sweep', 'evm_erc20_transfer', {
        amount_ref: 'nodes.withdraw.output.received_amount',
        destination_address: HOT_WALLET,
      }),
    ],
    edges: [edge('withdraw', 'sweep')],
  },
  intentOf('10.000001'),
  'chain:wallet',
);
const WAITING_PLAN = planOf(
  {
    nodes: [
      withdrawal('withdraw'),
      action('pay', 'team_payout', {}),
      { node_key: 'check', node_kind: 'manual_gate', action_type: 'manual_gate' },
      withdrawal('more'),
    ],
    edges: [edge('withdraw', 'pay'), edge('pay', 'check'), edge('check', 'more')],
  },
  intentOf('11.000011'),
  'chain:wallet',
);

const completed: MovementEvidence = {
  movement_id: COMPLETED_ID,
  request_state: 'COMPLETED',
  error_code: null,
  current_frontier: [],
  reservation_status: 'consumed',
  nodes: [
    node('withdraw', 'cex_withdrawal', 'COMPLETED', hash(1)),
    node('sweep', 'evm_erc20_transfer', 'COMPLETED', hash(2)),
  ],
  timeline: timelineOf(COMPLETED_ID, [
    ['movement_created', null, null, 'PENDING_APPROVAL'],
    ['request_approved', null, 'PENDING_APPROVAL', 'APPROVED'],
    ['node_ready', 'withdraw', 'BLOCKED', 'READY'],
    ['frontier_advanced', null, 'APPROVED', 'EXECUTING'],
    ...sent('withdraw'),
    ['node_ready', 'sweep', 'BLOCKED', 'READY'],
    ...sent('sweep'),
    ['request_completed', null, 'EXECUTING', 'COMPLETED'],
  ]),
  idempotency_key: 'key-0',
  amount: '10.000001',
  amounts: ['10.000001'],
  outflow: [{ asset: 'USDC', amount: '10.000001' }],
  plan: COMPLETED_PLAN,
  callback_url: URL,
  ended: true,
  run_status: 'COMPLETED',
};

const waiting: MovementEvidence = {
  ...completed,
  movement_id: WAITING_ID,
  request_state: 'WAITING_MANUAL_ACTION',
  current_frontier: ['check'],
  reservation_status: 'held',
  nodes: [
    { ...node('withdraw', 'cex_withdrawal', 'COMPLETED', hash(3)), amount: '11.000011' },
    { ...node('pay', 'team_payout', 'COMPLETED', null), amount: '11.000011' },
    node('check', 'manual_gate', 'READY', null),
    node('more', 'cex_withdrawal', 'BLOCKED', null),
  ],
  timeline: timelineOf(WAITING_ID, [
    ['movement_created', null, null, 'PENDING_APPROVAL'],
    ['request_approved', null, 'PENDING_APPROVAL', 'APPROVED'],
    ['node_ready', 'withdraw', 'BLOCKED', 'READY'],
    ['frontier_advanced', null, 'APPROVED', 'EXECUTING'],
    ...sent('withdraw'),
    ['node_ready', 'pay', 'BLOCKED', 'READY'],
    ...sent('pay'),
    ['node_ready', 'check', 'BLOCKED', 'READY'],
    ['request_attention', null, 'EXECUTING', 'WAITING_MANUAL_ACTION'],
  ]),
  idempotency_key: 'key-1',
  amount: '11.000011',
  amounts: ['11.000011'],
  outflow: [{ asset: 'USDC', amount: '33.000033' }],
  plan: WAITING_PLAN,
  ended: false,
  run_status: 'RUNNING',
};

function entry(movement_id: string, amount: string, tx_hash: string): Evidence['ledger'][number] {
  return {
    idempotency_key: `${movement_id}:withdraw:1`,
    movement_id,
    node_key: 'withdraw',
    action_type: 'cex_withdrawal',
    account: 'paper-main',
    asset: 'USDC',
    amount,
    destination_address: SIGNER,
    external_ref: 'order',
    tx_hash,
    tx_hashes: [tx_hash],
    state: 'mined',
    error_code: null,
    submit_calls: 1,
    effects: 1,
    accepted_at: AT,
  };
}

function life(serial: number, movement: MovementEvidence): Evidence['lives'][number] {
  const script = {
    serial,
    template: 'any',
    amount: movement.amount,
    route: 'sweep',
    decision: 'approve',
    decide_ms: 0,
  } as const;
  const plan = movement.plan ?? COMPLETED_PLAN;
  return {
    script: {
      ...script,
      plan,
      node_config: null,
      repeats_create: false,
      resume_ms: null,
      cancel_ms: null,
      cancel_at: 'once',
      retries: false,
    },
    idempotency_key: `key-${serial}`,
    movement_id: movement.movement_id,
    accepted: [{ action: 'approve', doubts: 0 }],
    complaints: [],
  };
}

const capitalTransfer: CapitalEvidence = {
  transfer_id: CAPITAL_ID,
  idempotency_key: `key of ${CAPITAL_ID}`,
  request_state: 'COMPLETED',
  amount: '5',
  hold: 'consumed',
  run_status: 'COMPLETED',
  timeline: [
    { sequence: 1, from_state: null, to_state: 'CREATED' },
    { sequence: 2, from_state: 'CREATED', to_state: 'SUBMITTING' },
    { sequence: 3, from_state: 'SUBMITTING', to_state: 'COMPLETED' },
  ],
  record: { effects: 1, submit_calls: 1, amount: '5' },
};

function capitalLife(
  transfer_id: string | null,
  refused: string | null,
): Evidence['capitalLives'][number] {
  const idempotency_key = `key of ${transfer_id ?? 'nothing'}`;
  return {
    idempotency_key,
    transfer_id,
    refused,
    body: { amount: '5' },
    delay_ms: 0,
    repeats: false,
    complaints: [],
  };
}

function holdingOf({
  movement_id,
  request_state,
  idempotency_key,
  nodes,
  plan,
}: MovementEvidence): Evidence['holdings'][number] {
  return {
    movement_id,
    idempotency_key,
    state: request_state,
    approved: true,
    by_policy: false,
    plan,
    holds: [],
    budget: [],
    nodes: nodes.map(({ node_key, state, amount, output }) => ({
      node_key,
      state,
      amount,
      output: output ?? null,
      recover_first: false,
    })),
  };
}

/** The copy with a higher fee, which was mined in place of the first one. */
const SWEEP = {
  movement_id: COMPLETED_ID,
  node_key: 'sweep',
  attempt: 1,
  address: SIGNER,
  nonce: 0,
  tx_hash: hash(2),
  mined: true,
} as const;

/**
 * Two movements, one completed and one at its gate, and a capital transfer, with nothing wrong
 * about them.
 */
export function soundEvidence(): Evidence {
  const movements = [completed, waiting];
  const callbacks = movements.flatMap(({ movement_id, timeline }) =>
    timeline
      .filter(
        ({ event_type }) => event_type.startsWith('request_') || event_type === 'frontier_advanced',
      )
      .map(({ event_id, event_type, sequence }) => ({
        event_id,
        movement_id,
        event_type,
        sequence,
        status: 'delivered',
        last_error: null,
      })),
  );
  const audited = (action: string, entity_key: string) => ({
    action,
    entity_key,
    outcome: 'success',
  });
  return {
    lives: [life(0, completed), life(1, waiting)],
    capitalLives: [
      capitalLife(CAPITAL_ID, null),
      capitalLife(null, 'insufficient_effective_withdrawable'),
    ],
    capital: [capitalTransfer],
    movements,
    ledger: [entry(COMPLETED_ID, '10.000001', hash(1)), entry(WAITING_ID, '11.000011', hash(3))],
    transfers: [
      { from: NOWHERE, to: HOT_WALLET, amount: '10000000', tx_hash: hash(9) },
      { from: HOT_WALLET, to: SIGNER, amount: '10.000001', tx_hash: hash(1) },
      { from: SIGNER, to: HOT_WALLET, amount: '10.000001', tx_hash: hash(2) },
      { from: HOT_WALLET, to: SIGNER, amount: '11.000011', tx_hash: hash(3) },
    ],
    unappliedCommands: [],
    callbacks,
    received: callbacks.map(({ event_id, movement_id, event_type, sequence }) => ({
      event_id,
      movement_id,
      event_type,
      sequence,
      answered: 200,
    })),
    delivers: true,
    audit: [
      ...movements.flatMap(({ movement_id }) => [
        audited('movement.create', movement_id),
        audited('movement.approve', movement_id),
      ]),
      audited('movement.complete', COMPLETED_ID),
    ],
    orders: [
      {
        key: `${WAITING_ID}:pay:1`,
        asset: 'USDC',
        amount: '11.000011',
        taken: 1,
        withdrawn: false,
      },
    ],
    holdings: [
      {
        ...holdingOf(completed),
        by_policy: true,
        budget: [{ amount: '10.000001', status: 'consumed' }],
      },
      { ...holdingOf(waiting), holds: [{ pool: 'paper-main SPOT USDC', amount: '11.000011' }] },
    ],
    usage: { reserved_amount: '0', consumed_amount: '10.000001', count_in_window: 1 },
    pending: [{ pool: 'paper-main SPOT USDC', amount: '0' }],
    over: false,
    pools: [{ pool: 'paper-main/SPOT/USDC', held: '11.000011' }],
    holds: [{ pool: 'paper-main/SPOT/USDC', movement_id: WAITING_ID, amount: '11.000011' }],
    signed: [SWEEP, { ...SWEEP, tx_hash: hash(9), mined: false }],
    lanes: [{ address: SIGNER, next_nonce: 1, mined_nonces: 1 }],
  };
}
