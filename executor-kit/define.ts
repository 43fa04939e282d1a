/** An executor as a team writes it: five phases and cancel, typed, with the wire kept outside. */
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
  type Pending,
  type Prepared,
  type Unknown,
} from './answers.ts';

export type { CallOptions, ExecutionContext } from '../domain/executor.ts';
export type { JsonObject, JsonValue } from '../domain/json.ts';
export * from './answers.ts';

export interface Submission<P extends JsonObject> {
  readonly context: ExecutionContext;
  /** What prepare answered, checked against the definition's schema. */
  readonly prepared: P;
  /** The signer's answer, when prepare requested a signature. */
  readonly sign_result?: JsonObject;
}

export type Progress = Accepted | Pending | Completed | Failed;

/**
 * `call.signal` aborts when the caller has gone or the time to send has passed: look at it right
 * before sending.
 */
export interface ExecutorDefinition<P extends JsonObject> {
  readonly name: string;
  /** The shape of prepared_action. It must take what prepare answers, unchanged. */
  readonly prepared: z.ZodType<P>;
  preflight(context: ExecutionContext, call: CallOptions): Promise<null | Failed>;
  prepare(context: ExecutionContext, call: CallOptions): Promise<Prepared<P> | Failed>;
  /**
   * The only phase with an effect. One effect for one `context.idempotency_key`, however often it
   * is called.
   */
  submit(submission: Submission<P>, call: CallOptions): Promise<Progress>;
  observe(context: ExecutionContext, call: CallOptions): Promise<Progress>;
  /** What became of the submits under this key. */
  recover(context: ExecutionContext, call: CallOptions): Promise<Progress | NotLanded | Unknown>;
  /** Stop it if that is still possible, and say how it stands. */
  cancel(context: ExecutionContext, call: CallOptions): Promise<Progress>;
  /** Anything that may be shown; throw when the executor cannot work. */
  health?(): Promise<JsonObject>;
  /**
   * How many effects a key has had, counted where the effects are. Only the conformance check asks.
   */
  effects?(idempotencyKey: string): Promise<number>;
}

/**
 * An executor that can be served: by `serveExecutor` over HTTP, by `runExecutorWorker` on a task
 * queue, or by both.
 */
export interface DefinedExecutor {
  readonly name: string;
  /**
   * Runs one phase on an unchecked request and gives its checked answer; null is a passed
   * preflight.
   *
   * @throws Rejected when the request does not fit, ExecutorFault when the answer does not, and
   *   what the phase throws.
   */
  answer(
    phase: ExecutorPhase,
    request: unknown,
    call: CallOptions,
  ): Promise<ExecutionResult | null>;
  health(): Promise<JsonObject>;
  readonly effects?: (idempotencyKey: string) => Promise<number>;
}

/** Turns a definition into an executor that checks what comes in and what goes out. */
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
