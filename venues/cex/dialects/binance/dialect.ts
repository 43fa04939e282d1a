/**
 * The dialect of Binance, by its documented API (developers.binance.com: wallet, sub-account, spot,
 * USD-M futures).
 *
 * - `withdrawOrderId` finds a withdrawal again, within windows of less than 7 days. The effect of a
 *   second withdrawal with the same id is not documented, so a repeat counts as a second payment.
 *   `clientTranId` "must be unique", but the effect of a repeat is not documented either.
 * - The amount of a withdrawal includes the fee. The history shows the amount that the destination
 *   gets and, in another field, the fee.
 * - Binance accepts a request only within `recvWindow` of its timestamp; `settle_seconds` is far
 *   longer.
 * - An API withdrawal uses the wallet that is selected on the website, unless the request names
 *   one; so our requests name the spot wallet.
 * - A withdrawal cannot be cancelled.
 * - Without a client id, withdrawals and deposits are listed in periods of less than 90 days, 1,000
 *   from an `offset`; transfers between accounts in periods of less than 7 days, 500 a `page`, by
 *   their sender or by their destination ("fromEmail and toEmail cannot be sent at the same time"),
 *   and without both those that the master sent. The order is not documented.
 */
import type { PoolBalance } from '../../../../domain/balances.ts';
import type { CallOptions } from '../../../../domain/executor.ts';
import { plainTransaction } from '../../../../domain/chains/transaction.ts';
import { add, compare } from '../../../../domain/money.ts';
import type { VenueRecord } from '../../../../domain/reconcile/records.ts';
import { hashedId } from '../../client-id.ts';
import type { CexConnection } from '../../connection.ts';
import type {
  Dialect,
  ExchangeTransfer,
  Period,
  RecordStatus,
  TransferEndOfExchange,
  TransferRecord,
  WithdrawalRecord,
} from '../../dialect.ts';
import { ask, read, type Schema } from '../../answers.ts';
import { readHistory, readPages } from '../../history.ts';
import { windows } from '../../windows.ts';
import { withdrawalLine } from '../../withdrawal-line.ts';
import * as answers from './answers.ts';
import { readOutlook } from './outlook.ts';
import { BINANCE_REFUSALS } from './refusals.ts';

const DAY = 86_400_000;
/**
 * Limits of both histories: a search by client id covers "less than 7 days", and 90 days are kept.
 */
const BY_CLIENT_ID = { longest: 7 * DAY - 1_000, keeps: 90 * DAY };
const DEPOSITS = { longest: 90 * DAY - 1_000, keeps: 90 * DAY };
/**
 * Limits of the histories that are read without a client id. Windows overlap by a second, because
 * `applyTime` has no fractions and whether the ends of a window belong to it is not documented. 90
 * days are what Binance lists by default; that it keeps more is not documented.
 */
const LIST = { longest: 90 * DAY - 2_000, keeps: 90 * DAY, overlap: 1_000 };
const TRANSFER_LIST = { ...LIST, longest: 7 * DAY - 2_000 };
const SPOT_WALLET = 0;
const FUTURES_OF_USDT = 1;
const PAGE = 1_000;
const TRANSFER_PAGE = 500;
const SUB_ACCOUNT_PAGE = 200;

const WITHDRAWAL_STATUS: Readonly<Record<string, readonly [RecordStatus, string]>> = {
  '0': ['pending', 'waits for a confirmation by e-mail'],
  '1': ['failed', 'cancelled'],
  '2': ['pending', 'waits for approval'],
  '3': ['failed', 'rejected'],
  '4': ['pending', 'processing'],
  '5': ['failed', 'failed'],
  '6': ['completed', 'completed'],
};
const DEPOSIT_STATUS: Readonly<Record<string, readonly [RecordStatus | 'credited', string]>> = {
  '0': ['pending', 'pending'],
  '1': ['completed', 'credited'],
  '2': ['failed', 'rejected'],
  '6': ['credited', 'credited, cannot be withdrawn yet'],
  '7': ['failed', 'a wrong deposit'],
  '8': ['pending', 'waits for the user'],
};
const TRANSFER_STATUS: Readonly<Record<string, RecordStatus>> = {
  INIT: 'pending',
  PROCESS: 'pending',
  SUCCESS: 'completed',
  FAILURE: 'failed',
};

