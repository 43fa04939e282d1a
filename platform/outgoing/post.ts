/**
 * A POST to an address that somebody else chose: only where it may go, and only what was checked is
 * called.
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

/** From the look-up of the name to the last header of the answer. */
export const POST_LIMIT_MS = 10_000;
/** How much of an answer's unused body is read before the connection is cut. */
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
  /** Makes the connections with the only look-up that they may use. */
  readonly connector?: (lookup: LookupFunction) => buildConnector.connector;
}

/**
 * `refused` is for good while the settings are as they are and no connection was made; `failed` may
 * succeed later.
 */
export type PostOutcome =
  | { readonly kind: 'answered'; readonly status: number }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'refused'; readonly reason: TargetRefusal };

/**
 * Sends once. Redirects are answers like any other, and proxies of the environment are not used.
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
 * A look-up that returns only the checked addresses and queries no server, so that no second answer
 * can differ from the first.
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
  // One agent a call: a kept connection would lead later calls to an address that was checked long
  // ago.
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

/** A short word of our own and the system's code; messages of others may hold anything. */
function reasonOf(error: unknown, signal: AbortSignal): string {
  if (error instanceof AddressRefused) return 'address_not_allowed';
  if (signal.aborted || error instanceof TimeLimitError) return 'timeout';
  const code: unknown =
    typeof error === 'object' && error !== null ? Reflect.get(error, 'code') : undefined;
  return typeof code === 'string' && /^[A-Z0-9_]{1,64}$/.test(code)
    ? `connection_failed: ${code}`
    : 'connection_failed';
}
