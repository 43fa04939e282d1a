/** The wire contract of the bridge registry. */
import { z } from 'zod';
import { ENDPOINT_IDENTITY } from '../../domain/bridges/registry.ts';
import { decimalString, int32, listOf, segment, text, timestamp } from '../http/schemas.ts';

const PRINTED = 'must be printable ASCII without spaces';

const chainName = segment(64).regex(/^[!-~]*$/, PRINTED);
/** An asset code as everywhere else; here also a single path segment. */
const asset = segment(32)
  .regex(/^[!-~]*$/, PRINTED)
  .toUpperCase();
const label = text(1, 128).nullable().default(null);

export const chainParams = z.strictObject({ chain: chainName });

const chainFields = {
  endpoint_identity: z
    .string()
    .regex(ENDPOINT_IDENTITY, 'must be `<eid>:<address>`, as 30184:0x…')
    .meta({
      description:
        "`<eid>:<address>`: the bridge's id of the chain and its endpoint's address there. No two chains have the same.",
    }),
  finality_age_seconds: int32().meta({
    description: 'How long the chain takes until a block is final.',
  }),
  operator_label: label,
};

const IN_THE_PATH = 'What the path says, or left out.';
const IDENTITY = '30184:0x1a44076050125825900e736c501f859c50fe728c';

export const chainCreate = z.strictObject({ chain: chainName, ...chainFields }).meta({
  id: 'CreateBridgeChainRequest',
  examples: [
    {
      chain: 'base',
      endpoint_identity: IDENTITY,
      finality_age_seconds: 1_200,
      operator_label: 'treasury',
    },
  ],
});

export const chainReplace = z
  .strictObject({
    chain: chainName.optional().meta({ description: IN_THE_PATH }),
    ...chainFields,
  })
  .meta({
    id: 'ReplaceBridgeChainRequest',
    description: 'What is left out becomes null.',
    examples: [{ endpoint_identity: IDENTITY, finality_age_seconds: 1_500 }],
  });

export const chainResponse = z
  .object({
    chain: z.string(),
    endpoint_identity: z.string(),
    finality_age_seconds: z.int(),
    snapshot_version: z.int().meta({
      description: 'Grows whenever the facts of the endpoint change; 0 before the first.',
    }),
    snapshot_stale: z.boolean().meta({
      description:
        'The endpoint did not answer the last refresh, was never read, or was read too long ago.',
    }),
    stale_detected_at: timestamp.nullable(),
    operator_label: z.string().nullable(),
    snapshot_at: timestamp.nullable().meta({
      description: 'When the endpoint of this identity last answered.',
    }),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'BridgeChain' });
export type ChainResponse = z.input<typeof chainResponse>;

export const chainList = listOf(chainResponse);

const pathKey = { src_chain: chainName, dst_chain: chainName, asset };

export const pathParams = z.strictObject(pathKey);

const budgets = {
  expected_latency_seconds: int32(),
  detection_latency_budget_seconds: int32().meta({
    description: 'A node that waits for its arrival longer than this needs attention.',
  }),
  fee_native_budget: decimalString.meta({
    description: 'The most that a send may cost, in the coin of the source chain.',
  }),
};

const remarks = {
  disabled_reason: text(1, 1_000).nullable().default(null),
  baseline_source: text(1, 256)
    .nullable()
    .default(null)
    .meta({ description: 'Where the figures come from.' }),
  operator_label: label,
};

const BASELINE = {
  expected_latency_seconds: 180,
  detection_latency_budget_seconds: 900,
  fee_native_budget: '0.002',
};

export const pathCreate = z
  .strictObject({ ...pathKey, ...budgets, enabled: z.boolean().default(true), ...remarks })
  .meta({
    id: 'CreatePathBaselineRequest',
    examples: [
      {
        src_chain: 'base',
        dst_chain: 'arbitrum',
        asset: 'USDC',
        ...BASELINE,
        baseline_source: 'forty transfers in November',
      },
    ],
  });

export const pathReplace = z
  .strictObject({
    src_chain: chainName.optional().meta({ description: IN_THE_PATH }),
    dst_chain: chainName.optional().meta({ description: IN_THE_PATH }),
    asset: asset.optional().meta({ description: IN_THE_PATH }),
    ...budgets,
    // No default: leaving `enabled` out must not enable a path again.
    enabled: z.boolean(),
    ...remarks,
  })
  .meta({
    id: 'ReplacePathBaselineRequest',
    description: 'What is left out becomes null.',
    examples: [
      { ...BASELINE, enabled: false, disabled_reason: 'The deliverer is being replaced.' },
    ],
  });

export const pathResponse = z
  .object({
    src_chain: z.string(),
    dst_chain: z.string(),
    asset: z.string(),
    expected_latency_seconds: z.int(),
    detection_latency_budget_seconds: z.int(),
    fee_native_budget: decimalString,
    enabled: z.boolean(),
    disabled_reason: z.string().nullable(),
    last_drill_pass_at: timestamp.nullable().meta({
      description: 'Null: no drill has passed since an identity of its chains changed.',
    }),
    last_drill_evidence_path: z.string().nullable(),
    last_drill_contracts: z.string().nullable().meta({
      description:
        'What the venues file named for both ends when the drill passed. While it names other contracts the path is not ready. Null: it named none for one of them.',
    }),
    baseline_source: z.string().nullable(),
    operator_label: z.string().nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'PathBaseline' });
export type PathResponse = z.input<typeof pathResponse>;

export const pathList = listOf(pathResponse);

export const drillPassRequest = z
  .strictObject({
    evidence_path: text(1, 1_024).meta({
      description: 'Where the evidence is kept. It is stored and never opened.',
    }),
  })
  .meta({
    id: 'DrillPassRequest',
    examples: [{ evidence_path: 'drills/2026-11/base-arbitrum-usdc.json' }],
  });

export const refreshResponse = z
  .object({
    refreshed_at: timestamp,
    changed: listOf(z.string()).meta({
      description: 'Chains whose facts changed.',
    }),
    stale: listOf(z.string()).meta({ description: 'Chains whose snapshots are stale now.' }),
    chains: chainList,
  })
  .meta({ id: 'BridgeRegistryRefresh' });
