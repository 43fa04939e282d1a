/**
 * One HTTP call to a remote executor, made once and never repeated: repeating is the caller's
 * decision.
 */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { request, type Dispatcher } from 'undici';
import { ExecutorFault, type CallOptions } from '../domain/executor.ts';
import { deadline } from '../platform/deadline.ts';

/** Largest answer that is read; a longer one is a protocol error. */
export const RESPONSE_LIMIT_BYTES = 1024 * 1024;

export interface RemoteCall {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly body?: string;
  readonly idempotencyKey?: string;
  readonly authTokenFile?: string;
  readonly timeoutSeconds: number;
  readonly dispatcher: Dispatcher;
}

export interface RemoteAnswer {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  readonly body: Buffer;
}

/**
 * Sends `call` and reads the whole answer, whatever its status. Redirects are answers, not
 * followed.
 *
 * @throws ExecutorFault `timeout` (time-out or aborted), `unreachable` (no complete answer),
 *   `protocol` (too long).
 */
export async function callRemote(call: RemoteCall, options: CallOptions): Promise<RemoteAnswer> {
  const limit = deadline(options.signal, call.timeoutSeconds * 1000);
  try {
    const headers = await requestHeaders(call, options);
    const response = await request(call.url, {
      method: call.method,
      headers,
      body: call.body ?? null,
      dispatcher: call.dispatcher,
      signal: limit.signal,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    return {
      status: response.statusCode,
      headers: response.headers,
      body: await readBody(response.body),
    };
  } catch (error) {
    if (error instanceof ExecutorFault) throw error;
    if (limit.signal.aborted) throw timeoutFault(call, limit.expired(), error);
    throw new ExecutorFault(
      'unreachable',
      'EXECUTOR_UNREACHABLE',
      `no complete answer from the executor (${codeOf(error)})`,
      {
        cause: error,
      },
    );
  } finally {
    limit.clear();
  }
}

async function requestHeaders(
  call: RemoteCall,
  options: CallOptions,
): Promise<Record<string, string>> {
  const headers: Record<string, string> = {
    ...options.traceHeaders,
    accept: 'application/json',
    'x-request-id': options.requestId ?? randomUUID(),
  };
  if (call.body !== undefined) headers['content-type'] = 'application/json';
  if (call.idempotencyKey !== undefined)
    headers['idempotency-key'] = headerSafe(call.idempotencyKey);
  if (call.authTokenFile !== undefined)
    headers['authorization'] = `Bearer ${await readToken(call.authTokenFile)}`;
  return headers;
}

/** Read at each call, so that a rotated token holds at once and none is kept in memory. */
async function readToken(file: string): Promise<string> {
  let token: string;
  try {
    token = (await readFile(file, 'utf8')).trim();
  } catch (error) {
    throw new ExecutorFault(
      'unreachable',
      'EXECUTOR_UNREACHABLE',
      "the executor's auth_token_file cannot be read",
      {
        cause: error,
      },
    );
  }
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new ExecutorFault(
    'unreachable',
    'EXECUTOR_UNREACHABLE',
    "the executor's auth_token_file holds no usable token",
  );
}

/** Node keys may hold any character, header values may not; the exact key stands in the body. */
function headerSafe(value: string): string {
  return value.replace(/[^\x21-\x7e]/gu, (character) => encodeURIComponent(character));
}

async function readBody(body: Dispatcher.ResponseData['body']): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > RESPONSE_LIMIT_BYTES) {
      throw new ExecutorFault(
        'protocol',
        'EXECUTOR_PROTOCOL_ERROR',
        `the answer is longer than ${RESPONSE_LIMIT_BYTES} bytes`,
      );
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function timeoutFault(call: RemoteCall, expired: boolean, cause: unknown): ExecutorFault {
  const message = expired
    ? `no answer within ${call.timeoutSeconds} s`
    : 'the call was aborted before an answer came';
  return new ExecutorFault('timeout', 'EXECUTOR_TIMEOUT', message, { cause });
}

function codeOf(error: unknown): string {
  if (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    typeof error.code === 'string'
  )
    return error.code;
  return 'connection failed';
}
