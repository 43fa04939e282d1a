/** Withdrawals of the dialect of OKX: terms, send, search and cancel. */
import fc from 'fast-check';
import { add, compare, fromBaseUnits } from '../../../../domain/money.ts';
import type { Period, WithdrawalOrder, WithdrawalRecord } from '../../../../venues/cex/dialect.ts';
import { okx } from '../../../../venues/cex/dialects/okx/dialect.ts';
import { call, changed, example, faultOf, good, scripted } from './okx-script.ts';

const DAY = 86_400_000;
const TERMS = 'privateGetAssetCurrencies';
const HISTORY = 'privateGetAssetWithdrawalHistory';
const SEND = 'privatePostAssetWithdrawal';
const CANCEL = 'privatePostAssetCancelWithdrawal';
const ID = okx.withdrawalId('a movement:out:1');
const ADDRESS = '17DKe3kkkkiiiiTvAKKi2vMPbm1Bz3CMKw';
const ORDER: WithdrawalOrder = {
  client_id: ID,
  asset: 'BTC',
  network: 'Bitcoin',
  address: ADDRESS,
  tag: null,
  amount: '1',
  fee_limit: null,
};
/** When a quote ends that may still be used. */
const LATER = '2100-01-01T00:00:00.000Z';
const PERIOD: Period = { from: 1_700_000_000_000, to: 1_700_000_000_000 + DAY };

const currency = (changes: object = {}): object => changed('withdrawal terms', changes);

describe('terms', () => {
  const terms = (changes: object = {}, order: Partial<WithdrawalOrder> = {}) => {
    const { connection } = scripted({ [TERMS]: currency(changes) });
    return okx.withdrawalTerms(connection, { ...ORDER, ...order }, call);
  };

  test("have OKX's bounds of what arrives with the fee on top", async () => {
    await expect(terms()).resolves.toEqual({
      enabled: true,
      min: '0.00055',
      max: '500.00005',
      step: '0.00000001',
      fee: '0.00005',
      address_pattern: '[^:]+',
      tag_pattern: '[^:]+',
      opens_at: null,
      quota: { left: '10000000', unit: 'USD' },
    });
  });

  test.each<[string, object, object]>([
    [
      'a suspended chain that opens',
      { canWd: false, fee: '', wdEstOpenTime: '1655251200000' },
      { enabled: false, fee: '0', opens_at: '2022-06-15T00:00:00.000Z' },
    ],
    ['no time of a chain that is open', { wdEstOpenTime: '1655251200000' }, { opens_at: null }],
    ['a time that is none', { canWd: false, wdEstOpenTime: 'soon' }, { opens_at: null }],
    ['no largest amount', { maxWd: '' }, { max: null }],
    ['whole coins', { wdTickSz: '0' }, { step: '1' }],
    ['no quota', { wdQuota: '' }, { quota: null }],
    [
      'what is left of a quota',
      { wdQuota: '500', usedWdQuota: '120.5' },
      { quota: { left: '379.5', unit: 'USD' } },
    ],
    [
      'a quota that is used up',
      { wdQuota: '500', usedWdQuota: '500.5' },
      { quota: { left: '0', unit: 'USD' } },
    ],
    ['a burning rate of zero', { burningFeeRate: '0' }, { enabled: true }],
  ])('show %s', async (_, changes, expected) => {
    await expect(terms(changes)).resolves.toMatchObject(expected);
  });

  test.each<[object, Partial<WithdrawalOrder>]>([
    [{}, { network: 'Lightning' }],
    // The part behind the asset is the network, and nothing else.
    [{}, { network: 'BTC-Bitcoin' }],
    [{ ccy: 'WBTC' }, {}],
  ])('of %j are none for %j', async (changes, order) => {
    await expect(terms(changes, order)).resolves.toBeNull();
  });

  test('of a network whose name holds a space are found', async () => {
    await expect(
      terms(
        { ccy: 'USDT', chain: 'USDT-Arbitrum One' },
        { asset: 'USDT', network: 'Arbitrum One' },
      ),
    ).resolves.toMatchObject({ enabled: true });
  });

  test.each<[string, object, Partial<WithdrawalOrder>, string, string]>([
    ['without the tag that it needs', { needTag: true }, {}, 'rejected', 'TAG_INVALID'],
    [
      'that OKX burns in part',
      { burningFeeRate: '0.05' },
      {},
      'rejected',
      'WITHDRAWAL_NOT_ALLOWED',
    ],
    ['without a fee', { fee: '' }, {}, 'protocol', 'CEX_PROTOCOL_ERROR'],
    ['without a word on tags', { needTag: undefined }, {}, 'protocol', 'CEX_PROTOCOL_ERROR'],
    ['with a fee in another form', { fee: '0.1btc' }, {}, 'protocol', 'CEX_PROTOCOL_ERROR'],
  ])('of a payment %s are refused', async (_, changes, order, kind, code) => {
    expect(await faultOf(terms(changes, order))).toMatchObject({ kind, code });
    const { connection } = scripted({ [TERMS]: currency(changes) });
    const quote = Promise.resolve(okx.quote?.(connection, { ...ORDER, ...order }, call));
    expect(await faultOf(quote)).toMatchObject({ kind, code });
  });

  test('of a form of 2022, without a fee, are not used', async () => {
    const { connection } = scripted({ [TERMS]: example('withdrawal terms, older form') });
    const order = { ...ORDER, asset: 'USDT', network: 'TRC20' };
    const fault = await faultOf(okx.withdrawalTerms(connection, order, call));
    expect(fault).toMatchObject({ kind: 'protocol' });
  });
});

