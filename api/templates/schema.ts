/** The wire contract of plan templates. */
import { z } from 'zod';
import { COMPLETION_ASSURANCES } from '../../domain/executor.ts';
import { EDGE_TYPES, GRAPH_SHAPES, NODE_KINDS } from '../../domain/graph/types.ts';
import { compare, isDecimal } from '../../domain/money.ts';
import { TEMPLATE_STATUSES } from '../../domain/states/template-version.ts';
import { asTemplateKey } from '../../platform/template-key.ts';
import {
  assetCode,
  decimalString,
  int32,
  jsonObject,
  listOf,
  oneOf,
  segment,
  text,
  timestamp,
  uuid,
} from '../http/schemas.ts';

export const MAX_NODES = 200;
export const MAX_EDGES = 1_000;

/** A template's key. */
export const templateKey = asTemplateKey(text(1, 256)).meta({
  description:
    'Identifies the template; many versions share a key. In a path its slashes stand as they are, not as %2F.',
  example: 'treasury/cex-to-wallet',
});

const LIMITS = ['max_amount', 'min_amount'] as const;

/** Any object; the two limits that have an effect at run time must be decimals. */
const riskControls = (id: string, description: string) =>
  jsonObject
    .superRefine((controls, context) => {
      for (const key of LIMITS) {
        const limit = controls[key];
        if (limit === undefined || (typeof limit === 'string' && isDecimal(limit))) continue;
        context.addIssue({
          code: 'custom',
          path: [key],
          message: 'must be a decimal string in plain notation',
        });
      }
    })
    .meta({ id, type: 'object', additionalProperties: true, description });

const seconds = (max: number) => z.number().positive().max(max);
const YEAR = 31_536_000;
const WEEK = 604_800;

const timeoutPolicy = z
  .strictObject({
    execution_seconds: seconds(YEAR)
      .exactOptional()
      .meta({ description: 'From the start of the node to its submit.' }),
    observe_seconds: seconds(YEAR)
      .exactOptional()
      .meta({ description: 'From the submit to the proven end; absent means no end.' }),
    attention_seconds: seconds(YEAR).exactOptional().meta({
      description:
        'From the submit: a node that is observed for longer needs a person (`observed_long`). It ends nothing; absent means the usual time of the action type.',
    }),
  })
  .meta({ id: 'TimeoutPolicy' });

const retryPolicy = z
  .strictObject({
    max_attempts: int32(1).max(10_000).exactOptional(),
    initial_interval_seconds: seconds(WEEK).exactOptional(),
    backoff_coefficient: z.number().min(1).max(100).exactOptional(),
    max_interval_seconds: seconds(WEEK).exactOptional(),
  })
  .refine(
    (policy) => (policy.max_interval_seconds ?? WEEK) >= (policy.initial_interval_seconds ?? 0),
    {
      path: ['max_interval_seconds'],
      message: 'must not be less than initial_interval_seconds',
    },
  )
  .meta({
    id: 'RetryPolicy',
    description:
      'For errors of preflight, prepare, recover and observe; a submit is never repeated by it.',
  });

const executorSelector = z
  .strictObject({
    action_type: text(1, 128),
    provider: text(1, 128).exactOptional(),
    chain_family: text(1, 128).exactOptional(),
  })
  .meta({ id: 'ExecutorSelector' });

const signerSelector = z
  .strictObject({ chain_family: text(1, 128), profile: text(1, 128).exactOptional() })
  .meta({ id: 'SignerSelector' });

const nodeFields = {
  node_key: segment(128),
  node_kind: z.enum(NODE_KINDS),
  action_type: text(1, 128),
};

/** Maximum length of a gate's `config.description`, in characters. */
const LONGEST_DESCRIPTION = 1_000;

