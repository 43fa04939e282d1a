/** GET /balances */
import type { z } from 'zod';
import { effectiveReason, effectiveWithdrawable } from '../../domain/balances.ts';
import { readBalances } from '../../store/balances.ts';
import { readOutlooks } from '../../store/outlooks.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { Reply } from '../http/route.ts';
import type { balancesQuery, BalancesResponse } from './schema.ts';

/**
 * Returns the latest balance of each pool, and what its venue shows of withdrawals. With `fresh`
 * and a venue, the venue is read first; if the venue does not answer, what is stored is returned.
 */
export async function list(
  input: { readonly query: z.output<typeof balancesQuery> },
  { db, log, balances, settings }: ApiDependencies,
): Promise<Reply<BalancesResponse>> {
  const { fresh, ...filter } = input.query;
  if (fresh === true && filter.venue_key !== undefined) {
    await balances.refresh(filter.venue_key)?.catch((error: unknown) => {
      log.warn(
        { err: error, venue_key: filter.venue_key },
        'fresh balances were requested, but the venue did not answer',
      );
    });
  }
  const [rows, outlooks] = await Promise.all([
    readBalances(db, filter, settings.balanceStaleSeconds),
    readOutlooks(db, settings.balanceStaleSeconds),
  ]);
  const venues = [...new Set(rows.map(({ venue_key }) => venue_key))];
  return {
    status: 200,
    body: {
      balances: rows.map(({ pending_outflow, holding_movements, holding_transfers, ...row }) => ({
        ...row,
        svc_pending_outflow: pending_outflow,
        svc_effective_withdrawable: effectiveWithdrawable(row.withdrawable, pending_outflow),
        svc_effective_reason: effectiveReason({
          movements: holding_movements,
          transfers: holding_transfers,
        }),
      })),
      venues: venues.map((venue_key) => ({
        venue_key,
        withdrawals: outlooks.get(venue_key) ?? null,
      })),
    },
  };
}
