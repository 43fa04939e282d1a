/**
 * Scenarios as the cells of small tables: the shape of a plan and what befalls its payment, what
 * people do and when, where the worker dies.
 */
import type { Answers } from './play.ts';
import type { Does, Plan, Scenario, Step } from './script.ts';

/** Approves, and goes on when somebody is held at this point. */
export const approvedUntilHeld = (point: string): readonly Step[] => [
  { arm: point },
  'approve',
  { held: point },
];
const AT_GATE: Step = { until: 'WAITING_MANUAL_ACTION' };
const WITH_A_PERSON: Step = { until: 'MANUAL_INTERVENTION' };

/** Where a plan has its payment `pay`, and what people do around it. */
interface Shape {
  readonly name: string;
  readonly plan: (pay: Does) => Plan;
  readonly start?: readonly Step[];
  /** Once the payment has ended so. */
  readonly then?: (ended: 'COMPLETED' | 'FAILED') => readonly Step[];
  /** A failed payment is not retried: the plan goes on, or has undone or reported it. */
  readonly isFinal?: boolean;
}

const SHAPES: readonly Shape[] = [
  {
    name: 'first of two',
    plan: (pay) => ({ nodes: { pay, next: 'keyed' }, edges: ['pay -> next'] }),
  },
  {
    name: 'last of two',
    plan: (pay) => ({ nodes: { first: 'blind', pay }, edges: ['first -> pay'] }),
  },
  {
    name: 'beside a gate',
    plan: (pay) => ({
      nodes: { pay, gate: 'gate', other: 'keyed', done: 'noop' },
      edges: ['pay -> done', 'gate -> other', 'other -> done'],
    }),
    then: (is) => [{ node: 'pay', is }, AT_GATE, 'resume'],
    isFinal: true,
  },
  {
    name: 'behind a gate',
    plan: (pay) => ({ nodes: { gate: 'gate', pay }, edges: ['gate -> pay'] }),
    start: ['approve', AT_GATE, 'resume'],
  },
  {
    name: 'before a gate',
    plan: (pay) => ({
      nodes: { pay, gate: 'gate', next: 'keyed' },
      edges: ['pay -> gate', 'gate -> next'],
    }),
    then: (ended) => (ended === 'COMPLETED' ? [AT_GATE, 'resume'] : []),
  },
  {
    name: 'with another instead',
    plan: (pay) => ({
      nodes: { pay, instead: 'blind', done: 'noop' },
      edges: ['pay -> done', 'pay -on_failure-> instead'],
    }),
    isFinal: true,
  },
  {
    name: 'undone when it fails',
    plan: (pay) => ({
      nodes: { first: 'keyed', pay, undo: 'undo' },
      edges: ['first -> pay', 'pay -on_failure-> undo'],
    }),
    isFinal: true,
  },
  {
    name: 'before a choice',
    plan: (pay) => ({
      nodes: { pay, much: 'keyed', little: 'keyed' },
      edges: [
        'pay -> much if dec(intent.amount) > dec("10")',
        'pay -> little if dec(intent.amount) <= dec("10")',
      ],
    }),
  },
  {
    name: 'with a report',
    plan: (pay) => ({
      nodes: { pay, report: 'report' },
      edges: ['pay -> report', 'pay -on_failure-> report'],
    }),
    isFinal: true,
  },
  {
    name: 'a gate where it fails',
    plan: (pay) => ({
      nodes: { pay, gate: 'gate', next: 'keyed' },
      edges: ['pay -on_failure-> gate', 'gate -> next'],
    }),
    then: (ended) => (ended === 'FAILED' ? [AT_GATE, 'resume'] : []),
    isFinal: true,
  },
];

/** What befalls the payment. */
interface Trouble {
  readonly name: string;
  readonly pay?: Does;
  readonly answers: Answers;
  readonly steps?: readonly Step[];
  readonly ends: 'COMPLETED' | 'FAILED';
}

