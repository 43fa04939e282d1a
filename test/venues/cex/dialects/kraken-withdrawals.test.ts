/** Withdrawals at Kraken: terms, book, quote, send and cancel, against published examples. */
import type { Quote, WithdrawalOrder } from '../../../../venues/cex/dialect.ts';
import { kraken } from '../../../../venues/cex/dialects/kraken/dialect.ts';
import {
  ANSWERS,
  assets,
  assetsWith,
  call,
  example,
  faultOf,
  good,
  ORDER,
  recordOf,
  scripted,
} from './kraken-script.ts';

const TERMS = { max: null, step: null, address_pattern: null, tag_pattern: null, opens_at: null };
const QUOTE = {
  asset: 'XBT',
  label: 'btc-wallet-1',
  address: ORDER.address,
  max_fee: '0.0002',
};
/** The recorded methods and addresses of several assets. */
const METHODS = example('withdrawalTerms.methods', 1);
const BOOK = example('addressBook', 1);

type Answers = Parameters<typeof scripted>[0];

const terms = (changes: Answers = {}, order: Partial<WithdrawalOrder> = {}) =>
  kraken.withdrawalTerms(
    scripted({ ...ANSWERS, ...changes }).connection,
    { ...ORDER, ...order },
    call,
  );

async function quote(changes: Answers = {}, order: Partial<WithdrawalOrder> = {}) {
  const { connection } = scripted({ ...ANSWERS, ...changes });
  return kraken.quote?.(connection, { ...ORDER, ...order }, call);
}

/** The documented entry of the book, changed. */
const entry = (changes: object) => recordOf('addressBook', 0, changes);
const bookOf = (...entries: readonly object[]) => ({
  privatePostWithdrawAddresses: good(entries),
});
const method = (changes: object = {}) => recordOf('withdrawalTerms.methods', 0, changes);
const infoOf = (changes: object) => ({
  privatePostWithdrawInfo: good({
    ...(example('withdrawalTerms.info', 2)['result'] as object),
    ...changes,
  }),
});

describe('the terms', () => {
  test('are those of the label, and bound what leaves the account', async () => {
    expect(await terms()).toEqual({
      ...TERMS,
      enabled: true,
      // 0.0004 have to arrive, and at most 332.00956139 may; the fee is 0.0002.
      min: '0.0006',
      fee: '0.0002',
      quota: { left: '332.00976139', unit: 'BTC' },
    });
  });

  test('name the asset as Kraken does, the label and the whole amount', async () => {
    const { connection, sent } = scripted(ANSWERS);
    await kraken.withdrawalTerms(connection, ORDER, call);
    expect(sent).toEqual([
      { method: 'publicGetAssets', parameters: {} },
      { method: 'privatePostWithdrawMethods', parameters: { asset: 'XBT' } },
      { method: 'privatePostWithdrawAddresses', parameters: { asset: 'XBT' } },
      {
        method: 'privatePostWithdrawInfo',
        parameters: { asset: 'XBT', key: 'btc-wallet-1', amount: '0.725' },
      },
    ]);
  });

  test.each<[what: string, changes: Answers, order: Partial<WithdrawalOrder>]>([
    ['without an entry of the book', bookOf(), {}],
    ['for another address', {}, { address: '17SkEw2md5avVNyYgj6RiXuQKNwkXaxFyQ' }],
    ['below the minimum', { privatePostWithdrawInfo: undefined as never }, { amount: '0.0003' }],
    [
      'for an amount without figures',
      { privatePostWithdrawInfo: { error: ['EFunding:Invalid amount'] } },
      {},
    ],
  ])('are read without a fee %s', async (_, changes, order) => {
    const expected = { ...TERMS, enabled: true, min: '0.0004', fee: '0', quota: null };
    expect(await terms(changes, order)).toEqual(expected);
  });

  test('leave nothing when nothing may arrive', async () => {
    const left = async (limit: string) => (await terms(infoOf({ limit })))?.quota?.left;
    expect([await left('0.00000000'), await left('-1'), await left('0.5')]).toEqual([
      '0',
      '0',
      '0.5002',
    ]);
  });

  test.each(['deposit_only', 'funding_temporarily_disabled', 'disabled', 'a new word'])(
    'of an asset that is %s are suspended, whatever its methods are',
    async (status) => {
      const { connection, sent } = scripted({ publicGetAssets: assetsWith(status) });
      const found = await kraken.withdrawalTerms(connection, ORDER, call);
      expect(found).toMatchObject({ enabled: false, quota: null });
      expect(sent).toHaveLength(1);
    },
  );

  test('of an asset that only pays out are open, and its status is read each time', async () => {
    const statuses = ['withdrawal_only', 'deposit_only'];
    const publicGetAssets = (): object => assetsWith(statuses.shift() ?? '');
    const { connection } = scripted({ ...ANSWERS, publicGetAssets });
    const enabled = async () => (await kraken.withdrawalTerms(connection, ORDER, call))?.enabled;
    expect([await enabled(), await enabled()]).toEqual([true, false]);
  });

  test.each<[what: string, order: Partial<WithdrawalOrder>]>([
    ['an unknown asset', { asset: 'NONE' }],
    ['an id of Kraken', { asset: 'XXBT' }],
    ['an altname that has an alias', { asset: 'XBT' }],
    ['an unknown network', { network: 'bitcoin' }],
    ['a network in part', { network: 'Bitcoin ' }],
  ])('do not exist for %s', async (_, order) => {
    expect(await terms({}, order)).toBeNull();
  });

  test.each([
    ['USDC', 'Arbitrum One', '4'],
    ['USDC', 'Polygon - USDC.e', '2'],
    ['USDT', 'Arbitrum One', '4'],
    ['USDT', 'Solana', '2'],
  ])('of %s on %s are those of this very network (recorded)', async (asset, network, min) => {
    const changes = { privatePostWithdrawMethods: METHODS, ...bookOf() };
    expect(await terms(changes, { asset, network, amount: '100' })).toMatchObject({ min });
  });
});

