/** Withdrawals of the dialect of Bybit: terms, book, quote, send and cancel. */
import type { Quote, WithdrawalOrder } from '../../../../venues/cex/dialect.ts';
import { bybit } from '../../../../venues/cex/dialects/bybit/dialect.ts';
import {
  call,
  example,
  faultOf,
  good,
  pageOf,
  recordOf,
  resultIn,
  scripted,
  type Answers,
} from './bybit-script.ts';

const TERMS = 'privateGetV5AssetCoinQueryInfo';
const BOOK = 'privateGetV5AssetWithdrawQueryAddress';
const SEND = 'privatePostV5AssetWithdrawCreate';
const CANCEL = 'privatePostV5AssetWithdrawCancel';
const ID = bybit.withdrawalId('a movement:out:1');
/** As the documented entry of the book. */
const ADDRESS = '0x48101adb67d426cb15e46be5f1d9f6ab25f311ea';
const ORDER: WithdrawalOrder = {
  client_id: ID,
  asset: 'USDT',
  network: 'ETH',
  address: ADDRESS,
  tag: null,
  amount: '24',
  fee_limit: null,
};

describe('the terms', () => {
  const MNT = { asset: 'MNT' };
  const terms = (answer: object, order: Partial<WithdrawalOrder> = {}) =>
    bybit.withdrawalTerms(
      scripted({ [TERMS]: answer }).connection,
      { ...ORDER, ...MNT, ...order },
      call,
    );
  /** The documented terms of MNT on Ethereum: fee and minimum 3, maximum 10,000,000. */
  const changed = (changes: object): object => {
    const { rows } = resultIn('withdrawalTerms') as {
      rows: readonly { readonly chains: readonly object[] }[];
    };
    return good({
      rows: rows.map((row) => ({ ...row, chains: row.chains.map((c) => ({ ...c, ...changes })) })),
    });
  };

  test('are those of the chain, with the larger reading of the minimum', async () => {
    const { connection, sent } = scripted({ [TERMS]: example('withdrawalTerms') });
    const found = await bybit.withdrawalTerms(connection, { ...ORDER, ...MNT }, call);
    expect(found).toEqual({
      enabled: true,
      min: '6',
      max: '10000000',
      step: '0.00000001',
      fee: '3',
      address_pattern: null,
      tag_pattern: null,
      opens_at: null,
      quota: null,
    });
    expect(sent).toEqual([{ method: TERMS, parameters: { coin: 'MNT' } }]);
    const mantle = await terms(example('withdrawalTerms'), { network: 'MANTLE' });
    expect(mantle).toMatchObject({ min: '10', fee: '0' });
  });

  test('are read in their older form, without a maximum', async () => {
    const older = example('withdrawalTerms, older form');
    const found = await terms(older, { asset: 'BTC', network: 'BTC' });
    expect(found).toMatchObject({ enabled: true, min: '0.0015', max: null, fee: '0.0005' });
  });

  test.each<[string, object, object]>([
    ['a suspended chain', { chainWithdraw: '0' }, { enabled: false, fee: '3' }],
    ['a chain without a fee', { withdrawFee: '' }, { enabled: false, fee: '0' }],
    ['no largest amount', { withdrawMax: '-1' }, { max: null }],
    ['whole coins', { minAccuracy: '0' }, { step: '1' }],
    ['decimals as a number', { minAccuracy: 4 }, { step: '0.0001' }],
    // 3 and 2.2 % of the other 21 (6).
    ['a percentage', { withdrawPercentageFee: '0.022' }, { fee: '3.462', min: '6.462' }],
    ['no percentage', { withdrawPercentageFee: '' }, { fee: '3' }],
  ])('show %s', async (_, changes, expected) => {
    expect(await terms(changed(changes))).toMatchObject(expected);
  });

  test('of an amount below the fee have no percentage of less than nothing', async () => {
    const found = await terms(changed({ withdrawPercentageFee: '0.5' }), { amount: '2' });
    expect(found).toMatchObject({ fee: '3' });
  });

  test.each<[Partial<WithdrawalOrder>]>([
    [{ network: 'eth' }],
    [{ network: 'Ethereum' }],
    [{ network: 'TRX' }],
    [{ asset: 'USDT' }],
  ])('do not exist for %j', async (order) => {
    expect(await terms(example('withdrawalTerms'), order)).toBeNull();
  });

  test.each([{ minAccuracy: '' }, { minAccuracy: '19' }, { withdrawFee: '1e-3' }])(
    'with %j are not used',
    async (changes) => {
      expect(await faultOf(terms(changed(changes)))).toMatchObject({ kind: 'protocol' });
    },
  );
});

