/** The schema of approval rules, and reading one from a file. */
import { z } from 'zod';
import { EVIDENCE } from '../domain/approval/evidence.ts';
import { APPLIES_TO, CONDITIONS_OF, ORIGINS, type ApprovalRule } from '../domain/approval/rule.ts';
import { decimalText } from './amount.ts';
import { readJson } from './read-json.ts';

/** The form of a person's key and of the names of groups and rules, as the tables check it. */
export const APPROVAL_NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** Most entries of a list in `when`. */
const MOST = 100;
/** Seconds of a day. */
const DAY = 86_400;

/** Returns the schema of a list with at least one entry: an empty one would match no movement. */
function someOf<T extends z.ZodType>(item: T): z.ZodArray<T> {
  return z.array(item).min(1).max(MOST);
}

const key = z
  .string()
  .min(1)
  .max(256)
  .refine((text) => !text.includes('\0'), 'must not hold NUL');

/** An asset's code; parsed to upper case, as movements have it. */
const code = z
  .string()
  .min(1)
  .toUpperCase()
  .max(32)
  .regex(/^[!-~]*$/, 'must be printable ASCII without spaces');

const outflowLimit = z.strictObject({
  /** `*`: any asset. */
  asset: code,
  amount: decimalText(
    'must be a decimal string in plain notation, at most 20 integer and 18 fractional digits',
  ),
  within_seconds: z
    .int()
    .min(60)
    .max(30 * DAY)
    .exactOptional(),
});

const conditions = z.strictObject({
  template_keys: someOf(key).exactOptional(),
  strategy_ids: someOf(key).exactOptional(),
  origins: someOf(z.enum(ORIGINS)).exactOptional(),
  assets: someOf(
    code.refine((asset) => asset !== '*', 'must be an asset; leave assets out for any asset'),
  ).exactOptional(),
  outflow_above: z.array(outflowLimit).min(1).max(20).exactOptional(),
  venues: someOf(key).exactOptional(),
  amount_above: z
    .array(outflowLimit.omit({ within_seconds: true }))
    .min(1)
    .max(20)
    .exactOptional(),
  new_payee_within_seconds: z
    .int()
    .min(60)
    .max(365 * DAY)
    .exactOptional(),
});

const threshold = z.strictObject({
  group: z.string().regex(APPROVAL_NAME, `must match ${APPROVAL_NAME.source}`),
  threshold: z.int().min(1).max(50),
});

/** An approval rule; parsed with the defaults of what is left out. */
export const approvalRule = z
  .strictObject({
    applies_to: z.enum(APPLIES_TO).default('movement'),
    when: conditions.default({}),
    require: z
      .array(threshold)
      .min(1)
      .max(5)
      .refine(
        (all) => new Set(all.map(({ group }) => group)).size === all.length,
        'must name each group once',
      ),
    initiator_may_approve: z.boolean().default(false),
    payee_author_may_approve: z.boolean().default(false),
    template_author_may_approve: z.boolean().default(false),
    expires_after_seconds: z
      .int()
      .min(60)
      .max(7 * DAY)
      .exactOptional(),
    reason_required: z.boolean().default(false),
    evidence: z.enum(EVIDENCE).default('any'),
  })
  .superRefine(({ applies_to, when }, context) => {
    const known: readonly string[] =
      applies_to === 'movement' || applies_to === 'capital_transfer'
        ? CONDITIONS_OF[applies_to]
        : [];
    for (const name of Object.keys(when).filter((each) => !known.includes(each)))
      context.addIssue({
        code: 'custom',
        path: ['when', name],
        message: `is no condition of a rule for ${applies_to}; leave it out`,
      });
  });

/** Reads a rule from JSON; `faults` are sentences that begin with the path of what is wrong. */
export function readApprovalRule(
  text: string,
): { readonly rule: ApprovalRule } | { readonly faults: readonly string[] } {
  const read = readJson(approvalRule, text, 'the rule');
  return 'faults' in read ? read : { rule: read.value };
}
