/** Each rule of the judges finds its contradiction in books that were made up for it. */
import { expect, test } from '@jest/globals';
import { contradictions, type Facts } from './judges.ts';
import { PAYEES } from './payees.ts';

const ID = '00000000-0000-7000-8000-000000000001';
const OTHER = '00000000-0000-7000-8000-000000000002';
const order = {
  key: `${ID}:pay:1`,
  movement_id: ID,
  node_key: 'pay',
  asset: 'USDC',
  amount: '5.001',
  payee: PAYEES['desk'] ?? '',
  at: 1_000,
  state: 'paid' as 'paid' | 'refused' | 'withdrawn' | 'taken',
};
const node = {
  movement_id: ID,
  node_key: 'pay',
  state: 'COMPLETED',
  attempt: 1,
  executor_key: 'keyed.desk',
};
const movement = {
  movement_id: ID,
  request_state: 'COMPLETED',
  reservation_status: 'consumed',
  amount: '5.001000000000000000',
};
const sent = { ...node, node_key: 'forward', executor_key: 'evm.transfer' };
const transfer = {
  hash: '0x01',
  block: 7,
  from: '0x11',
  payee: PAYEES['forward'] ?? '',
  units: 5_001_000n,
};
const life = {
  movement_id: ID,
  number: 0,
  template: 'simulation/chain-row',
  sent: { approve: 500, reject: null, cancel: null, resume: null },
  accepted: { approve: 600, reject: null, cancel: null, resume: null } as Record<
    'approve' | 'reject' | 'cancel' | 'resume',
    number | null
  >,
  isOver: true,
  amount: '5.001',
  transfers: ['forward'],
};

/** The life with another plan. */
const of = (name: string) => ({ ...life, template: `simulation/${name}` });
const orderOf = (node_key: string) => ({ ...order, node_key, key: `${ID}:${node_key}:1` });
const ended = (request_state: string) => ({ ...movement, request_state });

const sound: Facts = {
  movements: [movement],
  nodes: [node, sent],
  timeline: [{ movement_id: ID, sequences: [1, 2, 3] }],
  unapplied: [],
  approvals: [{ movement_id: ID }],
  runs: new Map([[ID, 'COMPLETED']]),
  orders: [order],
  callbacks: [{ movement_id: ID, event_id: 'e1', sequence: 3, status: 'delivered' }],
  received: [{ movement_id: ID, event_id: 'e1', sequence: 3, event_type: 'request_completed' }],
  lives: [life],
  stops: [],
  silent: [],
  failed: [],
  transfers: [transfer],
  sends: [{ hash: '0x01', at: 1_000 }],
  strangers: [],
  waiting: [],
};

test('books that agree contradict nothing', () => {
  expect(contradictions(sound)).toEqual([]);
});

