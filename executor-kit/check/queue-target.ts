/** A task-queue executor under check: a workflow calls its activities, as in the service. */
import {
  COMPLETION_ASSURANCES,
  ExecutorFault,
  REJECTED_FAILURE,
  type ExecutionResult,
  type ExecutorPhase,
  type SubmitInput,
} from '../../domain/executor.ts';
import { parseResult } from '../../executors/protocol.ts';
import { describeTaskQueue } from '../../executors/task-queue.ts';
import type { QueueCall, QueueOutcome } from './call-workflow.ts';
import type { CheckOptions } from './options.ts';
import { openQueueCaller } from './queue-caller.ts';
import type { MalformedOutcome, Target } from './target.ts';

/**
 * Connects to Temporal and to the queue `options.target`.
 *
 * @throws Error when Temporal cannot be reached.
 */
export async function createQueueTarget(options: CheckOptions): Promise<Target> {
  const caller = await openQueueCaller(options);
  const timeoutMs = options.timeout * 1000;
  const callOf = (phase: ExecutorPhase, input: unknown): QueueCall => {
    return {
      phase,
      input,
      task_queue: options.target,
      timeout_ms: timeoutMs,
      pickup_ms: timeoutMs,
    };
  };
  const ask = async (
    phase: ExecutorPhase,
    input: unknown,
    signal?: AbortSignal,
  ): Promise<ExecutionResult> =>
    parseResult(phase, answerOf(await caller.call(callOf(phase, input), signal)));
  const submitInput = ({ context, prepared_action, sign_result }: SubmitInput, leftMs: number) => {
    const send_not_after = new Date(Date.now() + leftMs).toISOString();
    return {
      context,
      prepared_action,
      send_not_after,
      ...(sign_result === undefined ? {} : { sign_result }),
    };
  };
  return {
    kind: 'task_queue',
    executor: {
      descriptor: describeTaskQueue({
        executor_key: 'under-check',
        kind: 'task_queue',
        task_queue: options.target,
        timeout_seconds: options.timeout,
        same_key_safe: options.sameKeySafe,
        settle_seconds: options.settleSeconds,
        action_types: [options.actionType],
        sends: true,
        payees: [],
        not_payees: [],
        completion_assurances: COMPLETION_ASSURANCES,
      }),
      preflight: async (context, call) => {
        const answer = answerOf(await caller.call(callOf('preflight', context), call.signal));
        return answer === null || answer === undefined ? null : parseResult('preflight', answer);
      },
      prepare: (context, call) => ask('prepare', context, call.signal),
      submit: (input, call) => ask('submit', submitInput(input, timeoutMs), call.signal),
      observe: (context, call) => ask('observe', context, call.signal),
      recover: (context, call) => ask('recover', context, call.signal),
      cancel: (context, call) => ask('cancel', context, call.signal),
      health: async () =>
        (await caller.hasWorker(options.target))
          ? { state: 'up' }
          : { state: 'down', detail: `no worker polls task queue ${options.target}` },
    },
    submitUnheard: async (input, lost) => {
      const call = callOf('submit', submitInput(input, timeoutMs));
      if (lost === 'answered') await caller.call(call);
      else await caller.abandon(call, lost);
    },
    sendMalformed: async (phase, body) =>
      refusalOf(await caller.call(callOf(phase, malformedInput(body)))),
    submitTooLate: (input) => ask('submit', submitInput(input, -1_000)),
    close: () => caller.close(),
  };
}

/**
 * Returns the malformed body as Temporal can carry it, which is only as JSON: a body that is no
 * JSON, or too deep for Temporal's converter, becomes a text.
 */
function malformedInput(body: string | Buffer): unknown {
  if (body.length > 1_000) return body.toString().slice(0, 1_000);
  try {
    return JSON.parse(body.toString());
  } catch {
    return body.toString();
  }
}

/** Returns the answer, or throws the fault that the service derives from the same failure. */
function answerOf(outcome: QueueOutcome): unknown {
  if (outcome.ok) return outcome.answer;
  if (outcome.kind === 'timeout')
    throw new ExecutorFault('timeout', 'EXECUTOR_TIMEOUT', 'no answer in time');
  if (outcome.kind === 'not_picked_up')
    throw new ExecutorFault(
      'unreachable',
      'EXECUTOR_UNREACHABLE',
      'no worker took the call in time',
    );
  if (outcome.type === REJECTED_FAILURE)
    throw new ExecutorFault('rejected', 'EXECUTOR_REJECTED', outcome.message);
  throw new ExecutorFault(
    'server_error',
    'EXECUTOR_UNAVAILABLE',
    `the activity failed: ${outcome.message}`,
  );
}

function refusalOf(outcome: QueueOutcome): MalformedOutcome {
  if (outcome.ok) return { instead: `it answered ${JSON.stringify(outcome.answer).slice(0, 200)}` };
  if (outcome.type === REJECTED_FAILURE) return 'refused';
  return {
    instead: `it failed with type "${outcome.type}" (${outcome.message}), which is repeated without end`,
  };
}