describe('the address book', () => {
  test('has the network of the method, and the tag under either name (recorded)', async () => {
    const { connection } = scripted({
      publicGetAssets: assets(),
      privatePostWithdrawAddresses: BOOK,
      privatePostWithdrawMethods: good([
        method(),
        method({ asset: 'ATOM', method: 'Cosmos', network: 'Cosmos' }),
        method({ asset: 'USDC', method: '\tUSDC', network: 'Ethereum' }),
        // The same name for another asset, and a method without a network.
        method({ asset: 'USDT', method: 'Ether', network: 'Ethereum' }),
        method({ asset: 'DASH', method: 'Dash', network: null }),
      ]),
    });
    const found = await kraken.addressBook?.(connection, call);
    expect(found).toEqual([
      {
        address: 'cosmos1c4k24jzduc365kywrsvf5ujz4ya6mwymy8vq4q',
        tag: '12349999',
        asset: 'ATOM',
        network: 'Cosmos',
        whitelisted: true,
      },
      {
        address: '0x758ce03A82Bf1433A5b38aE78c2F97F4977694Ab',
        tag: null,
        asset: 'USDC',
        network: 'Ethereum',
        whitelisted: true,
      },
      {
        address: '17SkEw2md5avVNyYgj6RiXuQKNwkXaxFyQ',
        tag: null,
        asset: 'BTC',
        network: 'Bitcoin',
        whitelisted: true,
      },
    ]);
  });

  test.each<[what: string, changes: object, expected: readonly object[]]>([
    ['not verified', { verified: false }, [{ tag: null, whitelisted: false }]],
    ['of two tags', { tag: '1', memo: '2' }, [{ tag: '1', whitelisted: false }]],
    ['of one tag, twice', { tag: '1', memo: '1' }, [{ tag: '1', whitelisted: true }]],
    ['of an unknown method', { method: 'Other' }, []],
  ])('has an entry %s as it is', async (_, changes, expected) => {
    const { connection } = scripted({ ...ANSWERS, ...bookOf(entry(changes)) });
    const found = await kraken.addressBook?.(connection, call);
    expect(found).toHaveLength(expected.length);
    expect(found).toMatchObject(expected);
  });
});

