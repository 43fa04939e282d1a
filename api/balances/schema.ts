/** The wire contract of balances. */
import { z } from 'zod';
import {
  accountTypeFilter,
  assetCode,
  booleanInQuery,
  decimalString,
  jsonObject,
  listOf,
  oneOf,
  signedDecimal,
  text,
  timestamp,
} from '../http/schemas.ts';

export const balancesQuery = z.strictObject({
  /** Long enough for `<venue>:<signer>`, the pool of a signer on a chain. */
  venue_key: text(1, 200).optional(),
  asset: assetCode.optional(),
  account_type: accountTypeFilter.optional(),
  fresh: booleanInQuery.optional(),
});

const balanceView = z
  .object({
    venue_key: z.string(),
    asset: z.string(),
    account_type: z.string(),
    available: decimalString.nullable(),
    withdrawable: decimalString.nullable(),
    total: decimalString.nullable(),
    details: jsonObject.nullable(),
    fetched_at: timestamp.nullable(),
    stale: z.boolean(),
    svc_pending_outflow: decimalString,
    svc_effective_withdrawable: signedDecimal.nullable(),
    svc_effective_reason: oneOf([
      'capital_transfer_reservation',
      'movement_reservation',
      'mixed_reservations',
    ]).nullable(),
  })
  .meta({ id: 'Balance' });

export const balancesResponse = z
  .object({ balances: listOf(balanceView) })
  .meta({ id: 'BalanceResponse' });
export type BalancesResponse = z.input<typeof balancesResponse>;
