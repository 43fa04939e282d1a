/** The wire contract of the executor and signer registries. */
import { z } from 'zod';
import { IDENTITY_STATES } from '../../signers/identity.ts';
import { FINALITY_READS } from '../../domain/chains/finality-table.ts';
import { SIGNER_BACKENDS } from '../../domain/signer.ts';
import { SIGNER_STATUSES, SWITCHED_STATUSES } from '../../domain/states/signer.ts';
import {
  actorView,
  int32,
  listOf,
  oneOf,
  segment,
  text,
  timestamp,
  uuid,
} from '../http/schemas.ts';

const source = z
  .enum(['persisted', 'memory', 'both'])
  .meta({ description: 'Whether the entry is stored, registered in this process, or both.' });

export const executorView = z
  .object({
    executor_key: z.string(),
    kind: oneOf(['local', 'remote', 'task_queue']),
    status: oneOf(['active', 'disabled']),
    health_state: oneOf(['up', 'down', 'unknown']),
    health_checked_at: timestamp.nullable(),
    action_types: listOf(z.string()),
    provider: z.string().nullable(),
    chain_family: z.string().nullable(),
    endpoint: z.string().nullable(),
    source,
    updated_at: timestamp.nullable(),
  })
  .meta({ id: 'ExecutorRegistryView' });
export type ExecutorView = z.input<typeof executorView>;

const raise = z
  .object({
    max_gas_cost_wei: z.string().nullable(),
    max_fee_per_gas_gwei: z.string().nullable(),
    reason: z.string(),
    raised_by: actorView,
    raised_at: timestamp,
    until: timestamp,
  })
  .meta({
    id: 'LaneRaise',
    description:
      "What an admin raised the chain's caps to for this lane; null is as the chain has it.",
  });

export const laneView = z
  .object({
    chain_id: z.int(),
    address: z.string(),
    next_nonce: z.int().meta({ description: 'The nonce that is claimed next.' }),
    mined_nonce: z.int().nullable().meta({
      description: 'How many transactions its newest block counts, as last seen; null before that.',
    }),
    final_nonce: z.int().nullable().meta({ description: 'The same of its newest final block.' }),
    seen_at: timestamp.nullable(),
    open_nonces: z.int().meta({ description: 'Claimed, and in no block that was seen.' }),
    oldest_open_seconds: z.int().nullable(),
    unfinal_nonces: z.int().meta({ description: 'Mined, and not final yet.' }),
    stuck: z.object({ nonce: z.int(), why: z.string(), since: timestamp }).nullable().meta({
      id: 'StuckNonce',
      description:
        'The lowest nonce that is to be used up by a transaction that moves nothing, where that one cannot be signed or paid for.',
    }),
    caps: z
      .object({ max_gas_cost_wei: z.string(), max_fee_per_gas_gwei: z.string().nullable() })
      .nullable()
      .meta({
        id: 'LaneCaps',
        description:
          "What a transaction that takes a used nonce of this lane may cost now: the larger of the chain's caps and the " +
          "lane's raise. First sends keep the chain's. Null where the chain is not bound.",
      }),
    raise: raise.nullable(),
    finality: z
      .object({
        read: z.enum(FINALITY_READS),
        confirmations: z.int().nullable().meta({
          description: "Blocks, the transaction's own included; null where the node's tag says it.",
        }),
        typical_age_seconds: z.int().nullable(),
        override_reason: z.string().nullable().meta({
          description:
            'Why less than what is known of the chain is enough here; null if it is not.',
        }),
      })
      .nullable()
      .meta({
        id: 'ChainFinality',
        description: 'How a block of this chain becomes final; null where the chain is not bound.',
      }),
  })
  .meta({ id: 'SignerLane' });

