/** The wire contract of movements: requests. */
import { z } from 'zod';
import { ATTENTION_REASONS } from '../../domain/attention-reasons.ts';
import { OUTCOMES } from '../../domain/commands/resolve.ts';
import { isObject } from '../../domain/json.ts';
import { isDecimal } from '../../domain/money.ts';
import { NODE_STATES } from '../../domain/states/node.ts';
import { isLoopbackHost } from '../../domain/callbacks/target.ts';
import { foreignKeys, TEMPLATE_ONLY_KEYS } from '../../domain/plan/bounds.ts';
import { MOVEMENT_STATES } from '../../domain/states/movement.ts';
import {
  assetCode,
  int32,
  jsonObject,
  positiveDecimal,
  segment,
  text,
  uuid,
} from '../http/schemas.ts';
import { referenceFault } from '../../domain/text.ts';
import { isTelling } from '../../platform/redact.ts';
import { printed, seenText } from '../../platform/seen-text.ts';
import { assertionBody } from '../approvals/schema.ts';
import { pageParameters } from '../http/paging.ts';

/** Maximum approval time in seconds: a week. */
export const MAX_APPROVAL_TTL_SECONDS = 604_800;

const NAMED =
  "Must be one that the plan names, if it names any. Only conditions and a team's executor read it.";

/** What the movement must do. */
export const intentBody = z
  .strictObject({
    asset: assetCode.meta({ description: 'Stored in upper case.', example: 'USDC' }),
    amount: positiveDecimal,
    destination_address: text(1, 256).optional().meta({
      description:
        "Whom the plan pays. A template does not take it from here: it must be in a node's config. Only a team's executor may read it.",
    }),
    chain_id: int32(1).optional().meta({ description: NAMED }),
    source_venue: text(1, 128).optional().meta({ description: NAMED }),
    destination_venue: text(1, 128).optional().meta({ description: NAMED }),
  })
  .meta({ id: 'Intent' });

/** The caller's own reference for the movement. Two that look alike would pay an invoice twice. */
const externalReference = seenText(1, 128, referenceFault);

const MOST_LABELS = 50;
const labels = z
  .record(z.string().max(128), z.string().max(1024))
  .refine(
    (pairs) => Object.keys(pairs).length <= MOST_LABELS,
    `must hold at most ${String(MOST_LABELS)} pairs`,
  )
  .meta({ maxProperties: MOST_LABELS });

const METADATA_KEY = /^[a-z0-9_.-]{1,64}$/;
const MOST_METADATA = 20;

/** The key of a `metadata` entry. */
const metadataKey = z.string().regex(METADATA_KEY, 'must be 1 to 64 of a-z, 0-9, _, . and -');

const metadataOf = (value: z.ZodString) =>
  z
    .record(metadataKey, value, {
      error: ({ code, input }) =>
        code === 'invalid_type' && typeof input === 'string'
          ? 'takes pairs of key and value; in a query each is written `metadata.<key>=<value>`'
          : undefined,
    })
    .refine(
      (pairs) => Object.keys(pairs).length <= MOST_METADATA,
      `must hold at most ${String(MOST_METADATA)} pairs`,
    );
const metadata = metadataOf(seenText(0, 256));

/**
 * Metadata entries that a movement must have. Keys whose values views hide cannot be searched: a
 * result would confirm a guessed value.
 */
const metadataFilter = metadataOf(printed(0, 256))
  .refine((pairs) => !Object.keys(pairs).some(isTelling), {
    message: 'has a key whose values are never shown; they are not searched either',
  })
  .optional()
  .meta({
    description:
      'Only movements with this pair of their `metadata`: `metadata.<key>=<value>`, several for movements that have each of them.',
  });

/** An idempotency key, in the body or as the header `Idempotency-Key`. */
export const idempotencyKey = text(1, 128);

/** Returns whether the address is https, or http to this machine, without credentials. */
export function isCallbackUrl(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const url = new URL(address);
  if (url.username !== '' || url.password !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname));
}

/** The address to which state changes of a movement are sent; parsed to its normal form. */
export const callbackUrl = text(1, 2048)
  .refine(
    isCallbackUrl,
    'must be an https address, or http to a loopback host, without credentials',
  )
  .overwrite((address) => (URL.canParse(address) ? new URL(address).href : address));

