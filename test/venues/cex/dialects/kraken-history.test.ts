/** What Kraken's histories show: withdrawals, deposits and whole books, with all their pages. */
import type { Parameters } from '../../../../venues/cex/connection.ts';
import type { ListedWithdrawal } from '../../../../venues/cex/dialect.ts';
import { kraken } from '../../../../venues/cex/dialects/kraken/dialect.ts';
import {
  assets,
  call,
  DAY,
  example,
  faultOf,
  good,
  PERIOD,
  recordOf,
  scripted,
} from './kraken-script.ts';

type Script = ReturnType<typeof scripted>;

const STATUS = 'privatePostWithdrawStatus';
const DEPOSITS = 'privatePostDepositStatus';
const TXID = '29323ce235cee8dae22503caba7....8ad3a506879a03b1e87992923d80428';

const script = (answers: Readonly<Record<string, object>>): Script =>
  scripted({ publicGetAssets: assets(), ...answers });

function list(
  { connection }: Script,
  asset: string,
  period = PERIOD,
): Promise<readonly ListedWithdrawal[]> {
  const { search } = kraken;
  if (search.by !== 'baseline') throw new Error('no list');
  return search.list(connection, { asset, period }, call);
}

const listed = (record: object, asset: string): Promise<readonly ListedWithdrawal[]> =>
  list(script({ [STATUS]: good([record]) }), asset);

describe('the list of withdrawals', () => {
  test('is read from paged answers (recorded)', async () => {
    const pages = [example('findWithdrawals', 2), good({ withdrawals: [], next_cursor: null })];
    const { connection, sent } = script({
      [STATUS]: () => pages.shift() ?? {},
      privatePostWithdrawAddresses: good([]),
    });
    expect(await list({ connection, sent }, 'USDT')).toEqual([
      {
        id: 'BSNFZU2-MEFN4G-J3NEZV',
        status: 'completed',
        exchange_status: 'Success',
        asset: 'USDT',
        network: 'Tron',
        address: 'TQmdxSuC16EhFg8FZWtYgrfFRosoRF7bCp',
        tag: null,
        net_amount: '1996.5',
        fee: '2.5',
        tx_hash: '1c7a642fb7387bbc2c6a2c509fd1ae146937f4cf793b4079a4f0715e3a02615a',
        transaction: '1c7a642fb7387bbc2c6a2c509fd1ae146937f4cf793b4079a4f0715e3a02615a',
        at: '2022-11-22T14:17:37.000Z',
      },
    ]);
    const cursors = sent.flatMap(({ parameters }) => parameters['cursor'] ?? []);
    expect(cursors).toEqual([true, expect.stringMatching(/^HgAAAAAAAABGVFRSd3k1LVF4Y0JQ/)]);
  });

  test('is read from flat answers, also with texts for numbers (recorded)', async () => {
    expect(await listed(recordOf('findWithdrawals', 4), 'ETH')).toMatchObject([
      {
        id: 'FTcKzfZ-dhGXkAnj7RIPePzuzei2LH',
        status: 'completed',
        network: 'Ethereum',
        address: '0xade09131c6f43fe22c2cbabb759636c43cfc181e',
        net_amount: '0.00488',
        fee: '0.00012',
        at: '2025-08-19T21:07:41.000Z',
      },
    ]);
    expect(await listed(recordOf('findWithdrawals', 3), 'ETH')).toMatchObject([
      { network: null, net_amount: '9.995', fee: '0.005' },
    ]);
    const scrambled = recordOf('findWithdrawals', 1, { key: null });
    expect(await listed(scrambled, 'USDT')).toMatchObject([
      { net_amount: '10', fee: '3', at: '2024-05-05T15:40:02.000Z' },
    ]);
  });

  test('is of the asset alone, whatever Kraken lists', async () => {
    const answer = good([recordOf('findWithdrawals', 4), recordOf('findWithdrawals', 3)]);
    const { connection, sent } = script({ [STATUS]: answer });
    expect(await list({ connection, sent }, 'BTC')).toEqual([]);
    expect(sent.at(-1)).toMatchObject({ method: STATUS, parameters: { asset: 'XBT' } });
    expect(await list({ connection, sent }, 'ETH')).toHaveLength(2);
    // Names hardly ever change, so they are not read each time.
    expect(sent.filter(({ method }) => method === 'publicGetAssets')).toHaveLength(1);
  });

  test.each<[status: string, property: string | null, expected: string]>([
    ['Initial', null, 'pending'],
    ['Pending', null, 'pending'],
    ['Settled', null, 'pending'],
    ['Pending', 'onhold', 'pending'],
    ['Pending', 'cancel-pending', 'pending'],
    ['Pending', 'cancel-denied', 'pending'],
    ['Pending', 'canceled', 'pending'],
    ['Success', null, 'completed'],
    ['Success', '', 'completed'],
    ['Success', 'cancel-denied', 'completed'],
    ['Success', 'return', 'pending'],
    ['Success', 'onhold', 'pending'],
    ['Success', 'canceled', 'pending'],
    ['Failure', null, 'failed'],
    ['Failure', 'canceled', 'failed'],
    ['Failure', 'return', 'pending'],
    ['Partial', null, 'pending'],
    ['success', null, 'pending'],
    ['constructor', null, 'pending'],
  ])('shows %s with %s as %s', async (status, property, expected) => {
    const changes = { status, 'status-prop': property, key: null };
    const [record] = await listed(recordOf('findWithdrawals', 0, changes), 'BTC');
    expect(record?.status).toBe(expected);
    expect(record?.exchange_status).toContain(status);
    expect(record?.transaction).toBe(expected === 'completed' ? TXID : null);
  });

  test.each<[what: string, changes: object, hash: string | null]>([
    ['a placeholder', { txid: 'THVRQM-33VKH-UCI7BS' }, null],
    ['a payment over Lightning', { network: 'Lightning' }, null],
    ['a payment on a chain', { network: 'Bitcoin' }, TXID],
    ['no transaction', { txid: null }, null],
  ])('has the hash of %s', async (_, changes, hash) => {
    const record = recordOf('findWithdrawals', 0, { status: 'Success', key: null, ...changes });
    const [found] = await listed(record, 'BTC');
    expect(found?.tx_hash).toBe(hash);
  });

  describe('where addresses have tags', () => {
    const address = 'cosmos1c4k24jzduc365kywrsvf5ujz4ya6mwymy8vq4q';
    const record = (key: string | null) =>
      recordOf('findWithdrawals', 0, { asset: 'ATOM', info: address, key });
    const tagOf = async (key: string | null, book: object) => {
      const found = script({
        [STATUS]: good([record(key)]),
        privatePostWithdrawAddresses: book,
      });
      return (await list(found, 'ATOM'))[0]?.tag;
    };

    test('takes the tag from the book (recorded)', async () => {
      const book = example('addressBook', 1);
      expect(await tagOf('Coinbase Custody', book)).toBe('12349999');
      expect(await tagOf('another label', book)).toBeNull();
      expect(await tagOf(null, {})).toBeNull();
    });

    test('does without it where the label has moved, or the key may not read the book', async () => {
      const [moved] = example('addressBook', 1)['result'] as readonly object[];
      const book = good([{ ...moved, address: 'cosmos1other' }]);
      expect(await tagOf('Coinbase Custody', book)).toBeNull();
      const denied = { error: ['EGeneral:Permission denied'] };
      expect(await tagOf('Coinbase Custody', denied)).toBeNull();
    });
  });
});

