/** An HTTP executor under check. Ordinary calls use the client that the service uses. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request as plainRequest, type ClientRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import {
  COMPLETION_ASSURANCES,
  type ExecutorPhase,
  type SubmitInput,
} from '../../domain/executor.ts';
import { createRemoteExecutor } from '../../executors/remote.ts';
import type { CheckOptions } from './options.ts';
import type { LossPoint, MalformedOutcome, Target } from './target.ts';

export function createHttpTarget(options: CheckOptions): Target {
  const base = options.target.replace(/\/+$/, '');
  const executor = createRemoteExecutor({
    executor_key: 'under-check',
    kind: 'remote',
    url: options.target,
    timeout_seconds: options.timeout,
    same_key_safe: options.sameKeySafe,
    settle_seconds: options.settleSeconds,
    action_types: [options.actionType],
    sends: true,
    payees: [],
    not_payees: [],
    completion_assurances: COMPLETION_ASSURANCES,
    ...(options.tokenFile === undefined ? {} : { auth_token_file: options.tokenFile }),
  });
  const token =
    options.tokenFile === undefined
      ? null
      : `Bearer ${readFileSync(options.tokenFile, 'utf8').trim()}`;
  const post = (phase: ExecutorPhase, body: string | Buffer, authorization: string | null) =>
    statusOf(`${base}/${phase}`, {
      method: 'POST',
      body,
      authorization,
      timeoutMs: options.timeout * 1000,
    });
  return {
    kind: 'http',
    executor,
    submitUnheard: (input, lost) =>
      submitUnheard(`${base}/submit`, input, { token, lost, timeoutMs: options.timeout * 1000 }),
    sendMalformed: async (phase, body) => refusalOf(await post(phase, body, token)),
    statusWith: (phase, body, authorization) => post(phase, JSON.stringify(body), authorization),
    close: () => executor.close(),
  };
}

interface RawCall {
  readonly method: 'POST';
  readonly body: string | Buffer;
  readonly authorization: string | null;
  readonly timeoutMs: number;
}

async function statusOf(url: string, call: RawCall): Promise<number | null> {
  const headers = {
    'content-type': 'application/json',
    connection: 'close',
    ...(call.authorization === null ? {} : { authorization: call.authorization }),
  };
  try {
    const answer = await request(url, {
      method: call.method,
      headers,
      body: call.body,
      signal: AbortSignal.timeout(call.timeoutMs),
    });
    await answer.body.dump();
    return answer.statusCode;
  } catch {
    return null;
  }
}

/**
 * Returns whether the status is a refusal. A server may also refuse a body that is too long by
 * closing the connection; another check tests whether the server still runs.
 */
function refusalOf(status: number | null): MalformedOutcome {
  if (status !== null && status >= 400 && status < 500) return 'refused';
  return { instead: status === null ? 'no answer came' : `it answered ${status}` };
}

async function submitUnheard(
  url: string,
  { context, prepared_action, sign_result }: SubmitInput,
  how: { readonly token: string | null; readonly lost: LossPoint; readonly timeoutMs: number },
): Promise<void> {
  const body = JSON.stringify({
    context,
    prepared_action,
    ...(sign_result === undefined ? {} : { sign_result }),
  });
  const send = url.startsWith('https:') ? tlsRequest : plainRequest;
  const call = send(url, {
    method: 'POST',
    agent: false,
    headers: {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      ...(how.token === null ? {} : { authorization: how.token }),
    },
  });
  call.on('error', () => undefined);
  call.end(body);
  // The timer is stopped once the answer is lost; a timer that still runs would delay the end of
  // the process.
  const limit = new AbortController();
  const { signal } = limit;
  await Promise.race([
    lossOf(call, how.lost),
    sleep(how.timeoutMs, undefined, { signal }).catch(() => undefined),
  ]);
  limit.abort();
  call.destroy();
}

async function lossOf(call: ClientRequest, lost: LossPoint): Promise<void> {
  try {
    if (lost === 'answered') return void (await once(call, 'response'));
    // 'finish': the operating system has the whole request and delivers it, even if this process
    // ends.
    if (!call.writableFinished) await once(call, 'finish');
    await sleep(lost);
  } catch {
    // The connection broke, which loses the answer as well.
  }
}
