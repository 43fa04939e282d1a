/** Wire schemas of approval rules, people, groups, and the approvals of a movement. */
import { z } from 'zod';
import { EVIDENCE } from '../../domain/approval/evidence.ts';
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
        evidence: z.enum(['shared_secret', 'passkey']).meta({
          description:
            'What shows it: the assertion of a passkey, which anybody can verify, or a request that was signed with a secret that the service knows, too.',
        }),
        counts: z.boolean().meta({
          description:
            'False once it has expired, or the person has left the groups, or the key was revoked: then it is missing again. What was withdrawn is not listed.',
        }),
      }),
    ),
    you: z
      .object({
        may: z.boolean().meta({ description: 'Whether an approval of the caller would count.' }),
        why_not: whyNot,
        evidence: z.enum(EVIDENCE).meta({
          description: '`passkey`: the approval needs `assertion`.',
        }),
        approved: z.boolean().meta({
          description:
            'Whether the caller’s person has approved; `withdraw-approval` takes it back.',
        }),
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
          has_passkey: z.boolean().meta({ description: 'Whether a passkey is in force.' }),
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
    evidence: z.enum(EVIDENCE).meta({
      description: '`passkey`: only approvals that were signed with a passkey count.',
    }),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'ApprovalRule' });

export const rulesResponse = z.object({ rules: listOf(ruleView) }).meta({ id: 'ApprovalRuleList' });

/** Text in base64url. */
const base64url = (most: number) =>
  z
    .string()
    .min(1)
    .max(most)
    .regex(/^[A-Za-z0-9_-]+$/, 'must be base64url');

const statement = z.string().min(1).max(1_000).meta({
  description: 'The text whose SHA-256 was the challenge.',
});

export const assertionBody = z
  .strictObject({
    credential_id: base64url(1_400),
    statement,
    client_data_json: base64url(4_000),
    authenticator_data: base64url(4_000),
    signature: base64url(2_000),
  })
  .meta({
    id: 'Assertion',
    description: 'What a passkey signed, in base64url; a rule may require it.',
  });

export const challengeBody = z
  .strictObject({ decision: z.literal('approve') })
  .meta({ id: 'ChallengeRequest', examples: [{ decision: 'approve' }] });

const challenge = {
  statement,
  challenge: z.string().meta({ description: 'SHA-256 of the statement, in base64url.' }),
  rp_id: z.string().meta({ description: 'The relying party: the host name of the console.' }),
  credential_ids: listOf(z.string()).meta({ description: 'The passkeys of the caller’s person.' }),
  expires_at: timestamp,
};

export const challengeResponse = z.object(challenge).meta({ id: 'Challenge' });

export const passkeyChallengeResponse = z
  .object({ ...challenge, user_id: z.string(), user_name: z.string() })
  .meta({ id: 'PasskeyChallenge' });

export const passkeyBody = z
  .strictObject({
    statement,
    client_data_json: base64url(4_000),
    attestation_object: base64url(16_000),
  })
  .meta({
    id: 'PasskeyOffer',
    examples: [
      {
        statement:
          'svc-passkey/1\n6f0b2f0c-5a61-4f0e-9a0e-7f5a3f1c2d3e\nann\nq83vEjRWeJA\n2026-11-28T09:00:00.000Z',
        client_data_json: 'eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0',
        attestation_object: 'o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YVg',
      },
    ],
  });

export const passkeyResponse = z
  .object({
    credential_id: z.string(),
    person: z.string(),
    fingerprint: z.string(),
    created_at: timestamp,
  })
  .meta({ id: 'OfferedPasskey' });

export const passkeysResponse = z
  .object({
    passkeys: listOf(
      z
        .object({
          credential_id: z.string(),
          person: z.string(),
          fingerprint: z.string().meta({ description: 'By which people compare it.' }),
          origin: z.string().meta({ description: 'The console at which it was made.' }),
          enrolled_at: timestamp,
          revoked_at: timestamp.nullable(),
        })
        .meta({ id: 'Passkey' }),
    ),
  })
  .meta({ id: 'PasskeyList' });
