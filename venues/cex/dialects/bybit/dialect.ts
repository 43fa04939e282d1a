/**
 * The dialect of Bybit, by its API v5. What is known of it, with its sources, is in
 * docs/bybit-facts.md; comments in this folder name its sections.
 *
 * - Errors come with status 200 (1).
 * - Bybit takes an id of ours with a withdrawal, and shows it nowhere (4). A lost withdrawal is
 *   looked for among what is new in the history. What a repeat with the same id does is unproven,
 *   so it counts as a second payment; the same holds for transfers, which are found by their id.
 * - The amount of a withdrawal includes the fee. Whether that of the history does is unproven (18),
 *   so a record counts as a candidate by either reading.
 * - A withdrawal names an address of Bybit's own book, in the spelling of the book (7).
 * - A signed request is accepted for 5 s after its time stamp (14). Histories come from a replica
 *   that lags by an unknown time (9); `settle_seconds` is generous.
 * - Bybit makes one withdrawal of a coin on a chain in ten seconds. How it answers to a second one
 *   is unproven (13), so all processes keep that distance.
 * - The test network has a host and keys of its own, so a live key moves nothing there (15).
 */
import { ask } from '../../answers.ts';
import { hashedId } from '../../client-id.ts';
import type { Dialect } from '../../dialect.ts';
import { addressBook, quoteWithdrawal } from './address-book.ts';
import * as answers from './answers.ts';
import { readBalances, readSubBalances } from './balances.ts';
import { findDeposits } from './deposits.ts';
import { readError } from './errors.ts';
import { KEEPS } from './history.ts';
import { bindingFault, keyFault } from './key.ts';
import { UID } from './names.ts';
import { readRecords } from './records.ts';
import { BYBIT_PAUSES, BYBIT_RATE_LIMITS, BYBIT_REFUSALS } from './refusals.ts';
import { findTransfers, transfer, transferId } from './transfers.ts';
import {
  cancelWithdrawal,
  listWithdrawals,
  spacing,
  withdraw,
  withdrawalTerms,
} from './withdrawals.ts';

const POOLS = ['SPOT', 'USDT_FUTURE'] as const;

export const bybit: Dialect = {
  // A universal transfer names both ends by their uid, also the master (1.14).
  accountFault: (account) =>
    UID.test(account) ? null : "must be the account's uid, 1 to 15 digits",
  readError,
  errors_with_success: true,
  refusals: BYBIT_REFUSALS,
  rate_limit_codes: BYBIT_RATE_LIMITS,
  rate_limit_pauses: BYBIT_PAUSES,
  // Below the library's 50 units per second, at which several calls would be at their limits
  // exactly (2 and 13). The limit of `deposit/query-record`, 100 a minute, may still be exceeded.
  budget: { capacity: 10, units_per_second: 40 },
  // More may be cut or refused (18.16).
  transfer_decimals: 8,
  withdrawals: { same_key_safe: false, settle_seconds: 300, keeps: KEEPS },
  transfers: { same_key_safe: false, settle_seconds: 300, keeps: KEEPS },

  async time(connection, call) {
    return (await ask(connection, 'publicGetV5MarketTime', {}, call, answers.serverTime)).time;
  },

  keyFault,
  bindingFault,

  account_types: { own: POOLS, sub: POOLS },
  balances: readBalances,
  subBalances: readSubBalances,

  spacing,

  withdrawalTerms,
  addressBook,
  withdrawalId: hashedId,
  quote: quoteWithdrawal,
  withdraw,
  search: { by: 'baseline', list: listWithdrawals },
  cancelWithdrawal,

  findDeposits,

  transferId,
  transfer,
  findTransfers,

  records: readRecords,
};
