/** The wire contract of automatic approval policies. */
import { z } from 'zod';
import { isAgentsTemplate } from '../../domain/roles.ts';
import { assetCode, decimalString, int32, listOf, text, timestamp, uuid } from '../http/schemas.ts';
import { templateKey } from '../templates/schema.ts';

export const MAX_WINDOW_HOURS = 720;
const MOST_ENTRIES = 1_000;

const allowedTemplate = z
  .strictObject({ template_key: templateKey, template_version: int32(1).nullable().default(null) })
  .refine(
    ({ template_key, template_version }) =>
      template_version !== null || !isAgentsTemplate(template_key),
    {
      path: ['template_version'],
      message: "must name a version: an agent can make more of this key's",
    },
  )
  .meta({
    id: 'AllowedTemplateEntry',
    description:
      'Without a version, or with null, every version of the key is allowed. A key in the namespace of an agent (`agent/…`) needs one.',
  });

const limits = {
  is_active: z.boolean(),
  allowed_templates: z.array(allowedTemplate).max(MOST_ENTRIES),
  allowed_assets: z.array(assetCode).max(MOST_ENTRIES),
  max_amount_per_request: decimalString.nullable(),
  window_hours: int32(1).max(MAX_WINDOW_HOURS).nullable(),
  max_amount_per_window: decimalString.nullable(),
  max_count_per_window: int32().nullable(),
};

export const policyCreate = z
  .strictObject({
    client_id: uuid,
    strategy_id: text(1, 128),
    is_active: limits.is_active.default(true),
    allowed_templates: limits.allowed_templates
      .default([])
      .meta({ description: 'Empty allows no template.' }),
    allowed_assets: limits.allowed_assets
      .default([])
      .meta({ description: 'Empty allows no asset.' }),
    max_amount_per_request: limits.max_amount_per_request.default(null),
    window_hours: limits.window_hours
      .default(null)
      .meta({ description: 'The rolling window of the two caps; they need it.' }),
    max_amount_per_window: limits.max_amount_per_window.default(null).meta({
      description: 'Of all assets together, so let a policy with it allow assets of one unit.',
    }),
    max_count_per_window: limits.max_count_per_window.default(null),
  })
  .meta({
    id: 'CreatePolicyRequest',
    examples: [
      {
        client_id: '01938a5e-7c00-7b3a-9d2f-5b1c7e8a4f10',
        strategy_id: 'rebalancing',
        allowed_templates: [{ template_key: 'treasury/withdraw', template_version: 1 }],
        allowed_assets: ['USDC'],
        max_amount_per_request: '25000',
        window_hours: 24,
        max_amount_per_window: '100000',
        max_count_per_window: 20,
      },
    ],
  });

export const policyUpdate = z
  .strictObject({
    is_active: limits.is_active.exactOptional(),
    allowed_templates: limits.allowed_templates.exactOptional(),
    allowed_assets: limits.allowed_assets.exactOptional(),
    max_amount_per_request: limits.max_amount_per_request.exactOptional(),
    window_hours: limits.window_hours.exactOptional(),
    max_amount_per_window: limits.max_amount_per_window.exactOptional(),
    max_count_per_window: limits.max_count_per_window.exactOptional(),
  })
  .meta({
    id: 'UpdatePolicyRequest',
    description: 'Only the submitted fields change; null takes a limit away.',
    examples: [{ is_active: false }],
  });

export const policyResponse = z
  .object({
    policy_id: uuid,
    client_id: uuid,
    strategy_id: z.string(),
    is_active: z.boolean(),
    allowed_templates: listOf(
      z.object({ template_key: z.string(), template_version: z.int().nullable() }),
    ),
    allowed_assets: listOf(z.string()),
    max_amount_per_request: decimalString.nullable(),
    window_hours: z.int().nullable(),
    max_amount_per_window: decimalString.nullable(),
    max_count_per_window: z.int().nullable(),
    created_by: z.string().nullable().meta({ description: 'The client that created it.' }),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'PolicyResponse' });
export type PolicyResponse = z.input<typeof policyResponse>;

export const policyList = listOf(policyResponse);

export const policyParams = z.strictObject({ policy_id: uuid });
