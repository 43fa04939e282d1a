/**
 * The endpoints of one chain. Any of them may answer a question, but an absence counts only where
 * two agree on it, if two are bound.
 */
import { createPublicClient, http, type PublicClient } from 'viem';
import { ExecutorFault, type CallOptions } from '../../domain/executor.ts';
import { rejected } from '../node-plan.ts';
import type { EvmVenue } from './config.ts';
import { isSilence, toFault } from './errors.ts';

export type Question<T> = (client: PublicClient) => Promise<T>;

/** The endpoints of a chain for the duration of one call; all have confirmed its id. */
export interface Endpoints {
  /** The first endpoint's answer; where all are silent, the library's error of the last. */
  ask<T>(question: Question<T>): Promise<T>;
  /**
   * What any of them has. Null when two, or the only bound one, say that it does not exist. Throws
   * the fault `NOT_FOUND_UNCONFIRMED` when too few answer.
   */
  find<T>(question: Question<T | null>): Promise<T | null>;
  /** The answers of as many as an absence requires. */
  witnesses<T>(question: Question<T>): Promise<readonly T[]>;
}

/** How many must agree on an absence, where so many are bound. */
const QUORUM = 2;
/** How long a silent endpoint is tried after the others. */
const AVOID_MS = 30_000;

/** When each endpoint was last silent, by URL; kept between calls and never shown. */
export type Silences = Map<string, number>;

export function urlsOf({ rpc_url, more_rpc_urls }: EvmVenue): readonly string[] {
  return [...new Set([rpc_url, ...more_rpc_urls])];
}

/**
 * Opens the venue's endpoints, without silent ones. Throws `rejected` `CHAIN_ID_MISMATCH` when any
 * is on another chain: it would answer "not found" and wrong nonces.
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
        // Not tried again during this call.
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
  return {
    ask,
    find: async (question) =>
      (await gather(question, (answer) => answer !== null)).find((answer) => answer !== null) ??
      null,
    witnesses: (question) => gather(question, () => false),
  };
}

/**
 * Never repeats a request: callers repeat reads, and only recovery repeats a write. Refuses
 * redirects, which could carry a signed transaction to a URL that is not configured.
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