/** Kraken's history of `total` withdrawals, the newest first, one each second. */
function history(total: number, pageOf: (records: readonly object[], from: number) => object) {
  const now = Math.floor(Date.now() / 1_000);
  const all = Array.from({ length: total }, (_, index) => ({
    ...recordOf('findWithdrawals', 4),
    refid: `R${String(index)}`,
    time: now - index,
  }));
  return ({ cursor, end }: Parameters): object => {
    const shown = all.filter(({ time }) => time <= Number(end));
    return pageOf(shown, cursor === true ? 0 : Number(cursor));
  };
}

describe('every page is read', () => {
  const ids = async (answering: object): Promise<number> => {
    const found = await list(script({ [STATUS]: answering }), 'ETH');
    return new Set(found.map(({ id }) => id)).size;
  };

  test.each(['withdrawals', 'withdrawal'])('of a list under %s', async (name) => {
    const cursor = name === 'withdrawal' ? 'cursor' : 'next_cursor';
    const paged = history(60, (records, from) =>
      good({
        [name]: records.slice(from, from + 25),
        [cursor]: from + 25 < records.length ? String(from + 25) : null,
      }),
    );
    expect(await ids(paged)).toBe(60);
  });

  test('up to a cursor that leads to an empty page', async () => {
    const paged = history(50, (records, from) =>
      good({ withdrawals: records.slice(from, from + 50), next_cursor: String(from + 50) }),
    );
    expect(await ids(paged)).toBe(50);
  });

  test.each([25, 26, 49, 60])('of a list of %i without a cursor', async (total) => {
    const cut = history(total, (records) => good(records.slice(0, 25)));
    expect(await ids(cut)).toBe(total);
    const whole = history(total, (records) => good(records));
    expect(await ids(whole)).toBe(total);
  });

  test('or it is a fault: a page twice, or an unknown order', async () => {
    const twice = history(60, (records) =>
      good({ withdrawals: records.slice(0, 30), next_cursor: '0' }),
    );
    const disordered = history(60, (records) => good([...records].reverse().slice(0, 30)));
    for (const each of [twice, disordered])
      expect(await faultOf(ids(each))).toMatchObject({
        kind: 'protocol',
        code: 'CEX_PROTOCOL_ERROR',
      });
  });

  test('of the whole period, in seconds', async () => {
    const { connection, sent } = script({ [STATUS]: good([]) });
    await list({ connection, sent }, 'ETH', { from: Date.now() - DAY, to: Date.now() });
    const { start, end, cursor, limit } = sent.at(-1)?.parameters ?? {};
    expect(Number(start)).toBeLessThanOrEqual((Date.now() - DAY) / 1_000);
    expect(Number(end)).toBeGreaterThanOrEqual((Date.now() - 1_000) / 1_000);
    expect([start, end].every((each) => /^[0-9]{10}$/.test(String(each)))).toBe(true);
    expect([cursor, limit]).toEqual([true, 50]);
  });

  test('or it is too old: nothing found would prove nothing', async () => {
    const period = { from: Date.now() - 91 * DAY, to: Date.now() - 60 * DAY };
    const { connection, sent } = script({ [STATUS]: good([]), [DEPOSITS]: good([]) });
    const of = { transaction: 't', asset: 'BTC', period };
    for (const work of [
      () => list({ connection, sent }, 'ETH', period),
      () => kraken.findDeposits(connection, of, call),
      () => kraken.records(connection, { period, subs: [] }, call),
    ])
      expect(await faultOf(work())).toMatchObject({ code: 'HISTORY_TOO_OLD' });
    expect(sent.map(({ method }) => method)).toEqual(['publicGetAssets']);
  });
});

