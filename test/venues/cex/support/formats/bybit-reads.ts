/** Balances and lists of the local exchange at Bybit (docs/bybit-facts.md, 3 and 9). */
import { compare } from '../../../../../domain/money.ts';
import type { Account } from '../books.ts';
import type { RouteContext } from '../format.ts';
import { Refusal } from '../refusal.ts';
import { pageOf } from './bybit-lists.ts';
import { choice, coinsOf, holderOf, needed, needPermission, poolOf } from './bybit-parameters.ts';
import {
  amountsOf,
  balanceView,
  depositView,
  internalDepositView,
  isInternal,
  overviewView,
  POOL_OF,
  transferView,
  uidOf,
  walletView,
  withdrawable,
  withdrawalView,
} from './bybit-views.ts';

/** In days. A window of a list is shorter. */
const [HISTORY, TRANSFERS] = [30, 7];

/** Balances of a pool: `UNIFIED` takes ten names of coins at most, and none without (3). */
export function coinsBalance(context: RouteContext): object {
  needPermission(context, 'AccountTransfer');
  const { books, parameters } = context;
  const [account, pool] = [holderOf(context), poolOf(context, 'accountType')];
  const isNamed = pool !== 'SPOT' || parameters.has('coin');
  const coins = isNamed ? coinsOf(context, 'coin', 10) : undefined;
  return {
    memberId: uidOf(books, account),
    accountType: needed(context, 'accountType'),
    balance: amountsOf(books, { account, pool }, coins).map(balanceView),
  };
}

/** The balance of one coin, with its safe amount where it is requested. */
export function coinBalance(context: RouteContext): object {
  needPermission(context, 'AccountTransfer');
  const { books } = context;
  const end = { account: holderOf(context), pool: poolOf(context, 'accountType') };
  const coin = needed(context, 'coin');
  const isSafe = choice(context, 'withTransferSafeAmount', ['0', '1']) === '1';
  const [balance] = amountsOf(books, end, [coin]).map(balanceView);
  return {
    accountType: needed(context, 'accountType'),
    ...{ bizType: 1, accountId: '1631385', memberId: uidOf(books, end.account) },
    balance: {
      ...balance,
      transferSafeAmount: isSafe ? withdrawable(books, end, coin) : '',
      ltvTransferSafeAmount: '',
    },
  };
}

/** What may be withdrawn of one coin, from each wallet. */
export function withdrawableAmount(context: RouteContext): object {
  const { books, account } = context;
  const coin = needed(context, 'coin');
  const walletOf = (pool: 'SPOT' | 'USDT_FUTURE') => {
    const amount = withdrawable(books, { account, pool }, coin);
    return { coin, withdrawableAmount: amount, availableBalance: amount };
  };
  return {
    limitAmountUsd: '0',
    withdrawableAmount: { FUND: walletOf('SPOT'), UTA: walletOf('USDT_FUTURE') },
  };
}

/** The coins of `UNIFIED` with an amount or a debt, or those that are named. */
export function walletBalance(context: RouteContext): object {
  const { books, account, parameters } = context;
  if (poolOf(context, 'accountType') !== 'USDT_FUTURE')
    throw new Refusal('parameter_invalid', 'accountType');
  const isNamed = parameters.has('coin');
  const found = amountsOf(
    books,
    { account, pool: 'USDT_FUTURE' },
    isNamed ? coinsOf(context, 'coin', Infinity) : undefined,
  );
  const coin = found
    .filter(({ amount, locked }) => isNamed || [amount, locked].some(isAny))
    .map(walletView);
  return { list: [{ accountType: 'UNIFIED', totalEquity: '0', totalWalletBalance: '0', coin }] };
}

const isAny = (amount: string): boolean => compare(amount, '0') !== 0;

/** What may leave `UNIFIED`, of 20 coins at most. */
export function availableWithdrawal(context: RouteContext): object {
  const { books, account } = context;
  const shown = coinsOf(context, 'coinName', 20).map(
    (coin) => [coin, withdrawable(books, { account, pool: 'USDT_FUTURE' }, coin)] as const,
  );
  return {
    availableWithdrawal: shown[0]?.[1] ?? '',
    availableWithdrawalMap: Object.fromEntries(shown),
  };
}

/** What an account holds, for the names of its coins. */
export function assetOverview(context: RouteContext): object {
  const { books } = context;
  const account = holderOf(context);
  const list = Object.values(POOL_OF).map((pool) => overviewView(books, { account, pool }));
  return { totalEquity: '0', list };
}

/** By default those on a chain alone; 1: those within Bybit, 2: all. */
export function withdrawals(context: RouteContext): object {
  const { books, account } = context;
  const type = choice(context, 'withdrawType', ['0', '1', '2']);
  const found = books
    .visible(books.withdrawals)
    .filter((each) => each.account === account && ['2', each.within ? '1' : '0'].includes(type));
  return pageOf(context, found.map(withdrawalView), { days: HISTORY });
}

/** Deposits on a chain, or those within Bybit, which have a list of their own. */
export function deposits(
  context: RouteContext,
  { account, within }: { readonly account: Account; readonly within: boolean },
): object {
  const found = context.books.deposits.filter(
    (each) => each.account === account && isInternal(each) === within,
  );
  const view = within ? internalDepositView : depositView;
  return pageOf(context, found.map(view), { days: HISTORY });
}

/** Transfers within the account of the key, or those between accounts that it may see. */
export function transfers(context: RouteContext, within: boolean): object {
  const { books, account } = context;
  const found = books.visible(books.transfers).filter(({ source, destination }) => {
    const ends = [source.account, destination.account];
    if (within) return ends.every((each) => each === account);
    return ends[0] !== ends[1] && (account === null || ends.includes(account));
  });
  const records = found.map((each) => transferView(books, each));
  const { rows, nextPageCursor } = pageOf(context, records, { days: TRANSFERS, usual: 20 });
  return { list: rows, nextPageCursor };
}