const PLANTED: readonly (readonly [rule: string, planted: Partial<Facts>])[] = [
  ['an attempt is paid once at most', { orders: [order, order] }],
  ['a node is paid once at most', { orders: [order, { ...order, key: `${ID}:pay:2` }] }],
  ['a node is COMPLETED if and only if it is paid', { orders: [] }],
  [
    'a node is COMPLETED if and only if it is paid',
    { nodes: [{ ...node, state: 'CANCELLED' }, sent] },
  ],
  ['what is paid is what was wanted and approved', { orders: [{ ...order, amount: '5.002' }] }],
  ['what is paid is what was wanted and approved', { orders: [{ ...order, payee: '0xcd' }] }],
  ['what is paid is what was wanted and approved', { approvals: [] }],
  ['what is paid is what was wanted and approved', { orders: [{ ...order, asset: 'BTC' }] }],
  ['what is paid is what was wanted and approved', { orders: [{ ...order, at: 499 }] }],
  [
    'what is paid is what was wanted and approved',
    { orders: [{ ...order, amount: '5.00100000000000001' }] },
  ],
  [
    'what is paid is what was wanted and approved',
    { lives: [{ ...life, sent: { ...life.sent, approve: null } }] },
  ],
  ['what people decided is what became of it', { movements: [ended('EXPIRED')] }],
  [
    'what people decided is what became of it',
    { lives: [{ ...life, accepted: { ...life.accepted, cancel: 700 } }] },
  ],
  [
    'what people decided is what became of it',
    { lives: [{ ...life, accepted: { ...life.accepted, approve: null, reject: 700 } }] },
  ],
  ['a movement ends as its plan says', { orders: [], lives: [of('one')] }],
  [
    'a movement ends as its plan says',
    { lives: [of('instead')], orders: ['try', 'instead'].map((each) => orderOf(each)) },
  ],
  ['a movement ends as its plan says', { lives: [of('one')], movements: [ended('FAILED')] }],
  [
    'a movement ends as its plan says',
    { lives: [of('undone')], orders: ['pay', 'more', 'undo'].map((each) => orderOf(each)) },
  ],
  [
    'a movement ends as its plan says',
    { lives: [of('gated')], orders: ['before', 'after'].map((each) => orderOf(each)) },
  ],
  [
    'after a cancel nothing new leaves but what undoes',
    {
      lives: [{ ...life, accepted: { ...life.accepted, cancel: 600 } }],
      orders: [{ ...order, at: 60_000 }],
    },
  ],
  ['no request fails after the storm', { failed: [{ request: 'GET /', status: 500 }] }],
  ['everything ends', { nodes: [node, sent, { ...node, node_key: 'b', state: 'UNKNOWN' }] }],
  ['every end is called back', { callbacks: [], received: [] }],
  [
    'a movement has consumed what it held once it is COMPLETED',
    { movements: [{ ...movement, reservation_status: 'released' }] },
  ],
  ['a transfer is mined once at most', { transfers: [transfer, { ...transfer, hash: '0x02' }] }],
  ['a transfer is COMPLETED if and only if it is mined', { transfers: [] }],
  [
    'a transfer is COMPLETED if and only if it is mined',
    { nodes: [node, { ...sent, state: 'FAILED' }] },
  ],
  [
    'a transfer on the chain is one that an approved movement orders',
    { transfers: [{ ...transfer, units: 5_002_000n }] },
  ],
  [
    'a transfer on the chain is one that an approved movement orders',
    { transfers: [{ ...transfer, payee: PAYEES['one'] ?? '' }] },
  ],
  ['a transfer on the chain is one that an approved movement orders', { approvals: [] }],
  ['a transfer on the chain is one that an approved movement orders', { strangers: ['0x03'] }],
  ['no nonce waits for ever', { waiting: ['nonce 4'] }],
  ['nothing leaves after it was stopped', { orders: [], stops: [{ from: -60_000, to: 2_000 }] }],
  ['nothing leaves after it was stopped', { stops: [{ from: -60_000, to: 2_000 }] }],
  ['whoever waits for a person says so', { silent: [{ movement_id: ID, state: 'X' }] }],
  ['everything ends', { lives: [{ ...life, isOver: false }] }],
  ['everything ends', { nodes: [node, { ...node, node_key: 'b', state: 'READY' }] }],
  ['a movement is created once', { movements: [movement, { ...movement, movement_id: OTHER }] }],
  ['a timeline has no gaps', { timeline: [{ movement_id: ID, sequences: [1, 3] }] }],
  ['every callback has arrived, and nothing else', { received: [] }],
  ['every callback has arrived, and nothing else', { callbacks: [] }],
  [
    'every end is called back',
    { received: [{ movement_id: ID, event_id: 'e1', sequence: 3, event_type: 'node_completed' }] },
  ],
  ['every command is applied', { unapplied: [{ movement_id: ID, kind: 'cancel' }] }],
  ['a run closes with its movement', { runs: new Map([[ID, 'RUNNING']]) }],
  [
    'nothing is held for what has ended and paid nothing',
    {
      movements: [{ ...movement, request_state: 'FAILED', reservation_status: 'held' }],
      orders: [],
      transfers: [],
    },
  ],
];

test.each(PLANTED)('%s', (rule, planted) => {
  const found = contradictions({ ...sound, ...planted });
  expect(found.map((each) => each.rule)).toContain(rule);
});

test('a stop lets through what was on its way', () => {
  expect(contradictions({ ...sound, stops: [{ from: 500, to: 90_000 }] })).toEqual([]);
});
