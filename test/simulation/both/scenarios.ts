/** The scenarios that both runtimes play: plans, answers of the desk, and what people do when. */
import { approvedUntilHeld, COMMANDED, FROZEN, KILLED, TROUBLED } from './matrix.ts';
import type { Plan, Scenario, Step } from './script.ts';

const ONE: Plan = { nodes: { pay: 'keyed' } };
const BLIND: Plan = { nodes: { pay: 'blind' } };
const UNDONE: Plan = { nodes: { pay: 'keyed', undo: 'undo' }, edges: ['pay -on_cancel-> undo'] };
const GATED: Plan = { nodes: { gate: 'gate', pay: 'keyed' }, edges: ['gate -> pay'] };
const SIDE_BY_SIDE: Plan = {
  nodes: { left: 'keyed', right: 'blind', both: 'noop' },
  edges: ['left -> both', 'right -> both'],
};
const IMPATIENT = { retry_policy: { max_attempts: 2, initial_interval_seconds: 1 } };

/** Approves, waits until somebody is held at this point in each of the group: the worker dies. */
const diesAt = (point: string): readonly Step[] => [
  'together',
  ...approvedUntilHeld(point),
  'death',
];

/** Scenarios whose worker lives. */
const CALM: readonly Scenario[] = [
  {
    name: 'approved and paid',
    plan: ONE,
    script: ['approve', { until: 'COMPLETED' }, 'closed'],
  },
  { name: 'nothing to pay', plan: { nodes: { done: 'noop' } }, script: ['approve', 'closed'] },
  { name: 'rejected', plan: ONE, script: ['reject', 'closed'] },
  { name: 'expired', plan: ONE, approvalSeconds: 8, script: ['closed'] },
  { name: 'cancelled before approval', plan: UNDONE, script: ['cancel', 'closed'] },
  {
    name: 'gate and resume',
    plan: GATED,
    script: ['approve', { until: 'WAITING_MANUAL_ACTION' }, 'resume', 'closed'],
  },
  {
    name: 'two gates in a row',
    plan: {
      nodes: { one: 'gate', two: 'gate', pay: 'blind' },
      edges: ['one -> two', 'two -> pay'],
    },
    script: [
      'approve',
      { node: 'one', is: 'READY' },
      'resume',
      { node: 'two', is: 'READY' },
      'resume',
      'closed',
    ],
  },
  {
    name: 'preflight refused, retried',
    plan: ONE,
    answers: { 'preflight of pay': ['refuses'] },
    script: ['approve', 'closed', 'retry', { until: 'COMPLETED' }, 'closed'],
  },
  {
    name: 'preflight refused three times, retried twice',
    plan: ONE,
    answers: { 'preflight of pay': ['refuses', 'refuses', 'refuses'] },
    script: ['approve', 'closed', 'retry', 'closed', 'retry', 'closed'],
  },
  {
    name: 'preflight fails three times',
    plan: ONE,
    answers: { 'preflight of pay': ['fails', 'fails', 'fails'] },
    script: ['approve', 'closed'],
  },
  {
    name: 'preflight fails too often',
    plan: { ...ONE, more: IMPATIENT },
    answers: { 'preflight of pay': ['fails', 'fails'] },
    script: ['approve', 'closed'],
  },
  {
    name: 'send refused',
    plan: ONE,
    answers: { 'submit of pay': ['refuses'] },
    script: ['approve', 'closed'],
  },
  {
    name: 'payment pending three times',
    plan: ONE,
    answers: { 'observe of pay': ['pending', 'pending', 'pending'] },
    script: ['approve', 'closed'],
  },
  {
    name: 'look fails twice',
    plan: ONE,
    answers: { 'observe of pay': ['fails', 'fails'] },
    script: ['approve', 'closed'],
  },
  {
    name: 'payment refused, retried',
    plan: ONE,
    answers: { 'observe of pay': ['refuses'] },
    script: ['approve', 'closed', 'retry', 'closed'],
  },
  {
    name: 'answer of a send lost, found',
    plan: ONE,
    answers: { 'submit of pay': ['answer is lost'] },
    script: ['approve', 'closed'],
  },
  {
    name: 'answer of a blind send lost, found',
    plan: BLIND,
    answers: { 'submit of pay': ['answer is lost'] },
    script: ['approve', 'closed'],
  },
  {
    name: 'send lost, sent again',
    plan: ONE,
    answers: { 'submit of pay': ['never arrives'] },
    script: ['approve', 'closed'],
  },
  {
    name: 'send lost twice, sent again',
    plan: ONE,
    answers: { 'submit of pay': ['never arrives', 'never arrives'] },
    script: ['approve', 'closed'],
  },
  {
    name: 'send lost too often',
    plan: { ...ONE, more: IMPATIENT },
    answers: { 'submit of pay': ['never arrives', 'never arrives'] },
    script: ['approve', 'closed'],
  },
  {
    name: 'send lost, search fails once',
    plan: ONE,
    answers: { 'submit of pay': ['answer is lost'], 'recover of pay': ['fails'] },
    script: ['approve', 'closed'],
  },
  {
    name: 'blind send lost, resolved as failed',
    plan: BLIND,
    answers: { 'submit of pay': ['never arrives'] },
    script: [
      'approve',
      { until: 'MANUAL_INTERVENTION' },
      { resolve: 'pay', outcome: 'failed' },
      'closed',
    ],
  },
  {
    name: 'blind send lost, resolved as completed',
    plan: BLIND,
    answers: { 'submit of pay': ['never arrives'] },
    script: [
      'approve',
      { until: 'MANUAL_INTERVENTION' },
      { resolve: 'pay', outcome: 'completed' },
      'closed',
    ],
  },
  {
    name: 'unknown, then found',
    plan: { ...ONE, more: IMPATIENT },
    answers: {
      'submit of pay': ['answer is lost'],
      'recover of pay': ['cannot tell', 'cannot tell', 'cannot tell'],
    },
    script: ['approve', 'closed'],
  },
  {
    name: 'three in a row',
    plan: {
      nodes: { first: 'keyed', second: 'blind', done: 'noop' },
      edges: ['first -> second', 'second -> done'],
    },
    script: ['approve', 'closed'],
  },
  {
    name: 'a gate between two payments',
    plan: {
      nodes: { before: 'keyed', gate: 'gate', after: 'keyed' },
      edges: ['before -> gate', 'gate -> after'],
    },
    script: ['approve', { until: 'WAITING_MANUAL_ACTION' }, 'resume', 'closed'],
  },
  {
    name: 'side by side, one after the other',
    plan: SIDE_BY_SIDE,
    script: [
      ...approvedUntilHeld('preflight of right arrives'),
      { node: 'left', is: 'COMPLETED' },
      { release: 'preflight of right arrives' },
      'closed',
    ],
  },
  {
    name: 'side by side, one refused',
    plan: SIDE_BY_SIDE,
    answers: { 'preflight of right': ['refuses'] },
    script: [
      ...approvedUntilHeld('preflight of right arrives'),
      { node: 'left', is: 'COMPLETED' },
      { release: 'preflight of right arrives' },
      'closed',
    ],
  },
  {
    name: 'another one instead',
    plan: {
      nodes: { try: 'blind', instead: 'keyed', done: 'noop' },
      edges: ['try -> done', 'try -on_failure-> instead'],
    },
    answers: { 'preflight of try': ['refuses'] },
    script: ['approve', 'closed'],
  },
  {
    name: 'cancelled while it is sent',
    plan: UNDONE,
    script: [
      ...approvedUntilHeld('submit of pay arrives'),
      'cancel',
      { until: 'CANCELLED' },
      { pause: 2 },
      { release: 'submit of pay arrives' },
      'closed',
    ],
  },
  {
    name: 'cancelled while it is observed',
    plan: UNDONE,
    answers: { 'observe of pay': ['pending', 'pending'] },
    script: [
      ...approvedUntilHeld('observe of pay arrives, call 2'),
      'cancel',
      { until: 'CANCELLED' },
      { pause: 2 },
      { release: 'observe of pay arrives, call 2' },
      'closed',
    ],
  },
  {
    name: 'cancelled at a gate',
    plan: {
      nodes: { pay: 'keyed', gate: 'gate', more: 'keyed', undo: 'undo' },
      edges: ['pay -> gate', 'gate -> more', 'pay -on_cancel-> undo'],
    },
    script: ['approve', { until: 'WAITING_MANUAL_ACTION' }, 'cancel', 'closed'],
  },
  {
    name: 'cancelled while the run loads',
    plan: UNDONE,
    script: [
      ...approvedUntilHeld('end of load'),
      'cancel',
      { pause: 1 },
      { arm: 'start of submit' },
      { release: 'end of load' },
      { held: 'start of submit' },
      { until: 'CANCELLED' },
      { release: 'start of submit' },
      'closed',
    ],
  },
  {
    name: 'retried while the run closes',
    plan: GATED,
    answers: { 'preflight of pay': ['refuses'] },
    script: [
      'approve',
      { until: 'WAITING_MANUAL_ACTION' },
      { arm: 'preflight of pay arrives' },
      'resume',
      { held: 'preflight of pay arrives' },
      { arm: 'end of decide' },
      { release: 'preflight of pay arrives' },
      { held: 'end of decide' },
      'retry',
      { pause: 1 },
      { release: 'end of decide' },
      'closed',
    ],
  },
  {
    name: 'the run loads for nine seconds',
    plan: ONE,
    isExtended: true,
    script: [
      ...approvedUntilHeld('end of load'),
      { pause: 9 },
      { release: 'end of load' },
      'closed',
    ],
  },
];

