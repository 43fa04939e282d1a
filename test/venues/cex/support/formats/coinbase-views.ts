/** Accounts and records of the local exchange as Coinbase shows them. */
import { add } from '../../../../../domain/money.ts';
import type { Account, Books, Deposit, NetworkTerms, Withdrawal } from '../books.ts';
import { uuidOf } from './coinbase-tokens.ts';

const WITHDRAWAL_STATUS = { pending: 'pending', completed: 'completed', failed: 'failed' };
/** No status is of a deposit that cannot leave yet (docs/coinbase-facts.md, 11). */
const DEPOSIT_STATUS = { ...WITHDRAWAL_STATUS, credited: 'completed' };
const PORTFOLIO = uuidOf('portfolio');
const USED = { created_at: '2023-01-04T06:20:06Z', updated_at: '2023-01-04T06:20:06Z' };
const UNUSED = { created_at: null, updated_at: null };
/** Amounts have trailing zeros: 8 decimals in v2 and 16 in v3. */
const [V2_DECIMALS, V3_DECIMALS] = [8, 16];

/** An account of Coinbase is of one asset. */
export interface Wallet {
  readonly id: string;
  readonly asset: string;
  readonly type: 'wallet' | 'vault';
  readonly amount: string;
  readonly locked: string;
  /** One that never was has the asset's code as its id (4). */
  readonly isUsed: boolean;
}

/** What a list holds. */
export type Row = Readonly<Record<string, unknown>> & { readonly id: string };

/** The id of the wallet of an asset. */
export function walletId(account: Account, asset: string): string {
  return uuidOf(`wallet of ${account ?? 'master'} ${asset}`);
}

/** A wallet for each asset, after a vault, from which nothing is ever sent. */
export function walletsOf(books: Books, account: Account): readonly Wallet[] {
  const pools = books.pools(account, 'SPOT');
  const records = [...books.withdrawals, ...books.deposits].filter(
    (each) => each.account === account,
  );
  const used = new Set([...pools, ...records].map(({ asset }) => asset));
  const assets = [...new Set([...books.assets.keys(), ...used])];
  const empty = { amount: '0', locked: '0' };
  const vaults = assets.slice(0, 1).map((asset): Wallet => {
    const id = uuidOf(`vault of ${account ?? 'master'} ${asset}`);
    return { ...empty, id, asset, type: 'vault', isUsed: true };
  });
  const wallets = assets.map((asset): Wallet => {
    const isUsed = used.has(asset);
    const { amount, locked } = pools.find((each) => each.asset === asset) ?? empty;
    const id = isUsed ? walletId(account, asset) : asset;
    return { id, asset, type: 'wallet', amount, locked, isUsed };
  });
  return [...vaults, ...wallets];
}

/** An account of v2; its balance includes what is held. */
export function accountView(books: Books, wallet: Wallet): Row {
  const { id, asset, type, amount, locked, isUsed } = wallet;
  const networks = books.assets.get(asset) ?? [];
  return {
    id,
    name: `${asset} ${type === 'vault' ? 'Vault' : 'Wallet'}`,
    primary: type === 'wallet' && isUsed,
    type,
    currency: currencyView(asset, networks),
    balance: money(add(amount, locked), asset),
    ...(isUsed ? USED : UNUSED),
    resource: 'account',
    resource_path: `/v2/accounts/${id}`,
    allow_deposits: true,
    // Nothing shows it of a single network (14).
    allow_withdrawals: networks.some(({ enabled }) => enabled),
  };
}

/** An asset; its pattern of addresses is for all networks. */
export function currencyView(asset: string, [terms]: readonly NetworkTerms[]): object {
  const pattern = terms?.address_pattern ?? null;
  return {
    code: asset,
    name: asset,
    color: '#2775CA',
    sort_index: 100,
    exponent: (terms?.step?.split('.')[1] ?? '').length,
    type: 'crypto',
    ...(pattern === null ? {} : { address_regex: `^${pattern}$` }),
    ...(terms?.needs_tag === true
      ? { destination_tag_name: 'Memo', destination_tag_regex: '^[ -~]{1,28}$' }
      : {}),
    asset_id: uuidOf(`asset ${asset}`),
  };
}

