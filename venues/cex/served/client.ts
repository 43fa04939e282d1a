/** Calls the process that has the keys of exchange accounts. It never repeats a call. */
import { Agent } from 'undici';
import type { z } from 'zod';
import {
  ExecutorFault,
  type CallOptions,
  type ExecutionResult,
  type Executor,
  type ExecutorDescriptor,
  type ExecutorHealth,
} from '../../../domain/executor.ts';
import { NOT_AFTER_HEADER, parseResult, protocolFault } from '../../../executors/protocol.ts';
import { callRemote, type RemoteAnswer, type RemoteCall } from '../../../executors/remote-call.ts';
import { statusFault } from '../../../executors/remote-faults.ts';
import {
  createRemoteExecutor,
  readJson,
  type AnswerReader,
  type RemoteExecutor,
} from '../../../executors/remote.ts';
import { issuesLine } from '../../../platform/issues.ts';
import { CallError } from '../../../platform/outgoing/call.ts';
import type { CcxtVenue } from '../config.ts';
import { UnsentFault } from '../errors.ts';
import {
  ACCOUNTS_HEADER,
  accountText,
  healthSchema,
  passedSchema,
  readStatedFault,
  type NamedAccount,
  type Question,
} from './protocol.ts';

/** Where a process serves accounts: `served_at` of a venue entry. */
export type ServedAt = NonNullable<CcxtVenue['served_at']>;

/** The accounts that a question is about, and how long its answer is waited for. */
export interface About {
  readonly accounts: readonly NamedAccount[];
  readonly call: CallOptions;
  /** 60 when absent. */
  readonly timeoutSeconds?: number;
}

export interface ServedExchange {
  /** Returns the process's executor of this key, to be called with {@link callOf}. */
  executor(descriptor: ExecutorDescriptor): Executor;
  /** Returns the options of a call about accounts: with their names, and its last moment. */
  callOf(accounts: readonly NamedAccount[], call: CallOptions, timeoutSeconds: number): CallOptions;
  /**
   * Returns the parsed answer.
   *
   * @throws ExecutorFault `rejected` only if the process states it, {@link UnsentFault} if the
   *   token cannot be read; every other fault leaves the outcome open.
   */
  ask<Request extends { readonly venue_key: string }, Answer>(
    question: Question<Request, Answer>,
    request: Request,
    about: About,
  ): Promise<Answer>;
  /** Returns the health of one of its executors; never throws. */
  health(executorKey: string, call: CallOptions): Promise<ExecutorHealth>;
  close(): Promise<void>;
}

const HEALTH_TIMEOUT_SECONDS = 30;
const TIMEOUT_SECONDS = 60;

/** Opens no connection before the first call. The token's file is read for each call. */
export function createServedExchange({ url, auth_token_file }: ServedAt): ServedExchange {
  const kept = new Agent({ connect: { timeout: 10_000 }, keepAliveTimeout: 4_000 });
  // As for a submit: a reused connection may close just as the request is sent.
  const fresh = new Agent({ connect: { timeout: 10_000 }, pipelining: 0 });
  const base = url.replace(/\/+$/, '');
  const opened: RemoteExecutor[] = [];
  const send = (call: Omit<RemoteCall, 'authTokenFile'>, options: CallOptions) =>
    callRemote({ ...call, authTokenFile: auth_token_file }, options).catch((error: unknown) => {
      throw unsentFault(error) ?? error;
    });
  return {
    executor(descriptor) {
      const remote = createRemoteExecutor(
        { ...descriptor, kind: 'remote', url: addressOf(base, descriptor), auth_token_file },
        READER,
      );
      opened.push(remote);
      return failingUnsent(remote);
    },
    callOf: (accounts, call, timeoutSeconds) =>
      withNotAfter(withAccounts(accounts, call), timeoutSeconds),
    async ask(question, request, { accounts, call, timeoutSeconds = TIMEOUT_SECONDS }) {
      const { path, answer: schema, limitBytes, withoutNotAfter = false } = question;
      const named = withAccounts(accounts, call);
      const answer = await send(
        {
          method: 'POST',
          url: `${base}/${path}`,
          body: JSON.stringify(request),
          dispatcher: path.endsWith('/submit') ? fresh : kept,
          timeoutSeconds,
          limitBytes,
        },
        withoutNotAfter ? named : withNotAfter(named, timeoutSeconds),
      );
      return read(schema, path, answer);
    },
    async health(executorKey, call) {
      const path = `${addressOf(base, { executor_key: executorKey })}/health`;
      const get = { method: 'GET', timeoutSeconds: HEALTH_TIMEOUT_SECONDS } as const;
      try {
        return read(
          healthSchema,
          'health',
          await send({ ...get, url: path, dispatcher: kept }, call),
        );
      } catch (error) {
        const detail = error instanceof ExecutorFault ? error.message : 'the health check failed';
        return { state: 'down', detail: `${base}: ${detail}` };
      }
    },
    close: async () => {
      await Promise.all([kept.destroy(), fresh.destroy(), ...opened.map((each) => each.close())]);
    },
  };
}

