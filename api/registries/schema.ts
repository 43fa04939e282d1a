/** The wire contract of the executor and signer registries. */
import { z } from 'zod';
import { IDENTITY_STATES } from '../../signers/identity.ts';
import { SIGNER_BACKENDS } from '../../domain/signer.ts';
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

export const signerView = z
  .object({
    signer_key: z.string(),
    status: oneOf(['active', 'disabled', 'deprecated', 'retired']),
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
    source,
    updated_at: timestamp.nullable(),
  })
  .meta({ id: 'SignerRegistryView' });
export type SignerView = z.input<typeof signerView>;

/** A registry key in a path. */
export const registryKey = segment(128);

export const updateRegistryStatus = z
  .strictObject({ status: z.enum(['active', 'disabled']), reason: text(1, 1_000).optional() })
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
