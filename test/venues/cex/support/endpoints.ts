/** The endpoints of the local exchange, with the shapes and limits that Binance documents. */
import { randomBytes } from 'node:crypto';
import { compare, isMultiple, subtract } from '../../../../domain/money.ts';
import { newHash, type Books, type Transfer } from './books.ts';
import { needed, Refused, type Ask } from './protocol.ts';

const DAY = 86_400_000;

export const endpoints: Readonly<Record<string, (books: Books, ask: Ask) => unknown>> = {
  'GET /api/v3/time': (books) => ({ serverTime: books.now() }),
  'GET /sapi/v1/account/apiRestrictions': (books) => ({
    enableWithdrawals: books.withdrawable,
    permitsUniversalTransfer: true,
  }),

  'GET /api/v3/account': (books, { account }) => ({
    balances: books
      .pools(account, 'SPOT')
      .map(([asset, free]) => ({ asset, free, locked: '0.00000000' })),
  }),
  'GET /fapi/v3/balance': (books, { account }) =>
    books.pools(account, 'USDT_FUTURE').map(([asset, balance]) => ({
      asset,
      balance,
      availableBalance: balance,
      maxWithdrawAmount: balance,
    })),
  'POST /sapi/v1/asset/get-funding-asset': (books, { account }) =>
    books.pools(account, 'FUNDING').map(([asset, free]) => ({
      asset,
      free,
      locked: '0',
      freeze: '1.5',
      withdrawing: '0.25',
      btcValuation: '0',
    })),
  'GET /sapi/v4/sub-account/assets': (books, ask) => ({
    balances: books
      .pools(sub(books, ask, 'email'), 'SPOT')
      .map(([asset, free]) => ({ asset, free, locked: '0', freeze: '0', withdrawing: '0' })),
  }),
  'GET /sapi/v2/sub-account/futures/account': (books, ask) => {
    if (needed(ask, 'futuresType') !== '1') throw new Refused(400, -1130, 'futuresType');
    const assets = books.pools(sub(books, ask, 'email'), 'USDT_FUTURE');
    return {
      futureAccountResp: {
        assets: assets.map(([asset, amount]) => ({
          asset,
          walletBalance: amount,
          maxWithdrawAmount: amount,
        })),
      },
    };
  },

  'GET /sapi/v1/capital/config/getall': (books) =>
    [...books.coins].map(([coin, networkList]) => ({
      coin,
      free: '0',
      networkList: networkList.map((each) => ({ coin, ...each })),
    })),
  'GET /sapi/v1/capital/withdraw/address/list': (books) => books.book,

  'POST /sapi/v1/capital/withdraw/apply': (books, ask) => {
    if (!books.withdrawable) throw new Refused(400, -4015, 'Withdraw is limited.');
    const [coin, address, amount] = [
      needed(ask, 'coin'),
      needed(ask, 'address'),
      needed(ask, 'amount'),
    ];
    const network = books.coins
      .get(coin)
      ?.find((each) => each.network === ask.parameters.get('network'));
    if (network === undefined) throw new Refused(400, -4018, "We don't have this asset.");
    if (!network.withdrawEnable)
      throw new Refused(400, -4019, 'Current asset is not open for withdrawal.');
    if (!new RegExp(network.addressRegex).test(address))
      throw new Refused(400, -4007, 'Address validation is not passed.');
    if (compare(amount, network.withdrawMin) < 0)
      throw new Refused(
        400,
        -4022,
        `Not less than the minimum pick-up quantity ${network.withdrawMin}.`,
      );
    if (!isMultiple(amount, network.withdrawIntegerMultiple))
      throw new Refused(400, -4021, 'Asset withdrawal must be a multiple.');
    if (ask.parameters.get('walletType') !== '0')
      throw new Refused(400, -4026, 'You have insufficient balance.');
    books.take(
      ask.account,
      'SPOT',
      coin,
      amount,
      new Refused(400, -4026, 'You have insufficient balance.'),
    );
    const id = randomBytes(16).toString('hex');
    books.withdrawals.push({
      id,
      account: ask.account,
      withdrawOrderId: ask.parameters.get('withdrawOrderId'),
      coin,
      network: network.network,
      address,
      addressTag: ask.parameters.get('addressTag') ?? '',
      amount: subtract(amount, network.withdrawFee),
      transactionFee: network.withdrawFee,
      time: books.now(),
      transferType: 0,
      status: books.settles ? 6 : 4,
      txId: books.settles ? newHash() : '',
    });
    return { id };
  },

  'GET /sapi/v1/capital/withdraw/history': (books, ask) => {
    const client = ask.parameters.get('withdrawOrderId');
    const [from, to] = period(books, ask, client === null ? 90 : 7);
    const found = books.withdrawals
      .filter((each) => each.account === ask.account && each.time >= from && each.time <= to)
      .filter((each) => client === null || each.withdrawOrderId === client);
    const ordered = newestFirst(found, ({ time }) => time);
    const shown = client === null ? byOffset(ask, ordered) : found;
    return shown.map(({ account: _account, time, withdrawOrderId, ...each }) => ({
      ...each,
      ...(withdrawOrderId === null ? {} : { withdrawOrderId }),
      applyTime: new Date(time).toISOString().slice(0, 19).replace('T', ' '),
    }));
  },

  'GET /sapi/v1/capital/deposit/hisrec': (books, ask) => {
    const [from, to] = period(books, ask, 90);
    const [coin, txId] = [ask.parameters.get('coin'), ask.parameters.get('txId')];
    const found = books.deposits
      .map((each, index) => ({ id: String(700_000 + index), ...each }))
      .filter(
        (each) => each.account === ask.account && each.insertTime >= from && each.insertTime <= to,
      )
      .filter(
        (each) =>
          (coin === null || each.coin === coin) &&
          (txId === null || each.txId.toLowerCase() === txId.toLowerCase()),
      );
    const ordered = newestFirst(found, ({ insertTime }) => insertTime);
    const shown = txId === null ? byOffset(ask, ordered) : found;
    return shown.map(({ account: _account, ...each }) => ({
      ...each,
      address: '0x1',
      addressTag: '',
      transferType: 0,
    }));
  },

  'GET /sapi/v1/sub-account/list': (books, ask) => {
    masterOnly(ask);
    const shown = byPage(ask, books.subs, { usual: 1, most: 200 });
    return { subAccounts: shown.map((email) => ({ email, isFreeze: false })) };
  },

  'POST /sapi/v1/sub-account/universalTransfer': (books, ask) => {
    masterOnly(ask);
    const [asset, amount] = [needed(ask, 'asset'), needed(ask, 'amount')];
    const [fromType, toType] = [needed(ask, 'fromAccountType'), needed(ask, 'toAccountType')];
    const [from, to] = [
      ask.parameters.has('fromEmail') ? sub(books, ask, 'fromEmail') : null,
      ask.parameters.has('toEmail') ? sub(books, ask, 'toEmail') : null,
    ];
    const client = ask.parameters.get('clientTranId') ?? '';
    if (!/^[A-Za-z0-9]{0,32}$/.test(client))
      throw new Refused(400, -1100, 'Illegal characters found in a parameter.');
    if (/\.\d{9,}/.test(amount))
      throw new Refused(400, -1111, 'Precision is over the maximum defined for this asset.');
    books.take(
      from,
      fromType,
      asset,
      amount,
      new Refused(400, -5002, 'You have insufficient balance.'),
    );
    books.give(to, toType, asset, amount);
    const tranId = 11_945_860_693 + books.transfers.length;
    books.transfers.push({
      tranId,
      fromEmail: from,
      toEmail: to,
      fromAccountType: fromType,
      toAccountType: toType,
      clientTranId: client,
      asset,
      amount,
      time: books.now(),
      status: 'SUCCESS',
    });
    return { tranId, clientTranId: client };
  },

  'GET /sapi/v1/sub-account/universalTransfer': (books, ask) => {
    masterOnly(ask);
    const [from, to] = period(books, ask, 7);
    const [sends, receives] = [ask.parameters.has('fromEmail'), ask.parameters.has('toEmail')];
    if (sends && receives)
      throw new Refused(400, -1128, 'Combination of optional parameters invalid.');
    const sender = sends ? sub(books, ask, 'fromEmail') : null;
    const receiver = receives ? sub(books, ask, 'toEmail') : null;
    const client = ask.parameters.get('clientTranId');
    const found = books.transfers
      .filter((each) => each.time >= from && each.time <= to)
      .filter((each) => (receives ? each.toEmail === receiver : each.fromEmail === sender))
      .filter((each) => client === null || each.clientTranId === client);
    const ordered = newestFirst(found, ({ time }) => time);
    const shown = client === null ? byPage(ask, ordered, { usual: 500, most: 500 }) : found;
    return { result: shown.map((each) => transferView(books, each)), totalCount: found.length };
  },
};

