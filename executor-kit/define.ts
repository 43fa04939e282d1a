/** An executor as a team writes it: five phases and cancel, typed, without the wire format. */
import type { z } from 'zod';
import type {
  CallOptions,
  ExecutionContext,
  ExecutionResult,
  ExecutorPhase,
} from '../domain/executor.ts';
import type { JsonObject } from '../domain/json.ts';
import { issuesLine } from '../platform/issues.ts';
import { executionContextSchema, parseResult, submitBodySchema } from '../executors/protocol.ts';
import {
  Rejected,
  type Accepted,
  type Completed,
  type Failed,
  type NotLanded,
  type NotNow,
  type Pending,
  type Prepared,
  type Unknown,
} from './answers.ts';

export type { CallOptions, ExecutionContext } from '../domain/executor.ts';
export type { JsonObject, JsonValue } from '../domain/json.ts';
export * from './answers.ts';

export interface Submission<P extends JsonObject> {
  readonly context: ExecutionContext;
  /** What prepare returned, checked against the definition's schema. */
  readonly prepared: P;
  /** The signer's answer, if prepare requested a signature. */
  readonly sign_result?: JsonObject;
}

export type Progress = Accepted | Pending | Completed | Failed;

/**
 * An executor's phases. `call.signal` aborts when the caller has disconnected or the time to send
 * has passed, and `call.notAfter` is the end of that time, if it is known: check both right before
 * sending.
 */
export interface ExecutorDefinition<P extends JsonObject> {
  readonly name: string;
  /** Schema of prepared_action. Must accept the output of prepare and must not change it. */
  readonly prepared: z.ZodType<P>;
  preflight(context: ExecutionContext, call: CallOptions): Promise<null | Failed | NotNow>;
  prepare(context: ExecutionContext, call: CallOptions): Promise<Prepared<P> | Failed | NotNow>;
  /**
   * The only phase with an effect: exactly one effect for each `context.idempotency_key`, however
   * often submit is called.
   */
  submit(submission: Submission<P>, call: CallOptions): Promise<Progress>;
  observe(context: ExecutionContext, call: CallOptions): Promise<Progress>;
  /** Returns what became of the submits under this key. */
  recover(context: ExecutionContext, call: CallOptions): Promise<Progress | NotLanded | Unknown>;
  /** Stops the send if that is still possible, and returns its state. */
  cancel(context: ExecutionContext, call: CallOptions): Promise<Progress>;
  /** Returns details that may be shown to anybody; throws when the executor cannot work. */
  health?(): Promise<JsonObject>;
  /** Returns the number of effects of a key, counted at the provider; only for the check. */
  effects?(idempotencyKey: string): Promise<number>;
}

/**
 * An executor that can be served by `serveExecutor` over HTTP, by `runExecutorWorker` on a task
 * queue, or by both.
 */
export interface DefinedExecutor {
  readonly name: string;
  /**
   * Runs one phase on an unchecked request and returns its checked answer; null is a passed
   * preflight.
   *
   * @throws Rejected when the request is invalid, ExecutorFault when the answer is invalid, and
   *   whatever the phase throws.
   */
  answer(
    phase: ExecutorPhase,
    request: unknown,
    call: CallOptions,
  ): Promise<ExecutionResult | null>;
  health(): Promise<JsonObject>;
  readonly effects?: (idempotencyKey: string) => Promise<number>;
}

/** Turns a definition into an executor that checks requests and answers. */
export function defineExecutor<P extends JsonObject>(
  definition: ExecutorDefinition<P>,
): DefinedExecutor {
  return {
    name: definition.name,
    answer: async (phase, request, call) => {
      const answer = await run(definition, phase, request, call);
      return answer === null && phase === 'preflight' ? null : parseResult(phase, answer);
    },
    health: async () => (await definition.health?.()) ?? { status: 'ok' },
    ...(definition.effects === undefined ? {} : { effects: definition.effects.bind(definition) }),
  };
}

async function run<P extends JsonObject>(
  definition: ExecutorDefinition<P>,
  phase: ExecutorPhase,
  request: unknown,
  call: CallOptions,
): Promise<ExecutionResult | null> {
  if (phase !== 'submit')
    return definition[phase](read(executionContextSchema, request, 'context'), call);
  const { context, prepared_action, sign_result } = read(submitBodySchema, request, 'body');
  const prepared = read(definition.prepared, prepared_action, 'prepared_action');
  return definition.submit(
    { context, prepared, ...(sign_result === undefined ? {} : { sign_result }) },
    call,
  );
}

function read<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new Rejected('INVALID_REQUEST', issuesLine(parsed.error, { under: what }));
}