/** Scenarios whose worker dies, and another one takes over at once. */
const DYING: readonly Scenario[] = [
  {
    name: 'dies before a preflight arrives',
    plan: ONE,
    script: [...diesAt('preflight of pay arrives'), 'closed'],
  },
  {
    name: 'dies before the send arrives',
    plan: ONE,
    script: [...diesAt('submit of pay arrives'), 'closed'],
  },
  {
    name: 'dies when the send has arrived',
    plan: ONE,
    script: [...diesAt('submit of pay is answered'), 'closed'],
  },
  {
    name: 'dies before a blind send arrives',
    plan: BLIND,
    script: [
      ...diesAt('submit of pay arrives'),
      { until: 'MANUAL_INTERVENTION' },
      { resolve: 'pay', outcome: 'failed' },
      'closed',
    ],
  },
  {
    name: 'dies before it reports what it has recorded',
    plan: ONE,
    script: [...diesAt('end of submit'), 'closed'],
  },
  {
    name: 'dies while it waits for an approval',
    plan: ONE,
    script: ['together', 'death', 'approve', 'closed'],
  },
  {
    name: 'dies at a gate',
    plan: GATED,
    script: [
      'together',
      'approve',
      { until: 'WAITING_MANUAL_ACTION' },
      'death',
      'resume',
      'closed',
    ],
  },
].map((each) => ({ ...each, group: 'dying' }) as Scenario);