export const planNodeCreate = z
  .strictObject({
    ...nodeFields,
    executor_selector: executorSelector.nullish(),
    signer_selector: signerSelector.nullish(),
    input_schema: jsonObject.nullish(),
    config: jsonObject.nullish(),
    has_side_effect: z.boolean().default(false),
    timeout_policy: timeoutPolicy.nullish(),
    retry_policy: retryPolicy.nullish(),
    risk_patch: riskControls(
      'RiskPatch',
      'Overrides risk_controls for this node; max_amount may only be tightened.',
    ).nullish(),
  })
  .superRefine(({ node_kind, config }, context) => {
    const { description } = config ?? {};
    if (node_kind !== 'manual_gate' || description === undefined) return;
    if (
      typeof description === 'string' &&
      /\S/.test(description) &&
      description.length <= LONGEST_DESCRIPTION
    )
      return;
    context.addIssue({
      code: 'custom',
      path: ['config', 'description'],
      message: `what a person looks at before the gate is resumed: 1 to ${String(LONGEST_DESCRIPTION)} characters`,
    });
  })
  .meta({ id: 'PlanNodeCreate' });
export type PlanNodeCreate = z.output<typeof planNodeCreate>;

export const planEdgeCreate = z
  .strictObject({
    from: text(1, 128),
    to: text(1, 128),
    edge_type: z.enum(EDGE_TYPES),
    condition_expr: text(1, 1_024).nullish(),
    priority: z.number().int().min(-2_147_483_648).max(2_147_483_647).default(0),
    join_key: text(1, 128).nullish(),
  })
  .meta({ id: 'PlanEdgeCreate' });
export type PlanEdgeCreate = z.output<typeof planEdgeCreate>;

const completionPolicy = z
  .object({ completion_assurance: z.enum(COMPLETION_ASSURANCES) })
  .meta({ id: 'CompletionPolicyView' });

export const planTemplateCreate = z
  .strictObject({
    template_key: templateKey,
    name: text(1, 256),
    version: int32(1),
    owner: text(0, 128).nullish(),
    nodes: z.array(planNodeCreate).max(MAX_NODES),
    edges: z.array(planEdgeCreate).max(MAX_EDGES).default([]),
    approval_policy: jsonObject.default({}),
    risk_controls: riskControls(
      'RiskControls',
      'Free-form; only max_amount and min_amount have an effect.',
    ).default({}),
    // Optional here: a missing policy has a separate error code.
    completion_policy: z
      .strictObject({ completion_assurance: z.enum(COMPLETION_ASSURANCES).optional() })
      .nullish()
      .meta({
        description:
          'Required: without completion_assurance the answer is `completion_policy_missing`.',
      }),
  })
  .superRefine((template, context) => {
    const { max_amount: limit } = template.risk_controls;
    for (const [index, node] of template.nodes.entries()) {
      const patched = node.risk_patch?.['max_amount'];
      if (typeof limit !== 'string' || typeof patched !== 'string' || compare(patched, limit) <= 0)
        continue;
      context.addIssue({
        code: 'custom',
        path: ['nodes', index, 'risk_patch', 'max_amount'],
        message: 'may only tighten max_amount of risk_controls',
      });
    }
  })
  .meta({
    id: 'PlanTemplateCreateRequest',
    examples: [
      {
        template_key: 'treasury/checked-transfer',
        name: 'A step, and a person who looks at it',
        version: 1,
        nodes: [
          { node_key: 'step', node_kind: 'action', action_type: 'noop' },
          { node_key: 'look', node_kind: 'manual_gate', action_type: 'manual_gate' },
        ],
        edges: [
          {
            from: 'step',
            to: 'look',
            edge_type: 'on_success',
            condition_expr: 'dec(intent.amount) > dec("1000")',
          },
        ],
        risk_controls: { max_amount: '50000' },
        completion_policy: { completion_assurance: 'provider_completed' },
      },
    ],
  });
export type PlanTemplateCreate = z.output<typeof planTemplateCreate>;

