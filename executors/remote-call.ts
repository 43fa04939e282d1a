/** Makes one HTTP call to a remote executor; only the caller may repeat it. */
import { randomUUID } from 'node:crypto';
import type { Dispatcher } from 'undici';
import { ExecutorFault, type CallOptions } from '../domain/executor.ts';
import { CallError, callOnce, type OutgoingAnswer } from '../platform/outgoing/call.ts';

/** Largest answer that is read, in bytes; a longer one is a protocol error. */
export const RESPONSE_LIMIT_BYTES = 1024 * 1024;

export interface RemoteCall {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly body?: string;
  readonly idempotencyKey?: string;
  readonly authTokenFile?: string;
  readonly timeoutSeconds: number;
  /** Largest answer in bytes; RESPONSE_LIMIT_BYTES when absent. */
  readonly limitBytes?: number;
  readonly dispatcher: Dispatcher;
}

export type RemoteAnswer = OutgoingAnswer;

/**
 * Sends `call` and returns the whole answer, whatever its status. A redirect is an answer and is
 * not followed.
 *
 * @throws ExecutorFault `timeout` (time-out or aborted), `unreachable` (no complete answer),
 *   `protocol` (too long).
 */
export async function callRemote(call: RemoteCall, options: CallOptions): Promise<RemoteAnswer> {
  const { method, url, body, authTokenFile, dispatcher } = call;
  try {
    return await callOnce({
      method,
      url,
      headers: requestHeaders(call, options),
      body,
      authTokenFile,
      timeoutMs: call.timeoutSeconds * 1000,
      limitBytes: call.limitBytes ?? RESPONSE_LIMIT_BYTES,
      dispatcher,
      limits: options,
    });
  } catch (error) {
    throw error instanceof CallError ? faultOf(error) : error;
  }
}

function requestHeaders(call: RemoteCall, options: CallOptions): Record<string, string> {
  return {
    ...options.traceHeaders,
    'x-request-id': options.requestId ?? randomUUID(),
    ...(call.idempotencyKey === undefined
      ? {}
      : { 'idempotency-key': headerSafe(call.idempotencyKey) }),
  };
}

/**
 * Encodes the key for a header: node keys may hold any character, header values may not. The body
 * has the exact key.
 */
function headerSafe(value: string): string {
  return value.replace(/[^\x21-\x7e]/gu, (character) => encodeURIComponent(character));
}

function faultOf(error: CallError): ExecutorFault {
  const { cause, message } = error;
  switch (error.problem) {
    case 'timeout':
    case 'aborted':
      return new ExecutorFault('timeout', 'EXECUTOR_TIMEOUT', message, { cause });
    case 'too_long':
      return new ExecutorFault('protocol', 'EXECUTOR_PROTOCOL_ERROR', message);
    case 'token':
      // The cause shows that no request was sent: the token is read before.
      return unreachable(`the executor's ${message}`, error);
    case 'unreachable':
      return unreachable(`no complete answer from the executor (${message})`, cause);
  }
}

function unreachable(message: string, cause: unknown): ExecutorFault {
  return new ExecutorFault('unreachable', 'EXECUTOR_UNREACHABLE', message, { cause });
}