describe('a send', () => {
  const send = async (changes: object = {}, order: Partial<WithdrawalOrder> = {}) => {
    const { connection, sent } = scripted({
      [TERMS]: currency(changes),
      [SEND]: example('withdraw'),
    });
    const whole = { ...ORDER, ...order };
    const quote = (await okx.quote?.(connection, whole, call)) ?? {};
    const id = await okx.withdraw(connection, whole, quote, call);
    return { id, quote, body: sent.find(({ method }) => method === SEND)?.parameters };
  };

  test('names what arrives, and the chain always', async () => {
    await expect(send()).resolves.toEqual({
      id: '67485',
      quote: { fee: '0.00005', step: '0.00000001', until: expect.any(String) },
      body: {
        ccy: 'BTC',
        chain: 'BTC-Bitcoin',
        dest: '4',
        toAddr: ADDRESS,
        amt: '0.99995',
        clientId: ID,
      },
    });
    expect(ID).toMatch(/^[0-9a-f]{32}$/);
  });

  test('has the tag behind the address', async () => {
    const { body } = await send({ needTag: true }, { tag: '12345' });
    expect(body).toMatchObject({ toAddr: `${ADDRESS}:12345` });
  });

  test.each<[string, object, Partial<WithdrawalOrder>, string]>([
    ['a fee as large as the amount', { fee: '1' }, {}, 'AMOUNT_TOO_SMALL'],
    ['a fee above the amount', { fee: '1.1' }, {}, 'AMOUNT_TOO_SMALL'],
    ['more decimals than OKX takes', { wdTickSz: '4' }, {}, 'AMOUNT_PRECISION'],
    ['a colon in the address', {}, { address: 'bitcoincash:qq0' }, 'ADDRESS_INVALID'],
    ['a colon in the tag', {}, { tag: '1:2' }, 'TAG_INVALID'],
    ['an empty tag', {}, { tag: '' }, 'TAG_INVALID'],
    ['a network that OKX does not have', {}, { network: 'X' }, 'NETWORK_UNKNOWN'],
    ['a fee above the limit of the plan', {}, { fee_limit: '0.000049' }, 'FEE_ABOVE_LIMIT'],
  ])('is refused before it for %s', async (_, changes, order, code) => {
    expect(await faultOf(send(changes, order))).toMatchObject({ kind: 'rejected', code });
  });

  const withQuote = async (quote: Readonly<Record<string, string>>) => {
    const { connection, sent } = scripted({ [SEND]: example('withdraw') });
    const fault = await faultOf(okx.withdraw(connection, ORDER, quote, call));
    return { kind: fault.kind, sent: sent.length };
  };

  test.each<[Readonly<Record<string, string>>, string]>([
    [{}, 'protocol'],
    [{ fee: '0.00005' }, 'protocol'],
    [{ fee: '-1', step: '0.1', until: LATER }, 'protocol'],
    [{ fee: '0.00005', step: '0.00000001' }, 'protocol'],
    [{ fee: '2', step: '0.1', until: LATER }, 'rejected'],
    [{ fee: '0.00005', step: '0.1', until: LATER }, 'rejected'],
    [{ fee: '0.00005', step: '0.00000001', until: '2026-01-01T00:00:00.000Z' }, 'rejected'],
  ])('sends nothing with the quote %j', async (quote, kind) => {
    await expect(withQuote(quote)).resolves.toMatchObject({ kind, sent: 0 });
  });

  test('without an id in the answer stays open', async () => {
    const { connection } = scripted({ [SEND]: good() });
    const quote = { fee: '0.00005', step: '0.00000001', until: LATER };
    const fault = await faultOf(okx.withdraw(connection, ORDER, quote, call));
    expect(fault.kind).toBe('protocol');
  });

  const units = fc.bigInt({ min: 0n, max: 10n ** 19n });

  test('and its fee are the amount of the order, exactly, or nothing is sent', async () => {
    await fc.assert(
      fc.asyncProperty(units, units, fc.integer({ min: 0, max: 18 }), async (a, b, decimals) => {
        const amount = fromBaseUnits(a + 1n, decimals);
        const fee = fromBaseUnits(b, decimals);
        const { connection, sent } = scripted({
          [TERMS]: currency({ fee, wdTickSz: String(decimals) }),
          [SEND]: example('withdraw'),
        });
        const order = { ...ORDER, amount };
        const quote = await Promise.resolve(okx.quote?.(connection, order, call)).catch(() => null);
        if (a + 1n <= b) {
          expect(quote).toBeNull();
          return;
        }
        await okx.withdraw(connection, order, quote ?? {}, call);
        const amt = String(sent.at(-1)?.parameters['amt']);
        expect(compare(amt, '0')).toBe(1);
        expect(add(amt, fee)).toBe(amount);
      }),
    );
  });
});

