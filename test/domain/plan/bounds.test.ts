/** Plans that would be large are refused by what they are made of, before any is made. */
import {
  excessBefore,
  foreignKeys,
  MOST_NODE_CONFIG_BYTES,
  MOST_PLAN_BYTES,
} from '../../../domain/plan/bounds.ts';
import type { JsonObject } from '../../../domain/json.ts';
import type { PlanTemplate } from '../../../domain/plan/types.ts';

const PLAN = { part: 'plan', limit_bytes: MOST_PLAN_BYTES };
const template = (count: number, config: JsonObject = {}): PlanTemplate => ({
  template_id: '01980000-0000-7000-8000-000000000000',
  template_key: 'size',
  version: 1,
  nodes: Array.from({ length: count }, (_, index) => ({
    node_key: `n${index}`,
    node_kind: 'action',
    action_type: 'noop',
    has_side_effect: false,
    config,
  })),
  edges: [],
  risk_controls: {},
  completion_policy: { completion_assurance: 'provider_completed' },
});
const noted = (bytes: number): JsonObject => ({ node_config: { note: 'x'.repeat(bytes) } });

test.each([
  ['what is added to each node counts for each', template(60), noted(18_000), PLAN],
  ['what a template says itself is not added', template(60, { note: '' }), noted(18_000), null],
  ['what a template says counts', template(60, { note: 'x'.repeat(18_000) }), {}, PLAN],
  ['bytes count, not letters', template(60), { node_config: { note: 'é'.repeat(9_000) } }, PLAN],
  [
    'what is left out where a node passes on',
    template(60, { amount_ref: 'intent' }),
    { node_config: { amount: 'x'.repeat(18_000) } },
    null,
  ],
  ['one that fits', template(50), noted(18_000), null],
  [
    'a node_config of its own',
    template(1),
    noted(MOST_NODE_CONFIG_BYTES),
    { part: 'node_config', limit_bytes: MOST_NODE_CONFIG_BYTES },
  ],
  ['input_params that no node takes', template(1), { memo: 'x'.repeat(MOST_PLAN_BYTES) }, PLAN],
])('%s', (_name, plan, inputParams, excess) => {
  expect(excessBefore(plan, inputParams)).toEqual(excess);
});

test.each([
  'completion_assurance',
  'amount_ref',
  'match_from',
  'burn_from',
  'tag',
  'baseline',
  'baseline_amount',
  'destination_caller',
  'max_fee',
  'finality',
  'fee_limit',
])('a caller may not say %s', (key) => {
  expect(foreignKeys({ node_config: { note: 'x', [key]: '0' } })).toEqual([key]);
});
