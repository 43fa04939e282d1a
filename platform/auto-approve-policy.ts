/** Reads an automatic approval policy from a file: the JSON that its API route takes. */
import { z } from 'zod';
import type { PolicyTerms } from '../domain/auto-approve/past.ts';
import { capsAreComplete } from '../domain/auto-approve/policy.ts';
import { isAgentsTemplate } from '../domain/roles.ts';
import { decimalText } from './amount.ts';
import { readJson } from './read-json.ts';
import { asTemplateKey } from './template-key.ts';

/** Most entries of a list. */
const MOST = 1_000;
const MAX_INT = 2_147_483_647;
const MAX_WINDOW_HOURS = 720;

/** Returns the schema of a text with 1 to `max` characters and without NUL. */
const text = (max: number): z.ZodString =>
  z
    .string()
    .min(1)
    .max(max)
    .refine((value) => !value.includes('\0'), 'must not hold NUL');

/** Returns the schema of an integer from `min` to `max`, or null, which is also the default. */
const count = (min: number, max: number) => z.int().min(min).max(max).nullable().default(null);

/** A decimal, or null, which is also the default. */
const cap = decimalText(
  'must be a decimal string in plain notation, at most 20 integer and 18 fractional digits',
)
  .nullable()
  .default(null);

/** An asset's code; parsed to upper case, as movements have it. */
const asset = z
  .string()
  .min(1)
  .toUpperCase()
  .max(32)
  .regex(/^[!-~]*$/, 'must be printable ASCII without spaces');

const allowedTemplate = z
  .strictObject({ template_key: asTemplateKey(text(256)), template_version: count(1, MAX_INT) })
  .refine(
    ({ template_key, template_version }) =>
      template_version !== null || !isAgentsTemplate(template_key),
    {
      path: ['template_version'],
      message: "must name a version: an agent can make more of this key's",
    },
  );

const policy = z
  .strictObject({
    client_id: z.uuid('must be a UUID').overwrite((id) => id.toLowerCase()),
    strategy_id: text(128),
    is_active: z.boolean().default(true),
    allowed_templates: z.array(allowedTemplate).max(MOST).default([]),
    allowed_assets: z.array(asset).max(MOST).default([]),
    max_amount_per_request: cap,
    window_hours: count(1, MAX_WINDOW_HOURS),
    max_amount_per_window: cap,
    max_count_per_window: count(0, MAX_INT),
  })
  .refine((caps) => capsAreComplete(caps), {
    path: ['window_hours'],
    message: 'must be set for max_amount_per_window and max_count_per_window',
  });

/** Reads a policy from JSON; `faults` are sentences that begin with the path of what is wrong. */
export function readPolicyFile(
  json: string,
): { readonly policy: PolicyTerms } | { readonly faults: readonly string[] } {
  const read = readJson(policy, json, 'the policy');
  return 'faults' in read ? read : { policy: read.value };
}