export const binance: Dialect = {
  accountFault: (account, role) =>
    role === 'sub' && !/^[^@\s]+@[^@\s]+$/.test(account)
      ? "must be the sub-account's e-mail address"
      : null,
  readError(body) {
    const parsed = answers.errorBody.safeParse(body);
    return parsed.success ? { code: parsed.data.code, message: parsed.data.msg } : null;
  },
  refusals: BINANCE_REFUSALS,
  transfer_decimals: 8,
  withdrawals: { same_key_safe: false, settle_seconds: 60, keeps: BY_CLIENT_ID.keeps },
  transfers: { same_key_safe: false, settle_seconds: 60, keeps: BY_CLIENT_ID.keeps },

  async time(connection, call) {
    return (await ask(connection, 'publicGetTime', {}, call, answers.serverTime)).serverTime;
  },

  async keyFault(connection, needs, call) {
    const restrictions = await ask(
      connection,
      'sapiGetAccountApiRestrictions',
      {},
      call,
      answers.restrictions,
    );
    return needs.withdraw && !restrictions.enableWithdrawals
      ? 'the API key may not withdraw'
      : null;
  },

  // With a master's key Binance does not show a sub-account's funding wallet.
  account_types: { own: ['SPOT', 'USDT_FUTURE', 'FUNDING'], sub: ['SPOT', 'USDT_FUTURE'] },

  async balances(connection, types, call) {
    const pools: PoolBalance[] = [];
    if (types.includes('SPOT')) {
      const spot = await ask(
        connection,
        'privateGetAccount',
        { omitZeroBalances: 'true' },
        call,
        answers.spotAccount,
      );
      pools.push(...spot.balances.map(spotPool));
    }
    if (types.includes('USDT_FUTURE')) {
      const futures = await ask(
        connection,
        'fapiPrivateV3GetBalance',
        {},
        call,
        answers.futuresBalances,
      );
      pools.push(
        ...futures.map(({ asset, balance, availableBalance, maxWithdrawAmount }) =>
          futuresPool(asset, {
            total: balance,
            available: availableBalance,
            withdrawable: maxWithdrawAmount,
          }),
        ),
      );
    }
    if (types.includes('FUNDING')) {
      const wallet = await ask(
        connection,
        'sapiPostAssetGetFundingAsset',
        {},
        call,
        answers.fundingWallet,
      );
      pools.push(...wallet.map(fundingPool));
    }
    return pools;
  },

  async subBalances(master, { sub_account, types }, call) {
    const email = encodeURIComponent(sub_account);
    const pools: PoolBalance[] = [];
    if (types.includes('SPOT')) {
      const spot = await ask(master, 'sapiV4GetSubAccountAssets', { email }, call, answers.subSpot);
      pools.push(...spot.balances.map(spotPool));
    }
    if (types.includes('USDT_FUTURE')) {
      const parameters = { email, futuresType: FUTURES_OF_USDT };
      const futures = await ask(
        master,
        'sapiV2GetSubAccountFuturesAccount',
        parameters,
        call,
        answers.subFutures,
      );
      pools.push(
        ...futures.futureAccountResp.assets.map(({ asset, walletBalance, maxWithdrawAmount }) =>
          futuresPool(asset, {
            total: walletBalance,
            available: maxWithdrawAmount,
            withdrawable: maxWithdrawAmount,
          }),
        ),
      );
    }
    return pools;
  },

  async withdrawalTerms(connection, { asset, network }, call) {
    const coins = await ask(connection, 'sapiGetCapitalConfigGetall', {}, call, answers.coins);
    const found = coins
      .find(({ coin }) => coin === asset)
      ?.networkList.find((each) => each.network === network);
    if (found === undefined) return null;
    const terms = read(answers.network, found);
    return {
      enabled: terms.withdrawEnable,
      min: terms.withdrawMin,
      max: terms.withdrawMax,
      step: terms.withdrawIntegerMultiple,
      fee: terms.withdrawFee,
      address_pattern: terms.addressRegex,
      tag_pattern: terms.memoRegex,
      opens_at: null,
      quota: null,
    };
  },

  outlook: readOutlook,

  async addressBook(connection, call) {
    const book = await ask(
      connection,
      'sapiGetCapitalWithdrawAddressList',
      {},
      call,
      answers.addressBook,
    );
    return book.map(({ address, addressTag, coin, network, whiteStatus }) => ({
      address,
      tag: addressTag,
      asset: coin,
      network,
      whitelisted: whiteStatus,
    }));
  },

  // The id's allowed length and characters are not documented; Binance's other client ids allow 32
  // letters and digits.
  withdrawalId: hashedId,

  async withdraw(connection, { client_id, asset, network, address, tag, amount }, _quote, call) {
    const parameters = {
      coin: asset,
      network,
      address,
      addressTag: tag ?? undefined,
      amount,
      withdrawOrderId: client_id,
      walletType: SPOT_WALLET,
      transactionFeeFlag: 'false',
    };
    return (
      await ask(connection, 'sapiPostCapitalWithdrawApply', parameters, call, answers.applied)
    ).id;
  },

  search: { by: 'client_id', find: findWithdrawals },

  async findDeposits(connection, { transaction, asset, period }, call) {
    const found = [];
    for (const { from, to } of windows(period, DEPOSITS)) {
      const parameters = {
        coin: asset,
        txId: transaction,
        startTime: from,
        endTime: to,
        limit: PAGE,
      };
      found.push(
        ...(await ask(
          connection,
          'sapiGetCapitalDepositHisrec',
          parameters,
          call,
          answers.deposits,
        )),
      );
    }
    return found
      .filter(
        (each) =>
          each.coin === asset && plainTransaction(each.txId) === plainTransaction(transaction),
      )
      .map((each, index) => {
        const [status, exchange_status] = DEPOSIT_STATUS[each.status] ?? [
          'pending',
          `status ${each.status}`,
        ];
        const { network, amount, txId } = each;
        return {
          id: each.id ?? `${txId}:${String(index)}`,
          status,
          exchange_status,
          asset,
          network,
          amount,
          transaction: txId,
        };
      });
  },

  transferId: clientTranId,

  async transfer(master, transfer, call) {
    const parameters = {
      ...ends(transfer),
      fromAccountType: transfer.source.account_type,
      toAccountType: transfer.destination.account_type,
      clientTranId: clientTranId(transfer.reference),
      asset: transfer.asset,
      amount: transfer.amount,
    };
    return (
      await ask(
        master,
        'sapiPostSubAccountUniversalTransfer',
        parameters,
        call,
        answers.transferred,
      )
    ).tranId;
  },

  async findTransfers(master, transfer, period, call) {
    const client = clientTranId(transfer.reference);
    const { fromEmail } = ends(transfer);
    const found = [];
    for (const { from, to } of windows(period, BY_CLIENT_ID)) {
      // Without `fromEmail` Binance lists the master's own transfers.
      const parameters = {
        fromEmail,
        clientTranId: client,
        startTime: from,
        endTime: to,
        page: 1,
        limit: TRANSFER_PAGE,
      };
      const { result } = await ask(
        master,
        'sapiGetSubAccountUniversalTransfer',
        parameters,
        call,
        answers.transfers,
      );
      found.push(...result.filter((each) => each.clientTranId === client));
    }
    return onceEach(found.map(transferRecord));
  },

  async records(connection, { period, subs }, call) {
    return [
      ...(await withdrawalsIn(period, connection, call)),
      ...(await depositsIn(period, connection, call)),
      ...(subs === null ? [] : await transfersIn(period, { master: connection, subs }, call)),
    ];
  },
};