function addressOf(base: string, { executor_key }: Pick<ExecutorDescriptor, 'executor_key'>) {
  return `${base}/executors/${encodeURIComponent(executor_key)}`;
}

function withAccounts(accounts: readonly NamedAccount[], call: CallOptions): CallOptions {
  return withHeader(call, ACCOUNTS_HEADER, accounts.map(accountText).join(' '));
}

/** Nothing is sent for a call that was abandoned: its network may deliver it late. */
function withNotAfter(call: CallOptions, timeoutSeconds: number): CallOptions {
  const until = Math.min(call.notAfter ?? Infinity, Date.now() + timeoutSeconds * 1_000);
  return withHeader(call, NOT_AFTER_HEADER, new Date(until).toISOString());
}

function withHeader(call: CallOptions, name: string, value: string): CallOptions {
  return { ...call, traceHeaders: { ...call.traceHeaders, [name]: value } };
}

const READER: AnswerReader = {
  hasPassed: (answer) => answer.status === 200 && passedSchema.safeParse(jsonOf(answer)).success,
  resultOf: (phase, answer) => readOwn(answer, (body) => parseResult(phase, body)),
};

function read<T>(schema: z.ZodType<T>, path: string, answer: RemoteAnswer): T {
  return readOwn(answer, (body) => {
    const parsed = schema.safeParse(body);
    if (parsed.success) return parsed.data;
    const places = issuesLine(parsed.error, { whole: 'body' });
    throw protocolFault(`answer to ${path} does not fit: ${places}`);
  });
}

/**
 * Returns what `parse` reads in the process's own answer.
 *
 * @throws ExecutorFault as the process states it, else `timeout` or `unreachable`: an answer that
 *   cannot be read is a proxy's, and the process is silent.
 */
function readOwn<T>(answer: RemoteAnswer, parse: (body: unknown) => T): T {
  if (answer.status !== 200) throw servedFault(answer);
  try {
    return parse(readJson(answer.body));
  } catch (error) {
    throw error instanceof ExecutorFault ? silence(error) : error;
  }
}

/**
 * Returns the fault of an answer without a result. Only what the process states is of the process:
 * any other 4xx or 5xx may be a proxy's, or say that the token is wrong.
 */
function servedFault(answer: RemoteAnswer): ExecutorFault {
  return readStatedFault(answer.status, jsonOf(answer)) ?? silence(statusFault(answer));
}

function silence(fault: ExecutorFault): ExecutorFault {
  const { kind, message, retryAfterSeconds: after } = fault;
  if (kind === 'timeout') return fault;
  return new ExecutorFault('unreachable', 'EXECUTOR_UNREACHABLE', message, {
    cause: fault,
    ...(after === undefined ? {} : { retryAfterSeconds: after }),
  });
}

/**
 * Returns the executor with a submit that is FAILED where the token cannot be read: its request was
 * proven not sent.
 */
function failingUnsent(remote: Executor): Executor {
  return {
    ...remote,
    submit: (input, call) =>
      remote.submit(input, call).catch((error: unknown): ExecutionResult => {
        const unsent = unsentFault(error);
        if (unsent === null) throw error;
        return { next_state: 'FAILED', error_code: unsent.code, error_message: unsent.message };
      }),
  };
}

/** Returns the fault of a call whose token could not be read, before its connection; else null. */
function unsentFault(error: unknown): UnsentFault | null {
  if (!(error instanceof ExecutorFault)) return null;
  const { cause, kind, message } = error;
  if (!(cause instanceof CallError) || cause.problem !== 'token') return null;
  return new UnsentFault(kind, 'TOKEN_UNREADABLE', `${message}; nothing was sent`, { cause });
}

function jsonOf({ body }: RemoteAnswer): unknown {
  try {
    return readJson(body);
  } catch {
    return undefined;
  }
}
