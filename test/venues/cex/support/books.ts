/** The state of the local exchange. Money is exact. */
import { randomBytes } from 'node:crypto';
import { add, compare, subtract } from '../../../../domain/money.ts';
import type { Refused } from './protocol.ts';

export interface Withdrawal {
  readonly id: string;
  readonly account: string | null;
  readonly withdrawOrderId: string | null;
  readonly coin: string;
  readonly network: string;
  readonly address: string;
  readonly addressTag: string;
  /** What the destination gets. */
  readonly amount: string;
  readonly transactionFee: string;
  readonly time: number;
  transferType: number;
  status: number;
  txId: string;
}

export interface Transfer {
  readonly tranId: number;
  readonly fromEmail: string | null;
  readonly toEmail: string | null;
  readonly fromAccountType: string;
  readonly toAccountType: string;
  readonly clientTranId: string;
  readonly asset: string;
  readonly amount: string;
  readonly time: number;
  status: string;
}

export interface Deposit {
  readonly account: string | null;
  readonly coin: string;
  readonly network: string;
  readonly amount: string;
  readonly txId: string;
  readonly insertTime: number;
  status: number;
}

export interface Network {
  readonly network: string;
  readonly withdrawEnable: boolean;
  readonly withdrawFee: string;
  readonly withdrawMin: string;
  readonly withdrawMax: string;
  readonly withdrawIntegerMultiple: string;
  readonly addressRegex: string;
  readonly memoRegex: string;
}

export interface Books {
  /** The sub-accounts of the master. */
  readonly subs: string[];
  readonly withdrawals: Withdrawal[];
  readonly transfers: Transfer[];
  readonly deposits: Deposit[];
  readonly book: {
    address: string;
    addressTag: string;
    coin: string;
    network: string;
    whiteStatus: boolean;
    name: string;
  }[];
  readonly coins: Map<string, Network[]>;
  /** Added to the clock. */
  skew: number;
  /** Whether withdrawals are booked as done at once. */
  settles: boolean;
  withdrawable: boolean;
  now(): number;
  master: string;
  exists(account: string | null): boolean;
  set(account: string | null, type: string, asset: string, amount: string): void;
  /** As if the account had never had such a pool. */
  forget(account: string | null, type: string): void;
  get(account: string | null, type: string, asset: string): string;
  pools(
    account: string | null,
    type: string,
  ): readonly (readonly [asset: string, amount: string])[];
  take(account: string | null, type: string, asset: string, amount: string, short: Refused): void;
  give(account: string | null, type: string, asset: string, amount: string): void;
}

const ETH: Network = {
  network: 'ETH',
  withdrawEnable: true,
  withdrawFee: '0.25',
  withdrawMin: '10',
  withdrawMax: '1000000',
  withdrawIntegerMultiple: '0.000001',
  addressRegex: '^(0x)[0-9A-Fa-f]{40}$',
  memoRegex: '',
};

export function createBooks(subs: readonly string[]): Books {
  const pools = new Map<string, string>();
  const name = (account: string | null, type: string, asset: string): string =>
    JSON.stringify([account, type, asset]);
  const books: Books = {
    subs: [...subs],
    withdrawals: [],
    transfers: [],
    deposits: [],
    book: [],
    coins: new Map([
      ['USDC', [ETH, { ...ETH, network: 'SUSPENDED', withdrawEnable: false }]],
      [
        'TINY',
        [
          {
            ...ETH,
            withdrawFee: '0.000000000000000001',
            withdrawMin: '0.000000000000000002',
            withdrawIntegerMultiple: '0.000000000000000001',
          },
        ],
      ],
    ]),
    skew: 0,
    settles: true,
    withdrawable: true,
    master: 'master@example.com',
    now: () => Date.now() + books.skew,
    exists: (account) => account === null || books.subs.includes(account),
    set: (account, type, asset, amount) => void pools.set(name(account, type, asset), amount),
    forget(account, type) {
      for (const [asset] of books.pools(account, type)) pools.delete(name(account, type, asset));
    },
    get: (account, type, asset) => pools.get(name(account, type, asset)) ?? '0',
    pools: (account, type) =>
      [...pools].flatMap(([key, amount]) => {
        const [owner, kind, asset] = JSON.parse(key) as [string | null, string, string];
        return owner === account && kind === type ? [[asset, amount] as const] : [];
      }),
    take(account, type, asset, amount, short) {
      const left = subtract(books.get(account, type, asset), amount);
      if (compare(left, '0') < 0) throw short;
      books.set(account, type, asset, left);
    },
    give: (account, type, asset, amount) =>
      books.set(account, type, asset, add(books.get(account, type, asset), amount)),
  };
  return books;
}

/** A transaction hash as chains write it. */
export function newHash(): string {
  return `0x${randomBytes(32).toString('hex')}`;
}
