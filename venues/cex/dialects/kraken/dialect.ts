/**
 * The dialect of Kraken, by its Spot REST API. What is known of it, with its sources, is in
 * docs/kraken-facts.md; comments in this folder name its sections.
 *
 * - Errors come with status 200 (1).
 * - Kraken stores no id of ours with a withdrawal, and a second one with the same content is a
 *   second payment (3). A lost one is looked for among what is new in the history.
 * - A withdrawal names the label of an address in Kraken's own book, and the address as its
 *   confirmation (4). Its amount includes the fee, and `max_fee` bounds the fee (5).
 * - A key's requests need growing nonces instead of a time window, so a delayed one stays valid
 *   until a later one was accepted (11). How soon a withdrawal is in the history is not documented
 *   (7); `settle_seconds` is generous.
 * - No call finds a transfer between accounts again, and only institutional clients have one
 *   between a master and a sub-account (15). So the service makes none at Kraken.
 */
import { rejected } from '../../../node-plan.ts';
import { ask } from '../../answers.ts';
import { hashedId } from '../../client-id.ts';
import type { Dialect } from '../../dialect.ts';
import { addressBook } from './address-book.ts';
import * as answers from './answers.ts';
import { readBalances } from './balances.ts';
import { findDeposits } from './deposits.ts';
import { readError } from './errors.ts';
import { KEPT } from './history.ts';
import { keyFault } from './key.ts';
import { readOutlook } from './outlook.ts';
import { readRecords } from './records.ts';
import { KRAKEN_PAUSES, KRAKEN_RATE_LIMITS, KRAKEN_REFUSALS } from './refusals.ts';
import {
  cancelWithdrawal,
  listWithdrawals,
  quoteWithdrawal,
  withdraw,
  withdrawalTerms,
} from './withdrawals.ts';

/** What the library counts for one unit of Kraken's own counter: 3, and 6 for Ledgers (12). */
const LIBRARY_UNITS = 3;
/** The counter of the lowest tier holds 15. One is left: requests may arrive close together. */
const COUNTER = 14;
/** How much of the lowest tier's counter is free again after a second: 0.33. */
const HUNDREDTHS_PER_SECOND = 33;

export const kraken: Dialect = {
  // Each account has a key of its own, so no request names an account (15).
  accountFault: () => null,
  sandbox_fault: 'Kraken has no test network that withdrawals can use',
  readError,
  errors_with_success: true,
  refusals: KRAKEN_REFUSALS,
  rate_limit_codes: KRAKEN_RATE_LIMITS,
  rate_limit_pauses: KRAKEN_PAUSES,
  budget: {
    capacity: COUNTER * LIBRARY_UNITS,
    units_per_second: (HUNDREDTHS_PER_SECOND * LIBRARY_UNITS) / 100,
  },
  growing_nonce: true,
  // There are no transfers to have decimals.
  transfer_decimals: 0,
  withdrawals: { same_key_safe: false, settle_seconds: 300, keeps: KEPT.keeps },
  transfers: null,

  async time(connection, call) {
    const schema = answers.resultOf(answers.serverTime);
    const { unixtime } = await ask(connection, 'publicGetTime', {}, call, schema);
    return unixtime * 1_000;
  },

  keyFault,

  account_types: { own: ['SPOT'], sub: [] },
  balances: readBalances,
  async subBalances() {
    throw rejected(
      'CREDENTIALS_MISSING',
      "Kraken shows a sub-account's balances to its own API key alone; bind it with one",
    );
  },

  withdrawalTerms,
  outlook: readOutlook,
  addressBook,
  // Only our own name of the send: Kraken never sees it (3).
  withdrawalId: hashedId,
  quote: quoteWithdrawal,
  withdraw,
  search: { by: 'baseline', list: listWithdrawals },
  cancelWithdrawal,

  findDeposits,

  transferId: (reference) => reference,
  async transfer() {
    throw rejected(
      'TRANSFERS_NOT_SUPPORTED',
      'Kraken has no transfers between accounts that could be found again; nothing was sent',
    );
  },
  // Nothing can have been sent.
  findTransfers: () => Promise.resolve([]),

  records: readRecords,
};
