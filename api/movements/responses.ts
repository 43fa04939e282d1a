/** The wire contract of movements: responses. */
import { z } from 'zod';
import { UNCOVERED_CODES } from '../../domain/agents/authority.ts';
import { approvalsView } from '../approvals/schema.ts';
import { ATTENTION_REASONS } from '../../domain/attention-reasons.ts';
import { OUTCOMES } from '../../domain/commands/resolve.ts';
import { TIMELINE_EVENTS } from '../../domain/events.ts';
import {
  APPROVAL_STATUSES,
  MOVEMENT_STATES,
  RESERVATION_STATUSES,
} from '../../domain/states/movement.ts';
import { NODE_STATES } from '../../domain/states/node.ts';
import { nextCursor } from '../http/paging.ts';
import {
  actorView,
  decimalString,
  jsonObject,
  listOf,
  oneOf,
  timestamp,
  uuid,
} from '../http/schemas.ts';
import { limits, review, sends } from './review-schema.ts';

const state = z.enum(MOVEMENT_STATES);
const reservationStatus = z.enum(RESERVATION_STATUSES);
const frontier = listOf(z.string()).meta({
  description: 'Keys of the nodes that can run or are running.',
});
const text = z.string().nullable();
export const outflow = listOf(
  z.object({ asset: z.string(), amount: decimalString.nullable() }).meta({ id: 'OutflowEntry' }),
).meta({
  description:
    'What the plan can move at most in any one run, by asset; every limit counts it. Null where an output decides it and nothing bounds it.',
});

/** The caller's own references for a movement. */
export const naming = {
  external_reference: text,
  metadata: jsonObject.meta({ description: 'Pairs of texts.' }),
} as const;

const templateReference = z
  .object({ template_id: uuid, template_key: z.string(), version: z.int() })
  .meta({ id: 'TemplateReference' });

export const createResponse = z
  .object({
    movement_id: uuid,
    request_state: state,
    template: templateReference,
    compiled_plan_hash: z.string().meta({
      description: 'Lowercase hex SHA-256 of the canonical JSON (RFC 8785) of the compiled plan.',
    }),
    current_frontier: frontier,
    approval_status: z.enum(APPROVAL_STATUSES),
    reservation_status: reservationStatus,
    auto_approve_result: jsonObject.nullable(),
    outflow,
    sends,
    limits,
    ...naming,
    expires_at: timestamp,
    created_at: timestamp,
  })
  .meta({ id: 'MovementCreateResponse' });
export type CreateResponse = z.input<typeof createResponse>;

const summaryFields = {
  movement_id: uuid,
  template_key: z.string(),
  template_version: z.int(),
  strategy_id: text,
  request_state: state,
  approval_status: z.enum(APPROVAL_STATUSES),
  reservation_status: reservationStatus,
  intent: jsonObject,
  outflow,
  current_frontier: frontier,
  ...naming,
  error_code: text,
  attention_reason: z
    .enum(ATTENTION_REASONS)
    .nullable()
    .meta({ description: 'Why it needs a person; null while it needs none.' }),
  created_at: timestamp,
  updated_at: timestamp,
  expires_at: timestamp,
} as const;

export const summary = z.object(summaryFields).meta({ id: 'MovementSummary' });

export const listResponse = z
  .object({ movements: listOf(summary), next_cursor: nextCursor })
  .meta({ id: 'MovementList' });

const nodeView = z
  .object({
    node_key: z.string(),
    node_kind: z.string(),
    action_type: z.string(),
    state: z.enum(NODE_STATES),
    attempt: z.int(),
    executor_binding: z.object({ executor_key: z.string() }),
    signer_binding: z.object({ signer_key: z.string() }).nullable().meta({
      description: 'Who signs; a rotation may have replaced the one of the plan.',
    }),
    original_signer_binding: z.object({ signer_key: z.string() }).nullable().optional().meta({
      description: 'Who signs by the plan that was approved, where a rotation replaced that one.',
    }),
    asset: z.string().meta({ description: 'What the node moves or looks for.' }),
    amount: decimalString.nullable().meta({
      description:
        'Before its amount is fixed: the most it can be; null while only an output decides.',
    }),
    description: text.meta({
      description: 'Of a gate: what its template says that a person is to look at.',
    }),
    idempotency_key: z.string().meta({
      description:
        'The key under which its executor is called in this attempt, and by which its send can be looked up.',
    }),
    destination: text.meta({
      description: 'Whom it pays: by its plan before it runs, as it was prepared after.',
    }),
    external_ref: text,
    output: jsonObject.nullable(),
    error_code: text,
    error_message: text,
    started_at: timestamp.nullable(),
    updated_at: timestamp,
    completed_at: timestamp.nullable(),
  })
  .meta({ id: 'MovementNodeView' });
export type NodeView = z.input<typeof nodeView>;

const artifactView = z
  .object({
    artifact_id: uuid,
    node_key: z.string(),
    attempt: z.int(),
    kind: z.string(),
    data: jsonObject,
    created_at: timestamp,
  })
  .meta({ id: 'ArtifactView' });

