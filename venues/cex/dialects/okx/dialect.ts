/**
 * The dialect of OKX, by its API v5. What is known of it, with its sources, is in
 * docs/okx-facts.md; comments in this folder name its sections.
 *
 * - Every answer is `{code, msg, data}`, and most refusals come with status 200 (1).
 * - A withdrawal is found again by its `clientId`. What a second one with the same id does is
 *   unproven, so a repeat counts as a second payment (4). The same holds for transfers, which are
 *   found for 14 days (9).
 * - OKX adds its fee to the amount of a withdrawal, and shows in its history what arrives (6). An
 *   order includes the fee, so the fee is read before the send and subtracted. No source shows that
 *   a fee that rises in between is refused; the record shows what was charged.
 * - A signed request is accepted for 30 s after its time stamp (14); `settle_seconds` is longer.
 * - OKX enforces its address book itself and has no call that reads it (7).
 */
import { ask } from '../../answers.ts';
import { hashedId } from '../../client-id.ts';
import type { Dialect } from '../../dialect.ts';
import * as answers from './answers.ts';
import { OWN, ofSub, readBalances } from './balances.ts';
import { findDeposits } from './deposits.ts';
import { readOutlook } from './outlook.ts';
import { readRecords } from './records.ts';
import { OKX_REFUSALS } from './refusals.ts';
import { findTransfers, KEPT_TRANSFERS, transfer, transferId } from './transfers.ts';
import {
  cancelWithdrawal,
  findWithdrawals,
  KEPT,
  quoteWithdrawal,
  withdraw,
  withdrawalTerms,
} from './withdrawals.ts';

const POOLS = ['SPOT', 'USDT_FUTURE'] as const;

export const okx: Dialect = {
  // The form of a name is not documented (3); what it certainly is not, is refused here.
  accountFault: (account, role) =>
    role === 'sub' && /@|^[0-9]{15,}$/.test(account)
      ? "must be the sub-account's name, not its uid or an e-mail address"
      : null,
  // Only a header would make a request one of demo trading (1).
  sandbox_fault: 'OKX has no withdrawals in its demo trading, whose host is that of real trading',
  readError(body) {
    const parsed = answers.errorBody.safeParse(body);
    if (!parsed.success) return null;
    const { code, msg, data } = parsed.data;
    const own = itemError(data);
    const found = own ?? (code === '0' ? null : { code, message: msg ?? '' });
    // What has an id was done, whatever is said beside it.
    if (found === null || !hasId(data)) return found;
    return { ...found, code: `${found.code} beside a result` };
  },
  errors_with_success: true,
  refusals: OKX_REFUSALS,
  rate_limit_codes: ['50011', '50013', '50040', '58102'],
  transfer_decimals: 8,
  withdrawals: { same_key_safe: false, settle_seconds: 60, keeps: KEPT.keeps },
  transfers: { same_key_safe: false, settle_seconds: 60, keeps: KEPT_TRANSFERS.keeps },
  fee_on_top: true,

  async time(connection, call) {
    const schema = answers.oneOf(answers.serverTime);
    return (await ask(connection, 'publicGetPublicTime', {}, call, schema)).ts;
  },

  async keyFault(connection, needs, call) {
    const schema = answers.oneOf(answers.accountConfig);
    const { perm, uid, mainUid } = await ask(
      connection,
      'privateGetAccountConfig',
      {},
      call,
      schema,
    );
    const permissions = perm.split(',').map((each) => each.trim());
    if (!permissions.includes('read_only')) return 'the API key may not read';
    // A sub-account cannot withdraw (3), so no key of it can have the permission.
    const isSub = uid !== null && mainUid !== null && uid !== mainUid;
    if (!needs.withdraw || isSub || permissions.includes('withdraw')) return null;
    return 'the API key may not withdraw';
  },

  account_types: { own: POOLS, sub: POOLS },
  balances: (connection, types, call) => readBalances(connection, OWN, types, call),
  subBalances: (master, { sub_account, types }, call) =>
    readBalances(master, ofSub(sub_account), types, call),

  withdrawalTerms,
  outlook: readOutlook,
  // By its codes 58203 and 58207 (7, 10.1).
  book_enforced: true,
  withdrawalId: hashedId,
  quote: quoteWithdrawal,
  withdraw,
  search: { by: 'client_id', find: findWithdrawals },
  cancelWithdrawal,

  findDeposits,

  transferId,
  transfer,
  findTransfers,

  records: readRecords,
};

/** Returns whether the only item names a withdrawal or a transfer that was made. */
function hasId(data: unknown): boolean {
  if (!Array.isArray(data) || data.length !== 1) return false;
  const { wdId, transId } = (data[0] ?? {}) as Readonly<Record<string, unknown>>;
  return [wdId, transId].some((id) => id !== undefined && id !== null && id !== '');
}

/**
 * Returns the error of the only item; null without one. Its code counts instead of that of the
 * whole answer (1). With several items none of them speaks for the request.
 */
function itemError(data: unknown): { readonly code: string; readonly message: string } | null {
  if (!Array.isArray(data) || data.length !== 1) return null;
  const parsed = answers.errorItem.safeParse(data[0]);
  if (!parsed.success || parsed.data.sCode === '0') return null;
  return { code: parsed.data.sCode, message: parsed.data.sMsg ?? '' };
}