describe('the quote', () => {
  test('is the label of the destination and the fee', async () => {
    expect(await quote()).toEqual(QUOTE);
  });

  test('of several labels is always the same one', async () => {
    const [a, b] = [entry({ key: 'a' }), entry({ key: 'b' })];
    expect(await quote(bookOf(a, b))).toMatchObject({ label: 'a' });
    expect(await quote(bookOf(b, a))).toMatchObject({ label: 'a' });
  });

  test('takes an EVM address in either case, and keeps the spelling of the book', async () => {
    const address = '0xade09131C6f43fe22C2CbABb759636C43cFc181e';
    const changes = {
      ...bookOf(entry({ asset: 'ETH', method: 'Ether', address, key: address })),
      privatePostWithdrawMethods: good([
        method({ asset: 'XETH', method: 'Ether', network: 'Ethereum' }),
      ]),
      // As recorded: 0.00488 arrive of 0.005.
      ...infoOf({ method: 'Ether', amount: '0.0048800000', fee: '0.0001200000' }),
    };
    const order = { asset: 'ETH', network: 'Ethereum', amount: '0.005' };
    expect(await quote(changes, { ...order, address: address.toLowerCase() })).toEqual({
      asset: 'ETH',
      label: address,
      address,
      max_fee: '0.00012',
    });
    const upper = ORDER.address.toUpperCase();
    expect(await faultOf(quote({}, { address: upper }))).toMatchObject({
      code: 'ADDRESS_NOT_WHITELISTED',
    });
  });

  test('adds up as recorded: 3.95 and 0.05 of 4', async () => {
    const address = 'polkadot-address';
    const changes = {
      ...bookOf(entry({ asset: 'DOT', method: 'Polkadot', address, key: 'MyPolkadotWallet' })),
      privatePostWithdrawMethods: good([
        method({ asset: 'DOT', method: 'Polkadot', network: 'Polkadot' }),
      ]),
      privatePostWithdrawInfo: good(example('withdrawalTerms.info', 1)),
    };
    const order = { asset: 'DOT', network: 'Polkadot', address, amount: '4' };
    expect(await quote(changes, order)).toMatchObject({
      label: 'MyPolkadotWallet',
      max_fee: '0.05',
    });
  });

  const NOT_LISTED = 'ADDRESS_NOT_WHITELISTED';
  test.each<[string, Answers, Partial<WithdrawalOrder>, string]>([
    ['an unknown asset', {}, { asset: 'XBT' }, 'ASSET_UNKNOWN'],
    ['an unknown network', {}, { network: 'Lightning ' }, 'NETWORK_UNKNOWN'],
    ['an empty book', bookOf(), {}, NOT_LISTED],
    ['an entry that is not verified', bookOf(entry({ verified: false })), {}, NOT_LISTED],
    ['an entry that may be', bookOf(entry({ verified: null })), {}, NOT_LISTED],
    ['another address', {}, { address: '17SkEw2md5avVNyYgj6RiXuQKNwkXaxFyQ' }, NOT_LISTED],
    ['another asset', bookOf(entry({ asset: 'ETH' })), {}, NOT_LISTED],
    ['another network', {}, { network: 'Lightning' }, NOT_LISTED],
    ['a tag that the entry lacks', {}, { tag: '7' }, NOT_LISTED],
    ['a tag of the entry', bookOf(entry({ memo: '7' })), {}, NOT_LISTED],
    ['two tags of the entry', bookOf(entry({ tag: '7', memo: '8' })), { tag: '7' }, NOT_LISTED],
    ['a label of another method', infoOf({ method: 'Bitcoin Lightning' }), {}, 'NETWORK_UNKNOWN'],
    [
      'a fee of another asset',
      { privatePostWithdrawMethods: good([method({ fee: { asset: 'XETH' } })]) },
      {},
      'FEE_ASSET_NOT_SUPPORTED',
    ],
    [
      'figures that do not add up (documented)',
      { privatePostWithdrawInfo: example('withdrawalTerms.info') },
      {},
      'AMOUNT_PRECISION',
    ],
    ['a fee on top', infoOf({ amount: '0.725' }), {}, 'AMOUNT_PRECISION'],
    ['a fee above the limit of the plan', {}, { fee_limit: '0.000001' }, 'FEE_ABOVE_LIMIT'],
    [
      'an amount without figures',
      { privatePostWithdrawInfo: { error: ['EFunding:Insufficient funds'] } },
      {},
      'EXCHANGE_REFUSED',
    ],
  ])('is refused for %s', async (_, changes, order, code) => {
    expect(await faultOf(quote(changes, order))).toMatchObject({ kind: 'rejected', code });
  });

  test('takes a fee of the asset itself', async () => {
    const methods = good([method({ fee: { asset: 'XXBT' } })]);
    expect(await quote({ privatePostWithdrawMethods: methods })).toEqual(QUOTE);
  });

  test('of a network with two methods of one name is refused', async () => {
    const methods = good([method(), method({ network: 'Lightning' })]);
    expect(await faultOf(quote({ privatePostWithdrawMethods: methods }))).toMatchObject({
      code: NOT_LISTED,
    });
  });
});

