/** Errors, key and limits of the dialect of Bybit, against what others have seen and documented. */
import { bybit } from '../../../../venues/cex/dialects/bybit/dialect.ts';
import { call, example, EXAMPLES, FACTS, KEY, keyOf, MASTER, scripted } from './bybit-script.ts';

describe('an error', () => {
  const BALANCE = '131001:Account available balance insufficient';
  const errors: Readonly<Record<string, string>> = {
    'withdraw, refused: address, chain or tag not as in the address book': '131002',
    'withdraw, refused: balance': BALANCE,
    'withdraw, refused: balance below the fee': BALANCE,
    'withdraw, refused: unknown name of a chain': '131001',
    'withdraw, refused: coin and chain': '90034',
    'withdraw, refused: timestamp': '131002',
    'withdraw, refused: repeated requestId': '131082',
    'withdraw, refused: not on the list of addresses': '131093',
    'withdraw, refused: 24 hours after a change of the account': '131089',
    'withdraw, refused: limit of the verification level': '131088',
    'cancelWithdrawal, refused: state': '131099',
    'transfer, refused: balance': '131228',
    'transfer within the account of the key, refused: balance': '131212',
    'transfer, refused: repeated transferId': '131214',
    'transfer, refused: blocked for this account': '131235',
    'balances, refused: permission': '10005',
    'keyFault, refused: address of the caller': '10010',
    'error body, clock': '10002',
    'error body, time-out': '10000',
    'error body, internal': '10016',
    'error body, headers missing': '10001',
    'error body, not a unified account': '10020',
    'error body, rate limit': '10006',
  };

  test('is read from every example of one with its text, and from no other answer', () => {
    const read = EXAMPLES.flatMap((each) => {
      const error = bybit.readError(each.answer);
      return error === null ? [] : [[each.call, error] as const];
    });
    expect(Object.fromEntries(read.map(([name, { code }]) => [name, code]))).toEqual(errors);
    for (const [name, { message }] of read) expect(message).toBe(example(name)['retMsg']);
  });

  test.each<[unknown, string | null]>([
    [{ retCode: '0', retMsg: 'Insufficient balance', result: null }, null],
    [{ retCode: 0 }, null],
    [{ result: {} }, null],
    [null, null],
    [undefined, null],
    ['Bad Gateway', null],
    [{ retCode: '131212' }, '131212'],
    [{ retCode: -1, retMsg: 'request expired' }, '-1'],
    // The three texts about the balance, whole and without case (10.4).
    [{ retCode: 131001, retMsg: 'ACCOUNT AVAILABLE BALANCE INSUFFICIENT' }, BALANCE],
    [
      {
        retCode: 131001,
        retMsg: 'Withdrawal amount is greater than your available balance (40.5 USDT)',
      },
      BALANCE,
    ],
    [{ retCode: 131001, retMsg: 'openapi svc error: available balance insufficient' }, '131001'],
    [{ retCode: 131001, retMsg: 'Account available balance insufficient, try later' }, '131001'],
    [{ retCode: 131001 }, '131001'],
    [{ retCode: 10000, retMsg: 'Account available balance insufficient' }, '10000'],
    // What has an id was done, whatever stands beside it.
    [{ retCode: 131212, result: { transferId: 'a' } }, '131212 beside a result'],
    [
      { retCode: 131001, retMsg: 'Account available balance insufficient', result: { id: '1' } },
      `${BALANCE} beside a result`,
    ],
    [{ retCode: 10006, result: { id: '1' } }, '10006'],
    // A ban of the address, with and without a code (13).
    [{ retMsg: 'access too frequent' }, 'access too frequent'],
    [{ retCode: 10005, retMsg: 'Access too frequent.' }, 'access too frequent'],
  ])('of %j is %j', (body, code) => {
    expect(bybit.readError(body)?.code ?? null).toBe(code);
  });

  const section = (number: string, next: string): string =>
    FACTS.slice(FACTS.indexOf(`### ${number}`), FACTS.indexOf(`### ${next}`));
  const codesOf = (text: string): readonly string[] =>
    [...text.matchAll(/^\| (-?\d+) \|/gm)].map(([, code = '']) => code);

  test('proves a refusal exactly by the codes of section 10.1, and by the texts of 10.4', () => {
    const text = section('10.1', '10.2');
    const rows = [...text.matchAll(/^\| ([\d, ]+) \| .* \| `(\w+)`.*\|$/gm)];
    expect(rows).toHaveLength([...text.matchAll(/^\| \d/gm)].length);
    const proposed = rows.flatMap(([, codes = '', ours = '']) =>
      codes.split(', ').map((code) => [code, ours] as const),
    );
    expect(proposed).toHaveLength(61);
    expect(bybit.refusals).toEqual({
      ...Object.fromEntries(proposed),
      [BALANCE]: 'INSUFFICIENT_FUNDS',
    });
  });

  test('proves nothing by a code that leaves it open, or that means too many requests', () => {
    const open = [...codesOf(section('10.2', '10.3')), ...codesOf(section('10.3', '10.4'))];
    expect(open).toHaveLength(34);
    expect(open).toEqual(expect.arrayContaining(['-1', '131001', '131082', '131214', '131200']));
    expect(open.filter((code) => code in bybit.refusals)).toEqual([]);
    const limits = bybit.rate_limit_codes ?? [];
    expect(limits).toEqual(['10006', '10018', 'access too frequent']);
    expect(limits.filter((code) => code in bybit.refusals)).toEqual([]);
    // Ten minutes without a request end the ban of an address (13).
    for (const code of ['10018', 'access too frequent'])
      expect(bybit.rate_limit_pauses?.[code]).toBeGreaterThan(600);
    expect(bybit.errors_with_success).toBe(true);
  });
});