describe('a deposit', () => {
  const find = (transaction: string, asset: string, answer: object) =>
    kraken.findDeposits(
      script({ [DEPOSITS]: answer }).connection,
      { transaction, asset, period: PERIOD },
      call,
    );
  const BTC = 'a1075db55d416d3ca199f55b6084e2115b9345e16c5cf302fc80e9d5fbf5d48d';
  const recorded = (changes: object = {}) => recordOf('findDeposits', 4, changes);

  test('is found by its transaction, in any form of the hash (recorded)', async () => {
    for (const hash of [BTC, `0x${BTC.toUpperCase()}`])
      expect(await find(hash, 'BTC', good([recorded()]))).toEqual([
        {
          id: 'PXRIYW-S3GP2-R2VOGQ',
          status: 'completed',
          exchange_status: 'Success',
          asset: 'BTC',
          network: null,
          amount: '0.00212',
          transaction: hash,
        },
      ]);
    expect(await find(`${BTC.slice(0, -1)}0`, 'BTC', good([recorded()]))).toEqual([]);
    expect(await find(BTC, 'ETH', good([recorded()]))).toEqual([]);
  });

  test('is named as Kraken names its asset (recorded)', async () => {
    const hash = '92c908ea2ea819d678d67130e4d20b625a8f97f3cfff45f906dde8cef41a046a';
    const { connection, sent } = script({ [DEPOSITS]: example('findDeposits', 1) });
    const of = { transaction: hash, asset: 'DOGE', period: PERIOD };
    expect(await kraken.findDeposits(connection, of, call)).toMatchObject([
      { id: 'QSB7IFM-Q3LT3X-NVAOKE', status: 'pending', amount: '997' },
    ]);
    expect(sent.at(-1)?.parameters).toMatchObject({ asset: 'XDG' });
  });

  const SENDER = '0x70b6343b104785574db2c1474b3acb3937ab5de7346a5b857a78ee26954e0e2d';
  const OTHER = '0x5b32f6f792904a446226b17f607850d0f2f7533cdc35845bfe432b5b99f55b66';
  const swept = (originators: readonly string[] | null) => {
    const [, record] = example('findDeposits')['result'] as readonly object[];
    return good([{ ...record, originators }]);
  };

  test('that Kraken credits with a sweep is found by its sender', async () => {
    const found = await find(SENDER, 'ETH', swept([SENDER, SENDER.toUpperCase()]));
    expect(found).toMatchObject([{ amount: '0.1383862742', transaction: SENDER }]);
    expect(await find(SENDER, 'ETH', swept([OTHER]))).toEqual([]);
    expect(await find(SENDER, 'ETH', swept(null))).toEqual([]);
  });

  test('of several senders has no known part of each (documented)', async () => {
    const fault = await faultOf(find(SENDER, 'ETH', swept([SENDER, OTHER])));
    expect(fault).toMatchObject({ kind: 'protocol', code: 'DEPOSIT_AMOUNT_UNKNOWN' });
    const own = '0x339c505eba389bf2c6bebb982cc30c6d82d0bd6a37521fa292890b6b180affc0';
    expect(await find(own, 'ETH', swept([SENDER, OTHER]))).toHaveLength(1);
  });

  test.each<[status: string, property: string | null, expected: string]>([
    ['Initial', null, 'pending'],
    ['Pending', null, 'pending'],
    ['Settled', null, 'pending'],
    ['Settled', 'onhold', 'pending'],
    ['Success', null, 'completed'],
    ['Success', 'onhold', 'credited'],
    ['Success', 'on-hold', 'credited'],
    ['Success', 'return', 'pending'],
    ['EarlyConfirmed', null, 'pending'],
    ['Failure', null, 'failed'],
    ['anything', null, 'pending'],
  ])('of %s with %s is %s', async (status, property, expected) => {
    const record = recorded({ status, 'status-prop': property });
    expect((await find(BTC, 'BTC', good([record])))[0]?.status).toBe(expected);
  });

  test.each([
    [undefined, '0.00212'],
    ['0.0000000000', '0.00212'],
    ['0.00002', '0.0021'],
    ['1', '0'],
  ])('with the fee %s is credited with %s', async (fee, expected) => {
    const found = await find(BTC, 'BTC', good([recorded({ fee })]));
    expect(found[0]?.amount).toBe(expected);
  });

  test.each(['deposit', 'deposits'])('is found on a later page, under %s', async (name) => {
    const first = Array.from({ length: 25 }, (_, index) =>
      recorded({ refid: `R${String(index)}`, txid: null }),
    );
    const pages = [
      good({ [name]: first, next_cursor: 'next' }),
      good({ [name]: [recorded()], next_cursor: null }),
    ];
    expect(await find(BTC, 'BTC', () => pages.shift() ?? {})).toHaveLength(1);
  });
});

