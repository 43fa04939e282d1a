/**
 * `perp.top_up`: `sendAsset` from the master to the sub-account of a strategy. The venue's
 * sub-account transfer is not used: its ledger row has no nonce. Source: docs/perps-venue-facts.md
 * 1.3, 6.
 */
import { sameEvmAddress } from '../../platform/evm-address.ts';
import { rejected } from '../node-plan.ts';
import { requireMode, requireRoom, requireWithdrawable } from './account.ts';
import type { PerpVenue } from './config.ts';
import { sendRow } from './ledger.ts';
import { readTopUpPlan, requirePrecision, type TopUpPlan } from './plan.ts';
import type { UserSigned } from './user-signed.ts';

export function topUps(venue: PerpVenue): UserSigned<TopUpPlan> {
  const { network, token } = venue;
  return {
    descriptor: { executor_key: 'perp.top_up', action_types: ['agent_wallet_top_up'] },
    read: (context) => readTopUpPlan(context, venue),
    act: ({ sub_account: destination, amount }, nonce) => {
      return { type: 'sendAsset', network, destination, token, amount, nonce };
    },
    /**
     * Checks the top-up at the venue.
     *
     * @throws ExecutorFault `rejected` `SUB_ACCOUNT_MISMATCH`, `SUB_ACCOUNT_NOT_OWN`,
     *   `MAX_AGENT_BALANCE_EXCEEDED`, `AMOUNT_TOO_PRECISE`, `ACCOUNT_MODE_UNSUPPORTED`,
     *   `INSUFFICIENT_WITHDRAWABLE`.
     */
    require: async (client, { sub_account, amount }, perp, call) => {
      requirePrecision(amount);
      const { master_address: master, sub_account_address: bound, max_agent_balance: most } = perp;
      if (!sameEvmAddress(sub_account, bound ?? ''))
        throw rejected(
          'SUB_ACCOUNT_MISMATCH',
          `${sub_account} is not the sub-account of the strategy`,
        );
      const role = await client.role(sub_account, call);
      if (role.role !== 'subAccount' || !sameEvmAddress(role.master, master))
        throw rejected(
          'SUB_ACCOUNT_NOT_OWN',
          `the venue does not list ${sub_account} as a sub-account of ${master}`,
        );
      for (const account of [master, sub_account]) await requireMode(client, account, call);
      await requireWithdrawable(client, master, amount, call);
      if (most !== undefined) await requireRoom(client, sub_account, { amount, most }, call);
    },
    rail: null,
    row_comes: 'at_once',
    find: (rows, nonce, { sub_account }) => sendRow(rows, nonce, sub_account),
    // The venue charges any fee in addition to the amount (facts 5.1).
    left: ({ received }) => received,
    facts: ({ sub_account }) => ({ sub_account_address: sub_account }),
  };
}