describe('the send', () => {
  test.each([
    [0, 'FTQcuak-V6Za8qrWnhzTx67yYHz8Tg'],
    [1, 'AGBSO6T-UFMTTQ-I7KGS6'],
  ])('is one request, with label, confirmation and highest fee (example %i)', async (index, id) => {
    const { connection, sent } = scripted({ privatePostWithdraw: example('withdraw', index) });
    await expect(kraken.withdraw(connection, ORDER, QUOTE, call)).resolves.toBe(id);
    expect(sent).toEqual([
      {
        method: 'privatePostWithdraw',
        parameters: {
          asset: 'XBT',
          key: 'btc-wallet-1',
          address: ORDER.address,
          amount: '0.725',
          max_fee: '0.0002',
        },
      },
    ]);
  });

  test.each<[string, Quote]>([
    ['another address', { ...QUOTE, address: '17SkEw2md5avVNyYgj6RiXuQKNwkXaxFyQ' }],
    ['no label', { asset: 'XBT', address: ORDER.address, max_fee: '0.0002' }],
  ])('sends nothing with a quote of %s', async (_, wrong) => {
    const { connection, sent } = scripted({});
    await faultOf(kraken.withdraw(connection, ORDER, wrong, call));
    expect(sent).toEqual([]);
  });

  test('leaves the outcome open without an id', async () => {
    const { connection } = scripted({ privatePostWithdraw: good({}) });
    const fault = await faultOf(kraken.withdraw(connection, ORDER, QUOTE, call));
    expect(fault.kind).toBe('protocol');
  });
});

describe('a cancel', () => {
  const ID = 'FTQcuak-V6Za8qrWnhzTx67yYHz8Tg';
  const cancel = async (record: object, id = ID) => {
    const { connection, sent } = scripted({
      privatePostWithdrawStatus: good([record]),
      privatePostWithdrawCancel: example('cancelWithdrawal'),
    });
    await kraken.cancelWithdrawal?.(connection, id, call);
    return sent.filter(({ method: each }) => each === 'privatePostWithdrawCancel');
  };
  const pending = (changes: object = {}) => recordOf('findWithdrawals', 0, changes);

  test('names the asset and the id', async () => {
    expect(await cancel(pending())).toEqual([
      { method: 'privatePostWithdrawCancel', parameters: { asset: 'XXBT', refid: ID } },
    ]);
  });

  test.each<[string, object, string]>([
    ['ended', pending({ status: 'Success' }), ID],
    ['is being canceled', pending({ 'status-prop': 'cancel-pending' }), ID],
    ['cannot be canceled', pending({ 'status-prop': 'cancel-denied' }), ID],
    ['is not listed', pending(), 'another'],
  ])('is not sent for a withdrawal that %s', async (_, record, id) => {
    expect(await cancel(record, id)).toEqual([]);
  });
});