/** Scenarios whose worker dies in a local activity. */
const LOCALLY: readonly Scenario[] = [
  {
    name: 'dies while it loads',
    plan: ONE,
    script: [...diesAt('start of load'), 'closed'],
  },
  {
    name: 'dies when it has loaded and decided',
    plan: ONE,
    script: [...diesAt('end of load'), 'closed'],
  },
  {
    name: 'dies while it loads, then cancelled',
    plan: UNDONE,
    script: [...diesAt('start of load'), 'cancel', 'closed'],
  },
].map((each) => ({ ...each, group: 'locally' }) as Scenario);

/** Scenarios whose worker dies, and another one starts much later. */
const LATE: readonly Scenario[] = [
  {
    name: 'dies while it loads, cancelled before another starts',
    plan: UNDONE,
    isExtended: true,
    script: [...diesAt('start of load'), { pause: 9 }, 'cancel', 'closed'],
  },
  {
    name: 'dead for long, then approved',
    plan: ONE,
    script: ['together', 'death', { pause: 12 }, 'approve', 'closed'],
  },
  {
    name: 'dead for long, approved when another has started',
    plan: ONE,
    script: ['together', 'death', 'another', 'approve', 'closed'],
  },
  {
    name: 'dead for long with a send under way',
    plan: ONE,
    script: [...diesAt('submit of pay is answered'), 'closed'],
  },
].map((each) => ({ ...each, group: 'late' }) as Scenario);

/** Scenarios whose worker dies twice. */
const TWICE: readonly Scenario[] = [
  {
    name: 'dies before the send arrives and while it searches for it',
    plan: ONE,
    script: [
      ...diesAt('submit of pay arrives'),
      { arm: 'recover of pay arrives' },
      { held: 'recover of pay arrives' },
      'death',
      'closed',
    ],
  },
].map((each) => ({ ...each, group: 'twice-repeated-late' }) as Scenario);

const TWICE_LOADING: readonly Scenario[] = [
  {
    name: 'dies while it loads, twice',
    plan: ONE,
    script: [
      ...diesAt('start of load'),
      { arm: 'start of load' },
      { held: 'start of load' },
      'death',
      'closed',
    ],
  },
].map((each) => ({ ...each, group: 'twice-loading' }) as Scenario);
/** Scenarios whose worker dies twice, and the next one starts when a task has timed out. */
const TWICE_LATE: readonly Scenario[] = [
  {
    name: 'dies while it loads, twice, then cancelled',
    plan: UNDONE,
    script: [
      ...diesAt('start of load'),
      { arm: 'start of load' },
      { held: 'start of load' },
      'death',
      { pause: 9 },
      'cancel',
      'closed',
    ],
  },
].map((each) => ({ ...each, group: 'twice-late' }) as Scenario);
/** Scenarios whose worker dies in an activity that the server repeats. */
const REPEATED: readonly Scenario[] = [
  {
    name: 'dies while it observes',
    plan: ONE,
    answers: { 'observe of pay': ['pending'] },
    script: [...diesAt('observe of pay arrives, call 2'), 'closed'],
  },
  {
    name: 'dies while it searches for a send',
    plan: ONE,
    answers: { 'submit of pay': ['answer is lost'] },
    script: [...diesAt('recover of pay arrives'), 'closed'],
  },
].map((each) => ({ ...each, group: 'repeated-late' }) as Scenario);

/** Those whose worker lives. */
export const LIVING: readonly Scenario[] = [...CALM, ...TROUBLED, ...COMMANDED];

/** Those whose worker dies, or is frozen. */
export const STRICKEN: readonly Scenario[] = [
  ...DYING,
  ...LOCALLY,
  ...LATE,
  ...TWICE,
  ...TWICE_LOADING,
  ...TWICE_LATE,
  ...REPEATED,
  ...KILLED,
  ...FROZEN,
];
