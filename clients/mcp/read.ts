/** Reads answers of the service: of each only what a tool shows. */
import { z } from 'zod';
import { ApiError } from '../http/errors.ts';

/**
 * The part of an answer that the schema names.
 *
 * @throws ApiError where the answer is another than the service gives.
 */
export function read<S extends z.ZodType>(schema: S, answer: unknown): z.output<S> {
  const read = schema.safeParse(answer);
  if (read.success) return read.data;
  const place = read.error.issues[0]?.path.join('.') ?? '';
  throw new ApiError({
    status: 502,
    rawCode: 'answer_not_understood',
    message: `The service answered something else than this version knows (at ${place || 'its root'}).`,
    context: {},
    issues: [],
    requestId: null,
    retryAfterSeconds: null,
  });
}

const text = z.string();
const maybe = text.nullable();
const outflow = z.array(z.object({ asset: text, amount: maybe }));

export const whoami = z.object({
  client_id: maybe,
  key_id: maybe,
  role: text,
  namespace: text.optional(),
});

export const route = z.object({
  template_key: text,
  name: text,
  version: z.int(),
  graph_shape: text,
  node_count: z.int(),
  executable: z.boolean(),
  metadata: z.object({
    transport_family: text,
    source_venue: maybe,
    destination_venue: maybe,
    asset: maybe,
  }),
  bridge: z
    .object({
      latency_baseline_seconds: z.number().nullable(),
      max_fee: maybe,
      legs: z.array(z.object({ usable: z.boolean().nullable() })),
    })
    .nullish(),
  stats: z
    .object({
      total_completed: z.int(),
      total_failed: z.int(),
      success_rate: z.number(),
      avg_duration_seconds: z.number().nullable(),
    })
    .nullable(),
  fee_policy: z.record(text, z.unknown()),
  risk_controls: z.record(text, z.unknown()),
  health: z.object({ status: text }).optional(),
});
export type Route = z.infer<typeof route>;

export const movement = z.object({
  movement_id: text,
  template_key: text,
  template_version: z.int(),
  strategy_id: maybe,
  request_state: text,
  approval_status: text,
  reservation_status: text,
  intent: z.record(text, z.unknown()),
  outflow,
  current_frontier: z.array(text),
  error_code: maybe,
  attention_reason: maybe,
  created_at: text,
  updated_at: text,
  expires_at: text,
});
export type Movement = z.infer<typeof movement>;

export const movementDetail = movement.extend({
  compiled_plan_hash: text,
  error_message: maybe,
  nodes: z.array(
    z.object({
      node_key: text,
      node_kind: text,
      action_type: text,
      state: text,
      attempt: z.int(),
      asset: text,
      amount: maybe,
      destination: maybe,
      external_ref: maybe,
      error_code: maybe,
      error_message: maybe,
    }),
  ),
  attention: z
    .object({ reason: text, node_key: maybe, last_answer: maybe, next_look_at: maybe })
    .nullable(),
});

export const proposal = z.object({
  proposal_id: text,
  authority_key: text,
  status: text,
  promotion_mode: maybe,
  template_key: maybe,
  template_version: z.int().nullable(),
  reasons: z.array(text),
  // Only of one that is read by its id.
  proposal: z.record(text, z.unknown()).optional(),
  problem: maybe.optional(),
  movement_id: maybe.optional(),
  expires_at: text,
  created_at: text,
});
export type ProposalAnswer = z.infer<typeof proposal>;