const TROUBLES: readonly Trouble[] = [
  { name: 'check refused', answers: { 'preflight of pay': ['refuses'] }, ends: 'FAILED' },
  { name: 'check fails once', answers: { 'preflight of pay': ['fails'] }, ends: 'COMPLETED' },
  { name: 'send unanswered', answers: { 'submit of pay': ['answer is lost'] }, ends: 'COMPLETED' },
  { name: 'send lost', answers: { 'submit of pay': ['never arrives'] }, ends: 'COMPLETED' },
  { name: 'pending', answers: { 'observe of pay': ['pending'] }, ends: 'COMPLETED' },
  { name: 'refused after the send', answers: { 'observe of pay': ['refuses'] }, ends: 'FAILED' },
  ...(['failed', 'completed'] as const).map((outcome): Trouble => ({
    name: `unknown, resolved as ${outcome}`,
    pay: 'blind',
    answers: { 'submit of pay': ['never arrives'] },
    steps: [WITH_A_PERSON, { resolve: 'pay', outcome }],
    ends: outcome === 'failed' ? 'FAILED' : 'COMPLETED',
  })),
];

/** A failed movement is retried once. */
export const TROUBLED: readonly Scenario[] = SHAPES.flatMap((shape) =>
  TROUBLES.map(({ name, pay = 'keyed', answers, steps = [], ends }): Scenario => {
    const { start = ['approve'], then = () => [], isFinal = false } = shape;
    const again = ends === 'FAILED' && !isFinal;
    return {
      name: `${shape.name}: ${name}`,
      plan: shape.plan(pay),
      answers,
      script: [
        ...start,
        ...steps,
        ...then(ends),
        'closed',
        ...(again ? (['retry', ...then('COMPLETED'), 'closed'] as const) : []),
      ],
    };
  }),
);

const ONE: Plan = { nodes: { pay: 'keyed' } };
const BLIND: Plan = { nodes: { pay: 'blind' } };
const GATED: Plan = { nodes: { gate: 'gate', pay: 'keyed' }, edges: ['gate -> pay'] };
const ROW: Plan = { nodes: { first: 'keyed', pay: 'keyed' }, edges: ['first -> pay'] };
const NEAR: Plan = {
  nodes: { first: 'near', pay: 'near', last: 'near' },
  edges: ['first -> pay', 'pay -> last'],
};
const WATCH: Plan = { nodes: { watch: 'watch', pay: 'keyed' }, edges: ['watch -> pay'] };
const UNDONE: Plan = { nodes: { pay: 'keyed', undo: 'undo' }, edges: ['pay -on_cancel-> undo'] };
/** Paid, and undone when it is cancelled at its gate. */
const PAID: Plan = {
  nodes: { pay: 'keyed', gate: 'gate', more: 'keyed', undo: 'undo' },
  edges: ['pay -> gate', 'gate -> more', 'pay -on_cancel-> undo'],
};
const SIDE: Plan = {
  nodes: { left: 'keyed', right: 'blind', both: 'noop' },
  edges: ['left -> both', 'right -> both'],
};
const INSTEAD: Plan = {
  nodes: { try: 'blind', instead: 'keyed', done: 'noop' },
  edges: ['try -> done', 'try -on_failure-> instead'],
};
const GATES: Plan = {
  nodes: { one: 'gate', two: 'gate', pay: 'keyed' },
  edges: ['one -> pay', 'two -> pay'],
};
const UNDO_UNKNOWN: Plan = {
  nodes: { pay: 'blind', undo: 'undo' },
  edges: ['pay -on_cancel-> undo'],
};

const LOST: Answers = { 'submit of pay': ['answer is lost'] };
const NEVER: Answers = { 'submit of pay': ['never arrives'] };
const PENDING: Answers = { 'observe of pay': ['pending', 'pending'] };
const REFUSED: Answers = { 'preflight of pay': ['refuses'] };

/** Cancels when the movement is held at this point, and then lets it go on. */
const cancelledAt = (point: string, answers: Answers = {}): Scenario => ({
  name: `cancelled at "${point}"`,
  plan: UNDONE,
  answers,
  script: [
    ...approvedUntilHeld(point),
    'cancel',
    { until: 'CANCELLED' },
    { pause: 2 },
    { release: point },
    'closed',
  ],
});