test('nothing is promised of a repeat, and the sandbox may be used', () => {
  const { withdrawals, transfers } = bybit;
  for (const guarantee of [withdrawals, transfers]) {
    expect(guarantee?.same_key_safe).toBe(false);
    // The history comes from a replica (9).
    expect(guarantee?.settle_seconds).toBeGreaterThan(120);
  }
  expect(bybit.search.by).toBe('baseline');
  expect(bybit.sandbox_fault).toBeUndefined();
  expect(bybit.transfer_decimals).toBe(8);
  expect(bybit.account_types).toEqual({
    own: ['SPOT', 'USDT_FUTURE'],
    sub: ['SPOT', 'USDT_FUTURE'],
  });
});

test.each(['master', 'sub'] as const)('the name of a %s is its uid', (role) => {
  for (const uid of ['592334', '24617703', '123456789012345'])
    expect(bybit.accountFault(uid, role)).toBeNull();
  for (const name of ['desk@example.com', 'desk', '0592334', '1234567890123456', '12a'])
    expect(bybit.accountFault(name, role)).toContain('uid');
});

test("the time is Bybit's, beside the result", async () => {
  const { connection } = scripted({ publicGetV5MarketTime: example('time') });
  await expect(bybit.time(connection, call)).resolves.toBe(1_688_639_403_423);
  const asText = scripted({ publicGetV5MarketTime: { retCode: '0', time: '1688639403423' } });
  await expect(bybit.time(asText.connection, call)).resolves.toBe(1_688_639_403_423);
});

interface Library {
  readonly rateLimit: number;
  readonly api: {
    readonly private: Readonly<
      Record<'get' | 'post', Readonly<Record<string, { readonly cost: number }>>>
    >;
  };
}