function transferView(books: Books, { time, fromEmail, toEmail, ...each }: Transfer): object {
  return {
    ...each,
    fromEmail: fromEmail ?? books.master,
    toEmail: toEmail ?? books.master,
    createTimeStamp: time,
  };
}

function newestFirst<T>(rows: readonly T[], timeOf: (row: T) => number): readonly T[] {
  return [...rows].reverse().sort((left, right) => timeOf(right) - timeOf(left));
}

function byOffset<T>(ask: Ask, rows: readonly T[]): readonly T[] {
  const limit = whole(ask, 'limit', { least: 1, usual: 1_000, most: 1_000 });
  const offset = whole(ask, 'offset', { least: 0, usual: 0 });
  return rows.slice(offset, offset + limit);
}

function byPage<T>(
  ask: Ask,
  rows: readonly T[],
  limits: { readonly usual: number; readonly most: number },
): readonly T[] {
  const limit = whole(ask, 'limit', { least: 1, ...limits });
  const page = whole(ask, 'page', { least: 1, usual: 1 });
  return rows.slice((page - 1) * limit, page * limit);
}

/** A parameter that is a whole number. */
function whole(
  { parameters }: Ask,
  name: string,
  limits: { readonly least: number; readonly usual: number; readonly most?: number },
): number {
  const value = Number(parameters.get(name) ?? limits.usual);
  if (Number.isInteger(value) && value >= limits.least && value <= (limits.most ?? value))
    return value;
  throw new Refused(400, -1130, `Data sent for parameter '${name}' is not valid.`);
}

function masterOnly({ account }: Ask): void {
  if (account !== null) throw new Refused(400, -4006, 'Support main account only.');
}

function sub(books: Books, ask: Ask, name: string): string {
  masterOnly(ask);
  const email = needed(ask, name);
  if (!books.exists(email)) throw new Refused(400, -5021, 'This parent sub have no relation');
  return email;
}

/** "Less than" so many days; by default as many until now. */
function period(books: Books, { parameters }: Ask, days: number): readonly [number, number] {
  const to = Number(parameters.get('endTime') ?? books.now());
  const from = Number(parameters.get('startTime') ?? to - days * DAY + 1);
  if (to - from >= days * DAY)
    throw new Refused(400, -4047, `Time interval must be within 0-${String(days)} days`);
  return [from, to];
}
