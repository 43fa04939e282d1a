/** The scenarios that both runtimes play: plans, answers of the desk, and what people do when. */
import type { Scenario } from './script.ts';

const ONE = { nodes: { pay: 'keyed' } } as const;
const APPROVED = ['approve', { until: 'COMPLETED' }, 'closed'] as const;

/** Scenarios whose worker lives. */
const CALM: readonly Scenario[] = [
  { name: 'approved and paid', plan: ONE, script: APPROVED },
  { name: 'rejected', plan: ONE, script: ['reject', 'closed'] },
  { name: 'cancelled before approval', plan: ONE, script: ['cancel', 'closed'] },
  {
    name: 'gate and resume',
    plan: { nodes: { gate: 'gate', pay: 'keyed' }, edges: ['gate -> pay'] },
    script: ['approve', { until: 'WAITING_MANUAL_ACTION' }, 'resume', 'closed'],
  },
  {
    name: 'preflight refused, retried',
    plan: ONE,
    answers: { 'preflight of pay': ['refuses'] },
    script: ['approve', 'closed', 'retry', { until: 'COMPLETED' }, 'closed'],
  },
];

/** Scenarios whose worker dies, and another one takes over at once. */
const DYING: readonly Scenario[] = [
  {
    name: 'dies before the send arrives',
    plan: ONE,
    script: [
      'together',
      { arm: 'submit of pay arrives' },
      'approve',
      { held: 'submit of pay arrives' },
      'death',
      'closed',
    ],
  },
].map((each) => ({ ...each, group: 'dying' }) as Scenario);

export const SCENARIOS: readonly Scenario[] = [...CALM, ...DYING];
