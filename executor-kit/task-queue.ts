/** Serves an executor as a worker on its team's Temporal task queue. */
import { Context } from '@temporalio/activity';
import { ApplicationFailure, type PayloadCodec } from '@temporalio/common';
import { NativeConnection, Worker } from '@temporalio/worker';
import {
  REJECTED_FAILURE,
  type ExecutionContext,
  type ExecutionResult,
  type ExecutorActivities,
  type ExecutorPhase,
} from '../domain/executor.ts';
import { LEAST_SECRET_BYTES, signedResult, usableSecret } from '../executors/result-signature.ts';
import { deadline } from '../platform/deadline.ts';
import { createPayloadCodec } from '../platform/payload-codec.ts';
import { parsePayloadKeys } from '../platform/payload-keys.ts';
import { Rejected, Unavailable } from './answers.ts';
import type { CallOptions, DefinedExecutor } from './define.ts';
import { installRuntime } from './runtime.ts';

export type { ExecutorActivities } from '../domain/executor.ts';
export { signedResult } from '../executors/result-signature.ts';

export interface WorkerOptions {
  /** Address of the Temporal server, as host:port. */
  readonly address: string;
  readonly namespace: string;
  /** The task queue that the registry file names for this executor. */
  readonly taskQueue: string;
  /** The service's SVC_PAYLOAD_KEYS; required if the service encrypts payloads in Temporal. */
  readonly payloadKeys?: string | undefined;
  /**
   * Content of the file that the registry entry names as `result_secret_file`. Without
   * the secret the service does not trust FAILED after a submit has started: a person must decide.
   */
  readonly resultSecret?: string | undefined;
  readonly log?: (line: string) => void;
}

export interface RunningExecutorWorker {
  /** Resolves after `stop`; rejects when the worker cannot continue. */
  readonly done: Promise<void>;
  /** Accepts no new calls, and gives running calls 10 s to finish. */
  stop(): Promise<void>;
}

/**
 * Connects to Temporal and serves the six activities.
 *
 * @throws Error when Temporal cannot be reached or has no such namespace, or when a payload key is
 *   malformed.
 */
export async function runExecutorWorker(
  executor: DefinedExecutor,
  options: WorkerOptions,
): Promise<RunningExecutorWorker> {
  installRuntime('WARN');
  const { address, namespace, taskQueue, payloadKeys, resultSecret, log } = options;
  const converter = withPayloadKeys(payloadKeys);
  const connection = await NativeConnection.connect({ address });
  let worker: Worker;
  try {
    const activities = { ...executorActivities(executor, log, resultSecret) };
    worker = await Worker.create({
      connection,
      namespace,
      taskQueue,
      activities,
      ...converter,
      shutdownGraceTime: '10 seconds',
    });
  } catch (error) {
    await connection.close();
    throw error;
  }
  const done = worker.run().finally(() => connection.close());
  return {
    done,
    stop: async () => {
      if (worker.getState() === 'RUNNING') worker.shutdown();
      await done;
    },
  };
}

/**
 * Returns the part of a worker's options with which it reads and writes encrypted payloads; empty
 * without keys.
 *
 * @throws Error that names the position of the malformed entry.
 */
export function withPayloadKeys(keys: string | undefined): {
  readonly dataConverter?: { readonly payloadCodecs: PayloadCodec[] };
} {
  if (keys === undefined || keys === '') return {};
  const parsed = parsePayloadKeys(keys);
  if (!parsed.ok) throw new Error(`the payload keys are malformed: ${parsed.faults.join('; ')}`);
  return { dataConverter: { payloadCodecs: [createPayloadCodec(parsed.keys)] } };
}

/**
 * Returns the activities of a worker, for teams that register them together with their own
 * activities.
 *
 * @throws Error when the secret has fewer than 16 bytes.
 */
export function executorActivities(
  executor: DefinedExecutor,
  log = (line: string): void => void process.stderr.write(`${line}\n`),
  resultSecret?: string,
): ExecutorActivities {
  const secret = resultSecret === undefined ? undefined : usableSecret(resultSecret);
  if (secret === null)
    throw new Error(`the result secret must have ${String(LEAST_SECRET_BYTES)} bytes at least`);
  const run = async (
    phase: ExecutorPhase,
    request: unknown,
    call: CallOptions,
  ): Promise<ExecutionResult | null> => {
    try {
      return await executor.answer(phase, request, call);
    } catch (error) {
      throw failureOf(phase, error, log);
    }
  };
  const answer = async (
    phase: ExecutorPhase,
    request: unknown,
    call = callOptions(),
  ): Promise<ExecutionResult> => {
    const result = await run(phase, request, call);
    if (result === null) throw new Error(`the executor returned no answer for ${phase}`);
    return secret === undefined
      ? result
      : signedResult(secret, { idempotency_key: keyOf(request), phase }, result);
  };
  const activities: ExecutorActivities = {
    preflight: (context) => run('preflight', context, callOptions()),
    prepare: (context) => answer('prepare', context),
    submit: (input) => submitInTime(input, (call) => answer('submit', input, call)),
    observe: (context) => answer('observe', context),
    recover: (context) => answer('recover', context),
    cancel: (context) => answer('cancel', context),
  };
  return activities;
}

/** Returns the request's idempotency key; the executor has checked the request before. */
function keyOf(request: unknown): string {
  const { context = request } = request as { readonly context?: unknown };
  return (context as ExecutionContext).idempotency_key;
}

async function submitInTime(
  input: unknown,
  submit: (call: CallOptions) => Promise<ExecutionResult>,
): Promise<ExecutionResult> {
  const text: unknown =
    typeof input === 'object' && input !== null ? Reflect.get(input, 'send_not_after') : undefined;
  const notAfter = typeof text === 'string' ? Date.parse(text) : Number.NaN;
  const left = notAfter - Date.now();
  if (Number.isNaN(left)) {
    throw ApplicationFailure.nonRetryable(
      'send_not_after must be a time in ISO 8601',
      REJECTED_FAILURE,
    );
  }
  // Not `Rejected`: an earlier delivery of the same submit may have sent the payment. The service
  // calls recover next.
  if (left <= 0)
    throw ApplicationFailure.nonRetryable(
      'the time to send has passed; nothing was sent',
      'SEND_TIME_PASSED',
    );
  const call = { ...callOptions(), notAfter };
  const limit = deadline(call, Math.min(left, 2 ** 31 - 1));
  try {
    return await submit({ ...call, signal: limit.signal });
  } finally {
    limit.clear();
  }
}

function callOptions(): CallOptions {
  const { info, cancellationSignal } = Context.current();
  return { signal: cancellationSignal, requestId: `${info.activityId}.${info.attempt}` };
}

/**
 * Converts an error to a Temporal failure. The message of an unexpected error goes only to this
 * log: others can read Temporal's history, which keeps every message.
 */
function failureOf(
  phase: ExecutorPhase,
  error: unknown,
  log: (line: string) => void,
): ApplicationFailure {
  if (error instanceof Rejected)
    return ApplicationFailure.nonRetryable(`${error.code}: ${error.message}`, REJECTED_FAILURE);
  if (error instanceof Unavailable) {
    const delay =
      error.retryAfterSeconds === undefined
        ? {}
        : { nextRetryDelay: error.retryAfterSeconds * 1000 };
    return ApplicationFailure.create({
      message: error.message,
      type: 'EXECUTOR_UNAVAILABLE',
      ...delay,
    });
  }
  log(`${phase}: ${String(error)}`);
  return ApplicationFailure.create({
    message: 'the executor failed; its log says why',
    type: 'EXECUTOR_ERROR',
  });
}