const createdFields = {
  template_id: uuid,
  template_key: z.string(),
  version: z.number().int(),
  graph_shape: oneOf(GRAPH_SHAPES),
  requires_graph_runtime: z.boolean(),
  executable_in_v3_0: z.boolean(),
  non_executable_reasons: listOf(z.string()).meta({
    description: 'Each as `<code>:<node_key or from->to>`.',
  }),
  completion_policy: completionPolicy,
};

export const planTemplateCreated = z
  .object(createdFields)
  .meta({ id: 'PlanTemplateCreateResponse' });

const summaryFields = {
  ...createdFields,
  name: z.string(),
  owner: z.string().nullable(),
  created_by: z.string().nullable().meta({ description: 'The client that registered it.' }),
  created_at: timestamp,
  status: oneOf(TEMPLATE_STATUSES).meta({
    description: '`retired`: nothing new is made from it; movements that it made continue.',
  }),
  retired_at: timestamp.nullable(),
  retired_by: z.string().nullable().meta({ description: 'The client that retired it.' }),
  retired_reason: z.string().nullable(),
};

export const planTemplateRetire = z.strictObject({ reason: text(1, 1_000) }).meta({
  id: 'PlanTemplateRetireRequest',
  examples: [{ reason: 'Version 2 pays the new treasury.' }],
});

export const planTemplateRetired = z
  .object({
    template_id: uuid,
    template_key: z.string(),
    version: z.number().int(),
    status: oneOf(TEMPLATE_STATUSES),
    retired_at: timestamp,
    retired_by: summaryFields.retired_by,
    retired_reason: z.string(),
    latest_active_version: z
      .number()
      .int()
      .nullable()
      .meta({ description: 'Of the same key, to be used instead; null where none is active.' }),
  })
  .meta({ id: 'PlanTemplateRetireResponse' });

export const planTemplateSummary = z.object(summaryFields).meta({ id: 'PlanTemplateSummary' });

const planNodeView = z
  .object({
    id: uuid,
    ...nodeFields,
    executor_selector: executorSelector.nullable(),
    signer_selector: signerSelector.nullable(),
    input_schema: jsonObject.nullable(),
    config: jsonObject.nullable(),
    has_side_effect: z.boolean(),
    timeout_policy: timeoutPolicy.nullable(),
    retry_policy: retryPolicy.nullable(),
    risk_patch: jsonObject.nullable(),
  })
  .meta({ id: 'PlanNodeView' });

const planEdgeView = z
  .object({
    id: uuid,
    from: z.string(),
    to: z.string(),
    edge_type: z.enum(EDGE_TYPES),
    condition_expr: z.string().nullable(),
    priority: z.number().int(),
    join_key: z.string().nullable(),
  })
  .meta({ id: 'PlanEdgeView' });

const adminFields = {
  auto_approve_enabled: z.boolean(),
  daily_cap_amount: decimalString.nullable(),
  daily_cap_asset: z.string().nullable(),
};

export const planTemplateDetail = z
  .object({
    ...summaryFields,
    approval_policy: jsonObject,
    risk_controls: jsonObject,
    nodes: listOf(planNodeView),
    edges: listOf(planEdgeView),
    ...adminFields,
  })
  .meta({ id: 'PlanTemplateDetailResponse' });

export const planTemplateAdminUpdate = z
  .strictObject({
    auto_approve_enabled: z.boolean().exactOptional(),
    daily_cap_amount: decimalString.nullable().exactOptional(),
    daily_cap_asset: assetCode.nullable().exactOptional(),
  })
  .meta({
    id: 'PlanTemplateAdminUpdate',
    description:
      'Only the submitted fields change; null clears a cap. Without both caps auto_approve_enabled cannot be true.',
    examples: [{ auto_approve_enabled: true, daily_cap_amount: '10000', daily_cap_asset: 'USDC' }],
  });

export const planTemplateAdmin = z
  .object({
    template_key: z.string(),
    latest_version: z.number().int(),
    ...adminFields,
    updated_at: timestamp,
  })
  .meta({ id: 'PlanTemplateAdminResponse' });
