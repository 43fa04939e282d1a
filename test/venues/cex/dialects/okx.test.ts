/** Reads and errors of the dialect of OKX, against what others have seen and documented. */
import type { BalanceAccountType } from '../../../../venues/cex/dialect.ts';
import { okx } from '../../../../venues/cex/dialects/okx/dialect.ts';
import { call, changed, example, EXAMPLES, FACTS, faultOf, good, scripted } from './okx-script.ts';

describe('an error', () => {
  const errors: Readonly<Record<string, readonly [code: string, message: string]>> = {
    'withdraw, refused: balance': ['58350', 'Insufficient balance'],
    'withdraw, refused: address not on the allowlist': [
      '58207',
      'Withdrawal address is not whitelisted for verification exemption',
    ],
    'withdraw, refused: no address': ['58203', 'Please add a withdrawal address.'],
    'withdraw, refused: fee': ['58211', 'Withdrawal fee is lower than the lower limit'],
    'findWithdrawals, unknown client id': ['58215', 'Withdrawal ID does not exist.'],
    'findTransfers, unknown client id': [
      '58129',
      "clientId is incorrect or clientId does not match with 'type'",
    ],
    'error body, signed call with a wrong key': ['50111', 'Invalid OK-ACCESS-KEY'],
    'error body, unknown path': ['404', 'Not Found'],
    'error body, rate limit': ['50011', 'Too Many Requests'],
    'error body, busy': ['50013', 'System busy, please try again later.'],
    'error body, permission missing': [
      '50120',
      "This API key doesn't have permission to use this function",
    ],
  };

  test('is read from every example of one, and from no other answer', () => {
    const read = EXAMPLES.flatMap((each) => {
      const error = okx.readError(each.answer);
      return error === null ? [] : [[each.call, [error.code, error.message]] as const];
    });
    expect(Object.fromEntries(read)).toEqual(errors);
  });

  test.each<[unknown, ReturnType<typeof okx.readError>]>([
    [{ code: 0, msg: '', data: [] }, null],
    [{ data: [] }, null],
    [null, null],
    ['Bad Gateway', null],
    [{ code: '50001' }, { code: '50001', message: '' }],
    // The code of the only item counts instead of that of the answer.
    [
      { code: '1', msg: 'failed', data: [{ sCode: '58350', sMsg: 'Insufficient balance' }] },
      { code: '58350', message: 'Insufficient balance' },
    ],
    [
      { code: '0', msg: '', data: [{ sCode: 58350 }] },
      { code: '58350', message: '' },
    ],
    [{ code: '0', msg: '', data: [{ sCode: '0', sMsg: '' }] }, null],
    [
      { code: '1', msg: 'failed', data: [{ sCode: '0', sMsg: '' }] },
      { code: '1', message: 'failed' },
    ],
    // Of several items, none speaks for the request.
    [
      { code: '2', msg: 'in part', data: [{ sCode: '58350' }, { sCode: '0' }] },
      { code: '2', message: 'in part' },
    ],
  ])('of %j is %j', (body, error) => {
    expect(okx.readError(body)).toEqual(error);
  });

  const section = (number: string, next: string): string =>
    FACTS.slice(FACTS.indexOf(`### ${number}`), FACTS.indexOf(`### ${next}`));
  const codesOf = (text: string): readonly string[] =>
    [...text.matchAll(/^\| (\d+) \|/gm)].map(([, code = '']) => code);

  test('proves a refusal exactly by the codes of section 10.1, with the codes proposed there', () => {
    const rows = section('10.1', '10.2').matchAll(/^\| (\d+) \| \d+ \| .* \| `(\w+)`.*\|$/gm);
    const proposed = Object.fromEntries([...rows].map(([, code = '', ours]) => [code, ours]));
    expect(Object.keys(proposed)).toEqual(codesOf(section('10.1', '10.2')));
    expect(Object.keys(proposed)).toHaveLength(94);
    expect(okx.refusals).toEqual(proposed);
  });

  test('proves nothing by a code that leaves it open, or that means too many requests', () => {
    const open = [...codesOf(section('10.2', '10.3')), ...codesOf(section('10.3', '10.4'))];
    expect(open.length).toBeGreaterThan(50);
    expect(open).toEqual(expect.arrayContaining(['50004', '51000', '58124', '58112']));
    expect([...open, '58211'].filter((code) => code in okx.refusals)).toEqual([]);
    expect(okx.rate_limit_codes).toEqual(['50011', '50013', '50040', '58102']);
    expect(okx.rate_limit_codes?.filter((code) => !open.includes(code))).toEqual([]);
    expect(okx.errors_with_success).toBe(true);
  });
});

test('nothing is promised of a repeat, and no sandbox is used', () => {
  const open = { same_key_safe: false, settle_seconds: 60 };
  expect([okx.withdrawals, okx.transfers]).toMatchObject([open, open]);
  expect(okx.sandbox_fault).toContain('demo trading');
  expect(okx.addressBook).toBeUndefined();
  expect(okx.book_enforced).toBe(true);
});

test.each([
  ['treasury@example.com', 'master', null],
  ['hahatest1', 'sub', null],
  ['test-1', 'sub', null],
  ['desk@example.com', 'sub', 'name'],
  ['44705892343619584', 'sub', 'name'],
] as const)('the name %s of a %s has the fault %s', (account, role, fault) => {
  const found = okx.accountFault(account, role);
  if (fault === null) expect(found).toBeNull();
  else expect(found).toContain(fault);
});