/** A person does this when the run has loaded and not gone on, so that its task cannot close it. */
const whileItLoads = (
  name: string,
  plan: Plan,
  steps: readonly Step[],
  rest: readonly Step[] = [],
): Scenario => ({
  name,
  plan,
  script: [
    ...approvedUntilHeld('end of load'),
    ...steps,
    { pause: 1 },
    { release: 'end of load' },
    ...rest,
    'closed',
  ],
});

/** Holds the left one of two at this point before the right one begins: their order is open. */
const leftHeld = (point: string): readonly Step[] => [
  { arm: 'preflight of right arrives' },
  { arm: point },
  'approve',
  { held: point },
  { held: 'preflight of right arrives' },
  { release: 'preflight of right arrives' },
];

/** The movement is signalled until the server suggests a new run. */
const signalled = (at: Step, times = 16): readonly Step[] =>
  Array.from({ length: times }, () => ['wake', at] as const).flat();

/** What people do, and when. */
export const COMMANDED: readonly Scenario[] = [
  cancelledAt('preflight of pay arrives'),
  cancelledAt('submit of pay is answered'),
  cancelledAt('recover of pay arrives', LOST),
  {
    name: 'cancelled with an unknown outcome, resolved as failed',
    plan: UNDO_UNKNOWN,
    answers: NEVER,
    script: [
      'approve',
      WITH_A_PERSON,
      'cancel',
      { until: 'CANCELLED' },
      { resolve: 'pay', outcome: 'failed' },
      'closed',
    ],
  },
  {
    name: 'cancelled with an unknown outcome, resolved as completed',
    plan: UNDO_UNKNOWN,
    answers: NEVER,
    script: [
      'approve',
      WITH_A_PERSON,
      'cancel',
      { until: 'CANCELLED' },
      { resolve: 'pay', outcome: 'completed' },
      'closed',
    ],
  },
  {
    name: 'undoing fails, retried',
    plan: PAID,
    answers: { 'preflight of undo': ['refuses'] },
    script: ['approve', AT_GATE, 'cancel', 'closed', { refused: ['cancel'] }, 'retry', 'closed'],
  },
  {
    name: 'what is refused before and after',
    plan: ONE,
    script: [
      { refused: ['cancel', 'resume', 'retry', 'acknowledge'] },
      ...approvedUntilHeld('preflight of pay arrives'),
      { refused: ['approve', 'reject', 'cancel', 'resume', 'retry', 'acknowledge'] },
      { release: 'preflight of pay arrives' },
      'closed',
      { refused: ['approve', 'reject', 'cancel', 'resume', 'retry', 'acknowledge'] },
    ],
  },
  {
    name: 'failed, acknowledged, retried',
    plan: ONE,
    answers: REFUSED,
    script: [
      'approve',
      'closed',
      { refused: ['resume', 'cancel'] },
      'acknowledge',
      { refused: ['acknowledge'] },
      'retry',
      'closed',
    ],
  },
  {
    name: 'approved too late',
    plan: ONE,
    approvalSeconds: 8,
    script: [
      { arm: 'start of expire' },
      { held: 'start of expire' },
      { refused: ['approve'] },
      { release: 'start of expire' },
      'closed',
    ],
  },
  {
    name: 'an unknown outcome is looked up again',
    plan: BLIND,
    answers: { ...LOST, 'recover of pay': ['cannot tell'] },
    script: ['approve', 'closed'],
  },
  {
    name: 'retried with an unknown outcome, resolved',
    plan: BLIND,
    answers: NEVER,
    script: [
      'approve',
      WITH_A_PERSON,
      'retry',
      { pause: 2 },
      WITH_A_PERSON,
      { resolve: 'pay', outcome: 'failed' },
      'closed',
    ],
  },
  {
    name: 'retried while another node is sent',
    plan: SIDE,
    answers: { 'preflight of right': ['refuses'] },
    script: [
      ...leftHeld('submit of left arrives'),
      { node: 'right', is: 'FAILED' },
      'retry',
      { node: 'right', is: 'COMPLETED' },
      { release: 'submit of left arrives' },
      'closed',
    ],
  },
  {
    name: 'two gates side by side, one after the other',
    plan: GATES,
    script: [
      'approve',
      AT_GATE,
      'resume',
      { node: 'one', is: 'COMPLETED' },
      { refused: ['approve'] },
      'resume',
      'closed',
    ],
  },
  {
    name: 'approved and resumed by two people at once',
    plan: GATED,
    script: [{ twice: 'approve' }, AT_GATE, { twice: 'resume' }, 'closed'],
  },
  {
    name: 'cancelled by two people at once',
    plan: PAID,
    script: ['approve', AT_GATE, { twice: 'cancel' }, 'closed', { refused: ['retry'] }],
  },
  whileItLoads('signalled twice while it loads', ONE, ['wake', 'wake']),
  whileItLoads('cancelled and signalled while it loads', UNDONE, ['cancel', { pause: 1 }, 'wake']),
  whileItLoads('signalled that a person is needed while it loads', ONE, ['attention']),
  {
    name: 'rejected while it is loaded',
    plan: ONE,
    script: [
      { arm: 'end of load' },
      'wake',
      { held: 'end of load' },
      'reject',
      { pause: 1 },
      { release: 'end of load' },
      'closed',
    ],
  },
  {
    name: 'approved while it is loaded',
    plan: ONE,
    script: [
      { arm: 'end of load' },
      'wake',
      { held: 'end of load' },
      'approve',
      { pause: 1 },
      { release: 'end of load' },
      'closed',
    ],
  },
  {
    name: 'signalled before approval and after the end',
    plan: ONE,
    script: ['wake', { until: 'PENDING_APPROVAL' }, 'approve', 'closed', 'wake', 'closed'],
  },
  {
    name: 'signalled after a failure',
    plan: ONE,
    answers: REFUSED,
    script: ['approve', 'closed', 'wake', 'closed', 'retry', 'closed'],
  },
  {
    name: 'signalled that a person is needed',
    plan: ONE,
    answers: PENDING,
    script: [
      ...approvedUntilHeld('observe of pay arrives, call 2'),
      'attention',
      { node: 'pay', is: 'OBSERVING' },
      { release: 'observe of pay arrives, call 2' },
      'closed',
    ],
  },
  {
    name: 'signalled while the run closes',
    plan: GATED,
    script: [
      'approve',
      AT_GATE,
      { arm: 'end of load' },
      'resume',
      { held: 'end of load' },
      'wake',
      { pause: 1 },
      { release: 'end of load' },
      'closed',
    ],
  },
  {
    name: 'modules of the worker in a row',
    plan: NEAR,
    script: ['approve', 'closed'],
  },
  {
    name: 'modules of the worker in a row, the second unanswered',
    plan: NEAR,
    answers: LOST,
    script: ['approve', 'closed'],
  },
  {
    name: 'watched until it comes',
    plan: WATCH,
    answers: { 'observe of watch': ['pending', 'fails', 'pending'] },
    script: ['approve', 'closed'],
  },
  {
    name: 'watched in vain',
    plan: WATCH,
    answers: { 'observe of watch': ['refuses'] },
    script: ['approve', 'closed', 'retry', 'closed'],
  },
  {
    name: 'observed for too long',
    plan: {
      nodes: { pay: 'keyed', instead: 'keyed' },
      edges: ['pay -on_timeout-> instead'],
      more: { timeout_policy: { observe_seconds: 5 } },
    },
    answers: { 'observe of pay': ['pending', 'refuses'], 'recover of pay': ['refuses'] },
    script: [
      ...approvedUntilHeld('observe of pay arrives, call 2'),
      { pause: 8 },
      { release: 'observe of pay arrives, call 2' },
      'closed',
    ],
  },
  {
    name: 'continues as new before approval',
    plan: ONE,
    script: [...signalled({ until: 'PENDING_APPROVAL' }), 'approve', 'closed'],
  },
  {
    name: 'continues as new at a gate',
    plan: GATED,
    script: ['approve', AT_GATE, ...signalled(AT_GATE), 'resume', 'closed'],
  },
  {
    name: 'continues as new when its send is over',
    plan: ROW,
    script: [
      ...signalled({ until: 'PENDING_APPROVAL' }, 8),
      ...approvedUntilHeld('submit of first arrives'),
      ...signalled({ node: 'first', is: 'SUBMITTING' }, 4),
      { release: 'submit of first arrives' },
      'closed',
    ],
  },
  {
    name: 'continues as new while it is cancelled and observed',
    plan: UNDONE,
    answers: PENDING,
    script: [
      ...signalled({ until: 'PENDING_APPROVAL' }, 7),
      ...approvedUntilHeld('observe of pay arrives, call 2'),
      'cancel',
      { until: 'CANCELLED' },
      { pause: 2 },
      ...signalled({ until: 'CANCELLED' }, 3),
      { release: 'observe of pay arrives, call 2' },
      'closed',
    ],
  },
  {
    name: 'continues as new with an unknown outcome',
    plan: BLIND,
    answers: NEVER,
    script: [
      'approve',
      WITH_A_PERSON,
      ...signalled(WITH_A_PERSON, 12),
      { resolve: 'pay', outcome: 'completed' },
      'closed',
    ],
  },
];