/** The documented entry of the book for USDT, verified. */
const entry = (changes: object = {}): object =>
  recordOf('addressBook', { verified: 1, ...changes });
const universal = (changes: object = {}): object => entry({ coin: 'baseCoin', ...changes });

describe('the address book', () => {
  const read = async (book: Answers[string]) => {
    const { connection, sent } = scripted({ [BOOK]: book });
    return { entries: await bybit.addressBook?.(connection, call), sent };
  };

  test('has entries of one coin and of every coin; none is verified as documented', async () => {
    const { entries, sent } = await read(({ cursor }) =>
      cursor === undefined ? example('addressBook') : pageOf(),
    );
    const found = { address: ADDRESS, tag: null, network: 'ETH', whitelisted: false };
    expect(entries).toEqual([
      { ...found, asset: 'USDT' },
      { ...found, asset: null },
    ]);
    // A filter by coin may leave out the entries for every coin.
    expect(sent).toEqual([
      { method: BOOK, parameters: { limit: 50 } },
      {
        method: BOOK,
        parameters: { limit: 50, cursor: 'eyJtaW5JRCI6MTA1MDgsIm1heElEIjoxMDUwOX0=' },
      },
    ]);
  });

  test.each<[what: string, changes: object, expected: object]>([
    ['verified', {}, { whitelisted: true }],
    ['verified, with numbers as texts', { verified: '1', status: '0' }, { whitelisted: true }],
    ['not verified', { verified: 0 }, { whitelisted: false }],
    ['new: no withdrawals for 24 hours', { status: 1 }, { whitelisted: false }],
    ['for payments within Bybit', { addressType: 1 }, { whitelisted: false }],
    ['for both kinds of payments', { addressType: 2 }, { whitelisted: true }],
    ['with a tag', { tag: '77' }, { tag: '77', whitelisted: true }],
  ])('has an entry that is %s', async (_, changes, expected) => {
    const { entries } = await read(pageOf(entry(changes)));
    expect(entries).toMatchObject([expected]);
  });
});

describe('the quote', () => {
  const quote = async (book: readonly object[], order: Partial<WithdrawalOrder> = {}) => {
    const { connection } = scripted({ [BOOK]: pageOf(...book) });
    return bybit.quote?.(connection, { ...ORDER, ...order }, call);
  };
  const MIXED = '0x48101ADB67d426cb15e46be5f1d9f6ab25f311EA';

  test('is the address exactly as the book has it', async () => {
    expect(await quote([entry()])).toEqual({ address: ADDRESS });
    expect(await quote([universal()])).toEqual({ address: ADDRESS });
    expect(await quote([entry()], { address: MIXED })).toEqual({ address: ADDRESS });
    expect(await quote([entry({ address: MIXED })])).toEqual({ address: MIXED });
  });

  test('of several spellings is always the same one', async () => {
    const [one, other] = [entry(), universal({ address: MIXED })];
    expect(await quote([one, other])).toEqual(await quote([other, one]));
  });

  test('does not need a verified entry: the binding says whether it must be one', async () => {
    expect(await quote([entry({ verified: 0 })])).toEqual({ address: ADDRESS });
  });

  const TRON = 'TDGYpm5zPacnEqKV34TJPuhJhHom9hcXAy';
  test.each<[string, object, Partial<WithdrawalOrder>]>([
    ['another address', {}, { address: `${ADDRESS.slice(0, -1)}0` }],
    ['another chain', {}, { network: 'ARBI' }],
    ['another case of the chain', {}, { network: 'eth' }],
    ['another coin', {}, { asset: 'USDC' }],
    ['a tag that the entry lacks', {}, { tag: '7' }],
    ['a tag of the entry', { tag: '7' }, {}],
    ['a new entry', { status: 1 }, {}],
    ['a status of no page', { status: 2 }, {}],
    ['an entry for payments within Bybit', { addressType: 1 }, {}],
    // Letters of other chains are not to be changed.
    [
      'another case of a Tron address',
      { address: TRON, chain: 'TRX' },
      { address: TRON.toLowerCase(), network: 'TRX' },
    ],
  ])('is refused for %s', async (_, changes, order) => {
    expect(await faultOf(quote([entry(changes)], order))).toMatchObject({
      kind: 'rejected',
      code: 'ADDRESS_NOT_WHITELISTED',
    });
  });

  test('with a tag is of the entry with the tag', async () => {
    expect(await quote([entry({ tag: '7' })], { tag: '7' })).toEqual({ address: ADDRESS });
  });
});

