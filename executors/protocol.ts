/**
 * The wire format of the executor protocol: its fields, their size limits, and the states that each
 * phase may report.
 */
import { z } from 'zod';
import {
  COMPLETION_ASSURANCES,
  EXECUTION_STATES,
  EXECUTOR_PHASES,
  ExecutorFault,
  type ExecutionContext,
  type ExecutionResult,
  type ExecutionState,
  type ExecutorPhase,
} from '../domain/executor.ts';
import {
  ABANDONED,
  LANE_BLOCKED,
  LANE_STUCK,
  SEND_LANE_TAKEN,
  SEND_UNDER_WAY,
} from '../domain/attention-reasons.ts';
import { venueWaitOf } from '../domain/venue-waits.ts';
import { issuesLine } from '../platform/issues.ts';
import { jsonObject } from './json-object.ts';

/**
 * Longest error message, in characters. A longer one is cut, since a long message must not make an
 * outcome unknown.
 */
const MESSAGE_LIMIT = 2_000;
const RETRY_AFTER_LIMIT = 86_400;
const OBJECT_LIMIT = 256 * 1024;
/**
 * Codes that only the service may set: they decide plan edges, alarms, the lanes of nonces and
 * sends, and what a person may state of a send. Not among them: what an executor found at its venue
 * (as `WITHDRAWAL_MISMATCH`), which our own exchange process reports in this protocol, too; and
 * `CLOCK_DIFFERENCE`, also an exchange's refusal, which alarms only where the service has made the
 * node wait.
 */
export const OWN_CODES: readonly string[] = [
  'NODE_TIMED_OUT',
  'TRANSACTION_CANCELLED',
  'RESTORED_NODE_UNASKED',
  'RESOLVED_AS_FAILED',
  'CONDITION_ERROR',
  'ALREADY_CLAIMED',
  'CLAIM_MISSING',
  LANE_BLOCKED,
  LANE_STUCK,
  SEND_LANE_TAKEN,
  ABANDONED,
  SEND_UNDER_WAY,
];
const CODE = /^[A-Za-z0-9][A-Za-z0-9_.:-]*$/;

/**
 * The states that each phase may report; any other state is a protocol error, except the wait for a
 * venue ({@link venueWaitOf}) from preflight and prepare.
 *
 * Preflight: a pass is null (204 over HTTP), so a body can only be a refusal.
 *
 * Prepare never reports COMPLETED, even when there is nothing to do: that would bypass the last
 * check before a send. Such an action reports SUBMITTING and completes in submit.
 *
 * READY and UNKNOWN answer the question "did anything land?", which only recover asks. The wait for
 * a venue is no such answer: nothing was started that could land.
 */
export const LEGAL_STATES = {
  preflight: ['FAILED'],
  prepare: ['SUBMITTING', 'FAILED'],
  submit: ['SUBMITTING', 'SUBMITTED', 'OBSERVING', 'COMPLETED', 'FAILED'],
  observe: ['SUBMITTED', 'OBSERVING', 'COMPLETED', 'FAILED'],
  recover: EXECUTION_STATES,
  cancel: ['SUBMITTING', 'SUBMITTED', 'OBSERVING', 'COMPLETED', 'FAILED'],
} as const satisfies Record<ExecutorPhase, readonly ExecutionState[]>;

/**
 * Phases in which an executor's SUBMITTING means "accepted, not yet confirmed", which the service
 * calls SUBMITTED.
 */
const ACCEPTED_IS_SUBMITTED: readonly ExecutorPhase[] = ['submit', 'recover', 'cancel'];

/** Returns a schema for a text that Postgres can store: no NUL and no lone surrogate. */
const text = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .refine(
      (value) => !/[\0\p{Surrogate}]/u.test(value),
      'must not contain NUL or a lone surrogate',
    );

const UNSTORABLE = /[\0\p{Surrogate}]/gu;
// Removes surrogates once more after the cut, which may have left half of a pair.
const message = z
  .string()
  .transform((value) =>
    value.replace(UNSTORABLE, '').slice(0, MESSAGE_LIMIT).replace(UNSTORABLE, ''),
  );
const object = jsonObject({ maxBytes: OBJECT_LIMIT, maxDepth: 32 });

const signRequest = z.object({
  kind: z.enum(['evm_transaction', 'evm_typed_data']),
  payload: object,
});
const artifact = z.object({ kind: text(64), data: object });

/**
 * Header with the time, ISO 8601, at which the caller gives up: a call that arrives later starts
 * nothing, and one that still runs then is aborted. A submit carries it: the last moment to send.
 */
export const NOT_AFTER_HEADER = 'x-not-after';

/** Code of the kit's 503 to a call that arrives after its {@link NOT_AFTER_HEADER}. */
export const CALL_TOO_LATE = 'CALL_TOO_LATE';

