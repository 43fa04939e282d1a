/** An executor that is called over HTTP, once per phase; the transport never retries. */
import { Agent } from 'undici';
import {
  ExecutorFault,
  type CallOptions,
  type DeclaredFacts,
  type ExecutionContext,
  type ExecutionResult,
  type Executor,
  type ExecutorDescriptor,
  type ExecutorHealth,
  type ExecutorPhase,
} from '../domain/executor.ts';
import { NOT_AFTER_HEADER, parseResult, protocolFault } from './protocol.ts';
import { callRemote, type RemoteAnswer } from './remote-call.ts';
import { statusFault } from './remote-faults.ts';

const HEALTH_TIMEOUT_SECONDS = 5;

/** A remote executor as the registry file declares it, with resolved paths and default values. */
export interface RemoteExecutorSettings extends DeclaredFacts {
  readonly executor_key: string;
  readonly kind: 'remote';
  readonly url: string;
  readonly auth_token_file?: string;
  readonly timeout_seconds: number;
  readonly same_key_safe: boolean;
  readonly settle_seconds: number;
  readonly usual_seconds?: number;
  readonly action_types: readonly string[];
  readonly provider?: string;
  readonly chain_family?: string;
}

/** A remote executor with its own connections, which `close` ends. */
export interface RemoteExecutor extends Executor {
  close(): Promise<void>;
}

/** Reads the answers of a remote executor. */
export interface AnswerReader {
  /** Returns whether the answer states that a preflight passed. */
  hasPassed(answer: RemoteAnswer): boolean;
  /**
   * Returns the result of a phase.
   *
   * @throws ExecutorFault for an answer that holds none.
   */
  resultOf(phase: ExecutorPhase, answer: RemoteAnswer): ExecutionResult;
}

const PROTOCOL: AnswerReader = {
  hasPassed: ({ status }) => status === 204,
  resultOf(phase, answer) {
    if (answer.status < 200 || answer.status > 299) throw statusFault(answer);
    return parseResult(phase, readJson(answer.body));
  },
};

/**
 * Creates the executor at `settings.url`. Every phase throws ExecutorFault: `timeout`,
 * `unreachable`, `server_error` (5xx, 429), `rejected` (other 4xx) or `protocol`; `health` never
 * throws. `reader` may read the answers in another way.
 */
export function createRemoteExecutor(
  settings: RemoteExecutorSettings,
  reader: AnswerReader = PROTOCOL,
): RemoteExecutor {
  const kept = new Agent({ connect: { timeout: 10_000 }, keepAliveTimeout: 4_000 });
  // The other side may close a reused connection just as a request is sent, and then it is unknown
  // whether the request arrived. A phase without an effect is simply repeated, but a submit would
  // need recovery, so each submit uses a new connection.
  const fresh = new Agent({ connect: { timeout: 10_000 }, pipelining: 0 });
  const base = settings.url.replace(/\/+$/, '');
  const auth =
    settings.auth_token_file === undefined ? {} : { authTokenFile: settings.auth_token_file };

  const post = async (
    phase: ExecutorPhase,
    context: ExecutionContext,
    body: unknown,
    call: CallOptions,
  ) =>
    callRemote(
      {
        method: 'POST',
        url: `${base}/${phase}`,
        body: JSON.stringify(body),
        idempotencyKey: context.idempotency_key,
        timeoutSeconds: settings.timeout_seconds,
        dispatcher: phase === 'submit' ? fresh : kept,
        ...auth,
      },
      phase === 'submit' ? withLastMoment(call) : call,
    );
  const ask = async (
    phase: ExecutorPhase,
    context: ExecutionContext,
    body: unknown,
    call: CallOptions,
  ) => reader.resultOf(phase, await post(phase, context, body, call));

  return {
    descriptor: describeRemote(settings),
    preflight: async (context, call) => {
      const answer = await post('preflight', context, context, call);
      return reader.hasPassed(answer) ? null : reader.resultOf('preflight', answer);
    },
    prepare: (context, call) => ask('prepare', context, context, call),
    submit: ({ context, prepared_action, sign_result }, call) =>
      ask(
        'submit',
        context,
        { context, prepared_action, ...(sign_result === undefined ? {} : { sign_result }) },
        call,
      ),
    observe: (context, call) => ask('observe', context, context, call),
    recover: (context, call) => ask('recover', context, context, call),
    cancel: (context, call) => ask('cancel', context, context, call),
    health: (call) =>
      readHealth(() =>
        callRemote(
          {
            method: 'GET',
            url: `${base}/health`,
            timeoutSeconds: HEALTH_TIMEOUT_SECONDS,
            dispatcher: kept,
            ...auth,
          },
          call,
        ),
      ),
    close: async () => {
      await Promise.all([kept.destroy(), fresh.destroy()]);
    },
  };
}

/** Returns the options with their last moment in a header; a header that is set already stays. */
function withLastMoment(call: CallOptions): CallOptions {
  const { notAfter, traceHeaders } = call;
  if (notAfter === undefined) return call;
  const header = { [NOT_AFTER_HEADER]: new Date(notAfter).toISOString() };
  return { ...call, traceHeaders: { ...header, ...traceHeaders } };
}

function describeRemote(settings: RemoteExecutorSettings): ExecutorDescriptor {
  return {
    executor_key: settings.executor_key,
    kind: 'remote',
    action_types: settings.action_types,
    ...(settings.provider === undefined ? {} : { provider: settings.provider }),
    ...(settings.chain_family === undefined ? {} : { chain_family: settings.chain_family }),
    endpoint: settings.url,
    same_key_safe: settings.same_key_safe,
    settle_seconds: settings.settle_seconds,
    ...(settings.usual_seconds === undefined ? {} : { usual_seconds: settings.usual_seconds }),
    timeout_seconds: settings.timeout_seconds,
    in_process: false,
    sends: settings.sends,
    ...(settings.payees === undefined ? {} : { payees: settings.payees }),
    not_payees: settings.not_payees,
    completion_assurances: settings.completion_assurances,
  };
}

async function readHealth(ask: () => Promise<RemoteAnswer>): Promise<ExecutorHealth> {
  try {
    const answer = await ask();
    if (answer.status < 200 || answer.status > 299)
      return { state: 'down', detail: `health answered ${answer.status}` };
    const body = readJson(answer.body);
    const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
    return isObject ? { state: 'up' } : { state: 'down', detail: 'the health answer is no object' };
  } catch (error) {
    return {
      state: 'down',
      detail: error instanceof ExecutorFault ? error.message : 'the health check failed',
    };
  }
}

/** Parses an answer. Throws an ExecutorFault `protocol` unless it is JSON in UTF-8. */
export function readJson(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (error) {
    throw protocolFault('the answer is not JSON in UTF-8', error);
  }
}
