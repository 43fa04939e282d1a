/** The wire contract of an approver's review: in previews, create responses and details. */
import { z } from 'zod';
import { ALLOWLIST_CODES } from '../../domain/allowlist/match.ts';
import { decimalString, listOf, signedDecimal, timestamp } from '../http/schemas.ts';

const text = z.string().nullable();

/** An address's allowlist status, here and in a preview's list of addresses. */
export const listing = {
  chain_id: z
    .int()
    .nullable()
    .meta({ description: 'Null for exchanges, and where the plan names no chain.' }),
  allowed: z.boolean().meta({ description: 'Whether an active row of the allowlist is about it.' }),
};

const payee = z
  .object({
    address: z.string().meta({
      description: 'As it would be sent to; empty where the plan names no payee.',
    }),
    chain_family: z.string(),
    ...listing,
    usable_after: text.meta({ description: 'When its cooling period ends; null without one.' }),
    code: z
      .enum(ALLOWLIST_CODES)
      .nullable()
      .meta({ description: 'With what it would be refused now; null where it may be paid.' }),
    problem: text.meta({ description: 'Why no row can ever be about it.' }),
  })
  .meta({ id: 'ReviewedPayee' });

const send = z
  .object({
    node_key: z.string(),
    action_type: z.string(),
    asset: z.string(),
    amount: decimalString.nullable().meta({
      description: 'Null where only the output of an earlier node decides it.',
    }),
    venue: text,
    account_type: text.meta({
      description: 'The kind of account at the venue that it leaves; null on a chain.',
    }),
    destination_venue: text.meta({ description: 'The account that an internal transfer pays.' }),
    destination_account_type: text.meta({ description: 'Which kind of that account.' }),
    sub_account_address: text.meta({
      description: 'The sub-account at the perps venue that a top-up pays.',
    }),
    chain_id: text.meta({
      description: 'The chain that it leaves, or on which a venue pays; null for an exchange.',
    }),
    destination_chain_id: text.meta({ description: 'The chain on which a bridge pays.' }),
    token_address: text,
    amount_ref: text.meta({
      description: 'The output that decides the amount; null where plan or intent say it.',
    }),
    burn_from: text.meta({
      description: 'Of a mint: the node whose burn it brings to its payee.',
    }),
    network: text.meta({ description: 'On which network an exchange pays.' }),
    tag: text.meta({
      description: 'Behind an address that many share, it chooses whom the exchange pays.',
    }),
    max_fee: text.meta({
      description:
        'Of a burn: how much of it the attester may keep; of a withdrawal: the most that the exchange may charge.',
    }),
    finality: text.meta({ description: 'Of a burn: after which finality it is attested.' }),
    destination_caller: text.meta({
      description: 'Of a burn: who alone may mint it; null: anybody.',
    }),
    payees: listOf(payee).meta({
      description: 'Whom it pays; empty where it moves between own accounts.',
    }),
  })
  .meta({ id: 'ReviewedSend' });

export const sends = listOf(send).meta({
  description: 'Each node that moves funds, with its terms and whom it pays.',
});

const limit = z
  .object({
    control: z.string().meta({
      description:
        '`max_amount` or `nodes.<node_key>.max_amount` of the plan; `policy.max_amount_per_request`, `policy.max_amount_per_window`, ' +
        '`policy.max_count_per_window` or `template.daily_cap_amount` of the automatic approval.',
    }),
    limit: decimalString,
    used: decimalString
      .nullable()
      .meta({ description: 'What a window has used already; null for a limit on single amounts.' }),
    after: decimalString.nullable().meta({
      description: "What would be held against the limit: for the plan's, the largest known.",
    }),
    ok: z
      .boolean()
      .nullable()
      .meta({
        description:
          'False does not block the create: the node fails with `MAX_AMOUNT_EXCEEDED` before anything is sent, or the movement ' +
          'waits for a person. ' +
          "Null when it depends on an earlier node's output.",
      }),
  })
  .meta({ id: 'LimitPreview' });

export const limits = listOf(limit);

const drawn = z
  .object({
    venue_key: z.string(),
    account_type: z.string(),
    asset: z.string(),
    draws: decimalString.nullable().meta({
      description: 'What the plan takes from there at most; null where nothing bounds it.',
    }),
    withdrawable: decimalString.nullable().meta({
      description: 'As the venue last answered; null where it is not known.',
    }),
    effective_withdrawable: signedDecimal.nullable().meta({
      description: 'Of that, what no other movement or transfer holds.',
    }),
    fetched_at: timestamp.nullable(),
    stale: z.boolean().nullable(),
  })
  .meta({ id: 'ReviewedBalance' });

export const balances = listOf(drawn).meta({
  description: 'Each pool of funds that the plan draws from.',
});

const failing = z
  .object({
    at: z.enum(['approve', 'dispatch']).meta({
      description:
        '`approve`: an approval is refused; `dispatch`: the node fails when it is reached.',
    }),
    node_key: text.meta({ description: 'Null where it is about the plan as a whole.' }),
    error: z.string().meta({ example: 'ADDRESS_IN_COOLING_PERIOD' }),
    message: z.string(),
  })
  .meta({ id: 'WouldFail' });

export const wouldFail = listOf(failing).meta({
  description: 'What would be refused after the create, as things stand now; it may change.',
});

export const review = z
  .object({ sends, limits, balances, would_fail: wouldFail })
  .meta({ id: 'MovementReview' });
export type ReviewView = z.input<typeof review>;