const inputParams = jsonObject
  .superRefine((params, context) => {
    for (const key of foreignKeys(params)) {
      context.addIssue({
        code: 'custom',
        path: ['node_config', key],
        message: 'is set by the template only',
      });
    }
    const shared = params['node_config'];
    if (!isObject(shared) || !Object.hasOwn(shared, 'amount')) return;
    const { amount } = shared;
    if (typeof amount === 'string' && isDecimal(amount)) return;
    context.addIssue({
      code: 'custom',
      path: ['node_config', 'amount'],
      message: 'must be a decimal text in plain notation, such as "12.5"',
    });
  })
  .meta({
    id: 'InputParams',
    type: 'object',
    additionalProperties: true,
    description:
      "Part of the compiled plan. The keys of `node_config`, when an object, supplement every node's `config`; the template's value " +
      `wins, and an \`amount\` is a decimal text. It takes at most 64 KiB, and none of ${TEMPLATE_ONLY_KEYS.map((key) => `\`${key}\``).join(', ')}.`,
  });

export const createBody = z
  .strictObject({
    template_key: text(1, 256),
    template_version: int32(1),
    intent: intentBody,
    strategy_id: text(1, 128).optional(),
    input_params: inputParams.default({}),
    approval_ttl_seconds: int32(1).max(MAX_APPROVAL_TTL_SECONDS).optional().meta({
      description:
        "How long the movement waits for its approval; the service's setting when absent.",
    }),
    callback_url: callbackUrl
      .optional()
      .meta({ description: 'Where state changes are sent: https, or http to a loopback host.' }),
    idempotency_key: idempotencyKey.optional().meta({
      description: 'May be sent as the header `Idempotency-Key` instead; both must be equal.',
    }),
    labels: labels.default({}).meta({
      description: `At most ${String(MOST_LABELS)} pairs, of keys to 128 and values to 1,024 characters; no part of the plan.`,
    }),
    external_reference: externalReference.optional().meta({
      description:
        'What your own books name the movement by: NFC text without characters that cannot be seen, its only blanks single spaces ' +
        'between words. Lists and the search find it; it is no part of the plan.',
    }),
    unique_reference: z.boolean().default(false).meta({
      description:
        'Refuses the create (`external_reference_exists`) where another movement of this client holds the reference with this flag; needs an `external_reference`.',
    }),
    metadata: metadata.default({}).meta({
      description: `At most ${String(MOST_METADATA)} pairs that lists can be filtered by; no part of the plan.`,
    }),
  })
  .refine((body) => !body.unique_reference || body.external_reference !== undefined, {
    path: ['unique_reference'],
    message: 'needs an external_reference',
  })
  .meta({
    id: 'MovementCreateRequest',
    if: { properties: { unique_reference: { const: true } }, required: ['unique_reference'] },
    then: { properties: { external_reference: {} }, required: ['external_reference'] },
    examples: [
      {
        template_key: 'starter/withdraw-to-treasury',
        template_version: 1,
        intent: { asset: 'USDC', amount: '250.5' },
        strategy_id: 'rebalance',
        approval_ttl_seconds: 3600,
        callback_url: 'https://treasury.example/callbacks',
        idempotency_key: 'rebalance-2026-11-21-1',
        labels: { desk: 'treasury' },
        external_reference: 'INV-2026-1187',
        metadata: { cost_center: 'emea' },
      },
    ],
  });
export type CreateBody = z.output<typeof createBody>;

export const listQuery = z.strictObject({
  state: z.enum(MOVEMENT_STATES).optional(),
  strategy_id: text(1, 128).optional(),
  template_key: text(1, 256).optional(),
  asset: assetCode
    .optional()
    .meta({ description: 'What the movement is for, or what its plan can move.' }),
  external_reference: printed(1, 128).optional(),
  metadata: metadataFilter,
  needs_attention: z
    .literal('true')
    .transform(() => true as const)
    .optional()
    .meta({ description: 'Only those that need a person, each with `attention_reason`.' }),
  ...pageParameters,
});

export const nodeParams = z.strictObject({ movement_id: uuid, node_key: segment(128) });

/** Each named mint costs a chain read within the request. */
const MAX_NAMED_MINTS = 8;
const transactionHash = z.string().regex(/^0x[0-9a-fA-F]{64}$/, 'must be a transaction hash');

export const resolveBody = z
  .strictObject({
    outcome: z.enum(OUTCOMES).meta({
      description:
        '`completed`: its effect landed; `failed`: proven that it did not; `abandoned`: neither can be known, and it may still land.',
    }),
    reason: text(1, 1000),
    evidence: jsonObject.meta({
      description: 'What proves it: a reference, a statement line, a transaction hash.',
    }),
    attempt: int32(1).optional().meta({
      description:
        'The attempt that the evidence is about, as `attention.attempt` shows it; the first unless named. Where the node is at another one, nothing changes: `node_differs`.',
    }),
    output: jsonObject.optional().meta({
      description:
        "Only with `completed`: the node's output, as its executor would have returned it. Without it the node's amount counts as sent, " +
        'and fills each output field that an `amount_ref` names. A node that claims a payment, message or record names it here; it is read at its source.',
    }),
    mint_tx_hashes: z
      .array(transactionHash)
      .min(1)
      .max(MAX_NAMED_MINTS)
      .optional()
      .meta({
        description:
          'Only with `completed`, in place of `output`, for a burn or its mint: the transaction that minted it. It is read on ' +
          'the chain, which decides. Where burns of the same terms are open, one of each.',
      }),
  })
  .refine((body) => body.outcome === 'completed' || body.output === undefined, {
    path: ['output'],
    message: 'only a completed node has an output',
  })
  .refine(
    ({ mint_tx_hashes: named, outcome, output }) =>
      named === undefined || (outcome === 'completed' && output === undefined),
    { path: ['mint_tx_hashes'], message: 'only with completed, and in place of output' },
  )
  .meta({
    id: 'MovementNodeResolveRequest',
    examples: [
      {
        outcome: 'completed',
        reason: 'The venue shows the withdrawal as paid.',
        evidence: { statement: '2026-11', line: 17 },
      },
    ],
  });
export type ResolveBody = z.output<typeof resolveBody>;

export const reassignBody = z
  .strictObject({
    to_movement_id: uuid,
    to_node_key: text(1, 128).meta({ description: 'The node that the payment is for.' }),
    reason: text(1, 1000),
    evidence: jsonObject.meta({ description: 'What proves whose payment it is.' }),
  })
  .meta({
    id: 'MovementNodeReassignRequest',
    examples: [
      {
        to_movement_id: '01920000-0000-7000-8000-000000000002',
        to_node_key: 'arrive',
        reason: 'The sender named the other invoice.',
        evidence: { letter: '2026-11-25' },
      },
    ],
  });
export type ReassignBody = z.output<typeof reassignBody>;

export const cancelTransactionBody = z.strictObject({ reason: text(1, 1000) }).meta({
  id: 'MovementNodeCancelTransactionRequest',
  examples: [{ reason: 'The fees of the day are above what this payment is worth.' }],
});
export type CancelTransactionBody = z.output<typeof cancelTransactionBody>;

export const acknowledgeBody = z
  .strictObject({
    reason: text(1, 1000),
    attention_reason: z.enum(ATTENTION_REASONS).optional().meta({
      description:
        'The reason that was shown and is dealt with, as the acknowledge of `attention.actions` has it. Where it is none that may be acknowledged now, nothing changes: `node_differs`. A late landing (`landed_late`) has to be named.',
    }),
    node_key: text(1, 128).optional().meta({
      description: 'The node that the reason is about, as the same offer has it.',
    }),
  })
  .meta({
    id: 'MovementAcknowledgeRequest',
    examples: [
      {
        reason: 'Paid by hand; see the ticket of that day.',
        attention_reason: 'failed',
      },
    ],
  });
export type AcknowledgeBody = z.output<typeof acknowledgeBody>;

export const approveBody = z
  .strictObject({
    compiled_plan_hash: text(1, 128).meta({
      description: 'The hash of the plan that was reviewed.',
    }),
    approver_id: text(1, 128).meta({
      description: 'A label; the authenticated key is stored beside it.',
    }),
    reason: text(1, 1000).optional().meta({
      description: 'Why, for timeline and audit; an approval rule may require it.',
    }),
    assertion: assertionBody.optional(),
  })
  .meta({
    id: 'MovementApproveRequest',
    examples: [
      {
        compiled_plan_hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
        approver_id: 'desk-lead',
      },
    ],
  });

/** Optional body of a resume or retry: the plan node that the caller means. */
export const namedNodeBody = z
  .strictObject({
    node_key: text(1, 128).optional(),
    attempt: z.int().min(1).max(2_147_483_647).optional(),
    state: z.enum(NODE_STATES).optional(),
  })
  .default({})
  .meta({
    id: 'NamedNode',
    description: 'Each field must match the node that would run, else `node_differs`.',
    examples: [{ node_key: 'check', attempt: 1, state: 'READY' }],
  });

export const rejectBody = z
  .strictObject({
    approver_id: text(1, 128).optional(),
    reason: text(0, 1000).optional(),
    compiled_plan_hash: text(1, 128).optional().meta({ description: 'Must match when sent.' }),
  })
  .default({})
  .meta({
    id: 'MovementRejectRequest',
    examples: [{ approver_id: 'desk-lead', reason: 'Not this week.' }],
  });
