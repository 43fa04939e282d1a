/**
 * The endpoints of one chain. Any of them may answer a question; that something is not there counts
 * only when two of them say so, where two are bound.
 */
import { createPublicClient, http, type PublicClient } from 'viem';
import { ExecutorFault, type CallOptions } from '../../domain/executor.ts';
import type { EvmVenue } from './config.ts';
import { isSilence, toFault } from './errors.ts';

export type Question<T> = (client: PublicClient) => Promise<T>;

/** The endpoints of a chain for the duration of one call, all of them seen to be on it. */
export interface Endpoints {
  /** The answer of the first that gives one; the library's own error of the last when none does. */
  ask<T>(question: Question<T>): Promise<T>;
  /**
   * What any of them has. Null when two say that it is not there, or the only one that is bound.
   * Throws the fault `NOT_FOUND_UNCONFIRMED` when too few answer.
   */
  find<T>(question: Question<T | null>): Promise<T | null>;
  /** The answers of as many as an absence takes. */
  witnesses<T>(question: Question<T>): Promise<readonly T[]>;
}

/** How many have to say that something is not there, where so many are bound. */
const QUORUM = 2;
/** How long an endpoint that gave no answer is asked after the others. */
const AVOID_MS = 30_000;

/** When each endpoint last gave no answer; kept between calls, by URL, and never shown. */
export type Silences = Map<string, number>;

export function urlsOf({ rpc_url, more_rpc_urls }: EvmVenue): readonly string[] {
  return [...new Set([rpc_url, ...more_rpc_urls])];
}

/**
 * Opens what is bound to the venue. Throws the `rejected` fault `CHAIN_ID_MISMATCH` when any
 * endpoint that answers is on another chain: it would answer "not found" and wrong nonces to
 * everything. One that gives no answer is left out.
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
    throw new ExecutorFault(
      'rejected',
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
        // It is not asked again during this call.
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
      `only ${answers.length} of the ${quorum} endpoints that it takes could be asked`,
    );
  };
  return {
    ask,
    find: async (question) =>
      (await gather(question, (answer) => answer !== null)).find((answer) => answer !== null) ??
      null,
    witnesses: (question) => gather(question, () => false),
  };
}

/**
 * Never repeats a request by itself: a read is repeated by whoever called, a write only by
 * recovery. A redirect is refused, since it would carry a signed transaction to a place nobody
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
