/** The wire contract of the executor and signer registries. */
import { z } from 'zod';
import { IDENTITY_STATES } from '../../signers/identity.ts';
import { FINALITY_READS } from '../../domain/chains/finality-table.ts';
import { SIGNER_BACKENDS } from '../../domain/signer.ts';
import { SIGNER_STATUSES, SWITCHED_STATUSES } from '../../domain/states/signer.ts';
import { listOf, oneOf, segment, text, timestamp, uuid } from '../http/schemas.ts';

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

const lane = z
  .object({
    chain_id: z.int(),
    address: z.string(),
    next_nonce: z.int().meta({ description: 'The nonce that is given away next.' }),
    mined_nonce: z.int().nullable().meta({
      description: 'How many transactions its newest block counts, as last seen; null before that.',
    }),
    final_nonce: z.int().nullable().meta({ description: 'The same of its newest final block.' }),
    seen_at: timestamp.nullable(),
    open_nonces: z.int().meta({ description: 'Given away, and in no block that was seen.' }),
    oldest_open_seconds: z.int().nullable(),
    unfinal_nonces: z.int().meta({ description: 'Mined, and not final yet.' }),
    stuck: z.object({ nonce: z.int(), why: z.string(), since: timestamp }).nullable().meta({
      id: 'StuckNonce',
      description:
        'The lowest nonce that is to be used up by a transaction that moves nothing, where that one cannot be signed or paid for.',
    }),
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
    lanes: z.array(lane).meta({
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
