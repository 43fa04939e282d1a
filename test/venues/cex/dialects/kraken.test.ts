/** Reads and errors of the dialect of Kraken, against what others have seen and documented. */
import type { BalanceAccountType } from '../../../../venues/cex/dialect.ts';
import { kraken } from '../../../../venues/cex/dialects/kraken/dialect.ts';
import {
  assets,
  call,
  example,
  EXAMPLES,
  FACTS,
  faultOf,
  good,
  PERIOD,
  scripted,
} from './kraken-script.ts';

describe('an error', () => {
  test('is read from every example of one, and from no other answer', () => {
    const read = EXAMPLES.flatMap((each) => {
      const error = kraken.readError(each.answer);
      return error === null ? [] : [[each.call, error.code, error.message]];
    });
    expect(read).toEqual(
      [
        ['EGeneral:Invalid arguments', 'EGeneral:Invalid arguments:ordertype'],
        ['EAPI:Invalid key', ''],
        ['EFunding:Unknown withdraw key', ''],
        ['EFunding:Unknown asset', ''],
        ['EGeneral:Permission denied', ''],
        ['EAPI:Rate limit exceeded', ''],
        ['EGeneral:Too many requests', ''],
      ].map((each) => ['error body', ...each]),
    );
  });

  const KEY = 'EAPI:Invalid key';
  const LABEL = 'EFunding:Unknown withdraw key';
  const OPEN = 'EService:Unavailable';
  const WARNING = 'WGeneral:Danger';
  const MADE = { refid: 'FTQcuak-V6Za8qrWnhzTx67yYHz8Tg' };

  test.each<[what: string, body: unknown, code: string | null]>([
    ['no body', undefined, null],
    ['a text', 'Bad Gateway', null],
    ['no error', { error: [], result: {} }, null],
    ['a text for a list', { error: 'EFunding:No funding method' }, 'EFunding:No funding method'],
    ['a warning with a result', { error: [WARNING], result: { ledger: {} } }, null],
    ['a warning alone', { error: [WARNING] }, null],
    ['a withdrawal that was made', { error: [], result: MADE }, null],
    ['one with a warning', { error: [WARNING], result: MADE }, null],
    ['one with a refusal', { error: [LABEL], result: MADE }, null],
    [
      'a refusal without an id',
      { error: [LABEL], result: { refid: '' } },
      `${LABEL} beside a result`,
    ],
    ['a refusal with an empty result', { error: [LABEL], result: [] }, LABEL],
    ['a refusal with a result', { error: [LABEL], result: true }, `${LABEL} beside a result`],
    ['two refusals', { error: [KEY, LABEL] }, KEY],
    ['a refusal and an open code', { error: [LABEL, OPEN] }, OPEN],
    ['a refusal and a warning', { error: [LABEL, WARNING] }, WARNING],
    ['all three', { error: [WARNING, LABEL, OPEN] }, OPEN],
    ['blanks', { error: [' EGeneral:  Invalid\targuments : x'] }, 'EGeneral:Invalid arguments'],
    ['a time', { error: ['EService: Throttled: 1688669448'] }, 'EService:Throttled'],
    ['a number', { error: ['EGeneral:Internal error:5'] }, 'EGeneral:Internal error'],
    ['information where none is known', { error: [`${LABEL}:x`] }, `${LABEL}:x`],
    ['a wrong address', { error: ['Invalid withdrawal address'] }, 'Invalid withdrawal address'],
    [
      'one with a prefix',
      { error: ['EFunding: Invalid withdrawal address'] },
      'Invalid withdrawal address',
    ],
    ['one as a warning', { error: ['WFunding:Invalid withdrawal address'] }, null],
    [
      'one in other words',
      { error: ['EFunding:Invalid withdrawal address amount'] },
      'EFunding:Invalid withdrawal address amount',
    ],
    ['a word like a warning', { error: ['Withdrawal failed'] }, 'Withdrawal failed'],
    ['an empty text', { error: [''] }, ''],
  ])('is read: %s', (_, body, code) => {
    expect(kraken.readError(body)?.code ?? null).toBe(code);
  });

  test('shows every entry', () => {
    expect(kraken.readError({ error: [KEY, OPEN] })?.message).toBe(`${KEY}, ${OPEN}`);
  });

  test('proves a refusal exactly by the rows of section 8 that have a code of ours', () => {
    const section = FACTS.slice(FACTS.indexOf('## 8. Errors'), FACTS.indexOf('## 9. '));
    const rows = section.matchAll(/^\| ([EI][^|]+) \|.*\| `(\w+)` \|$/gm);
    const proposed = [...rows].flatMap(([, codes = '', ours = '']) =>
      codes
        .replace(/ ?[[(].*$/, '')
        .split(', ')
        .map((code) => [code, ours] as const),
    );
    expect(proposed).toHaveLength(11);
    expect(kraken.refusals).toEqual(Object.fromEntries(proposed));
  });

  test('about too many requests is no refusal', () => {
    const limits = kraken.rate_limit_codes ?? [];
    expect(limits).toContain('EAPI:Rate limit exceeded');
    expect(limits.filter((code) => code in kraken.refusals)).toEqual([]);
    expect(limits.filter((code) => !FACTS.includes(code))).toEqual([]);
    expect(kraken.errors_with_success).toBe(true);
  });
});

test('nothing is promised of a repeat, nonces grow, and no sandbox is used', () => {
  expect(kraken.withdrawals).toMatchObject({ same_key_safe: false, settle_seconds: 300 });
  expect(kraken.transfers).toBeNull();
  expect(kraken.growing_nonce).toBe(true);
  expect(kraken.sandbox_fault).toContain('no test network');
  expect(kraken.accountFault('treasury', 'master')).toBeNull();
  expect(kraken.withdrawalId('key')).toMatch(/^[0-9a-f]{32}$/);
});

interface Library {
  readonly api: {
    readonly private: { readonly post: Readonly<Record<string, { readonly cost: number }>> };
  };
}

test('the budget is below the counter of the lowest tier, in units of the library', async () => {
  const { capacity = 0, units_per_second = 0 } = kraken.budget ?? {};
  // Section 12: 15, and 0.33 per second. The library counts 3 for a request that counts 1.
  expect(capacity / 3).toBe(14);
  expect(units_per_second / 3).toBeCloseTo(0.33, 10);
  const library: Readonly<Record<string, unknown>> = await import('ccxt');
  const { api } = new (library['kraken'] as new (settings: object) => Library)({});
  const { post } = api.private;
  const names = ['Withdraw', 'WithdrawStatus', 'BalanceEx', 'Ledgers'];
  expect(names.map((each) => post[each]?.cost)).toEqual([3, 3, 3, 6]);
});

test.each([
  [0, 1_688_669_448_000],
  [1, 1_391_835_876_000],
])("the time is Kraken's (example %i)", async (index, expected) => {
  const { connection } = scripted({ publicGetTime: example('time', index) });
  await expect(kraken.time(connection, call)).resolves.toBe(expected);
});

describe('the key', () => {
  const fault = (info: object, withdraw = true): Promise<string | null> =>
    kraken.keyFault(
      scripted({ privatePostGetApiKeyInfo: good(info) }).connection,
      { withdraw },
      call,
    );
  const documented = example('keyPermissions')['result'] as object;
  const recorded = example('keyPermissions', 1)['result'] as object;

  test('is read in either spelling', async () => {
    await expect(fault(documented)).resolves.toBeNull();
    await expect(fault({ ...recorded, nonce_window: '0' })).resolves.toBeNull();
  });

  test.each<[what: string, info: object, withdraw: boolean, expected: string | null]>([
    ['a nonce window, as recorded', recorded, true, 'nonce window'],
    ['a nonce window', { ...documented, nonceWindow: 1 }, false, 'nonce window'],
    ['an unknown nonce window', { ...documented, nonceWindow: undefined }, false, 'nonce window'],
    ['a start of its period', { ...documented, queryFrom: '1700000000' }, true, 'whole history'],
    ['an end of its period', { ...recorded, query_to: 1700000000 }, true, 'whole history'],
    ['no withdrawals', { ...documented, permissions: ['query-funds'] }, true, 'may not withdraw'],
    ['no withdrawals to make', { ...documented, permissions: ['query-funds'] }, false, null],
    ['no reading', { ...documented, permissions: ['withdraw-funds'] }, true, 'may not read'],
    ...['add-withdraw-address', 'update-withdraw-address'].map(
      (each): [string, object, boolean, string] => [
        each,
        { ...documented, permissions: ['query-funds', 'withdraw-funds', each] },
        true,
        'may change the address book',
      ],
    ),
  ])('with %s', async (_, info, withdraw, expected) => {
    const found = await fault(info, withdraw);
    if (expected === null) expect(found).toBeNull();
    else expect(found).toContain(expected);
  });
});

describe('balances', () => {
  const pools = (
    result: unknown,
    types: readonly BalanceAccountType[] = ['SPOT'],
  ): ReturnType<typeof kraken.balances> =>
    kraken.balances(
      scripted({ publicGetAssets: assets(), privatePostBalanceEx: good(result) }).connection,
      types,
      call,
    );
  const pool = (asset: string, [available, withdrawable, total]: readonly string[]) => ({
    ...{ account_type: 'SPOT', asset, available, withdrawable, total },
    details: null,
  });

  test('are what orders do not hold, in our names (recorded)', async () => {
    const found = await pools(example('balances', 1)['result']);
    const named = Object.fromEntries(found.map((each) => [each.asset, each]));
    expect(Object.keys(named).sort()).toEqual(
      ['ARB', 'ATOM', 'ATOM.S', 'BTC', 'ETH', 'LUNA', 'USD', 'USDT'].sort(),
    );
    expect(named['ATOM']).toEqual(pool('ATOM', ['10.57952001', '10.57952001', '14.50385601']));
    expect(named['LUNA']).toEqual(pool('LUNA', ['19984', '19984', '41634.98976651']));
    expect(named['ETH']).toEqual(pool('ETH', ['0.16909761', '0.16909761', '0.16909761']));
    expect(named['USDT']).toEqual(pool('USDT', ['0', '0', '0']));
  });

  test('are read from numbers too (documented)', async () => {
    expect(await pools(example('balances')['result'])).toEqual([
      pool('USD', ['17185.45', '17185.45', '25435.21']),
      pool('BTC', ['0.4012', '0.4012', '1.2435']),
    ]);
  });

  test('a number with more digits than it keeps is refused', async () => {
    const fault = await faultOf(pools({ ZUSD: { balance: 0.1234567890123456, hold_trade: 0 } }));
    expect(fault).toMatchObject({ kind: 'protocol', code: 'CEX_PROTOCOL_ERROR' });
    expect(await pools({ XXBT: { balance: 1e-7, hold_trade: 0 } })).toEqual([
      pool('BTC', ['0.0000001', '0.0000001', '0.0000001']),
    ]);
  });

  test('that earn rewards count with their asset, and what is staked does not', async () => {
    const hold_trade = '0';
    const found = await pools({
      USDT: { balance: '10', hold_trade: '4' },
      'USDT.F': { balance: '2.5', hold_trade },
      'XBT.F': { balance: '1', hold_trade },
      'XBT.M': { balance: '3', hold_trade },
    });
    expect(found).toEqual([
      { ...pool('USDT', ['8.5', '8.5', '12.5']), details: { auto_earn: '2.5' } },
      { ...pool('BTC', ['1', '1', '1']), details: { auto_earn: '1' } },
      pool('BTC.M', ['0', '0', '3']),
    ]);
  });

  test('a credit may be used and not withdrawn, and nothing of a debt may leave', async () => {
    const found = await pools({
      ZUSD: { balance: '100', credit: '50', credit_used: '20', hold_trade: '30' },
      ZEUR: { balance: '-5.5', hold_trade: '0' },
      USDC: { balance: '10', credit: '5', credit_used: '9', hold_trade: '0' },
    });
    expect(found).toEqual([
      pool('USD', ['100', '70', '100']),
      { ...pool('EUR', ['0', '0', '0']), details: { balance: '-5.5' } },
      pool('USDC', ['6', '6', '10']),
    ]);
  });

  test('of other pools and of sub-accounts are not read', async () => {
    await expect(pools({}, ['USDT_FUTURE'])).resolves.toEqual([]);
    expect(kraken.account_types).toEqual({ own: ['SPOT'], sub: [] });
    const { connection, sent } = scripted({});
    const fault = await faultOf(
      kraken.subBalances(connection, { sub_account: 'desk', types: ['SPOT'] }, call),
    );
    expect(fault).toMatchObject({ kind: 'rejected', code: 'CREDENTIALS_MISSING' });
    expect(sent).toEqual([]);
  });
});

test('a transfer is refused before anything is sent, so none is looked for', async () => {
  const { connection, sent } = scripted({});
  const end = (sub_account: string | null) => ({ sub_account, account_type: 'SPOT' as const });
  const transfer = {
    reference: 'r',
    source: end(null),
    destination: end('desk'),
    asset: 'BTC',
    amount: '1',
  };
  expect(await faultOf(kraken.transfer(connection, transfer, call))).toMatchObject({
    kind: 'rejected',
    code: 'TRANSFERS_NOT_SUPPORTED',
  });
  await expect(kraken.findTransfers(connection, transfer, PERIOD, call)).resolves.toEqual([]);
  expect(sent).toEqual([]);
});
