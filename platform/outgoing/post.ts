/**
 * A POST to an address that a caller chose: only to allowed hosts, and only to network addresses
 * that were checked.
 */
import type { LookupFunction } from 'node:net';
import { Agent, buildConnector, request } from 'undici';
import { checkTarget, type TargetRefusal } from '../../domain/callbacks/target.ts';
import { TimeLimitError, within } from '../time-limit.ts';
import {
  AddressRefused,
  checkedAddresses,
  systemResolve,
  type Address,
  type Resolve,
} from './addresses.ts';

/** Milliseconds from the look-up of the name to the last header of the response. */
export const POST_LIMIT_MS = 10_000;
/** Limits of reading an unused response body before the connection is closed. */
const ANSWER_LIMIT_BYTES = 16_384;
const ANSWER_LIMIT_MS = 1_000;

export interface GuardedPost {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly allowedHosts: ReadonlySet<string>;
}

export interface PostSettings {
  readonly limitMs?: number;
  readonly resolve?: Resolve;
  /** Creates connections; they may resolve names only with this look-up. */
  readonly connector?: (lookup: LookupFunction) => buildConnector.connector;
}

/**
 * `refused`: nothing was sent, because the settings do not allow the address; `failed`: a later try
 * may succeed.
 */
export type PostOutcome =
  | { readonly kind: 'answered'; readonly status: number }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'refused'; readonly reason: TargetRefusal };

/**
 * Sends once. Redirects are responses like any other, and the environment's proxies are not used.
 * Never throws.
 */
export async function guardedPost(
  post: GuardedPost,
  settings: PostSettings = {},
): Promise<PostOutcome> {
  const target = checkTarget(post.url, post.allowedHosts);
  if (!target.ok) return { kind: 'refused', reason: target.reason };
  const limitMs = settings.limitMs ?? POST_LIMIT_MS;
  const signal = AbortSignal.timeout(limitMs);
  try {
    const looking = checkedAddresses(target.url.hostname, {
      listed: post.allowedHosts,
      resolve: settings.resolve ?? systemResolve,
    });
    const lookup = onlyThese(await within(looking, limitMs));
    return {
      kind: 'answered',
      status: await send(target.url, post, { signal, connect: connectorOf(settings, lookup) }),
    };
  } catch (error) {
    return { kind: 'failed', reason: reasonOf(error, signal) };
  }
}

function connectorOf(settings: PostSettings, lookup: LookupFunction): buildConnector.connector {
  return (
    settings.connector?.(lookup) ??
    buildConnector({ lookup, autoSelectFamily: true, timeout: settings.limitMs ?? POST_LIMIT_MS })
  );
}

/**
 * Returns a look-up that returns only the checked network addresses without a DNS query, so that no
 * second result can differ from the first.
 */
function onlyThese(addresses: readonly Address[]): LookupFunction {
  return (_host, options, callback) => {
    const [first] = addresses;
    if (options.all === true) callback(null, [...addresses]);
    else
      callback(
        first === undefined ? new Error('no address') : null,
        first?.address ?? '',
        first?.family,
      );
  };
}

async function send(
  url: URL,
  post: GuardedPost,
  { signal, connect }: { readonly signal: AbortSignal; readonly connect: buildConnector.connector },
): Promise<number> {
  // One agent for each call: a reused connection would lead to a network address that was checked
  // long ago.
  const agent = new Agent({ connect });
  try {
    const answer = await request(url, {
      dispatcher: agent,
      method: 'POST',
      headers: post.headers,
      body: post.body,
      signal,
    });
    answer.body.on('error', () => undefined);
    const patience = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_LIMIT_MS)]);
    await answer.body.dump({ limit: ANSWER_LIMIT_BYTES, signal: patience }).catch(() => undefined);
    return answer.statusCode;
  } finally {
    await agent.destroy().catch(() => undefined);
  }
}

/** Returns a fixed word and the system's error code; other messages could contain anything. */
function reasonOf(error: unknown, signal: AbortSignal): string {
  if (error instanceof AddressRefused) return 'address_not_allowed';
  if (signal.aborted || error instanceof TimeLimitError) return 'timeout';
  const code: unknown =
    typeof error === 'object' && error !== null ? Reflect.get(error, 'code') : undefined;
  return typeof code === 'string' && /^[A-Z0-9_]{1,64}$/.test(code)
    ? `connection_failed: ${code}`
    : 'connection_failed';
}