describe('a search', () => {
  const find = async (history: object, period: Period = PERIOD) => {
    if (okx.search.by !== 'client_id') throw new Error('OKX stores our client id');
    const { connection, sent } = scripted({ [HISTORY]: history });
    const of = { client_id: ID, asset: 'USDT', period };
    return { found: await okx.search.find(connection, of, call), sent };
  };
  const REAL = 'findWithdrawals, a real record';
  const record: WithdrawalRecord = {
    id: '25147041',
    status: 'completed',
    exchange_status: 'success',
    asset: 'USDT',
    network: 'TRC20',
    address: 'TEY6qjnKDyyq5jDc3DJizWLCdUySrpQ4yp',
    tag: null,
    net_amount: '54.561',
    fee: '0.8',
    tx_hash: '00cff6ec7fa7c7d7d184bd84e82b9ff36863f07c0421188607f87dfa94e06b70',
    transaction: '00cff6ec7fa7c7d7d184bd84e82b9ff36863f07c0421188607f87dfa94e06b70',
  };

  test('finds what OKX shows under our id, by the id alone', async () => {
    const { found, sent } = await find(changed(REAL, { clientId: ID }));
    expect(found).toEqual([record]);
    expect(sent).toEqual([{ method: HISTORY, parameters: { clientId: ID } }]);
  });

  test.each([
    ['findWithdrawals, unknown client id'],
    ['findWithdrawals, nothing found (empty list)'],
    // The records of others, as if OKX had not filtered.
    [REAL],
    ['findWithdrawals'],
    ['findWithdrawals, older form'],
  ])('finds nothing in: %s', async (name) => {
    await expect(find(example(name))).resolves.toMatchObject({ found: [] });
  });

  test('keeps open what another error leaves open', async () => {
    const error = { code: '51000', msg: 'Parameter clientId error', data: [] };
    expect(await faultOf(find(error))).toMatchObject({ kind: 'protocol' });
  });

  test('shows every record under one id', async () => {
    const twice = { clientId: ID };
    const { found } = await find(changed('findWithdrawals, older form', twice));
    expect(found).toHaveLength(2);
  });

  const HASH = record.transaction;
  const TO = record.address;

  test.each<[string, object, Partial<WithdrawalRecord>]>([
    [
      'a booking within OKX',
      { txId: '', fee: '0' },
      { tx_hash: null, transaction: '25147041', fee: '0' },
    ],
    [
      'no hash so far',
      { txId: '', state: '1' },
      {
        tx_hash: null,
        transaction: null,
        status: 'pending',
        exchange_status: 'is being broadcast',
      },
    ],
    ['a fee with its unit', { fee: '0.01000000usdt' }, { fee: '0.01' }],
    ['a fee in its own currency', { feeCcy: 'usdt' }, { fee: '0.8' }],
    ['a fee in another currency', { feeCcy: 'eth' }, { fee: '0.8', fee_asset: 'ETH' }],
    ['a tag', { tag: '77' }, { tag: '77', address: TO }],
    ['a payment id', { pmtId: '78' }, { tag: '78' }],
    ['a memo', { memo: '79' }, { tag: '79' }],
    ['an attachment', { addrEx: { comment: '80' } }, { tag: '80' }],
    ['a tag in the address', { to: `${TO}:81` }, { tag: '81', address: TO }],
    ['a tag in both places', { to: `${TO}:82`, tag: '82' }, { tag: '82', address: TO }],
    ['no chain, as in 2021', { chain: undefined }, { network: null, transaction: HASH }],
    ['a chain of another form', { chain: 'TRC20' }, { network: 'TRC20' }],
  ])('reads %s', async (_, changes, expected) => {
    const { found } = await find(changed(REAL, { clientId: ID, ...changes }));
    expect(found).toEqual([{ ...record, ...expected }]);
  });

  const states = (status: string, names: string) =>
    names.split(' ').map((state): [string, string] => [state, status]);

  test.each<[string, string]>([
    ...states('pending', '0 17 19 10 4 5 6 8 9 12 7 1 15 16 -3'),
    ...states('failed', '-2 -1'),
    ...states('completed', '2'),
    // Not documented, so nothing is known to be over.
    ...states('pending', '3 11 13 14 18 99 constructor'),
  ])('reads the state %s as %s', async (state, status) => {
    const txId = status === 'failed' ? '' : HASH;
    const { found } = await find(changed(REAL, { clientId: ID, state, txId }));
    expect(found[0]).toMatchObject({ status });
    expect(found[0]?.exchange_status).not.toBe('');
  });

  test.each(['-2', '-1'])('reads the state %s with a hash as pending', async (state) => {
    const { found } = await find(changed(REAL, { clientId: ID, state }));
    expect(found[0]).toMatchObject({ status: 'pending', tx_hash: HASH });
  });

  test('proves nothing beyond what OKX certainly keeps', async () => {
    const period = { from: PERIOD.to - 90 * DAY - 1, to: PERIOD.to };
    expect(await faultOf(find(good(), period))).toMatchObject({ code: 'HISTORY_TOO_OLD' });
    await expect(find(good(), { ...period, from: period.from + 1 })).resolves.toMatchObject({
      found: [],
    });
  });
});

describe('a cancel', () => {
  const WD = '1123456';
  const cancel = async (history: object) => {
    const { connection, sent } = scripted({
      [HISTORY]: history,
      [CANCEL]: example('cancelWithdrawal'),
    });
    await okx.cancelWithdrawal?.(connection, WD, call);
    return sent.filter(({ method }) => method === CANCEL).map(({ parameters }) => parameters);
  };
  const inState = (state: string): object =>
    changed('findWithdrawals, a real record', { wdId: WD, state });

  test.each(['0', '17', '19'])('is requested in the state %s', async (state) => {
    await expect(cancel(inState(state))).resolves.toEqual([{ wdId: WD }]);
  });

  test.each(['10', '4', '7', '1', '2', '-3', '-2', '-1', '16', '99'])(
    'is not requested in the state %s',
    async (state) => {
      await expect(cancel(inState(state))).resolves.toEqual([]);
    },
  );

  test('is not requested of what OKX does not show, nor of another withdrawal', async () => {
    await expect(cancel(example('findWithdrawals, unknown client id'))).resolves.toEqual([]);
    const other = changed('findWithdrawals, a real record', { state: '0' });
    await expect(cancel(other)).resolves.toEqual([]);
  });
});