/** Where the worker dies. */
interface Death {
  readonly name: string;
  readonly plan: Plan;
  readonly answers?: Answers;
  readonly before?: readonly Step[];
  readonly by?: readonly Step[];
  readonly point: string;
  readonly after?: readonly Step[];
}

/** The worker of all of them dies when each is held at its point. */
const dying = (group: string, deaths: readonly Death[]): readonly Scenario[] =>
  deaths.map(({ name, plan, answers = {}, before = [], by = ['approve'], point, after = [] }) => ({
    name: `dies at "${point}": ${name}`,
    plan,
    answers,
    group,
    script: [
      ...before,
      'together',
      { arm: point },
      ...by,
      { held: point },
      'death',
      ...after,
      'closed',
    ],
  }));

const at = (plan: Plan, name: string, points: readonly string[], more: Partial<Death> = {}) =>
  points.map((point): Death => ({ name, plan, point, ...more }));

const SENDS = dying('sends', [
  ...at(ONE, 'one', [
    'start of submit',
    'preflight of pay is answered',
    'observe of pay arrives',
    'observe of pay is answered',
  ]),
  ...at(BLIND, 'blind', ['submit of pay is answered']),
  ...at(ROW, 'the second', ['submit of pay arrives', 'submit of pay is answered', 'end of submit']),
  ...at(NEAR, 'the second in its activity', [
    'submit of pay arrives',
    'submit of pay is answered',
    'preflight of last arrives',
  ]),
  ...['submit of left arrives', 'submit of left is answered'].map((point): Death => ({
    name: 'one of two',
    plan: SIDE,
    by: [...leftHeld(point), { node: 'right', is: 'COMPLETED' }],
    point,
  })),
]);

