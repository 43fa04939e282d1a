/** Each rule of the judges finds its contradiction in books that were made up for it. */
import { describe, expect, test } from '@jest/globals';
import type { Act } from './acts.ts';
import { contradictions, type Facts } from './judges.ts';
import { stillnessOf } from './liveness.ts';
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
  signer_key: null as string | null,
};
const movement = {
  movement_id: ID,
  request_state: 'COMPLETED',
  reservation_status: 'consumed',
  amount: '5.001000000000000000',
};
const sent = {
  ...node,
  node_key: 'forward',
  executor_key: 'evm.transfer',
  signer_key: 'treasury',
};
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
  sent: { approve: 500, reject: null, cancel: null },
  accepted: { approve: 600, reject: null, cancel: null } as Record<
    'approve' | 'reject' | 'cancel',
    number | null
  >,
  isOver: true,
  isNaming: true,
  asset: 'USDC',
  amount: '5.001',
  transfers: ['forward'],
};
const act = {
  nr: 1,
  at: 900,
  kind: 'movement_nodes' as Act['kind'],
  subject: ID,
  node_key: 'pay' as string | null,
  attempt: 1 as number | null,
  value: 'SUBMITTING',
};
/** What is switched off before anything passes its fence. */
const off = (kind: Act['kind'], subject: string, value: string): Act => ({
  ...{ kind, subject, value, nr: 0, at: -90_000, node_key: null, attempt: null },
});
const click = {
  movement_id: ID,
  verb: 'retry' as 'retry' | 'resume',
  named: { node_key: 'pay', attempt: 1, state: 'FAILED' },
  at: 1_000,
};
const retried = {
  movement_id: ID,
  verb: 'retry' as 'retry' | 'resume',
  node_key: 'pay',
  attempt: 2,
  at: 1_001,
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
  acts: [act, { ...act, nr: 2, node_key: 'forward' }],
  decided: [],
  clicks: [],
  wrong: [],
  still: [],
  silent: [],
  failed: [],
  transfers: [transfer],
  sends: [{ hash: '0x01', at: 1_000, payee: transfer.payee, units: transfer.units }],
  strangers: [],
  waiting: [],
};

test('books that agree contradict nothing', () => {
  expect(contradictions(sound)).toEqual([]);
});

/** What was switched off first, and two nodes that passed their fences all the same. */
function stoppedBy(stop: Act): Partial<Facts> {
  return { acts: [stop, ...sound.acts] };
}

/** The movement withdraws from an exchange, which has paid it as its node says. */
const withdrawn = {
  ...order,
  key: `${ID}:one:1`,
  node_key: 'one',
  payee: PAYEES['one'] ?? '',
  id: '7',
  arrives_within_ms: 100_000,
};
const again = { ...withdrawn, key: `${ID}:one:2`, id: '8' };
const atExchange: Partial<Facts> = {
  lives: [{ ...life, template: 'simulation/exchange-one', transfers: [] }],
  nodes: [{ ...node, node_key: 'one', executor_key: 'ccxt.withdrawal', external_ref: '7' }],
  acts: [{ ...act, node_key: 'one' }],
  orders: [withdrawn],
  transfers: [],
  sends: [],
};

