/**
 * `perp.withdraw`: `withdraw3`, which debits the account at once and pays on the chain after
 * minutes, minus the fee. Source: docs/perps-venue-facts.md 5.2.
 */
import { add } from '../../domain/money.ts';
import { requireMode, requireRail, requireWithdrawable } from './account.ts';
import type { PerpVenue } from './config.ts';
import { withdrawalRow } from './ledger.ts';
import { readWithdrawPlan, requireAboveFee, requirePrecision, type WithdrawPlan } from './plan.ts';
import type { UserSigned } from './user-signed.ts';

export function withdrawals(venue: PerpVenue): UserSigned<WithdrawPlan> {
  return {
    descriptor: { executor_key: 'perp.withdraw', action_types: ['perp_withdraw'] },
    read: (context) => readWithdrawPlan(context, venue),
    act: ({ destination, amount }, nonce) => {
      return { type: 'withdraw3', network: venue.network, destination, amount, nonce };
    },
    /**
     * Checks the withdrawal at the venue.
     *
     * @throws ExecutorFault `rejected` `AMOUNT_TOO_PRECISE`, `WITHDRAWAL_BELOW_FEE`,
     *   `VENUE_ROUTE_CLOSED`, `ACCOUNT_MODE_UNSUPPORTED`, `INSUFFICIENT_WITHDRAWABLE`.
     */
    require: async (client, plan, { master_address }, call) => {
      requirePrecision(plan.amount);
      requireAboveFee(plan);
      await requireRail(client, 'withdrawal', call);
      await requireMode(client, master_address, call);
      await requireWithdrawable(client, master_address, plan.amount, call);
    },
    rail: 'withdrawal',
    // The row appears only once the withdrawal is paid. Source: docs/perps-venue-facts.md 0.3.
    row_comes: 'when_paid',
    find: (rows, nonce) => withdrawalRow(rows, nonce),
    // The row has the paid amount, and the fee that was taken out of the withdrawal.
    left: ({ received, fee }) => add(received, fee),
    // The row's hash is that of the payment's transaction on the chain (facts 0).
    facts: ({ destination }, arrived) => ({
      destination_address: destination,
      chain_id: venue.chain_id,
      ...(arrived === null ? {} : { tx_hash: arrived.hash }),
    }),
  };
}
