/** Records and balances of the local exchange as OKX shows them (test/venues/cex/wire/okx.json). */
import { add, compare, subtract } from '../../../../../domain/money.ts';
import type {
  Account,
  Books,
  Deposit,
  NetworkTerms,
  PoolName,
  Transfer,
  TransferEnd,
  Withdrawal,
} from '../books.ts';

const WITHDRAWAL_STATE = { pending: '0', completed: '2', failed: '-1' };
/** No state of a deposit is a final failure: such a one is frozen. */
const DEPOSIT_STATE = { pending: '0', credited: '1', completed: '2', failed: '12' };
const TRANSFER_STATE = { pending: 'pending', completed: 'success', failed: 'failed' };

export const POOL_OF: Readonly<Record<string, PoolName>> = { '6': 'SPOT', '18': 'USDT_FUTURE' };

/** A row of a history. */
export type Row = Readonly<Record<string, unknown>> & { readonly ts: string };

export const withdrawalState = ({ exchange_status, status }: Withdrawal): string =>
  exchange_status ?? WITHDRAWAL_STATE[status];

/** Balances of the funding account: only currencies that it has. */
export function fundingView(books: Books, account: Account): readonly object[] {
  return books
    .pools(account, 'SPOT')
    .map(({ asset, amount, locked }) => ({
      availBal: amount,
      bal: add(amount, locked),
      ccy: asset,
      frozenBal: locked,
    }))
    .filter(({ bal }) => compare(bal, '0') > 0);
}

/** Balances of the trading account; what does not apply is empty. */
export function tradingView(books: Books, account: Account): readonly object[] {
  const details = books.pools(account, 'USDT_FUTURE').map(({ asset, amount, locked }) => ({
    availBal: notBelowZero(amount),
    cashBal: amount,
    ccy: asset,
    eq: add(amount, locked),
    frozenBal: locked,
    liab: '',
    spotInUseAmt: '',
  }));
  return [{ adjEq: '', details, totalEq: '0', uTime: String(books.now()) }];
}

export function maxWithdrawalView(books: Books, account: Account): readonly object[] {
  return books.pools(account, 'USDT_FUTURE').map(({ asset, amount }) => ({
    ccy: asset,
    maxWd: notBelowZero(amount),
    // With what OKX would lend.
    maxWdEx: add(notBelowZero(amount), '5'),
    spotOffsetMaxWd: '',
    spotOffsetMaxWdEx: '',
  }));
}

const notBelowZero = (amount: string): string => (compare(amount, '0') < 0 ? '0' : amount);

/** One chain of a currency. OKX's bounds are for what arrives. */
export function chainView({ quota }: Books, asset: string, terms: NetworkTerms): object {
  const { network, enabled, opens_at, fee, min, max, step, needs_tag } = terms;
  const used = '1000';
  return {
    burningFeeRate: '',
    canDep: true,
    canInternal: true,
    canWd: enabled,
    ccy: asset,
    chain: `${asset}-${network}`,
    fee,
    mainNet: false,
    maxWd: max === null ? '' : subtract(max, fee),
    minWd: notBelowZero(subtract(min, fee)),
    name: asset,
    needTag: needs_tag,
    usedWdQuota: used,
    wdEstOpenTime: opens_at === null ? '' : String(opens_at),
    wdQuota: add(quota?.left ?? '10000000', used),
    wdTickSz: String((step?.split('.')[1] ?? '').length),
  };
}

export function withdrawalView(withdrawal: Withdrawal): Row {
  const { id, asset, network, address, tag, client_id, fee, within, tx } = withdrawal;
  return {
    note: '',
    chain: `${asset}-${network}`,
    fee,
    feeCcy: asset,
    ccy: asset,
    clientId: client_id ?? '',
    toAddrType: '1',
    amt: withdrawal.net_amount,
    txId: within ? '' : (tx ?? ''),
    from: 'treasury',
    to: address,
    ...(tag === null ? {} : { tag }),
    state: withdrawalState(withdrawal),
    ts: String(withdrawal.time),
    nonTradableAsset: false,
    wdId: id,
  };
}

/** A transaction of digits alone is the id of the sender's withdrawal within OKX. */
export function depositView(deposit: Deposit): Row {
  const isWithin = /^[0-9]{1,20}$/.test(deposit.tx);
  return {
    actualDepBlkConfirm: '2',
    amt: deposit.amount,
    areaCodeFrom: '',
    ccy: deposit.asset,
    chain: `${deposit.asset}-${deposit.network}`,
    depId: deposit.id,
    from: '',
    fromWdId: isWithin ? deposit.tx : '',
    state: deposit.exchange_status ?? DEPOSIT_STATE[deposit.status],
    to: deposit.address,
    ts: String(deposit.time),
    txId: isWithin ? '' : deposit.tx,
  };
}

/** The `type` of a transfer: 0 within an account, 1 to a sub-account, 2 from one. */
export function typeOf({ source, destination }: Pick<Transfer, 'source' | 'destination'>): string {
  if (source.account === destination.account) return '0';
  return source.account === null ? '1' : '2';
}

const accountOf = ({ pool }: TransferEnd): string =>
  Object.entries(POOL_OF).find(([, each]) => each === pool)?.[0] ?? '';

export function transferView(transfer: Transfer) {
  const { source, destination } = transfer;
  return {
    amt: transfer.amount,
    ccy: transfer.asset,
    clientId: transfer.client_id ?? '',
    from: accountOf(source),
    instId: '',
    state: transfer.exchange_status ?? TRANSFER_STATE[transfer.status],
    subAcct: source.account ?? destination.account ?? '',
    to: accountOf(destination),
    toInstId: '',
    transId: transfer.id,
    type: typeOf(transfer),
  };
}

/** Types of lines of the ledger, for what comes in and what goes out. */
const BILL_TYPES = {
  own: { in: '130', out: '131' },
  master: { in: '21', out: '20' },
  sub: { in: '23', out: '22' },
};

/** The ledger of the account's funding account. */
export function billsView(books: Books, account: Account): readonly Row[] {
  const line = (type: string, balChg: string, of: LedgerRecord): Row => ({
    ...{ billId: `${type}${of.id}`, ccy: of.asset, clientId: of.client_id ?? '' },
    ...{ balChg, bal: '', type, ts: String(of.time), notes: '' },
  });
  const isFunding = (end: TransferEnd): boolean => end.account === account && end.pool === 'SPOT';
  const transfers = books.visible(books.transfers).flatMap((each) => {
    const kind = typeOf(each) === '0' ? 'own' : account === null ? 'master' : 'sub';
    const types = BILL_TYPES[kind];
    if (isFunding(each.source)) return [line(types.out, `-${each.amount}`, each)];
    return isFunding(each.destination) ? [line(types.in, each.amount, each)] : [];
  });
  const withdrawals = books
    .visible(books.withdrawals)
    .filter((each) => each.account === account)
    .map((each) => line('2', `-${add(each.net_amount, each.fee)}`, each));
  const deposits = books.deposits
    .filter((each) => each.account === account)
    .map((each) => line('1', each.amount, { ...each, client_id: null }));
  return [...transfers, ...withdrawals, ...deposits];
}

interface LedgerRecord {
  readonly id: string;
  readonly asset: string;
  readonly client_id: string | null;
  readonly time: number;
}
