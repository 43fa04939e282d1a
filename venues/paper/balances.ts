/** Fetches balances of an account of the paper venue. */
import { z } from 'zod';
import type { BalanceFetcher, PoolBalance } from '../../domain/balances.ts';
import { decimalText } from '../../platform/amount.ts';
import type { PaperVenue } from './config.ts';

const amount = decimalText('must be a decimal string');
const answerSchema = z.object({
  balances: z.array(
    z.object({
      account_type: z.string().min(1),
      asset: z.string().min(1),
      available: amount,
      withdrawable: amount,
      total: amount,
    }),
  ),
});
const DEFAULT_INTERVAL_SECONDS = 30;

/**
 * Returns a fetcher that requests `<url>/accounts/<account>/balances`. It throws on any answer but
 * a well-formed 200.
 */
export function createPaperBalances(venue: PaperVenue): BalanceFetcher {
  const url = `${venue.url.replace(/\/+$/, '')}/accounts/${encodeURIComponent(venue.account)}/balances`;
  return {
    venue_key: venue.venue_key,
    interval_seconds: venue.fetch_interval_seconds ?? DEFAULT_INTERVAL_SECONDS,
    async fetch({ signal }) {
      const answer = await fetch(url, { signal, redirect: 'error' });
      if (answer.status !== 200) {
        await answer.body?.cancel();
        throw new Error(
          `the venue ${venue.venue_key} answered ${String(answer.status)} to a request for balances`,
        );
      }
      const { balances } = answerSchema.parse(await answer.json());
      const pools = balances.map((each): PoolBalance => ({
        ...each,
        account_type: each.account_type.toUpperCase(),
        asset: each.asset.toUpperCase(),
        details: null,
      }));
      return { pools, outlook: null };
    },
  };
}