test('the books are withdrawals and deposits; transfers have no known form', async () => {
  const { connection, sent } = script({
    [STATUS]: good([recordOf('findWithdrawals', 4)]),
    [DEPOSITS]: good([
      recordOf('findDeposits', 4),
      recordOf('findDeposits', 1, { originators: ['sender'] }),
    ]),
  });
  const nothing = { client_id: null, tag: null, source: null, destination: null };
  expect(await kraken.records(connection, { period: PERIOD, subs: ['desk'] }, call)).toEqual([
    {
      ...nothing,
      kind: 'withdrawal',
      id: 'FTcKzfZ-dhGXkAnj7RIPePzuzei2LH',
      at: '2025-08-19T21:07:41.000Z',
      status: 'completed',
      asset: 'ETH',
      amount: '0.005',
      fee: '0.00012',
      network: 'Ethereum',
      address: '0xade09131c6f43fe22c2cbabb759636c43cfc181e',
      transaction: '0x861bd84f59da66d935420e0638300076c404bfc9335c9278a069f2d7ca938b3d',
    },
    {
      ...nothing,
      kind: 'deposit',
      id: 'PXRIYW-S3GP2-R2VOGQ',
      at: '2023-02-18T21:10:14.000Z',
      status: 'completed',
      asset: 'BTC',
      amount: '0.00212',
      fee: '0',
      network: null,
      address: '17SkEw2md5avVNyYgj6RiXuQKNwkXaxFyQ',
      transaction: 'a1075db55d416d3ca199f55b6084e2115b9345e16c5cf302fc80e9d5fbf5d48d',
    },
    {
      ...nothing,
      kind: 'deposit',
      id: 'QSB7IFM-Q3LT3X-NVAOKE',
      at: '2021-01-22T09:41:18.000Z',
      status: 'pending',
      asset: 'DOGE',
      amount: '997',
      fee: '0',
      network: null,
      address: 'D7SLwMBPqfFMCZ8EJDMoVEePpZAFFegLt8',
      transaction: 'sender',
    },
  ]);
  for (const { method, parameters } of sent.filter((each) => each.method !== 'publicGetAssets')) {
    expect([STATUS, DEPOSITS]).toContain(method);
    expect(parameters).not.toHaveProperty('asset');
  }
});