describe('the send', () => {
  const send = async (quote: Quote, order: Partial<WithdrawalOrder> = {}) => {
    const { connection, sent } = scripted({ [SEND]: example('withdraw') });
    const id = await bybit.withdraw(connection, { ...ORDER, ...order }, quote, call);
    return { id, sent };
  };

  test('is one request: the fee included, on chain, out of the funding account', async () => {
    const before = Date.now();
    const spelled = ADDRESS.replace('adb', 'ADB');
    const { id, sent } = await send({ address: spelled });
    expect(id).toBe('10195');
    expect(sent).toEqual([
      {
        method: SEND,
        parameters: {
          coin: 'USDT',
          chain: 'ETH',
          address: spelled,
          amount: '24',
          timestamp: expect.any(Number),
          forceChain: 1,
          accountType: 'FUND',
          feeType: 1,
          requestId: ID,
        },
      },
    ]);
    const timestamp = Number(sent[0]?.parameters['timestamp']);
    expect(timestamp).toBeGreaterThanOrEqual(before);
    expect(timestamp).toBeLessThanOrEqual(Date.now());
    expect(ID).toMatch(/^[0-9a-f]{32}$/);
  });

  test('has the tag of the order', async () => {
    const { sent } = await send({ address: ADDRESS }, { tag: '77' });
    expect(sent[0]?.parameters).toMatchObject({ tag: '77' });
  });

  test.each<[string, Quote, string]>([
    ['another address', { address: `${ADDRESS.slice(0, -1)}0` }, 'rejected'],
    ['no address', {}, 'protocol'],
    ['an empty address', { address: '' }, 'protocol'],
  ])('sends nothing with a quote of %s', async (_, quote, kind) => {
    const { connection, sent } = scripted({});
    expect((await faultOf(bybit.withdraw(connection, ORDER, quote, call))).kind).toBe(kind);
    expect(sent).toEqual([]);
  });

  test('leaves the outcome open without an id', async () => {
    for (const answer of [good({}), good(null), good({ id: '' })]) {
      const { connection } = scripted({ [SEND]: answer });
      const fault = await faultOf(bybit.withdraw(connection, ORDER, { address: ADDRESS }, call));
      expect(fault.kind).toBe('protocol');
    }
  });

  test('returns an id that is a number, too', async () => {
    const { connection } = scripted({ [SEND]: good({ id: 10195 }) });
    const sent = bybit.withdraw(connection, ORDER, { address: ADDRESS }, call);
    await expect(sent).resolves.toBe('10195');
  });
});

describe('a cancel', () => {
  const cancel = async (answer: object) => {
    const { connection, sent } = scripted({ [CANCEL]: answer });
    await bybit.cancelWithdrawal?.(connection, '10197', call);
    return sent;
  };

  test.each<[string, object]>([
    ['accepts', example('cancelWithdrawal')],
    ['does not accept', good({ status: 0 })],
    ['refuses in this state', example('cancelWithdrawal, refused: state')],
  ])('that Bybit %s proves nothing', async (_, answer) => {
    expect(await cancel(answer)).toEqual([{ method: CANCEL, parameters: { id: '10197' } }]);
  });
});
