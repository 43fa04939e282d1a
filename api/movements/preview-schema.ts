/** The wire contract of a create's preview. */
import { z } from 'zod';
import { VENUE_WAIT_CODES } from '../../domain/venue-waits.ts';
import { jsonObject, listOf, oneOf, timestamp } from '../http/schemas.ts';
import { naming, outflow } from './responses.ts';
import { balances, limits, listing, sends, wouldFail } from './review-schema.ts';

const bindingPreview = z
  .object({
    node_key: z.string(),
    executor_key: z
      .string()
      .nullable()
      .meta({ description: 'Null when none or several are selected.' }),
    signer_key: z
      .string()
      .nullable()
      .meta({ description: 'Null for nodes that do not sign, too.' }),
    available: z.boolean(),
    reason: z
      .string()
      .nullable()
      .meta({
        description:
          'Why not, as codes with a comma between them: `executor_missing`, `executor_ambiguous`, `executor_disabled`, and the same ' +
          'for `signer_`. What is missing or ambiguous blocks the create; what is switched off does not, but an approve is refused ' +
          '(`binding_unavailable`) while it is so for a node of the frontier, and a later node fails when it is reached.',
        example: 'executor_disabled',
      }),
  })
  .meta({ id: 'BindingPreview' });

const addressPreview = z
  .object({
    node_key: z.string(),
    address: z.string().meta({
      description: 'As it would be sent to; an address without a normal form is shown as written.',
    }),
    ...listing,
    usable_after: z.string().nullable().meta({
      description:
        'When its cooling period ends, past or to come; null without one. A node that is reached before fails.',
    }),
  })
  .meta({ id: 'AddressPreview' });

const waiting = z
  .object({
    node_key: z.string(),
    error_code: oneOf(VENUE_WAIT_CODES),
    message: z.string().meta({
      example: 'the exchange does not pay out USDC on ERC20 at present',
    }),
    opens_at: timestamp
      .nullable()
      .meta({ description: 'When the venue expects to pay out again; null: not known.' }),
  })
  .meta({ id: 'WouldWait' });

const blockingReason = z.looseObject({ error: z.string(), message: z.string() }).meta({
  id: 'BlockingReason',
  description: 'Code, sentence and context as the refusal of the create would carry them.',
});

export const previewResponse = z
  .object({
    would_create: z.boolean().meta({
      description: 'Whether the same request without the header would make a movement now.',
    }),
    compiled_plan_hash: z.string().nullable().meta({
      description: 'The hash the movement would have; null when no plan can be compiled.',
    }),
    current_frontier: listOf(z.string()).meta({
      description: 'The nodes that an approval would make ready.',
    }),
    bindings: listOf(bindingPreview),
    allowlist: listOf(addressPreview).meta({
      description:
        'Whom the nodes would pay, as far as the plan tells. On-chain ones that are not allowed block the create (`address_not_allowlisted`); ' +
        'those of withdrawals do not. All are checked again before anything is sent.',
    }),
    ...naming,
    sends,
    limits,
    balances,
    outflow: outflow.nullable().meta({
      description:
        'What the plan can move at most, by asset; null where no plan can be made of the request.',
    }),
    auto_approve: jsonObject.nullable().meta({
      description:
        '`auto_approve_result` as the create would give it if nothing changed in between; null where automatic approval is off or ' +
        'without strategy_id.',
    }),
    blocking_reasons: listOf(blockingReason).meta({
      description:
        'All of them, the one that the create would answer with first. `idempotent_replay` means that the key was used for this ' +
        'very request: the create would answer 200 with that movement. Behind them stand amounts beyond their own limit ' +
        '(`MAX_AMOUNT_EXCEEDED`), which can be created and fail before anything is sent: `would_create` is true with those alone.',
    }),
    would_fail: wouldFail,
    would_wait: listOf(waiting).meta({
      description:
        'Withdrawals that would wait before anything is sent, as their venue showed itself with its last balances. It blocks ' +
        'nothing, and may have changed when they are reached. A venue that shows nothing, or not lately, has none here.',
    }),
  })
  .meta({ id: 'MovementPreview' });
export type PreviewResponse = z.input<typeof previewResponse>;
