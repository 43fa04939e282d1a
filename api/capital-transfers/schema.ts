/** The wire contract of capital transfers. */
import { z } from 'zod';
import { ATTENTION_REASONS } from '../../domain/attention-reasons.ts';
import { TRANSFER_EVENTS } from '../../domain/events.ts';
import { TRANSFER_RESOLUTIONS, TRANSFER_STATES } from '../../domain/states/capital-transfer.ts';
import { nextCursor, pageParameters } from '../http/paging.ts';
import {
  actorView,
  assetCode,
  decimalString,
  jsonObject,
  listOf,
  oneOf,
  positiveDecimal,
  text,
  timestamp,
  uuid,
} from '../http/schemas.ts';
import { callbackUrl } from '../movements/schema.ts';

const ACCOUNT_TYPE = 'SPOT or USDT_FUTURE, in any case; SPOT when absent or empty.';
const accountType = z
  .string()
  .max(32)
  .refine((value) => !value.includes('\0'), 'must not hold NUL')
  .toUpperCase()
  .default('SPOT')
  .overwrite((value) => (value === '' ? 'SPOT' : value));

export const transferCreate = z
  .strictObject({
    source_venue: text(1, 128).meta({ description: 'Key of a venue binding.' }),
    destination_venue: text(1, 128).meta({
      description: 'The same as the source to move between two account types of one sub-account.',
    }),
    source_account_type: accountType.meta({ description: ACCOUNT_TYPE }),
    destination_account_type: accountType.meta({ description: ACCOUNT_TYPE }),
    asset: assetCode,
    amount: positiveDecimal,
    reason: text(1, 1000).meta({
      description: 'For the audit; not part of what a repeat is compared by.',
    }),
    idempotency_key: text(1, 128),
    strategy_id: text(1, 128).optional(),
    callback_url: callbackUrl.optional().meta({
      description:
        'Where `request_attention` is sent when it comes to need a person: https, or http to a loopback host.',
    }),
  })
  .meta({
    id: 'CapitalTransferCreateRequest',
    examples: [
      {
        source_venue: 'paper-main',
        destination_venue: 'paper-sub-a',
        destination_account_type: 'USDT_FUTURE',
        asset: 'USDT',
        amount: '2500',
        reason: 'margin for the basis strategy',
        idempotency_key: 'margin-2026-11-21-1',
        strategy_id: 'basis',
      },
    ],
  });
export type TransferCreateBody = z.output<typeof transferCreate>;

export const transferView = z
  .object({
    transfer_id: uuid,
    request_state: z.enum(TRANSFER_STATES),
    source_venue: z.string(),
    destination_venue: z.string(),
    source_account_type: z.string(),
    destination_account_type: z.string(),
    asset: z.string(),
    amount: decimalString,
    reason: z.string(),
    strategy_id: z.string().nullable(),
    idempotency_key: z.string(),
    provider: z.string().nullable(),
    provider_transfer_id: z
      .string()
      .nullable()
      .meta({ description: "The provider's own id of its record, once it has reported it." }),
    error_code: z.string().nullable(),
    error_message: z.string().nullable(),
    attention: z
      .object({
        reason: oneOf(ATTENTION_REASONS),
        message: z.string(),
        last_answer: z.string().nullable(),
        actions: listOf(z.object({ action: z.string(), consequence: z.string() })),
      })
      .meta({ id: 'CapitalTransferAttention' })
      .nullable()
      .meta({ description: 'What a person should do; null while none is needed.' }),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'CapitalTransferView' });
export type TransferView = z.input<typeof transferView>;

export const transferList = z
  .object({ capital_transfers: listOf(transferView), next_cursor: nextCursor })
  .meta({ id: 'CapitalTransferList' });

export const transferQuery = z.strictObject({
  state: z.enum(TRANSFER_STATES).optional(),
  strategy_id: text(1, 128).optional(),
  source_venue: text(1, 128).optional(),
  destination_venue: text(1, 128).optional(),
  asset: assetCode.optional(),
  needs_attention: z
    .literal('true')
    .transform(() => true as const)
    .optional()
    .meta({ description: 'Only those that need a person, each with `attention`.' }),
  ...pageParameters,
});

export const transferParams = z.strictObject({ transfer_id: uuid });

export const transferResolve = z
  .strictObject({
    resolution: z.enum(TRANSFER_RESOLUTIONS).meta({
      description:
        '`completed`: the funds were moved; `failed`: proven that they were not; `manual_intervention`: left open for a person.',
    }),
    reason: text(1, 1000),
    provider_transfer_id: text(1, 256)
      .optional()
      .meta({ description: "The provider's id of the record that proves it." }),
  })
  .meta({
    id: 'CapitalTransferResolveRequest',
    examples: [
      {
        resolution: 'completed',
        reason: 'Confirmed on the statement of the account.',
        provider_transfer_id: '11945860693',
      },
    ],
  });
export type TransferResolveBody = z.output<typeof transferResolve>;

export const transferTimeline = listOf(
  z
    .object({
      event_id: uuid,
      sequence: z.int().meta({ description: 'Per transfer, without gaps.' }),
      event_type: oneOf(TRANSFER_EVENTS),
      from_state: z.string().nullable(),
      to_state: z.string().nullable(),
      actor: actorView,
      message: z.string(),
      data: jsonObject,
      occurred_at: timestamp,
    })
    .meta({ id: 'CapitalTransferEventView' }),
);