/** Returns every withdrawal with the client id in the period. */
async function findWithdrawals(
  connection: CexConnection,
  {
    client_id,
    asset,
    period,
  }: { readonly client_id: string; readonly asset: string; readonly period: Period },
  call: CallOptions,
): Promise<readonly WithdrawalRecord[]> {
  const found: WithdrawalRecord[] = [];
  for (const { from, to } of windows(period, BY_CLIENT_ID)) {
    const parameters = {
      coin: asset,
      withdrawOrderId: client_id,
      startTime: from,
      endTime: to,
      limit: PAGE,
    };
    const page = await ask(
      connection,
      'sapiGetCapitalWithdrawHistory',
      parameters,
      call,
      answers.withdrawals,
    );
    // Filtered here again: if Binance ignored the filter, another withdrawal would count as ours.
    found.push(...page.filter((each) => each.withdrawOrderId === client_id).map(withdrawalRecord));
  }
  return onceEach(found);
}

/** Returns the records of a history whose pages are read by an `offset`. */
function listedFrom<T extends { readonly id: string }>(
  period: Period,
  of: {
    readonly connection: CexConnection;
    readonly method: string;
    readonly call: CallOptions;
    readonly schema: Schema<readonly T[]>;
  },
): Promise<readonly T[]> {
  const { connection, method, call, schema } = of;
  return readHistory(period, {
    limits: LIST,
    size: PAGE,
    idOf: ({ id }) => id,
    read: ({ from, to }, page) => {
      const parameters = { startTime: from, endTime: to, offset: page * PAGE, limit: PAGE };
      return ask(connection, method, parameters, call, schema);
    },
  });
}