test('the budget is below the limits of the calls, in units of the library', async () => {
  const { capacity = 0, units_per_second = 0 } = bybit.budget ?? {};
  const library: Readonly<Record<string, unknown>> = await import('ccxt');
  const { api, rateLimit } = new (library['bybit'] as new (settings: object) => Library)({});
  expect(rateLimit).toBe(20);
  // Most requests in so many seconds, by section 2.
  const limits = [
    ['post', 'v5/asset/withdraw/create', 5, 1],
    ['get', 'v5/asset/withdraw/query-record', 300, 60],
    ['post', 'v5/asset/withdraw/cancel', 60, 60],
    ['get', 'v5/asset/coin/query-info', 5, 1],
    ['post', 'v5/asset/transfer/inter-transfer', 60, 60],
    ['post', 'v5/asset/transfer/universal-transfer', 5, 1],
    ['get', 'v5/asset/transfer/query-inter-transfer-list', 60, 60],
    ['get', 'v5/asset/transfer/query-universal-transfer-list', 5, 1],
    ['get', 'v5/asset/transfer/query-account-coins-balance', 5, 1],
    ['get', 'v5/user/query-api', 10, 1],
  ] as const;
  for (const [method, path, most, seconds] of limits) {
    const cost = api.private[method][path]?.cost ?? 0;
    expect(cost).toBeGreaterThan(0);
    const sent = (Math.max(capacity, cost) + seconds * units_per_second) / cost;
    expect({ path, sent: Math.floor(sent) <= most }).toEqual({ path, sent: true });
  }
});

describe('the key', () => {
  const fault = (answer: object, needs = { withdraw: true }): Promise<string | null> =>
    bybit.keyFault(scripted({ [KEY]: answer }).connection, needs, call);
  const wallet = (...Wallet: readonly string[]): object => ({ permissions: { Wallet } });
  const sub = { isMaster: false, ...wallet('AccountTransfer') };

  test.each<[what: string, changes: object, withdraw: boolean, expected: string | null]>([
    ['all permissions', {}, true, null],
    ['no withdrawals', wallet('AccountTransfer'), true, 'may not withdraw'],
    ['no withdrawals to make', wallet('AccountTransfer'), false, null],
    ['no balances', wallet('Withdraw'), true, 'Account Transfer'],
    ['no permissions of wallets', { permissions: {} }, false, 'Account Transfer'],
    ['reading alone', { readOnly: 1 }, false, 'may only read'],
    ['reading alone, as a text', { readOnly: '1' }, false, 'may only read'],
    ['a classic account', { uta: 0 }, true, 'unified'],
    ['no word on the account', { uta: undefined }, true, 'unified'],
    // A sub-account cannot withdraw, so no key of it needs the permission.
    ['a sub-account', sub, true, null],
  ])('with %s', async (_, changes, withdraw, expected) => {
    const found = await fault(keyOf(changes), { withdraw });
    if (expected === null) expect(found).toBeNull();
    else expect(found).toContain(expected);
  });

  test.each<[string, object, string, 'master' | 'sub', string | null]>([
    ['the binding', {}, MASTER, 'master', null],
    ['another account', {}, '1448938', 'master', MASTER],
    ['a master, bound as a sub-account', {}, MASTER, 'sub', 'bound as of a sub-account'],
    ['a sub-account, bound as a master', sub, MASTER, 'master', 'bound as of a master'],
    ['a sub-account', sub, MASTER, 'sub', null],
    ['a long uid', { userID: 0, userIDInt64: '99999999999' }, '99999999999', 'master', null],
  ])('of %s', async (_, changes, account, account_role, expected) => {
    const binding = { account, account_role };
    const { connection, sent } = scripted({ [KEY]: keyOf(changes) });
    // Health has read the key, so the check before a send needs no request.
    await bybit.keyFault(connection, { withdraw: true }, call);
    const found = await bybit.bindingFault?.(connection, binding, call);
    expect(sent).toHaveLength(1);
    if (expected === null) expect(found).toBeNull();
    else expect(found).toContain(expected);
  });

  test('is refused as documented: it may only read, and of a classic account', async () => {
    await expect(fault(example('keyFault'))).resolves.toContain('may only read');
    const classic = example('keyFault, a key without addresses');
    await expect(fault(classic)).resolves.toContain('unified');
  });
});
