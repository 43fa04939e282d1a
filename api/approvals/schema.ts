/** Wire schemas of approval rules, people, groups, and the approvals of a movement. */
import { z } from 'zod';
import { APPLIES_TO, ORIGINS, WHY_NOT } from '../../domain/approval/rule.ts';
import { decimalString, listOf, timestamp, uuid } from '../http/schemas.ts';

const text = z.string().nullable();
const whyNot = z.enum(WHY_NOT).nullable();

const threshold = z.object({
  group: z.string(),
  threshold: z.int().meta({ description: 'How many members of the group must approve.' }),
});

export const approvalsView = z
  .object({
    rules: listOf(z.string()).meta({ description: 'The rules that hold, all of them together.' }),
    required: listOf(
      z.object({
        rule: z.string(),
        ...threshold.shape,
        received: z.int().meta({ description: 'Each person counts for one group of a rule.' }),
        missing: z.int(),
      }),
    ),
    decisions: listOf(
      z.object({
        person: z.string(),
        name: z.string(),
        decision: z.literal('approve'),
        at: timestamp,
        reason: text,
        counts: z.boolean().meta({
          description:
            'False once it has expired, or the person has left the groups, or the key was revoked: then it is missing again.',
        }),
      }),
    ),
    you: z
      .object({
        may: z.boolean().meta({ description: 'Whether an approval of the caller would count.' }),
        why_not: whyNot,
      })
      .meta({ description: 'The caller of this request.' }),
  })
  .meta({ id: 'MovementApprovals' });
export type ApprovalsView = z.input<typeof approvalsView>;

export const approversResponse = z
  .object({
    movement_id: uuid,
    approvals: approvalsView.nullable().meta({
      description: 'Null where no rule holds: then one approval is enough.',
    }),
    approvers: listOf(
      z.object({
        rule: z.string(),
        person: z.string(),
        name: z.string(),
        groups: listOf(z.string()),
        may: z.boolean(),
        why_not: whyNot,
        decided_at: timestamp.nullable(),
        counts: z.boolean(),
      }),
    ).meta({
      description:
        'Of each rule every member of its groups who has an identity, and whoever approved and is no member.',
    }),
  })
  .meta({ id: 'MovementApprovers' });

export const peopleResponse = z
  .object({
    people: listOf(
      z
        .object({
          person: z.string(),
          name: z.string(),
          identities: listOf(z.string()).meta({
            description: 'Ids of API clients, and `dashboard:<operator>`.',
          }),
          groups: listOf(z.string()),
        })
        .meta({ id: 'Person' }),
    ),
  })
  .meta({ id: 'PersonList' });

export const groupsResponse = z
  .object({
    groups: listOf(
      z.object({ name: z.string(), members: listOf(z.string()) }).meta({ id: 'ApproverGroup' }),
    ),
  })
  .meta({ id: 'ApproverGroupList' });

const ruleView = z
  .object({
    name: z.string(),
    revision: z.int(),
    applies_to: z.enum(APPLIES_TO).meta({
      description: 'Movements, capital transfers, or a kind of change that lets more money go.',
    }),
    when: z
      .object({
        template_keys: listOf(z.string()).optional(),
        strategy_ids: listOf(z.string()).optional(),
        origins: listOf(z.enum(ORIGINS)).optional(),
        assets: listOf(z.string()).optional(),
        outflow_above: listOf(
          z.object({
            asset: z.string().meta({ description: '`*`: any asset.' }),
            amount: decimalString,
            within_seconds: z.int().optional().meta({
              description: 'Adds up what the same person created, or pays the same payee.',
            }),
          }),
        ).optional(),
        new_payee_within_seconds: z.int().optional(),
        venues: listOf(z.string()).optional(),
        amount_above: listOf(z.object({ asset: z.string(), amount: decimalString })).optional(),
      })
      .meta({ description: 'All that is named must match; empty: all.' }),
    require: listOf(threshold),
    initiator_may_approve: z.boolean(),
    payee_author_may_approve: z.boolean(),
    template_author_may_approve: z.boolean(),
    expires_after_seconds: z.int().optional(),
    reason_required: z.boolean(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'ApprovalRule' });

export const rulesResponse = z.object({ rules: listOf(ruleView) }).meta({ id: 'ApprovalRuleList' });
