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

const withdrawals = z
  .object({
    quota: z
      .object({
        left: decimalString,
        unit: z.string().meta({ description: 'An asset, or `USD`.', example: 'USD' }),
      })
      .nullable()
      .meta({
        description: 'What the account may still withdraw; null: the venue does not show it.',
      }),
    closed: listOf(
      z.object({
        asset: z.string(),
        network: z
          .string()
          .nullable()
          .meta({ description: 'As the venue names it; null: every network of the asset.' }),
        opens_at: timestamp
          .nullable()
          .meta({ description: 'When the venue expects to pay out again; null: not known.' }),
      }),
    ).meta({
      description:
        'What the venue does not pay out at present, of the assets that the account has. That something is missing ' +
        'does not prove that it is paid out.',
    }),
    read_at: timestamp,
  })
  .meta({ id: 'VenueWithdrawals' });

const venueView = z
  .object({
    venue_key: z.string(),
    withdrawals: withdrawals.nullable().meta({
      description:
        'Null where the venue shows nothing of them, and where what it showed is as old as a stale balance.',
    }),
  })
  .meta({ id: 'BalanceVenue' });

export const balancesResponse = z
  .object({
    balances: listOf(balanceView),
    venues: listOf(venueView).meta({ description: 'Each venue of these balances.' }),
  })
  .meta({ id: 'BalanceResponse' });
export type BalancesResponse = z.input<typeof balancesResponse>;