export const executionResultSchema = z.object({
  next_state: z.enum(EXECUTION_STATES),
  error_code: text(128)
    .regex(CODE)
    .transform((code) => (OWN_CODES.includes(code) ? `EXECUTOR_${code}` : code))
    .exactOptional(),
  error_message: message.exactOptional(),
  external_ref: text(512).exactOptional(),
  prepared_action: object.exactOptional(),
  sign_request: signRequest.exactOptional(),
  output: object.exactOptional(),
  assurance: z.enum(COMPLETION_ASSURANCES).exactOptional(),
  artifacts: z.array(artifact).max(100).exactOptional(),
  retry_after_seconds: z
    .number()
    .min(0)
    .transform((seconds) => Math.min(seconds, RETRY_AFTER_LIMIT))
    .exactOptional(),
}) satisfies z.ZodType<ExecutionResult>;

export const executionContextSchema = z.object({
  movement_id: text(128),
  node_key: text(128),
  attempt: z.int().min(1).max(2_147_483_647),
  idempotency_key: text(512),
  action_type: text(128),
  asset: text(64),
  amount: text(64),
  config: object,
  input_params: object,
  intent: object,
  completion_assurance: z.enum(COMPLETION_ASSURANCES),
  signer: z
    .object({ signer_key: text(128), chain_family: text(64), address: text(128) })
    .exactOptional(),
  prior: z
    .object({
      external_ref: text(512).exactOptional(),
      prepared_action: object.exactOptional(),
      output: object.exactOptional(),
    })
    .exactOptional(),
  matched: z
    .object({
      node_key: text(128),
      external_ref: text(512).exactOptional(),
      output: object.exactOptional(),
    })
    .exactOptional(),
  // Strict and complete: a missing count would turn a guess into a proof (venues/cex/baseline.ts).
  send_lane: z
    .strictObject({
      since: z.iso.datetime({ offset: true }),
      references: z.array(text(512)).max(100_000),
      unexplained: z.int().min(0),
    })
    .exactOptional(),
}) satisfies z.ZodType<ExecutionContext>;

export const submitBodySchema = z.object({
  context: executionContextSchema,
  prepared_action: object,
  sign_result: object.exactOptional(),
});
export type SubmitBody = z.infer<typeof submitBodySchema>;

/**
 * Checks and returns an executor's answer to `phase`. Drops unknown keys, treats a null field as
 * absent, and changes SUBMITTING to SUBMITTED in phases where it means "accepted". A FAILED without
 * a code gets EXECUTOR_REJECTED; a code that only the service may set gets the prefix `EXECUTOR_`.
 *
 * @throws ExecutorFault of kind `protocol`, code EXECUTOR_PROTOCOL_ERROR, when the answer is
 *   invalid.
 */
export function parseResult(phase: ExecutorPhase, value: unknown): ExecutionResult {
  const parsed = executionResultSchema.safeParse(withoutNulls(value));
  if (!parsed.success)
    throw protocolFault(
      `answer to ${phase} does not fit: ${issuesLine(parsed.error, { whole: 'body' })}`,
    );
  const { sign_request, ...rest } = parsed.data;
  const unnamed = rest.next_state === 'FAILED' && rest.error_code === undefined;
  const result = unnamed ? { ...rest, error_code: 'EXECUTOR_REJECTED' } : rest;
  if (!isLegal(phase, result)) {
    throw protocolFault(`${phase} must not answer next_state ${result.next_state}`);
  }
  if (result.next_state === 'SUBMITTING' && ACCEPTED_IS_SUBMITTED.includes(phase)) {
    return { ...result, next_state: 'SUBMITTED' };
  }
  // Only a successful prepare may request a signature; in any other answer sign_request is dropped
  // like an unknown key.
  const signs =
    phase === 'prepare' && result.next_state === 'SUBMITTING' && sign_request !== undefined;
  return signs ? { ...result, sign_request } : result;
}

/** Returns the fault for an answer that does not fit the protocol. */
export function protocolFault(detail: string, cause?: unknown): ExecutorFault {
  return new ExecutorFault('protocol', 'EXECUTOR_PROTOCOL_ERROR', detail, { cause });
}

/** Returns whether `name` is one of the six phases; for routing. */
export function isExecutorPhase(name: string): name is ExecutorPhase {
  return EXECUTOR_PHASES.some((phase) => phase === name);
}

/** Phases that start nothing, so that the node may still wait for its venue. */
const MAY_WAIT: readonly ExecutorPhase[] = ['preflight', 'prepare'];

function isLegal(phase: ExecutorPhase, result: ExecutionResult): boolean {
  if (LEGAL_STATES[phase].some((legal) => legal === result.next_state)) return true;
  return MAY_WAIT.includes(phase) && venueWaitOf(result) !== null;
}

function withoutNulls(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null));
}
