/**
 * One HTTP call to an address from our own settings, without repeats and redirects, with a response
 * of bounded size.
 */
import { readFile } from 'node:fs/promises';
import { request, type Dispatcher } from 'undici';
import { deadline, type Limits } from '../deadline.ts';
import { writtenInTime } from './in-time.ts';

export type CallProblem = 'timeout' | 'aborted' | 'unreachable' | 'too_long' | 'token';

/** A call without a complete response. The message says why and quotes no content. */
export class CallError extends Error {
  override readonly name = 'CallError';
  readonly problem: CallProblem;
  constructor(problem: CallProblem, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.problem = problem;
  }
}

export interface OutgoingCall {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Path of the file with the bearer token. */
  readonly authTokenFile?: string | undefined;
  readonly timeoutMs: number;
  /** Maximum size of the response body, in bytes. */
  readonly limitBytes: number;
  readonly dispatcher: Dispatcher;
  /** The caller's limits; absent: only `timeoutMs` limits the call. */
  readonly limits?: Limits;
}

export interface OutgoingAnswer {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  readonly body: Buffer;
}

/**
 * Returns the complete response, whatever its status; a redirect is a response like any other.
 *
 * @throws CallError.
 */
export async function callOnce(call: OutgoingCall): Promise<OutgoingAnswer> {
  const limits = call.limits ?? { signal: new AbortController().signal };
  const limit = deadline(limits, call.timeoutMs);
  try {
    const headers = await requestHeaders(call);
    const response = await request(call.url, {
      method: call.method,
      headers,
      body: call.body ?? null,
      dispatcher: writtenInTime(call.dispatcher, limit),
      signal: limit.signal,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    return {
      status: response.statusCode,
      headers: response.headers,
      body: await readBody(response.body, call.limitBytes),
    };
  } catch (error) {
    if (error instanceof CallError) throw error;
    if (limit.signal.aborted) throw timeoutOf(call, limit.expired(), error);
    throw new CallError('unreachable', codeOf(error), { cause: error });
  } finally {
    limit.clear();
  }
}

async function requestHeaders(call: OutgoingCall): Promise<Record<string, string>> {
  const headers: Record<string, string> = { ...call.headers, accept: 'application/json' };
  if (call.body !== undefined) headers['content-type'] = 'application/json';
  if (call.authTokenFile !== undefined)
    headers['authorization'] = `Bearer ${await readToken(call.authTokenFile)}`;
  return headers;
}

/**
 * Returns the token in the file. Read at each call: a rotated token applies at once and none stays
 * in memory.
 *
 * @throws CallError `token` if there is no usable one.
 */
export async function readToken(file: string): Promise<string> {
  let token: string;
  try {
    token = (await readFile(file, 'utf8')).trim();
  } catch (error) {
    throw new CallError('token', 'auth_token_file cannot be read', { cause: error });
  }
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new CallError('token', 'auth_token_file holds no usable token');
}

async function readBody(body: Dispatcher.ResponseData['body'], limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit)
      throw new CallError('too_long', `the answer is longer than ${String(limit)} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function timeoutOf(call: OutgoingCall, expired: boolean, cause: unknown): CallError {
  return expired
    ? new CallError('timeout', `no answer within ${String(call.timeoutMs / 1000)} s`, { cause })
    : new CallError('aborted', 'the call was aborted before an answer came', { cause });
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