test('books of an exchange that agree contradict nothing', () => {
  expect(contradictions({ ...sound, ...atExchange })).toEqual([]);
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
  [
    'a node is COMPLETED if and only if it is paid',
    { ...atExchange, orders: [{ ...withdrawn, state: 'refused' }] },
  ],
  ['a node is paid once at most', { ...atExchange, orders: [withdrawn, again] }],
  ['an attempt is paid once at most', { ...atExchange, orders: [withdrawn, withdrawn] }],
  [
    'a node names the order that is its own',
    { ...atExchange, orders: [{ ...withdrawn, id: '8' }] },
  ],
  [
    'a node names the order that is its own',
    { ...atExchange, orders: [{ ...withdrawn, movement_id: OTHER }] },
  ],
  [
    'what is paid is what was wanted and approved',
    { ...atExchange, orders: [{ ...withdrawn, payee: PAYEES['desk'] ?? '' }] },
  ],
  [
    'what leaves has passed its fence, and in its time',
    { ...atExchange, orders: [{ ...withdrawn, arrives_within_ms: 10 }] },
  ],
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
    'a movement ends as its plan says',
    {
      lives: [of('two-gates')],
      orders: [orderOf('between')],
      clicks: [
        { ...click, verb: 'resume', named: { ...click.named, node_key: 'last-gate' }, at: 1 },
      ],
    },
  ],
  [
    'a movement ends as its plan says',
    { lives: [of('joined')], orders: ['left', 'then'].map((each) => orderOf(each)) },
  ],
  [
    'what is paid is what was wanted and approved',
    {
      lives: [{ ...of('limited'), amount: '30.5' }],
      orders: [{ ...order, amount: '30.5' }],
    },
  ],
  [
    'what is paid is what was wanted and approved',
    { lives: [of('passed-on')], orders: [orderOf('charged'), orderOf('rest')] },
  ],
  [
    'what is paid is what was wanted and approved',
    { lives: [of('chosen')], orders: [orderOf('first'), orderOf('dear')] },
  ],
  ['what is paid is what was wanted and approved', { orders: [{ ...order, asset: 'DAI' }] }],
  [
    'what is paid is what was wanted and approved',
    { nodes: [{ ...node, executor_key: 'plain.desk' }, sent] },
  ],
  ['nothing passes its fence after it was stopped', stoppedBy(off('cutover', '1', 'frozen'))],
  ['nothing passes its fence after it was stopped', stoppedBy(off('movements', ID, 'CANCELLED'))],
  [
    'nothing passes its fence after it was stopped',
    stoppedBy(off('executors', 'keyed.desk', 'disabled')),
  ],
  [
    'nothing passes its fence after it was stopped',
    stoppedBy(off('signers', 'treasury', 'disabled')),
  ],
  [
    'nothing passes its fence after it was stopped',
    stoppedBy(off('allowed_addresses', PAYEES['desk'] ?? '', 'false')),
  ],
  ['what leaves has passed its fence, and in its time', { acts: [] }],
  ['what leaves has passed its fence, and in its time', { acts: [{ ...act, attempt: 2 }] }],
  ['what leaves has passed its fence, and in its time', { acts: [{ ...act, at: 1_001 }] }],
  ['what leaves has passed its fence, and in its time', { acts: [{ ...act, at: -60_000 }] }],
  ['a decision is about what its person saw', { decided: [retried] }],
  ['a decision is about what its person saw', { decided: [retried, retried], clicks: [click] }],
  [
    'a decision is about what its person saw',
    { decided: [{ ...retried, attempt: 3 }], clicks: [click] },
  ],
  [
    'a decision is about what its person saw',
    { decided: [{ ...retried, node_key: 'other' }], clicks: [click] },
  ],
  ['an answer is what was requested', { wrong: [{ movement_id: ID, found: 'X' }] }],
  [
    'nothing stands still',
    { still: [{ movement_id: ID, from: 0, ms: 1, state: 'EXECUTING', isCalm: false }] },
  ],
  [
    'what was paid and cancelled stays held',
    { movements: [{ ...ended('CANCELLED'), reservation_status: 'released' }] },
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
  [
    'no bytes reach a chain after they were stopped',
    { acts: [...sound.acts, off('cutover', '1', 'frozen')] },
  ],
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

test('what follows from what people saw, and leaves before a stop, contradicts nothing', () => {
  const stop = { ...off('cutover', '1', 'frozen'), nr: 3, at: 950 };
  const facts = { ...sound, acts: [...sound.acts, stop], decided: [retried], clicks: [click] };
  expect(contradictions(facts)).toEqual([]);
});

describe('a movement that nothing holds up', () => {
  const moved = { ...act, kind: 'movements' as const, node_key: null, value: 'EXECUTING' };
  const events = [{ movement_id: ID, at: 400_000 }];
  const seen = (acts: readonly Act[], calmSince = Infinity, of: Facts['nodes'][number] = node) =>
    stillnessOf({ acts, nodes: [of], events, calmSince });

  test('may not stand still for long', () => {
    expect(seen([{ ...moved, at: 0 }])).toMatchObject([{ movement_id: ID, ms: 400_000 }]);
    expect(seen([{ ...moved, at: 200_000 }])).toEqual([]);
    expect(seen([{ ...moved, at: 200_000 }], 100_000)).toMatchObject([{ isCalm: true }]);
    const known = { ...moved, at: 0, value: 'MANUAL_INTERVENTION' };
    expect(seen([known])).toMatchObject([{ state: 'MANUAL_INTERVENTION' }]);
  });

  test('may while it waits for a person, or something is switched off', () => {
    const waits = { ...moved, at: 0, value: 'WAITING_MANUAL_ACTION' };
    const open = { ...act, at: 0, value: 'READY' };
    expect(seen([waits, open], Infinity, { ...node, executor_key: null })).toEqual([]);
    const unknown = { ...act, at: 0, value: 'UNKNOWN' };
    expect(seen([{ ...moved, at: 0 }, unknown])).toEqual([]);
    const stop = { ...off('executors', 'any', 'disabled'), at: 100_000 };
    expect(seen([{ ...moved, at: 0 }, stop])).toEqual([]);
  });
});