const attention = z
  .object({
    reason: z.enum(ATTENTION_REASONS),
    message: z.string().meta({ description: 'The reason in a sentence.' }),
    node_key: text.meta({ description: 'The node that it is about; null for an approval.' }),
    description: text.meta({
      description: 'Of a gate that waits: what its template says that a person is to look at.',
    }),
    idempotency_key: text.meta({
      description: 'Of an unknown outcome: the key by which its executor or venue can look it up.',
    }),
    last_answer: text.meta({
      description: 'What was last said about the node, by its executor or on its way there.',
    }),
    attempt: z.int().nullable().meta({ description: 'The present attempt of the node.' }),
    max_attempts: z.int().nullable().meta({
      description:
        'Errors before a send after which the attempt gives up. Looks at what became of a send have no such end.',
    }),
    errors: z.int().nullable().meta({
      description: 'Errors of the attempt so far, and consecutive looks without an answer.',
    }),
    next_look_at: timestamp.nullable().meta({
      description: 'When its outcome is looked up again; null: never.',
    }),
    actions: listOf(
      z.object({
        action: z.string(),
        consequence: z.string(),
        node_key: z.string().optional(),
        attempt: z.int().optional(),
        state: z.enum(NODE_STATES).optional(),
        attention_reason: z.enum(ATTENTION_REASONS).optional().meta({
          description: 'Of an acknowledge: the reason that it deals with.',
        }),
        outcomes: listOf(z.enum(OUTCOMES)).optional().meta({
          description: 'Of a resolve: the outcomes that may be stated now.',
        }),
        claim_places: listOf(z.string()).optional().meta({
          description:
            'Of a resolve that may be `completed`: where the request has to name what completed the node, in one of these places. Absent where its type claims nothing.',
        }),
      }),
    ).meta({
      description: 'What may be done now, and what comes of it.',
    }),
  })
  .meta({ id: 'MovementAttention' });
export type AttentionView = z.input<typeof attention>;

const authorityView = z
  .object({
    authority_key: z.string(),
    max_notional: decimalString.nullable(),
    allowed_assets: listOf(z.string()),
    allowed_chains: listOf(z.string()),
    granted: z
      .object({ asset: z.string(), amount: decimalString })
      .nullable()
      .meta({ description: 'What an administrator has promoted of this template version.' }),
    uncovered: listOf(z.enum(UNCOVERED_CODES)).meta({
      description: 'What of the movement the authority does not cover, as its limits are now.',
    }),
  })
  .meta({ id: 'MovementAuthority' });

const openAllowance = z
  .object({
    node_key: z.string().meta({ description: 'The node that set it.' }),
    chain_id: z.int(),
    owner: z.string().meta({ description: 'Whose tokens may be pulled.' }),
    token_address: z.string(),
    spender: z.string(),
    asset: z.string(),
    amount: decimalString,
  })
  .meta({ id: 'OpenAllowance' });

export const resetAllowancesResponse = z
  .object({
    movement_id: uuid,
    open_allowances: listOf(openAllowance),
    resets: listOf(
      z
        .object({
          node_key: z.string().meta({ description: 'The node that set the allowance.' }),
          movement_id: uuid.meta({ description: 'The movement that takes it back.' }),
          request_state: state,
        })
        .meta({ id: 'AllowanceReset' }),
    ),
  })
  .meta({ id: 'ResetAllowancesResponse' });
export type ResetAllowancesResponse = z.input<typeof resetAllowancesResponse>;

export const detailResponse = z
  .object({
    ...summaryFields,
    template: templateReference,
    compiled_plan_hash: z.string(),
    input_params: jsonObject,
    labels: jsonObject,
    created_by: jsonObject,
    approver_id: text.meta({ description: 'The label that was sent with the decision.' }),
    approved_by: text.meta({ description: 'The authenticated key that approved.' }),
    auto_approve_result: jsonObject.nullable(),
    error_message: text,
    nodes: listOf(nodeView),
    artifacts: listOf(artifactView),
    callbacks: z.object({ pending: z.int(), delivered: z.int(), dead_letter: z.int() }),
    attention: attention.nullable().meta({ description: 'Set while a person is needed.' }),
    agent_authority: authorityView.optional().meta({
      description:
        "Of an agent's movement that waits for its approval: what its authority covers now.",
    }),
    open_allowances: listOf(openAllowance).optional().meta({
      description:
        'Of a movement that has ended: what it allowed others to pull and its nodes did not use. `reset-allowances` takes it back.',
    }),
    review: review.optional().meta({
      description:
        'Of a movement that waits for its approval: what the approval is about, as things stand now.',
    }),
    approvals: approvalsView.optional().meta({
      description: 'Of a movement that waits under approval rules, except for agents.',
    }),
    workflow: z.object({
      namespace: z.string(),
      workflow_id: z.string(),
      run_id: text,
      ui_url: z.string(),
    }),
  })
  .meta({ id: 'MovementDetail' });
export type DetailResponse = z.input<typeof detailResponse>;

export const timelineResponse = listOf(
  z
    .object({
      event_id: uuid,
      sequence: z.int().meta({ description: 'Per movement, without gaps.' }),
      event_type: oneOf(TIMELINE_EVENTS),
      node_key: text,
      attempt: z.int().nullable(),
      from_state: text,
      to_state: text,
      actor: actorView,
      message: z.string(),
      data: jsonObject,
      occurred_at: timestamp,
    })
    .meta({ id: 'MovementTimelineEventView' }),
);

export const actionResponse = z
  .object({
    movement_id: uuid,
    request_state: state,
    current_frontier: frontier,
    reservation_status: reservationStatus,
    approvals: approvalsView.optional().meta({
      description:
        'Of an approval under approval rules, or its withdrawal, while approvals are missing.',
    }),
  })
  .meta({ id: 'MovementActionResponse' });
export type ActionResponse = z.input<typeof actionResponse>;

export const reassignResponse = z
  .object({
    ...actionResponse.shape,
    to: actionResponse.meta({ description: 'The movement of the node that the payment is for.' }),
    payments: listOf(
      z
        .object({ source: z.string(), reference: z.string(), amount: decimalString })
        .meta({ id: 'ReassignedPayment' }),
    ).meta({ description: 'All that the node had claimed.' }),
  })
  .meta({ id: 'ReassignResponse' });
export type ReassignResponse = z.input<typeof reassignResponse>;