const LATER_SENDS = dying('later-sends', [
  ...at(INSTEAD, 'another instead', ['submit of instead arrives'], {
    answers: { 'preflight of try': ['refuses'] },
  }),
  ...at(GATED, 'behind a gate', ['submit of pay arrives'], {
    before: ['approve', AT_GATE],
    by: ['resume'],
  }),
  ...at(PAID, 'undoing', ['submit of undo arrives', 'submit of undo is answered'], {
    before: ['approve', AT_GATE],
    by: ['cancel'],
  }),
  ...at(ONE, 'retried', ['submit of pay arrives'], {
    answers: REFUSED,
    before: ['approve', 'closed'],
    by: ['retry'],
  }),
]);

const LOOKS = dying('repeated-late', [
  ...at(
    ONE,
    'pending',
    ['start of observe', 'observe of pay is answered, call 2', 'end of observe'],
    {
      answers: { 'observe of pay': ['pending'] },
    },
  ),
  ...at(ONE, 'unanswered', ['start of recover', 'recover of pay is answered', 'end of recover'], {
    answers: LOST,
  }),
  ...at(ONE, 'lost', ['recover of pay is answered'], { answers: NEVER }),
]);

const LATER_LOOKS = dying('later-repeated-late', [
  ...at(ROW, 'the second', ['observe of pay arrives, call 2'], {
    answers: { 'observe of pay': ['pending'] },
  }),
  ...at(PAID, 'undoing', ['observe of undo arrives, call 2'], {
    answers: { 'observe of undo': ['pending'] },
    before: ['approve', AT_GATE],
    by: ['cancel'],
  }),
  ...at(BLIND, 'lost', ['recover of pay arrives'], {
    answers: NEVER,
    after: [WITH_A_PERSON, { resolve: 'pay', outcome: 'completed' }],
  }),
  ...at(WATCH, 'watching', ['observe of watch arrives', 'observe of watch is answered']),
]);

