/** Assets, records and settings of the local exchange as Kraken shows them. */
import { subtract } from '../../../../../domain/money.ts';
import type { BookEntry, Books, Deposit, NetworkTerms, Withdrawal } from '../books.ts';

const WITHDRAWAL_STATUS = { pending: 'Pending', completed: 'Success', failed: 'Failure' };
const DEPOSIT_STATUS = { ...WITHDRAWAL_STATUS, credited: 'Success, onhold' };
/** Kraken's id and altname of some assets, by our names; of all others both are our name (14). */
const NAMES: Readonly<Record<string, readonly [id: string, altname: string]>> = {
  BTC: ['XXBT', 'XBT'],
  DOGE: ['XXDG', 'XDG'],
  ETH: ['XETH', 'ETH'],
  USD: ['ZUSD', 'USD'],
};

export function idOf(asset: string): string {
  return NAMES[asset]?.[0] ?? asset;
}

export function altnameOf(asset: string): string {
  return NAMES[asset]?.[1] ?? asset;
}

/** A name for display, as Kraken has several for one network. */
export function methodOf(asset: string, network: string): string {
  return `${altnameOf(asset)} - ${network} (Unified)`;
}

/** An entry of Kraken's book is of one method; one of every network is of the first one here. */
export function networkOf(books: Books, { network }: BookEntry, asset: string): string {
  return network ?? books.assets.get(asset)?.[0]?.network ?? '';
}

export function assetView(asset: string, networks: readonly NetworkTerms[]): object {
  return {
    aclass: 'currency',
    altname: altnameOf(asset),
    decimals: 10,
    display_decimals: 5,
    // Nothing shows it of a single network (9).
    status: networks.some(({ enabled }) => enabled) ? 'enabled' : 'funding_temporarily_disabled',
  };
}

export function methodView(asset: string, { network, min, fee }: NetworkTerms): object {
  return {
    asset: idOf(asset),
    method: methodOf(asset, network),
    network,
    // Without the fee (5).
    minimum: subtract(min, fee),
  };
}

export function addressView(books: Books, entry: BookEntry): object {
  const asset = entry.asset ?? [...books.assets.keys()][0] ?? '';
  return {
    address: entry.address,
    asset: altnameOf(asset),
    method: methodOf(asset, networkOf(books, entry, asset)),
    key: entry.label,
    verified: entry.verified,
    ...(entry.tag === null ? {} : { memo: entry.tag }),
  };
}

export function keyView({ permissions, nonces }: Books, api_key: string): object {
  return {
    apiKeyName: 'treasury',
    apiKey: api_key,
    nonce: String(nonces.get(api_key) ?? 0n),
    nonceWindow: 0,
    permissions: [
      ...(permissions.read ? ['query-funds', 'query-ledger'] : []),
      ...(permissions.withdraw ? ['withdraw-funds'] : []),
    ],
    validUntil: '0',
    queryFrom: '0',
    queryTo: '0',
    ipAllowlist: [],
  };
}

/** A withdrawal as the history shows it; EVM addresses are in lower case there (4). */
export function withdrawalView(withdrawal: Withdrawal): object {
  const { id, asset, network, address, net_amount, fee, tx, time, label } = withdrawal;
  return {
    method: methodOf(asset, network),
    aclass: 'currency',
    ...{ asset: idOf(asset), refid: id, txid: tx, network, fee },
    info: /^0x[0-9a-f]{40}$/i.test(address) ? address.toLowerCase() : address,
    amount: net_amount,
    time: secondsOf(time),
    ...stateOf(withdrawal.exchange_status ?? WITHDRAWAL_STATUS[withdrawal.status]),
    ...(label === null ? {} : { key: label }),
  };
}

export function depositView({ id, asset, network, address, amount, ...deposit }: Deposit): object {
  return {
    method: methodOf(asset, network),
    aclass: 'currency',
    ...{ asset: idOf(asset), refid: id, txid: deposit.tx, info: address, amount },
    fee: '0.0000000000',
    time: secondsOf(deposit.time),
    ...stateOf(deposit.exchange_status ?? DEPOSIT_STATUS[deposit.status]),
  };
}

/** The two fields of a state such as `Success, onhold`. */
function stateOf(text: string): object {
  const [status, property] = text.split(', ');
  return { status, ...(property === undefined ? {} : { 'status-prop': property }) };
}

export function secondsOf(milliseconds: number): number {
  return Math.floor(milliseconds / 1_000);
}
