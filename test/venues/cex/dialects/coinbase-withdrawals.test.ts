/** Withdrawals of the dialect of Coinbase: terms, quote and send. */
import fc from 'fast-check';
import { add, compare, fromBaseUnits } from '../../../../domain/money.ts';
import type { WithdrawalOrder } from '../../../../venues/cex/dialect.ts';
import { coinbase } from '../../../../venues/cex/dialects/coinbase/dialect.ts';
import {
  ACCOUNTS,
  accounts,
  ADDRESS,
  BALANCES,
  balances,
  call,
  example,
  faultOf,
  ORDER,
  page,
  rowOf,
  scripted,
  SEND,
  sent as sentRow,
  WALLET,
} from './coinbase-script.ts';

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test('the id of a withdrawal is a UUID of version 4 in lower case, the same for the same key', () => {
  fc.assert(
    fc.property(fc.string(), (key) => {
      expect(coinbase.withdrawalId(key)).toMatch(UUID_V4);
      expect(coinbase.withdrawalId(key)).toBe(coinbase.withdrawalId(key));
    }),
  );
  const ids = Array.from({ length: 1_000 }, (_, index) => coinbase.withdrawalId(`key ${index}`));
  expect(new Set(ids).size).toBe(1_000);
});

describe('terms', () => {
  const terms = (order: Partial<WithdrawalOrder> = {}, answer: object = accounts()) => {
    const { connection } = scripted({ [ACCOUNTS]: answer });
    return coinbase.withdrawalTerms(connection, { ...ORDER, ...order }, call);
  };

  test('have the limit as fee, and no bounds: Coinbase shows none', async () => {
    await expect(terms()).resolves.toEqual({
      enabled: true,
      min: '0',
      max: null,
      step: '0.00000001',
      fee: '0.0004',
      address_pattern: null,
      tag_pattern: null,
      opens_at: null,
      quota: null,
    });
  });

  test('of an order without a limit are none', async () => {
    const missing = { kind: 'rejected', code: 'FEE_LIMIT_MISSING' };
    expect(await faultOf(terms({ fee_limit: null }))).toMatchObject(missing);
  });

  test.each([
    [true, true],
    [undefined, true],
    [null, true],
    [false, false],
    ['no', false],
  ])('with allow_withdrawals %s are enabled: %s', async (allow_withdrawals, enabled) => {
    const answer = accounts({ allow_withdrawals });
    await expect(terms({}, answer)).resolves.toMatchObject({ enabled });
  });

  test.each([{ network: 'Bitcoin' }, { network: 'BTC mainnet' }, { asset: 'ETH' }])(
    'are none for %j',
    async (order) => {
      await expect(terms(order)).resolves.toBeNull();
    },
  );

  test('are none of an account that was never used: its id is only a code', async () => {
    const unused = rowOf('accounts', 1, { currency: rowOf('accounts')['currency'] });
    expect(unused.id).toBe('XLM');
    await expect(terms({}, page([unused]))).resolves.toBeNull();
  });

  test('are of the wallet alone, never of a vault, and of one wallet alone', async () => {
    const [vault, wallet] = (accounts() as { data: readonly object[] }).data;
    expect(vault).toMatchObject({ type: 'vault' });
    await expect(terms({}, page([vault!]))).resolves.toBeNull();
    const another = { ...wallet, id: '3bbf394c-193b-5b2a-9155-3b4732659ede' };
    expect(await faultOf(terms({}, page([wallet!, another])))).toMatchObject({
      kind: 'rejected',
      code: 'ACCOUNT_UNKNOWN',
    });
  });

  test('are found on a later page of the accounts', async () => {
    const { connection, sent } = scripted({
      [ACCOUNTS]: ({ starting_after }) =>
        starting_after === undefined ? example('accounts, first page') : accounts(),
    });
    await expect(coinbase.withdrawalTerms(connection, ORDER, call)).resolves.not.toBeNull();
    // The cursor of its URL, which is never called.
    const starting_after = '6b17acd6-2e68-5eb0-9f45-72d67cef578b';
    expect(sent.map(({ parameters }) => parameters)).toEqual([
      { limit: 100 },
      { limit: 100, starting_after },
    ]);
  });

  test('are not blocked by an unusual account of another asset', async () => {
    const { data } = accounts() as { data: readonly object[] };
    const unusual = { id: '4bbf394c-193b-5b2a-9155-3b4732659ede', type: 'wallet', currency: 'EUR' };
    await expect(terms({}, page([unusual, ...data]))).resolves.not.toBeNull();
  });

  const currency = (changes: object) => ({
    currency: { ...(rowOf('accounts')['currency'] as object), ...changes },
  });

  test.each([
    ['6', '0.000001'],
    [9, '0.000000001'],
    [0, '1'],
  ])('of %s decimals have the step %s', async (exponent, step) => {
    const answer = accounts(currency({ exponent }));
    await expect(terms({}, answer)).resolves.toMatchObject({ step });
  });

  test.each<[string, Partial<WithdrawalOrder>, string]>([
    ['an e-mail address', { address: 'someone.with.a.long.name@example.com' }, 'ADDRESS_INVALID'],
    ['a telephone number', { address: '+41441234567' }, 'ADDRESS_INVALID'],
    ['digits alone', { address: '12345678901234567890' }, 'ADDRESS_INVALID'],
    ['a short text that does not fit', { address: 'alice' }, 'ADDRESS_INVALID'],
    ['a text with a space', { address: `${ADDRESS} x` }, 'ADDRESS_INVALID'],
    ['a tag of an asset without tags', { tag: '7' }, 'TAG_INVALID'],
  ])('refuse %s, and so does the quote', async (_, order, code) => {
    expect(await faultOf(terms(order))).toMatchObject({ kind: 'rejected', code });
    const { connection } = scripted({ [ACCOUNTS]: accounts(), [BALANCES]: balances() });
    const quote = Promise.resolve(coinbase.quote?.(connection, { ...ORDER, ...order }, call));
    expect(await faultOf(quote)).toMatchObject({ kind: 'rejected', code });
  });

  test.each<[string, string, string | null]>([
    // The pattern of USDC is that of one of its networks.
    ['of another network', '5xjPKeAXpnhA2kHyinvdVeui6RXVdEa3B2J3SCAwiKnk', '(?:0x)?[0-9a-f]{40}'],
    ['that is short and fits', 'alice.near', '[a-z.]+'],
    ['of an asset without a pattern', 'alice', null],
  ])('take an address %s', async (_, address, address_regex) => {
    const answer = accounts(currency({ address_regex }));
    await expect(terms({ address }, answer)).resolves.not.toBeNull();
  });

  test('never take an e-mail address, even if it fits the pattern', async () => {
    const answer = accounts(currency({ address_regex: '.*' }));
    expect(await faultOf(terms({ address: 'a@example.com' }, answer))).toMatchObject({
      code: 'ADDRESS_INVALID',
    });
  });

  test("show the asset's pattern of tags", async () => {
    const answer = accounts(currency({ destination_tag_regex: '^[ -~]{1,28}$' }));
    await expect(terms({ tag: '7' }, answer)).resolves.toMatchObject({
      tag_pattern: '^[ -~]{1,28}$',
    });
  });
});

