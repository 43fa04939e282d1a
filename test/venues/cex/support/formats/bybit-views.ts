/** Records and balances of the local exchange as Bybit shows them (wire/bybit.json). */
import { add, compare, subtract } from '../../../../../domain/money.ts';
import type {
  Account,
  BookEntry,
  Books,
  Deposit,
  NetworkTerms,
  PoolAmount,
  PoolName,
  Transfer,
  TransferEnd,
  Withdrawal,
} from '../books.ts';
import type { Listed } from './bybit-lists.ts';

const WITHDRAWAL_STATUS = { pending: 'Pending', completed: 'success', failed: 'Fail' };
/** No state shows that a credited deposit is not withdrawable yet: `withdrawableAmount` does. */
const DEPOSIT_STATUS = { pending: '1', credited: '3', completed: '3', failed: '4' };
const INTERNAL_STATUS = { pending: '1', credited: '2', completed: '2', failed: '3' };
const TRANSFER_STATUS = { pending: 'PENDING', completed: 'SUCCESS', failed: 'FAILED' };

/** The words of transfers and balances; a withdrawal's word for `UNIFIED` is `UTA` (3). */
export const POOL_OF: Readonly<Record<string, PoolName>> = {
  FUND: 'SPOT',
  UNIFIED: 'USDT_FUTURE',
};

/** The uid of an account: a master has one too. */
export const uidOf = ({ master }: Books, account: Account): string => account ?? master;

/** What the wallet permissions of an account's key are (12). */
export function walletPermissions({ permissions }: Books, account: Account): readonly string[] {
  const { read, transfer, withdraw } = permissions;
  return [
    ...(read ? ['AccountTransfer'] : []),
    ...(transfer ? [account === null ? 'SubMemberTransfer' : 'SubMemberTransferList'] : []),
    ...(withdraw && account === null ? ['Withdraw'] : []),
  ];
}

export function keyView(books: Books, account: Account, apiKey: string): object {
  return {
    ...{ id: '2208369', note: 'treasury', apiKey, readOnly: 0, secret: '' },
    permissions: {
      ContractTrade: [],
      Spot: [],
      Wallet: walletPermissions(books, account),
      Options: [],
      Derivatives: [],
    },
    ips: ['127.0.0.1'],
    type: 1,
    deadlineDay: -2,
    expiredAt: '1970-01-01T00:00:00Z',
    createdAt: '2025-10-13T03:20:45Z',
    ...{ unified: 0, uta: 1, userID: Number(uidOf(books, account)), inviterID: 0 },
    ...{ vipLevel: 'No VIP', mktMakerLevel: '0', affiliateID: 0, rsaPublicKey: '' },
    isMaster: account === null,
    parentUid: account === null ? '0' : books.master,
    ...{ kycLevel: 'LEVEL_1', kycRegion: '', userIDInt64: '0', inviterIDInt64: '0' },
  };
}

/** Amounts of a pool: of the coins, also of those that it does not have, or of all that it has. */
export function amountsOf(
  books: Books,
  { account, pool }: TransferEnd,
  coins?: readonly string[],
): readonly PoolAmount[] {
  const all = books.pools(account, pool);
  return coins === undefined
    ? all
    : coins.map((asset) => all.find((each) => each.asset === asset) ?? nothingOf(asset));
}

const nothingOf = (asset: string): PoolAmount => ({ asset, amount: '0', locked: '0' });

export function balanceView({ asset, amount, locked }: PoolAmount) {
  return {
    coin: asset,
    transferBalance: notBelowZero(amount),
    walletBalance: notBelowZero(add(amount, locked)),
    bonus: '',
  };
}

/** A coin of `UNIFIED`: a debt is in `equity`, which is below zero then. */
export function walletView({ asset, amount, locked }: PoolAmount): object {
  const equity = add(amount, locked);
  return {
    ...{ coin: asset, equity, walletBalance: notBelowZero(equity), locked },
    ...{ availableToWithdraw: '', availableToBorrow: '', borrowAmount: '0.0', spotBorrow: '0' },
    ...{ accruedInterest: '0', bonus: '0', usdValue: '0', unrealisedPnl: '0' },
    ...{ marginCollateral: true, collateralSwitch: true },
  };
}

/** What an account holds in a pool, for the names of coins. */
export function overviewView(books: Books, end: TransferEnd): object {
  const coinDetail = amountsOf(books, end)
    .map(({ asset, amount, locked }) => ({ equity: add(amount, locked), coin: asset }))
    .filter(({ equity }) => compare(equity, '0') !== 0);
  return {
    ...{ totalEquity: '0', valuationCurrency: 'USD' },
    accountType: end.pool === 'SPOT' ? 'FundingAccount' : 'UnifiedTradingAccount',
    ...{ coinDetail, snapshotTime: String(books.now()) },
  };
}

/** What may leave a pool and Bybit: deposits below their safe confirmations may not (3). */
export function withdrawable(books: Books, { account, pool }: TransferEnd, asset: string): string {
  const amount = books.get(account, pool, asset);
  if (pool !== 'SPOT') return notBelowZero(amount);
  const locked = books.deposits.filter(
    (each) => each.account === account && each.asset === asset && each.status === 'credited',
  );
  return notBelowZero(locked.reduce((left, deposit) => subtract(left, deposit.amount), amount));
}

const notBelowZero = (amount: string): string => (compare(amount, '0') < 0 ? '0' : amount);

