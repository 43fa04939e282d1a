/** The wire contract of the signer lifecycle. */
import { z } from 'zod';
import { KEPT_REASONS, SIGNER_EVENTS } from '../../domain/signer-lifecycle.ts';
import { SIGNER_STATUSES } from '../../domain/states/signer.ts';
import { jsonObject, listOf, oneOf, text, timestamp, uuid } from '../http/schemas.ts';
import { registryKey } from '../registries/schema.ts';

export const signerParams = z.strictObject({ signer_key: registryKey });

export const rotateRequest = z
  .strictObject({
    replace_with: registryKey,
    reason: text(1, 1_000),
    drill: z.boolean().default(false).meta({
      description: 'Play it through and take it back; only the evidence stays.',
    }),
    ack_impact: z.boolean().default(false).meta({
      description: 'Must be true where it is no drill.',
    }),
  })
  .meta({
    id: 'RotateSignerRequest',
    examples: [{ replace_with: 'treasury-2027', reason: 'The yearly rotation.', drill: true }],
  });

export const rotateResponse = z
  .object({
    outcome: z.enum(['drilled', 'changed']),
    signer_key: z.string(),
    replace_with: z.string(),
    impact: z
      .object({
        remapped: z.int().meta({ description: 'Nodes that the replacement signs.' }),
        kept: listOf(
          z.object({ movement_id: uuid, node_key: z.string(), reason: oneOf(KEPT_REASONS) }),
        ).meta({ description: 'Nodes that stay with the old signer, and what ties them to it.' }),
        open_nonces: z.int().meta({ description: 'Nonces of kept nodes that are not final.' }),
        pending_approval: z
          .int()
          .meta({ description: 'Movements among them that wait for their approval.' }),
      })
      .meta({ id: 'RotationImpact' }),
    audit_event_id: uuid,
    signer_rotation_event_id: uuid,
  })
  .meta({ id: 'RotateSignerResponse' });

/** Decimal chain ids; left out: all bound chains. */
const chains = z
  .array(text(1, 20).regex(/^[1-9][0-9]*$/, 'must be a decimal chain id'))
  .max(100)
  .optional();

export const inventoryRequest = z
  .strictObject({ chains, persist: z.boolean().default(true) })
  .meta({ id: 'SignerInventoryRequest', examples: [{ chains: ['31337'], persist: true }] });

export const holding = z
  .object({
    chain: z.string(),
    asset: z.string(),
    token_address: z.string().nullable().meta({ description: "Null: the chain's own coin." }),
    amount: z.string().nullable(),
    problem: z.string().nullable().meta({ description: 'Why the amount is unknown.' }),
  })
  .meta({ id: 'SignerHolding' });

const signerStatus = oneOf(SIGNER_STATUSES);

export const inventoryResponse = z
  .object({
    signer_key: z.string(),
    address: z.string(),
    checked_at: timestamp,
    balances: listOf(holding),
    rotation_state: signerStatus,
    audit_event_id: uuid.nullable(),
    evidence_id: uuid.nullable(),
  })
  .meta({ id: 'SignerInventory' });

export const allowancesRequest = z
  .strictObject({ chains })
  .meta({ id: 'SignerAllowancesRequest', examples: [{ chains: ['31337'] }] });

export const allowancesResponse = z
  .object({
    signer_key: z.string(),
    address: z.string(),
    checked_at: timestamp,
    allowances: listOf(
      z.object({
        chain: z.string(),
        token_address: z.string(),
        spender: z.string(),
        amount: z.string(),
      }),
    ),
    unsupported_spender_not_checked: z.boolean().meta({
      description: 'The scan is partial: an endpoint searches no logs, or a token gave no answer.',
    }),
    audit_event_id: uuid,
    evidence_id: uuid,
  })
  .meta({ id: 'SignerAllowances' });

export const retireRequest = z
  .strictObject({
    ack_allowances: z.boolean().default(false),
    dust_threshold_usd: z
      .number()
      .min(0)
      .max(1_000_000_000)
      .default(0)
      .meta({ description: 'A ceiling in whole units of each asset; nothing is converted.' }),
  })
  .meta({
    id: 'RetireSignerRequest',
    examples: [{ ack_allowances: true, dust_threshold_usd: 0.01 }],
  });

export const retireResponse = z
  .object({
    outcome: z.literal('retired'),
    signer_key: z.string(),
    retired_with: jsonObject.meta({ description: 'What was seen of the account.' }),
    audit_event_id: uuid,
    evidence_id: uuid,
  })
  .meta({ id: 'RetireSignerResponse' });

export const historyResponse = z
  .object({
    signer_key: z.string(),
    status: signerStatus,
    replaced_by: z.string().nullable(),
    events: listOf(
      z.object({
        event_id: uuid,
        event_type: oneOf(SIGNER_EVENTS),
        signer_key: z.string(),
        replace_with: z.string().nullable(),
        reason: z.string().nullable(),
        done_by: jsonObject,
        data: jsonObject,
        audit_event_id: uuid.nullable(),
        occurred_at: timestamp,
      }),
    ),
  })
  .meta({ id: 'SignerRotationHistory' });