describe('a send', () => {
  const send = async (
    order: Partial<WithdrawalOrder> = {},
    answer: object = rowOf('withdraw', 0, { to: { address: ADDRESS } }),
    answers: Parameters<typeof scripted>[0] = {},
  ) => {
    const { connection, sent } = scripted({
      [ACCOUNTS]: accounts(),
      [BALANCES]: balances(),
      [SEND]: { data: answer, warnings: [{ id: 'missing_version', message: 'of the version' }] },
      ...answers,
    });
    const whole = { ...ORDER, ...order };
    const quote = (await coinbase.quote?.(connection, whole, call)) ?? {};
    const body = () => sent.find(({ method }) => method === SEND)?.parameters;
    const id = await coinbase.withdraw(connection, whole, quote, call);
    return { id, quote, body: body() };
  };

  test('is of the amount without the limit, with network and id always', async () => {
    await expect(send()).resolves.toEqual({
      id: '3c04e35e-8e5a-5ff1-9155-00675db4ac02',
      quote: { account: WALLET, amount: '0.1' },
      body: {
        account_id: WALLET,
        type: 'send',
        to: ADDRESS,
        amount: '0.1',
        currency: 'BTC',
        idem: ORDER.client_id,
        network: 'bitcoin',
      },
    });
  });

  test('has a tag in a field of its own', async () => {
    const currency = {
      ...(rowOf('accounts')['currency'] as object),
      destination_tag_regex: '[0-9]+',
    };
    const answers = { [ACCOUNTS]: accounts({ currency }) };
    const answer = rowOf('withdraw', 0, { to: { address: ADDRESS } });
    const { body } = await send({ tag: '77' }, answer, answers);
    expect(body).toMatchObject({ destination_tag: '77', to: ADDRESS });
  });

  test.each<[string, Partial<WithdrawalOrder>, Parameters<typeof scripted>[0], string]>([
    ['without a limit', { fee_limit: null }, {}, 'FEE_LIMIT_MISSING'],
    ['no larger than its limit', { amount: '0.0004' }, {}, 'AMOUNT_TOO_SMALL'],
    ['with too many decimals', { fee_limit: '0.000000001' }, {}, 'AMOUNT_PRECISION'],
    ['over no network of Coinbase', { network: 'BTC' }, {}, 'NETWORK_UNKNOWN'],
    [
      'from an account whose balance is not shown',
      {},
      { [BALANCES]: balances({ uuid: '8bfc20d7-f7c6-4422-bf07-8243ca4169fe' }) },
      'ACCOUNT_UNKNOWN',
    ],
    [
      'from an account whose balance is of another asset',
      {},
      {
        [BALANCES]: balances({
          currency: 'ETH',
          available_balance: { value: '1', currency: 'ETH' },
          hold: { value: '0', currency: 'ETH' },
        }),
      },
      'ACCOUNT_UNKNOWN',
    ],
  ])('%s is refused before it', async (_, order, answers, code) => {
    expect(await faultOf(send(order, {}, answers))).toMatchObject({ kind: 'rejected', code });
  });

  test.each<[Readonly<Record<string, string>>, string]>([
    [{}, 'protocol'],
    [{ account: 'BTC', amount: '0.1' }, 'protocol'],
    [{ account: WALLET, amount: '-0.1' }, 'protocol'],
    [{ account: WALLET, amount: '0.1004' }, 'rejected'],
    [{ account: WALLET, amount: '0.05' }, 'rejected'],
  ])('with the quote %j sends nothing', async (quote, kind) => {
    const { connection, sent } = scripted({ [SEND]: { data: sentRow() } });
    const work = coinbase.withdraw(connection, ORDER, quote, call);
    expect(await faultOf(work)).toMatchObject({ kind });
    expect(sent).toEqual([]);
  });

  // A repeated id returns the earlier withdrawal, whatever it was.
  test.each<[string, object]>([
    ['another id', { idem: '0a087dce-92a8-45cf-b112-60aad22c0976' }],
    ['another address', { to: { address: '1AHnhqbvbYx3rnZx8uC7NbFZaTe4tafFHX' } }],
    ['another asset', { amount: { amount: '-0.1', currency: 'BCH' }, network: null }],
    ['another network', { network: { status: 'pending', network_name: 'lightning' } }],
    ['another amount', { amount: { amount: '-0.2003', currency: 'BTC' } }],
    ['a credit', { amount: { amount: '0.1003', currency: 'BTC' } }],
  ])('that is answered with %s stays open', async (_, changes) => {
    expect(await faultOf(send({}, sentRow(changes)))).toMatchObject({
      kind: 'protocol',
      code: 'WITHDRAWAL_MISMATCH',
    });
  });

  test.each<[string, object]>([
    ['neither id, fee nor address', { idem: undefined, to: undefined, network: undefined }],
    ['the id in capital letters', { idem: ORDER.client_id.toUpperCase() }],
    ['fee and amount', {}],
  ])('that is answered with %s is made', async (_, changes) => {
    await expect(send({}, sentRow(changes))).resolves.toMatchObject({ id: sentRow().id });
  });

  test('without an id in the answer stays open', async () => {
    expect(await faultOf(send({}, sentRow({ id: undefined })))).toMatchObject({ kind: 'protocol' });
  });

  const units = fc.bigInt({ min: 0n, max: 10n ** 15n });

  test('and the limit are the amount of the order, exactly, or nothing is sent', async () => {
    await fc.assert(
      fc.asyncProperty(units, units, async (a, b) => {
        const amount = fromBaseUnits(a + 1n, 8);
        const fee_limit = fromBaseUnits(b, 8);
        const { connection, sent } = scripted({
          [ACCOUNTS]: accounts(),
          [BALANCES]: balances(),
          [SEND]: { data: rowOf('withdraw', 0, { to: undefined }) },
        });
        const order = { ...ORDER, amount, fee_limit };
        const quote = await Promise.resolve(coinbase.quote?.(connection, order, call)).catch(
          () => null,
        );
        if (a + 1n <= b) {
          expect(quote).toBeNull();
          return;
        }
        await coinbase.withdraw(connection, order, quote ?? {}, call);
        const net = String(sent.at(-1)?.parameters['amount']);
        expect(compare(net, '0')).toBe(1);
        expect(add(net, fee_limit)).toBe(amount);
      }),
    );
  });
});