async function withdrawalsIn(
  period: Period,
  connection: CexConnection,
  call: CallOptions,
): Promise<readonly VenueRecord[]> {
  const found = await listedFrom(period, {
    method: 'sapiGetCapitalWithdrawHistory',
    schema: answers.withdrawalHistory,
    ...{ connection, call },
  });
  return found.map((each) => {
    const record = withdrawalRecord(each);
    return withdrawalLine(record, {
      client_id: each.withdrawOrderId,
      at: each.applyTime,
      // Binance returns the fee of a booking within it to the account (`transactionFeeFlag`).
      ...(isWithin(each) ? { amount: record.net_amount } : {}),
    });
  });
}

async function depositsIn(
  period: Period,
  connection: CexConnection,
  call: CallOptions,
): Promise<readonly VenueRecord[]> {
  const found = await listedFrom(period, {
    method: 'sapiGetCapitalDepositHisrec',
    schema: answers.depositHistory,
    ...{ connection, call },
  });
  return found.map((each): VenueRecord => ({
    kind: 'deposit',
    id: each.id,
    client_id: null,
    at: each.insertTime,
    status: DEPOSIT_STATUS[each.status]?.[0] ?? 'pending',
    asset: each.coin,
    amount: each.amount,
    fee: null,
    network: each.network,
    address: each.address,
    tag: each.addressTag,
    transaction: each.txId === '' ? null : each.txId,
    source: null,
    destination: null,
  }));
}

/**
 * Returns the transfers that the master sent, and those from and to its bound sub-accounts. Binance
 * has no list of all that the master received, so a transfer to it from an account that is not
 * bound is missing.
 */
async function transfersIn(
  period: Period,
  { master, subs }: { readonly master: CexConnection; readonly subs: readonly string[] },
  call: CallOptions,
): Promise<readonly VenueRecord[]> {
  const filters: readonly Readonly<Record<string, string>>[] = [{}, ...subs.flatMap(eitherEnd)];
  const found: ListedTransfer[] = [];
  for (const filter of filters) {
    const records = await readHistory<ListedTransfer>(period, {
      limits: TRANSFER_LIST,
      size: TRANSFER_PAGE,
      idOf: ({ tranId }) => tranId,
      read: async ({ from, to }, page) => {
        const parameters = {
          ...filter,
          startTime: from,
          endTime: to,
          page: page + 1,
          limit: TRANSFER_PAGE,
        };
        const { result } = await ask(
          master,
          'sapiGetSubAccountUniversalTransfer',
          parameters,
          call,
          answers.transferHistory,
        );
        return result;
      },
    });
    for (const record of records) found.push(record);
  }
  if (found.length === 0) return [];
  const nameOf = await accountNames(master, subs, call);
  // A transfer between two bound accounts is in several of the lists.
  return onceEach(
    found.map((each): VenueRecord => {
      const { id, status, asset, amount, source, destination } = transferRecord(each);
      return {
        kind: 'transfer',
        id,
        client_id: each.clientTranId,
        at: each.createTimeStamp,
        status,
        asset,
        amount,
        fee: null,
        network: null,
        address: null,
        tag: null,
        transaction: id,
        source: `${nameOf(source.account)}:${source.account_type}`,
        destination: `${nameOf(destination.account)}:${destination.account_type}`,
      };
    }),
  );
}

/** Returns the filters for the transfers from and to a sub-account, whose `+` must be encoded. */
function eitherEnd(sub: string): readonly Readonly<Record<string, string>>[] {
  const email = encodeURIComponent(sub);
  return [{ fromEmail: email }, { toEmail: email }];
}

/**
 * Returns a function that returns an account's name in records: a bound sub-account has the name of
 * its binding, another sub-account its e-mail address, the master an empty text. Only the list of
 * sub-accounts shows which account is the master: its binding may name it otherwise than Binance.
 */