export const signerView = z
  .object({
    signer_key: z.string(),
    status: oneOf(SIGNER_STATUSES),
    backend: oneOf(SIGNER_BACKENDS),
    chain_family: z.string(),
    profile: z.string().nullable(),
    expected_signer_address: z
      .string()
      .nullable()
      .meta({ description: "The operator's pin; EVM only." }),
    observed_signer_address: z
      .string()
      .nullable()
      .meta({ description: 'What the last health refresh saw; diagnostic.' }),
    observed_at: timestamp.nullable(),
    identity_state: z.enum(IDENTITY_STATES),
    lanes: z.array(laneView).meta({
      description: 'The nonces of its address, one entry for each chain on which it has sent.',
    }),
    source,
    updated_at: timestamp.nullable(),
  })
  .meta({ id: 'SignerRegistryView' });
export type SignerView = z.input<typeof signerView>;

/** A registry key in a path. */
export const registryKey = segment(128);

export const updateRegistryStatus = z
  .strictObject({ status: z.enum(SWITCHED_STATUSES), reason: text(1, 1_000).optional() })
  .meta({
    id: 'UpdateRegistryStatusRequest',
    examples: [{ status: 'disabled', reason: 'The venue announced maintenance.' }],
  });

const WEEK = 604_800;

export const laneParams = z.strictObject({
  chain_id: text(1, 16)
    .regex(/^[1-9][0-9]{0,15}$/, 'must be a decimal chain id')
    .transform(Number),
  address: text(42, 42)
    .regex(/^0x[0-9a-fA-F]{40}$/, 'must be an EVM address')
    .toLowerCase(),
});

const hasCap = (body: {
  readonly max_gas_cost_wei?: string | undefined;
  readonly max_fee_per_gas_gwei?: string | undefined;
}): boolean => body.max_gas_cost_wei !== undefined || body.max_fee_per_gas_gwei !== undefined;

export const raiseLaneCapsRequest = z
  .strictObject({
    max_gas_cost_wei: text(1, 30)
      .regex(/^[1-9][0-9]*$/, 'must be wei as a whole number greater than zero')
      .optional()
      .meta({ description: 'Most that one transaction may cost.' }),
    max_fee_per_gas_gwei: text(1, 19)
      .regex(/^(0|[1-9][0-9]{0,8})(\.[0-9]{1,9})?$/, 'must be gwei as a decimal string')
      .optional()
      .meta({ description: 'Most that is offered for gas; only where the chain has such a cap.' }),
    ttl_seconds: int32().max(WEEK).meta({ description: 'So long it holds; 0 ends it.' }),
    reason: text(1, 1_000),
  })
  .refine((body) => body.ttl_seconds === 0 || hasCap(body), {
    path: ['max_gas_cost_wei'],
    message: 'give max_gas_cost_wei, max_fee_per_gas_gwei or both',
  })
  .meta({
    id: 'RaiseLaneCapsRequest',
    examples: [
      {
        max_gas_cost_wei: '200000000000000000',
        ttl_seconds: 3_600,
        reason: 'Nonce 41 has to be used up while gas is dear.',
      },
    ],
  });

export const setExpectedIdentityRequest = z
  .strictObject({
    expected_address: text(1, 128).meta({ example: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' }),
    previous_expected_address: text(1, 128)
      .nullable()
      .meta({ description: 'The pin as it stands; null when there is none.' }),
    reason: text(1, 1_000),
  })
  .meta({
    id: 'SetExpectedSignerIdentityRequest',
    examples: [
      {
        expected_address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
        previous_expected_address: null,
        reason: 'Pinned after the key ceremony.',
      },
    ],
  });

export const setExpectedIdentityResponse = z
  .object({
    outcome: z.enum(['changed', 'noop']),
    signer_key: z.string(),
    expected_signer_address: z.string(),
    previous_expected_address: z
      .string()
      .nullable()
      .meta({ description: 'The pin that was stored before.' }),
    runtime_address: z.string(),
    audit_event_id: uuid,
  })
  .meta({ id: 'SetExpectedSignerIdentityResponse' });

export const driftResponse = z
  .object({
    ok: z.boolean(),
    checked_at: timestamp,
    drift: listOf(
      z.object({
        kind: z.enum(['executor', 'signer']),
        key: z.string(),
        problem: z.enum([
          'missing_in_memory',
          'missing_in_database',
          'endpoint_changed',
          'identity_mismatch',
          'identity_unavailable',
        ]),
        expected: z.string().nullable(),
        observed: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: 'RegistryDrift' });
