/**
 * Reads from the endpoints of one chain. Any endpoint may answer a question, but "not found" counts
 * only if two endpoints agree on it (where at least two are bound).
 */
import { createPublicClient, http, type PublicClient } from 'viem';
import { ExecutorFault, type CallOptions } from '../../domain/executor.ts';
import { rejected } from '../node-plan.ts';
import type { EvmVenue } from './config.ts';
import { isSilence, toFault } from './errors.ts';

export type Question<T> = (client: PublicClient) => Promise<T>;

/**
 * The endpoints of a chain for the duration of one call; each endpoint has confirmed the chain id.
 */
export interface Endpoints {
  /** Returns the first endpoint's answer; if no endpoint answers, throws the last library error. */
  ask<T>(question: Question<T>): Promise<T>;
  /**
   * Returns the item if any endpoint has it. Returns null when two endpoints (or the only bound
   * endpoint) report that the item does not exist. Throws the fault `NOT_FOUND_UNCONFIRMED` when
   * too few endpoints answer.
   */
  find<T>(question: Question<T | null>): Promise<T | null>;
  /** Returns the answers of as many endpoints as must agree on an absence. */
  witnesses<T>(question: Question<T>): Promise<readonly T[]>;
  /** Returns the answers of all endpoints that answer; throws a library error if none does. */
  all<T>(question: Question<T>): Promise<readonly T[]>;
}

/** How many endpoints must agree on an absence, if that many are bound. */
const QUORUM = 2;
/** For this many milliseconds an endpoint that did not answer is tried last. */
const AVOID_MS = 30_000;

/** When each endpoint last failed to answer, by URL; kept between calls and never shown. */
export type Silences = Map<string, number>;

export function urlsOf({ rpc_url, more_rpc_urls }: EvmVenue): readonly string[] {
  return [...new Set([rpc_url, ...more_rpc_urls])];
}

/**
 * Opens the venue's endpoints and omits those that do not answer. Throws `rejected`
 * `CHAIN_ID_MISMATCH` when any endpoint is on another chain: its "not found" and its nonces would
 * be wrong.
 */
export async function openEndpoints(
  venue: EvmVenue,
  call: CallOptions,
  silences: Silences,
): Promise<Endpoints> {
  const urls = [...urlsOf(venue)].sort(
    (one, other) => lastSilence(silences, one) - lastSilence(silences, other),
  );
  const answers = await Promise.allSettled(
    urls.map(async (url) => {
      const client = clientOf(venue, url, call);
      return { url, client, chainId: await client.getChainId() };
    }),
  );
  const open = answers.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const stranger = open.find(({ chainId }) => chainId !== venue.chain_id);
  if (stranger !== undefined)
    throw rejected(
      'CHAIN_ID_MISMATCH',
      `an endpoint of venue ${venue.venue_key} is on chain ${stranger.chainId}, not ${venue.chain_id}`,
    );
  answers.forEach((each, index) => {
    if (each.status === 'rejected') silences.set(urls[index] ?? '', performance.now());
  });
  const [first] = answers;
  if (open.length === 0 && first?.status === 'rejected') throw toFault(first.reason, call);
  return over(open, Math.min(QUORUM, urls.length), { call, silences });
}

function lastSilence(silences: Silences, url: string): number {
  const at = silences.get(url) ?? -Infinity;
  return performance.now() - at < AVOID_MS ? at : -Infinity;
}

function over(
  open: readonly { readonly url: string; readonly client: PublicClient }[],
  quorum: number,
  { call, silences }: { readonly call: CallOptions; readonly silences: Silences },
): Endpoints {
  let order = open;
  const ask = async <T>(question: Question<T>): Promise<T> => {
    for (;;) {
      const [now, ...others] = order;
      if (now === undefined) throw new Error('a chain without endpoints was opened');
      try {
        return await question(now.client);
      } catch (error) {
        if (others.length === 0 || call.signal.aborted || !isSilence(error)) throw error;
        // This endpoint is not tried again during this call.
        silences.set(now.url, performance.now());
        order = others;
      }
    }
  };
  const gather = async <T>(question: Question<T>, enough: (answer: T) => boolean): Promise<T[]> => {
    const answers: T[] = [];
    for (const { client } of order) {
      const answer = await question(client).catch((error: unknown) => {
        const fault = toFault(error, call);
        if (call.signal.aborted || !isSilence(error)) throw fault;
        return undefined;
      });
      if (answer === undefined) continue;
      answers.push(answer);
      if (enough(answer) || answers.length >= quorum) return answers;
    }
    throw new ExecutorFault(
      'unreachable',
      'NOT_FOUND_UNCONFIRMED',
      `only ${answers.length} of the ${quorum} required endpoints answered`,
    );
  };
  const all = async <T>(question: Question<T>): Promise<T[]> => {
    const answers = await Promise.allSettled(order.map(({ client }) => question(client)));
    const values = answers.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    const [first] = answers;
    if (values.length === 0 && first?.status === 'rejected') throw first.reason;
    return values;
  };
  return {
    ask,
    all,
    find: async (question) =>
      (await gather(question, (answer) => answer !== null)).find((answer) => answer !== null) ??
      null,
    witnesses: (question) => gather(question, () => false),
  };
}

/**
 * Returns a client that never repeats a request: callers repeat reads, and only recovery repeats a
 * write. The client refuses redirects, which could carry a signed transaction to a URL that is not
 * configured.
 */
function clientOf(venue: EvmVenue, url: string, call: CallOptions): PublicClient {
  const transport = http(url, {
    retryCount: 0,
    timeout: venue.request_timeout_seconds * 1000,
    fetchFn: (input, init) => {
      const signals = [call.signal, ...(init?.signal ? [init.signal] : [])];
      return fetch(input, { ...init, redirect: 'error', signal: AbortSignal.any(signals) });
    },
  });
  return createPublicClient({ transport, cacheTime: 0 });
}