test("the time is OKX's", async () => {
  const { connection } = scripted({ publicGetPublicTime: example('server time') });
  await expect(okx.time(connection, call)).resolves.toBe(1_597_026_383_085);
});

describe('the key', () => {
  test.each<[string, object, boolean, string | null]>([
    ['read_only,withdraw,trade', {}, true, null],
    ['trade,read_only', {}, false, null],
    ['trade,read_only', {}, true, 'the API key may not withdraw'],
    ['withdraw', {}, true, 'the API key may not read'],
    // No key of a sub-account can have the permission.
    ['read_only', { uid: '2', mainUid: '1' }, true, null],
    ['read_only', { uid: '1', mainUid: '1' }, true, 'the API key may not withdraw'],
  ])('with %s of %j, to withdraw: %s', async (perm, changes, withdraw, fault) => {
    const answer = changed('key permissions', { perm, ...changes });
    const { connection } = scripted({ privateGetAccountConfig: answer });
    await expect(okx.keyFault(connection, { withdraw }, call)).resolves.toBe(fault);
  });
});

describe('balances', () => {
  const limits = (ccy: string, maxWd: string): object => good({ ccy, maxWd, maxWdEx: '9' });
  const pool = (account_type: string, asset: string, amounts: object): object => ({
    ...{ account_type, asset, details: null },
    ...amounts,
  });
  const both = ['SPOT', 'USDT_FUTURE'] as const;

  test('of an account, recorded', async () => {
    const { connection, sent } = scripted({
      privateGetAssetBalances: example('balances, funding account (6), recorded'),
      privateGetAccountBalance: example('balances, trading account (18), recorded'),
      privateGetAccountMaxWithdrawal: limits('USDT', '90.5'),
    });
    await expect(okx.balances(connection, both, call)).resolves.toEqual([
      pool('SPOT', 'TUSD', { available: '100', withdrawable: '100', total: '100' }),
      pool('USDT_FUTURE', 'USDT', {
        available: '94.42612990333333',
        withdrawable: '90.5',
        total: '99.89469657000001',
      }),
    ]);
    expect(sent.every(({ parameters }) => Object.keys(parameters).length === 0)).toBe(true);
  });

  test('of a sub-account, by its name', async () => {
    const { connection, sent } = scripted({
      privateGetAssetSubaccountBalances: example('balances of a sub, funding'),
      privateGetAccountSubaccountBalances: example('balances of a sub, trading'),
      privateGetAccountSubaccountMaxWithdrawal: example(
        "how much may leave a sub's trading account",
      ),
    });
    const account = { sub_account: 'test1', types: both };
    await expect(okx.subBalances(connection, account, call)).resolves.toEqual([
      pool('SPOT', 'ETH', {
        available: '37.11827078',
        withdrawable: '37.11827078',
        total: '37.11827078',
      }),
      pool('USDT_FUTURE', 'USDT', {
        available: '101.5',
        withdrawable: '10600',
        total: '101.5',
      }),
    ]);
    expect(sent.map(({ parameters }) => parameters)).toEqual([
      { subAcct: 'test1' },
      { subAcct: 'test1' },
      { subAcct: 'test1' },
    ]);
  });

  const trading = async (detail: object, limit: object) => {
    const { connection } = scripted({
      privateGetAccountBalance: good({ details: [{ ccy: 'USDT', ...detail }] }),
      privateGetAccountMaxWithdrawal: limit,
    });
    return (await okx.balances(connection, ['USDT_FUTURE'], call))[0];
  };

  test('that are a debt are nothing, and are shown', async () => {
    await expect(trading({ availBal: '-1', eq: '-2.5' }, limits('USDT', '0'))).resolves.toEqual({
      ...{ account_type: 'USDT_FUTURE', asset: 'USDT' },
      ...{ available: '0', withdrawable: '0', total: '0', details: { balance: '-2.5' } },
    });
  });

  test('that OKX does not show are null, and more decimals than an amount has are cut', async () => {
    const shown = { availBal: '', eq: '0.1234567890123456789' };
    await expect(trading(shown, limits('BTC', '1'))).resolves.toMatchObject({
      available: null,
      withdrawable: null,
      total: '0.123456789012345678',
    });
  });

  test.each<[string, readonly BalanceAccountType[], readonly string[]]>([
    ['the funding account alone', ['SPOT'], ['privateGetAssetBalances']],
    // Without a currency in it, nothing can leave it.
    ['an empty trading account', ['USDT_FUTURE'], ['privateGetAccountBalance']],
  ])('read no more than %s', async (_, types, methods) => {
    const { connection, sent } = scripted({
      privateGetAssetBalances: good(),
      privateGetAccountBalance: good({ details: [] }),
    });
    await expect(okx.balances(connection, types, call)).resolves.toEqual([]);
    expect(sent.map(({ method }) => method)).toEqual(methods);
  });

  test('of an answer without data are no empty account', async () => {
    const { connection } = scripted({ privateGetAssetBalances: { code: '0', msg: '' } });
    const fault = await faultOf(okx.balances(connection, ['SPOT'], call));
    expect(fault).toMatchObject({ kind: 'protocol', code: 'CEX_PROTOCOL_ERROR' });
  });
});