/** Local activities hold their workflow task, which must not be extended before the death. */
const LOCALLY = dying('locally', [
  ...at(ONE, 'refused', ['start of decide', 'end of decide'], { answers: REFUSED }),
  ...at(GATED, 'resumed', ['start of load', 'end of load'], {
    before: ['approve', AT_GATE],
    by: ['resume'],
  }),
  ...at(PAID, 'cancelled', ['end of load'], { before: ['approve', AT_GATE], by: ['cancel'] }),
  ...at(ONE, 'retried', ['start of load', 'end of load'], {
    answers: REFUSED,
    before: ['approve', 'closed'],
    by: ['retry'],
  }),
  ...at(ONE, 'rejected', ['end of load'], { by: ['reject'] }),
]);

/** What people do when the worker has just died, with nothing under way. */
const AT_REST: readonly Scenario[] = [
  { name: 'rejected', plan: ONE, before: [], then: ['reject'] },
  { name: 'cancelled at a gate', plan: PAID, before: ['approve', AT_GATE], then: ['cancel'] },
  {
    name: 'resolved',
    plan: BLIND,
    answers: NEVER,
    before: ['approve', WITH_A_PERSON],
    then: [{ resolve: 'pay', outcome: 'completed' }],
  },
  { name: 'retried', plan: ONE, answers: REFUSED, before: ['approve', 'closed'], then: ['retry'] },
].map(
  ({ before, then, ...each }) =>
    ({
      ...each,
      name: `dies at rest, then ${each.name}`,
      group: 'at-rest',
      script: [...before, 'together', 'death', ...then, 'closed'],
    }) as Scenario,
);

/** A command whose signal gets lost while the worker dies; another one is sent later. */
const UNSIGNALLED: readonly Scenario[] = (
  [
    ['approve', ONE, []],
    ['reject', ONE, []],
    ['resume', GATED, ['approve', AT_GATE]],
    ['cancel', PAID, ['approve', AT_GATE]],
  ] as const
).map(([unsignalled, plan, before]) => ({
  name: `dies between ${unsignalled} and its signal`,
  plan,
  group: 'at-rest',
  script: [...before, 'together', { unsignalled }, 'death', 'wake', 'closed'],
}));

/**
 * The worker is frozen, and wakes when its time-outs are over: what it did goes on beside what
 * was started in its place.
 */
const frozen = (group: string): readonly Scenario[] => [
  ...[
    ...at(ONE, 'one', ['submit of pay arrives', 'submit of pay is answered']),
    ...at(BLIND, 'blind', ['submit of pay arrives']),
  ].map(({ name, plan, point }): Scenario => ({
    name: `${group} at "${point}": ${name}`,
    plan,
    group,
    script: [
      'together',
      ...approvedUntilHeld(point),
      { arm: 'recover of pay arrives' },
      'freeze',
      { held: 'recover of pay arrives' },
      { release: point },
      { pause: 2 },
      { release: 'recover of pay arrives' },
      'closed',
    ],
  })),
  {
    name: `${group} at "start of load"`,
    plan: ONE,
    group,
    script: [
      'together',
      ...approvedUntilHeld('start of load'),
      'freeze',
      'closed',
      { release: 'start of load' },
    ],
  },
  {
    name: `${group} at rest, then approved`,
    plan: ONE,
    group,
    script: ['together', 'freeze', 'approve', 'closed'],
  },
];

export const FROZEN: readonly Scenario[] = [...frozen('frozen'), ...frozen('frozen-long')];

export const KILLED: readonly Scenario[] = [
  ...SENDS,
  ...LATER_SENDS,
  ...LOOKS,
  ...LATER_LOOKS,
  ...LOCALLY,
  ...AT_REST,
  ...UNSIGNALLED,
];
