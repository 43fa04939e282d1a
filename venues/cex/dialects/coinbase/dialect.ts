/**
 * The dialect of Coinbase: the retail API (v2 and Advanced Trade v3, `coinbase` of ccxt), not that
 * of Coinbase Exchange, Prime or International. What is known of it, with its sources, is in
 * docs/coinbase-facts.md; comments in this folder name its sections.
 *
 * - Coinbase shows its fee only after a send, adds it to what is sent, and lets no parameter bound
 *   it (7). So an order needs a `fee_limit`, and the amount without it is sent
 *   (docs/decisions/0133-a-fee-that-is-known-afterwards.md).
 * - A withdrawal is found again by its `idem`, in the list of all transactions of the asset's
 *   account. A repeat is documented to return the earlier send, which no source shows (5).
 * - A token is valid for 120 s (16); `settle_seconds` is longer. It names the host, but neither the
 *   query nor the body (15).
 * - The address book is on the website alone, and whether it binds API keys is unproven (8).
 * - `move_funds` between portfolios has no id and no history, so no portfolio is bound (12).
 */
import { rejected } from '../../../node-plan.ts';
import { ask } from '../../answers.ts';
import type { Dialect } from '../../dialect.ts';
import * as answers from './answers.ts';
import { readBalances } from './balances.ts';
import { findDeposits } from './deposits.ts';
import { readError } from './errors.ts';
import { credentialsFault, keyFault } from './key.ts';
import { readRecords } from './records.ts';
import { COINBASE_RATE_LIMITS, COINBASE_REFUSALS } from './refusals.ts';
import {
  findWithdrawals,
  quoteWithdrawal,
  withdraw,
  withdrawalId,
  withdrawalTerms,
} from './withdrawals.ts';

export const coinbase: Dialect = {
  accountFault(account, role) {
    if (role === 'sub')
      return 'must be of a master: transfers to portfolios of Coinbase cannot be found again';
    // Ids of portfolios, of profiles of Coinbase Exchange, and names of keys (2).
    return answers.isUuid(account) || account.startsWith('organizations/')
      ? 'must be your name of the account, not the id of a portfolio, profile or key'
      : null;
  },
  credentialsFault,
  sandbox_fault: 'the sandbox of Coinbase has fixed answers, and no withdrawals',
  readError,
  refusals: COINBASE_REFUSALS,
  rate_limit_codes: COINBASE_RATE_LIMITS,
  // There are no transfers to have decimals.
  transfer_decimals: 0,
  withdrawals: { same_key_safe: false, settle_seconds: 180, keeps: Number.POSITIVE_INFINITY },
  transfers: null,
  fee_after_send: true,
  fee_on_top: true,

  async time(connection, call) {
    const method = 'v3PublicGetBrokerageTime';
    return (await ask(connection, method, {}, call, answers.serverTime)).epochMillis;
  },

  keyFault,

  account_types: { own: ['SPOT'], sub: [] },
  balances: readBalances,
  async subBalances() {
    throw rejected('CREDENTIALS_MISSING', 'Coinbase has no sub-accounts that could be bound');
  },

  withdrawalTerms,
  withdrawalId,
  quote: quoteWithdrawal,
  withdraw,
  search: { by: 'client_id', find: findWithdrawals },

  findDeposits,

  transferId: (reference) => reference,
  async transfer() {
    throw rejected(
      'TRANSFERS_NOT_SUPPORTED',
      'Coinbase has no transfers between accounts that could be found again; nothing was sent',
    );
  },
  // Nothing can have been sent.
  findTransfers: () => Promise.resolve([]),

  records: readRecords,
};
