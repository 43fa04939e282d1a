/** Keys, errors and balances of the dialect of Coinbase, against what others have seen. */
import { generateKeyPairSync } from 'node:crypto';
import type { CexCredentials } from '../../../../venues/cex/credentials.ts';
import { coinbase } from '../../../../venues/cex/dialects/coinbase/dialect.ts';
import { secretOf } from '../../../../venues/cex/secret.ts';
import {
  ACCOUNTS,
  accounts,
  BALANCES,
  balances,
  call,
  example,
  EXAMPLES,
  FACTS,
  faultOf,
  page,
  scripted,
  WALLET,
} from './coinbase-script.ts';

describe('an error', () => {
  const errors: Readonly<Record<string, readonly [code: string, message: string]>> = {
    'withdraw, second factor required': [
      'two_factor_required',
      'Two step verification required to complete this request. Re-play the request with CB-2FA-Token header.',
    ],
    'withdraw, refused': ['validation_error', 'Please enter a valid email or bitcoin address'],
    'withdraw, error': ['internal_server_error', 'An internal error has occurred.'],
    'findWithdrawals by id, unknown': ['not_found', 'Not found'],
    'error body, generic': ['not_found', 'Not found'],
    'error body, with a link': ['invalid_scope', 'Invalid scope'],
    'error body, rate limit': ['rate_limit_exceeded', 'Too many requests'],
    'error body, clock': ['authentication_error', 'request timestamp expired'],
    'error body, several': [
      'validation_error',
      "Please enter a valid email or bitcoin address; To financial institution can't be blank",
    ],
    'error body, v3, permission missing': ['PERMISSION_DENIED', 'Missing required scopes'],
    'error body, v3, account not granted': ['PERMISSION_DENIED', 'Target Account Not Tradable'],
    'error body, v3, unknown order': ['unknown', 'order with this orderID was not found'],
    'error body, v3, not found': ['NOT_FOUND', 'fixture'],
  };

  test('is read from every example of one, and from no other answer', () => {
    const read = EXAMPLES.flatMap((each) => {
      const error = coinbase.readError(each.answer);
      return error === null ? [] : [[each.call, [error.code, error.message]] as const];
    });
    // Of several examples of a call the last one counts here.
    expect(Object.fromEntries(read)).toEqual(errors);
  });

  test.each<[unknown, ReturnType<typeof coinbase.readError>]>([
    // Of several errors, none speaks for the request.
    [{ errors: [{ id: 'validation_error' }, { id: 'internal_server_error' }] }, null],
    [{ errors: [] }, null],
    [
      { errors: [{ id: 'not_found' }], user_warnings: [] },
      { code: 'not_found', message: '' },
    ],
    [
      { error: 'NOT_FOUND', error_details: 'none' },
      { code: 'NOT_FOUND', message: 'none' },
    ],
    // Of OAuth, whose ids are like those of requests.
    [{ error: 'invalid_request', error_description: 'malformed' }, null],
    [{ data: [], warnings: [{ id: 'missing_version', message: 'x' }] }, null],
    [{ code: 5, message: 'of the gateway' }, null],
    [null, null],
    ['Bad Gateway', null],
  ])('of %j is %j', (body, error) => {
    expect(coinbase.readError(body)).toEqual(error);
  });

  const section = (number: string, next: string): string =>
    FACTS.slice(FACTS.indexOf(`### ${number}`), FACTS.indexOf(next));
  /** The ids of a table's first column, which may hold several. */
  const rowsOf = (text: string): readonly (readonly [ids: readonly string[], rest: string])[] =>
    [...text.matchAll(/^\| (`[^|]+) \|(.*)\|$/gm)].map(([, ids = '', rest = '']) => [
      [...ids.matchAll(/`(\w+)`/g)].map(([, id = '']) => id),
      rest,
    ]);

  test('proves a refusal exactly by the ids of section 13.1, with the codes proposed there', () => {
    const proposed = rowsOf(section('13.1', '### 13.2')).flatMap(([ids, rest]) =>
      ids.map((id) => [id, /`(\w+)` $/.exec(rest)?.[1]]),
    );
    expect(proposed).toHaveLength(18);
    expect(coinbase.refusals).toEqual(Object.fromEntries(proposed));
  });

  test('proves nothing by an id that leaves it open, or that means too many requests', () => {
    const open = rowsOf(section('13.2', '## 14')).flatMap(([ids]) => ids);
    expect(open).toHaveLength(8);
    expect(open.filter((id) => id in coinbase.refusals)).toEqual([]);
    expect(coinbase.rate_limit_codes).toEqual(['rate_limit_exceeded', 'resource_exhausted']);
    expect(coinbase.errors_with_success).toBeUndefined();
  });
});

test('nothing is promised of a repeat, and neither sandbox, transfers nor a book are used', () => {
  // A token is valid for 120 s.
  expect(coinbase.withdrawals).toMatchObject({ same_key_safe: false, settle_seconds: 180 });
  expect(coinbase.transfers).toBeNull();
  expect(coinbase.sandbox_fault).toContain('sandbox');
  expect([coinbase.addressBook, coinbase.book_enforced]).toEqual([undefined, undefined]);
  expect(coinbase.fee_after_send).toBe(true);
});

test.each([
  ['treasury@example.com', 'master', null],
  ['treasury', 'master', null],
  ['desk', 'sub', 'master'],
  ['8bfc20d7-f7c6-4422-bf07-8243ca4169fe', 'master', 'portfolio'],
  ['organizations/a/apiKeys/b', 'master', 'key'],
] as const)('the name %s of a %s has the fault %s', (account, role, fault) => {
  const found = coinbase.accountFault(account, role);
  if (fault === null) expect(found).toBeNull();
  else expect(found).toContain(fault);
});

test("the time is Coinbase's", async () => {
  const { connection } = scripted({ v3PublicGetBrokerageTime: example('time', 1) });
  await expect(coinbase.time(connection, call)).resolves.toBe(1_709_005_034_333);
});

describe('the form of a key', () => {
  const pem = (namedCurve: string): string =>
    generateKeyPairSync('ec', { namedCurve })
      .privateKey.export({ type: 'sec1', format: 'pem' })
      .toString();
  const GOOD = pem('prime256v1');
  const pkcs8 = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();
  const NAME = 'organizations/3b910e93-0000/apiKeys/5f1c-0000';
  const keys = (api_key: string, secret: string, password?: string): CexCredentials => ({
    api_key: secretOf(api_key),
    secret: secretOf(secret),
    ...(password === undefined ? {} : { password: secretOf(password) }),
  });

  test('is that of an ES256 key of Coinbase App', () => {
    expect(coinbase.credentialsFault?.(keys(NAME, GOOD))).toBeNull();
  });

  test.each<[string, CexCredentials, string]>([
    ['a passphrase', keys(NAME, GOOD, 'pass-phrase'), 'password'],
    ['a name that is a UUID', keys('d2efa49a-369c-43d7-a60e-ae26e28853c2', GOOD), 'api_key'],
    ['a legacy key', keys('abcdefghijklmnop', 'a'.repeat(32)), 'api_key'],
    ['key and name exchanged', keys(GOOD, NAME), 'api_key'],
    ['an Ed25519 key', keys(NAME, `${'a'.repeat(86)}==`), 'secret'],
    ['no real line breaks', keys(NAME, GOOD.replaceAll('\n', '\\n')), 'secret'],
    ['another curve', keys(NAME, pem('secp256k1')), 'secret'],
    // The library signs with no key in this form.
    ['another form of the PEM', keys(NAME, pkcs8), 'secret'],
    ['a PEM that is cut', keys(NAME, GOOD.slice(0, 120)), 'secret'],
  ])('is refused with %s, and is not shown', (_, bad, field) => {
    const fault = coinbase.credentialsFault?.(bad);
    expect(fault).toMatch(new RegExp(`^${field} must`));
    for (const each of [bad.api_key, bad.secret, bad.password])
      if (each !== undefined) expect(fault).not.toContain(each.reveal());
  });
});

describe('the key', () => {
  const READ = { can_view: true, can_transfer: false, portfolio_type: 'DEFAULT' };
  test.each<[object, boolean, string | null]>([
    [{ ...READ, can_transfer: true }, true, null],
    [READ, false, null],
    [{ ...READ, portfolio_type: undefined }, false, null],
    [READ, true, 'may not withdraw'],
    [{ ...READ, can_transfer: undefined, can_withdraw: true }, true, 'may not withdraw'],
    [{ ...READ, can_transfer: 'true' }, true, 'may not withdraw'],
    [{ ...READ, can_view: false, can_transfer: true }, true, 'may not read'],
    [{ ...READ, portfolio_type: 'CONSUMER' }, false, 'another portfolio'],
    [{ ...READ, portfolio_type: 'INTX' }, false, 'another portfolio'],
  ])('with %j, to withdraw: %s, has the fault %s', async (answer, withdraw, fault) => {
    const { connection } = scripted({ v3PrivateGetBrokerageKeyPermissions: answer });
    const found = await coinbase.keyFault(connection, { withdraw }, call);
    if (fault === null) expect(found).toBeNull();
    else expect(found).toContain(fault);
  });
});

describe('balances', () => {
  const read = async (
    answer: object | ((parameters: object) => object),
    listed: object = accounts(),
  ) => {
    const { connection, sent } = scripted({ [BALANCES]: answer as object, [ACCOUNTS]: listed });
    return { pools: await coinbase.balances(connection, ['SPOT'], call), sent };
  };
  const value = (text: string, currency = 'BTC') => ({ value: text, currency });

  test('are what is free, and what is held in the total alone', async () => {
    const { pools } = await read(balances({ hold: value('0.0700000000000000') }));
    expect(pools).toEqual([
      {
        ...{ account_type: 'SPOT', asset: 'BTC', details: null },
        ...{ available: '1.23', withdrawable: '1.23', total: '1.3' },
      },
    ]);
  });

  test('are read to the last page, by its cursor', async () => {
    const other = example('balances', 1);
    const { pools, sent } = await read((parameters) =>
      'cursor' in parameters ? other : example('balances'),
    );
    expect(pools.map(({ asset }) => asset)).toEqual(['BTC', 'USDC']);
    expect(sent.map(({ parameters }) => parameters)).toEqual([
      { limit: 250 },
      { limit: 250, cursor: '789100' },
    ]);
  });

  test('that repeat a page have a fault, and are not read for ever', async () => {
    expect(await faultOf(read(example('balances')))).toMatchObject({ kind: 'protocol' });
  });

  test('of several accounts of an asset are added up, and what is in the wallet may leave', async () => {
    const [one] = (balances() as { accounts: readonly object[] }).accounts;
    const of = (uuid: string, amount: string): object => ({
      ...{ ...one, uuid },
      ...{ available_balance: value(amount), hold: value('0') },
    });
    const vault = of('58542935-67b5-56e1-a3f9-42686e07fa40', '2');
    const { pools, sent } = await read({ accounts: [vault, of(WALLET, '5')], has_next: false });
    expect(pools).toMatchObject([{ available: '7', withdrawable: '5', total: '7' }]);
    expect(sent.map(({ method }) => method)).toEqual([BALANCES, ACCOUNTS]);
    // Nothing shows which one pays: neither is a wallet, or both are.
    const none = await read({ accounts: [vault, of('another', '5')], has_next: false });
    expect(none.pools).toMatchObject([{ withdrawable: null }]);
    const second = '3bbf394c-193b-5b2a-9155-3b4732659ede';
    const [, wallet] = (accounts() as { data: readonly object[] }).data;
    const both = await read(
      { accounts: [of(WALLET, '5'), of(second, '2')], has_next: false },
      page([wallet!, { ...wallet, id: second }]),
    );
    expect(both.pools).toMatchObject([{ available: '7', withdrawable: null }]);
  });

  test('that are a debt are nothing', async () => {
    const { pools } = await read(balances({ available_balance: value('-5'), hold: value('1') }));
    expect(pools).toMatchObject([{ available: '0', withdrawable: '0', total: '0' }]);
  });

  test.each<[string, object]>([
    ['in another asset', { hold: value('1', 'ETH') }],
    ['that is a number', { available_balance: { value: 1.23, currency: 'BTC' } }],
  ])('with a figure %s are not read', async (_, changes) => {
    expect(await faultOf(read(balances(changes)))).toMatchObject({ kind: 'protocol' });
  });

  test('of a pool that Coinbase does not have are none, without a call', async () => {
    const { connection, sent } = scripted({});
    await expect(coinbase.balances(connection, ['FUNDING'], call)).resolves.toEqual([]);
    expect(sent).toEqual([]);
  });
});

test('a sub-account has no balances, and a transfer is not sent', async () => {
  const { connection, sent } = scripted({});
  const sub = coinbase.subBalances(connection, { sub_account: 'a', types: ['SPOT'] }, call);
  expect(await faultOf(sub)).toMatchObject({ kind: 'rejected', code: 'CREDENTIALS_MISSING' });
  const side = { sub_account: null, account_type: 'SPOT' } as const;
  const transfer = { source: side, destination: side, asset: 'BTC', amount: '1' };
  const moved = coinbase.transfer(connection, { reference: 'r', ...transfer }, call);
  expect(await faultOf(moved)).toMatchObject({ code: 'TRANSFERS_NOT_SUPPORTED' });
  expect(sent).toEqual([]);
});