/** The terms of a coin. Here both bounds are of what arrives: the facts leave it open (18). */
export function coinView(asset: string, networks: readonly NetworkTerms[]): object {
  const chains = networks.map(({ network, enabled, fee, min, max, step }) => ({
    ...{ chainType: `${network} network`, chain: network, contractAddress: '' },
    ...{ confirmation: '6', safeConfirmNumber: '65', chainDeposit: '1', depositMin: '0' },
    chainWithdraw: enabled ? '1' : '0',
    ...{ withdrawFee: fee, withdrawPercentageFee: '0' },
    withdrawMin: notBelowZero(subtract(min, fee)),
    withdrawMax: max === null ? '-1' : subtract(max, fee),
    minAccuracy: String(step === null ? 18 : (step.split('.')[1] ?? '').length),
  }));
  return { name: asset, coin: asset, remainAmount: '10000000', chains };
}

/** An entry of every asset is a universal one. Bybit has none of every network. */
export function addressView({ label, address, tag, asset, network, verified }: BookEntry): Listed {
  const [coin, chain] = [asset ?? 'baseCoin', network ?? ''];
  return {
    time: 0,
    by: { coin, chain },
    row: {
      ...{ coin, chain, address, tag: tag ?? '', remark: label },
      ...{ status: 0, addressType: 0, verified: verified ? 1 : 0, createdAt: '1760951195' },
    },
  };
}

export const withdrawalStatus = ({ exchange_status, status }: Withdrawal): string =>
  exchange_status ?? WITHDRAWAL_STATUS[status];

/** `amount` is what arrives, and the caller's id is in no field (4, 6). */
export function withdrawalView(withdrawal: Withdrawal): Listed {
  const { id, asset, network, address, tag, net_amount, fee, within, tx } = withdrawal;
  const time = wholeSecond(withdrawal.time);
  const txID = withdrawal.status === 'failed' ? '' : (tx ?? '');
  return {
    time,
    by: { withdrawID: id, txID, coin: asset },
    row: {
      ...{ coin: asset, chain: within ? 'internalAddressChain' : network, amount: net_amount },
      ...{ txID, status: withdrawalStatus(withdrawal), toAddress: address, tag: tag ?? '' },
      ...{ withdrawFee: fee, createTime: String(time), updateTime: String(time) },
      ...{ withdrawId: id, withdrawType: within ? 1 : 0 },
      ...{ fee: '', tax: '', taxRate: '', taxType: '' },
    },
  };
}

/** A transaction such as `77c37e5c-d9fa-41e5-bd13-c9b59d95` is a booking within Bybit. */
export const isInternal = ({ tx }: Deposit): boolean => /^[0-9a-f]{8}-/.test(tx);

export function depositView(deposit: Deposit): Listed {
  const { id, asset, network, address, tag, amount, tx } = deposit;
  const time = wholeSecond(deposit.time);
  return {
    time,
    // Compared as it is: how Bybit compares a hash is unproven (18).
    by: { id, txID: tx, coin: asset },
    row: {
      ...{ coin: asset, chain: network, amount, txID: tx },
      status: Number(deposit.exchange_status ?? DEPOSIT_STATUS[deposit.status]),
      ...{ toAddress: address, tag: tag ?? '', depositFee: '', successAt: String(time) },
      ...{ confirmations: '50', txIndex: '0', blockHash: '', fromAddress: '', id },
      ...{ batchReleaseLimit: '-1', depositType: '0', taxDepositRecordsId: '0', taxStatus: 0 },
    },
  };
}

export function internalDepositView(deposit: Deposit): Listed {
  const { id, asset, amount, tx } = deposit;
  const time = wholeSecond(deposit.time);
  return {
    time,
    by: { txID: tx, coin: asset },
    row: {
      ...{ id, amount, type: 1, coin: asset, address: 'xxxx***@example.com', txID: tx },
      status: Number(deposit.exchange_status ?? INTERNAL_STATUS[deposit.status]),
      ...{ createdTime: String(time / 1_000), fromMemberId: '118027304' },
      ...{ complianceStatus: 0, taxDepositRecordsId: '0', taxStatus: 0 },
    },
  };
}

export const transferStatus = ({ exchange_status, status }: Transfer): string =>
  exchange_status ?? TRANSFER_STATUS[status];

/** A transfer as its list shows it: one within an account has no uids. */
export function transferView(books: Books, transfer: Transfer): Listed {
  const { id, source, destination, asset, amount } = transfer;
  const time = wholeSecond(transfer.time);
  const fromMemberId = uidOf(books, source.account);
  const toMemberId = uidOf(books, destination.account);
  const isWithin = fromMemberId === toMemberId;
  // Only the filter takes the id as it was generated.
  const transferId = isWithin ? `selfTransfer_${id}` : `universalTransfer_${id}_${fromMemberId}`;
  const status = transferStatus(transfer);
  return {
    time,
    by: { transferId: id, coin: asset, status },
    row: {
      ...{ transferId, coin: asset, amount, timestamp: String(time), status },
      ...{ fromAccountType: wordOf(source), toAccountType: wordOf(destination) },
      ...(isWithin ? {} : { fromMemberId, toMemberId }),
    },
  };
}

const wordOf = ({ pool }: TransferEnd): string =>
  Object.entries(POOL_OF).find(([, each]) => each === pool)?.[0] ?? '';

const wholeSecond = (milliseconds: number): number => Math.floor(milliseconds / 1_000) * 1_000;