async function accountNames(
  master: CexConnection,
  subs: readonly string[],
  call: CallOptions,
): Promise<(email: string) => string> {
  const all = await readPages<{ readonly email: string }>({
    size: SUB_ACCOUNT_PAGE,
    idOf: ({ email }) => email,
    read: async (page) => {
      const { subAccounts } = await ask(
        master,
        'sapiGetSubAccountList',
        { page: page + 1, limit: SUB_ACCOUNT_PAGE },
        call,
        answers.subAccounts,
      );
      return subAccounts;
    },
  });
  const names = new Map<string, string>();
  for (const email of [...all.map((each) => each.email), ...subs])
    names.set(email.toLowerCase(), email);
  return (email) => names.get(email.toLowerCase()) ?? '';
}

type ListedTransfer = ReturnType<typeof answers.transferHistory.parse>['result'][number];

function spotPool({
  asset,
  free,
  locked,
}: {
  asset: string;
  free: string;
  locked: string;
}): PoolBalance {
  return {
    account_type: 'SPOT',
    asset: asset.toUpperCase(),
    available: free,
    withdrawable: free,
    total: add(free, locked),
    details: null,
  };
}

function fundingPool({
  asset,
  free,
  locked,
  freeze,
  withdrawing,
}: ReturnType<typeof answers.fundingWallet.parse>[number]): PoolBalance {
  const total = [locked, freeze, withdrawing].reduce(add, free);
  return {
    account_type: 'FUNDING',
    asset: asset.toUpperCase(),
    available: free,
    withdrawable: free,
    total,
    details: null,
  };
}

function futuresPool(
  asset: string,
  reported: { total: string; available: string; withdrawable: string },
): PoolBalance {
  return {
    account_type: 'USDT_FUTURE',
    asset: asset.toUpperCase(),
    available: answers.notBelowZero(reported.available),
    withdrawable: answers.notBelowZero(reported.withdrawable),
    total: answers.notBelowZero(reported.total),
    details: compare(reported.total, '0') < 0 ? { balance: reported.total } : null,
  };
}

function withdrawalRecord(
  each: ReturnType<typeof answers.withdrawals.parse>[number],
): WithdrawalRecord {
  const tx_hash = isWithin(each) ? null : each.txId;
  const [status, exchange_status] = WITHDRAWAL_STATUS[each.status] ?? [
    'pending',
    `status ${each.status}`,
  ];
  // The transaction of one that failed may have paid.
  const isInDoubt = status === 'failed' && tx_hash !== null;
  return {
    id: each.id,
    status: isInDoubt ? 'pending' : status,
    exchange_status: isInDoubt ? `${exchange_status}, with a hash` : exchange_status,
    asset: each.coin,
    network: each.network,
    address: each.address,
    tag: each.addressTag,
    net_amount: each.amount,
    fee: each.transactionFee,
    tx_hash,
    transaction: each.txId,
    // Its words leave open whether the amount includes the fee, and the fee of a booking within
    // Binance goes back to the account (`transactionFeeFlag`).
    gross_amounts: [add(each.amount, each.transactionFee), each.amount],
  };
}

/** Returns whether the withdrawal is a booking within Binance; its `txId` is no hash then. */
function isWithin({
  transferType,
  txId,
}: ReturnType<typeof answers.withdrawals.parse>[number]): boolean {
  return transferType === '1' || (txId !== null && /\s/.test(txId));
}

function transferRecord(
  each: ReturnType<typeof answers.transfers.parse>['result'][number],
): TransferRecord {
  return {
    id: each.tranId,
    status: TRANSFER_STATUS[each.status] ?? 'pending',
    exchange_status: each.status,
    asset: each.asset,
    amount: each.amount,
    source: { account: each.fromEmail, account_type: each.fromAccountType },
    destination: { account: each.toEmail, account_type: each.toAccountType },
  };
}

/** Removes duplicates: adjacent windows share an end, so both may list the same record. */
function onceEach<T extends { readonly id: string }>(records: readonly T[]): readonly T[] {
  return [...new Map(records.map((record) => [record.id, record])).values()];
}

/** Returns both ends' e-mails encoded: the library does not encode them, and `+` is allowed. */
function ends({ source, destination }: ExchangeTransfer): {
  fromEmail: string | undefined;
  toEmail: string | undefined;
} {
  const email = ({ sub_account }: TransferEndOfExchange) =>
    sub_account === null ? undefined : encodeURIComponent(sub_account);
  return { fromEmail: email(source), toEmail: email(destination) };
}

/** Returns the UUID without its dashes: Binance accepts ids of 32 letters and digits. */
function clientTranId(reference: string): string {
  return reference.replaceAll('-', '').toLowerCase();
}