/** An account of v3. */
export function brokerageView({ id, asset, amount, locked }: Wallet): object {
  const value = (text: string) => ({ value: padded(text, V3_DECIMALS), currency: asset });
  return {
    uuid: id,
    name: `${asset} Wallet`,
    currency: asset,
    available_balance: value(amount),
    default: true,
    active: true,
    created_at: '2023-01-04T06:20:06.456Z',
    updated_at: '2023-01-04T06:20:07.181Z',
    deleted_at: null,
    type: 'ACCOUNT_TYPE_CRYPTO',
    ready: true,
    hold: value(locked),
    retail_portfolio_id: PORTFOLIO,
    platform: 'ACCOUNT_PLATFORM_CONSUMER',
  };
}

export function keyView({ permissions }: Books): object {
  return {
    can_view: permissions.read,
    can_trade: false,
    can_transfer: permissions.withdraw,
    can_receive: false,
    portfolio_uuid: PORTFOLIO,
    portfolio_type: 'DEFAULT',
  };
}

/** The transactions of a wallet, the newest first. */
export function transactionsOf(books: Books, account: Account, wallet: Wallet): readonly Row[] {
  if (wallet.type === 'vault') return [];
  const isOfWallet = (each: Withdrawal | Deposit): boolean =>
    each.account === account && each.asset === wallet.asset;
  const sends = books.visible(books.withdrawals).filter(isOfWallet);
  const receives = books.deposits.filter(isOfWallet);
  return [
    ...sends.map((each) => ({ at: secondsOf(each.time), row: recordView(each) })),
    ...receives.map((each) => ({ at: secondsOf(each.time), row: depositView(each) })),
  ]
    .reverse()
    .sort((left, right) => right.at - left.at)
    .map(({ row }) => row);
}

/** A send as the list shows it; without an id of the caller's Coinbase makes one. */
function recordView(send: Withdrawal): Row {
  return { ...sendView(send), idem: send.client_id ?? uuidOf(send.id) };
}

/** A send as its answer shows it. A pending one has neither fee nor hash (7). */
export function sendView(send: Withdrawal): Row {
  const { id, account, asset, address, net_amount, fee, status, within, exchange_status } = send;
  const isCharged = status === 'completed' && !within;
  return {
    id,
    type: 'send',
    status: exchange_status ?? WITHDRAWAL_STATUS[status],
    amount: money(isCharged ? add(net_amount, fee) : net_amount, asset, '-'),
    native_amount: money(net_amount, 'USD', '-'),
    description: null,
    created_at: timeOf(send.time),
    ...resource(account, asset, id),
    network: networkView(send, isCharged),
    to: within
      ? { id: uuidOf(address), resource: 'user' }
      : { resource: 'address', address: isEvm(address) ? address.toLowerCase() : address },
  };
}

function networkView({ network, fee, asset, tx, within }: Withdrawal, isCharged: boolean): object {
  if (within) return { status: 'off_blockchain' };
  if (!isCharged) return { status: 'pending', network_name: network };
  return {
    status: 'confirmed',
    ...(tx === null ? {} : { hash: tx }),
    network_name: network,
    transaction_fee: money(fee, asset),
  };
}

function depositView({ id, account, asset, network, amount, ...deposit }: Deposit): Row {
  const status = deposit.exchange_status ?? DEPOSIT_STATUS[deposit.status];
  return {
    ...{ id, type: 'receive', status },
    amount: money(amount, asset),
    native_amount: money(amount, 'USD'),
    created_at: timeOf(deposit.time),
    ...resource(account, asset, id),
    network: {
      status: status === 'completed' ? 'confirmed' : 'unconfirmed',
      hash: deposit.tx,
      network_name: network,
    },
    from: { resource: `${network}_network`, currency: asset },
  };
}

function resource(account: Account, asset: string, id: string): object {
  const resource_path = `/v2/accounts/${walletId(account, asset)}/transactions/${id}`;
  return { resource: 'transaction', resource_path };
}

function money(amount: string, currency: string, sign = ''): object {
  return { amount: `${sign}${padded(amount, V2_DECIMALS)}`, currency };
}

function padded(amount: string, decimals: number): string {
  const [whole = '0', fraction = ''] = amount.split('.');
  return `${whole}.${fraction.padEnd(decimals, '0')}`;
}

/** Whole seconds since 1970. */
export function secondsOf(milliseconds: number): number {
  return Math.floor(milliseconds / 1_000);
}

/** ISO 8601, in whole seconds. */
export function timeOf(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}

function isEvm(address: string): boolean {
  return /^0x[0-9a-f]{40}$/i.test(address);
}
