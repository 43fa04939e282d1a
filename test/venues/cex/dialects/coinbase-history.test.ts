/** What the dialect of Coinbase finds in the list of transactions, which is its only history. */
import type { VenueRecord } from '../../../../domain/reconcile/records.ts';
import type { Parameters as Request } from '../../../../venues/cex/connection.ts';
import type { WithdrawalQuery, WithdrawalRecord } from '../../../../venues/cex/dialect.ts';
import { coinbase } from '../../../../venues/cex/dialects/coinbase/dialect.ts';
import {
  ACCOUNTS,
  accounts,
  ADDRESS,
  call,
  DAY,
  example,
  faultOf,
  ORDER,
  page,
  PERIOD,
  rowOf,
  scripted,
  sent as sentRow,
  TRANSACTIONS,
  WALLET,
  type Row,
} from './coinbase-script.ts';

type History = object | ((parameters: Request) => object);

const at = (milliseconds: number): string => new Date(milliseconds).toISOString();

describe('a search', () => {
  const find = async (
    history: History,
    query: Partial<WithdrawalQuery> = {},
    listed: object = accounts(),
  ) => {
    if (coinbase.search.by !== 'client_id') throw new Error('Coinbase stores our client id');
    const { connection, sent } = scripted({ [ACCOUNTS]: listed, [TRANSACTIONS]: history });
    const { client_id, asset } = ORDER;
    const of = { client_id, asset, period: PERIOD, order: ORDER, ...query };
    return { found: await coinbase.search.find(connection, of, call), sent };
  };
  const HASH = '463397c87beddd9a61ade61359a13adc9efea26062191fe07147037bce7f33ed';
  const record: WithdrawalRecord = {
    id: '3c04e35e-8e5a-5ff1-9155-00675db4ac02',
    status: 'completed',
    exchange_status: 'completed',
    asset: 'BTC',
    network: 'bitcoin',
    address: ADDRESS,
    tag: null,
    net_amount: '0.1',
    fee: '0.0003',
    tx_hash: HASH,
    transaction: HASH,
  };
  const OTHER_ID = '0a087dce-92a8-45cf-b112-60aad22c0976';

  test('finds a send by our id, in the list of the wallet alone', async () => {
    const { found, sent } = await find(page([sentRow({ idem: OTHER_ID }), sentRow({ id: 'own' })]));
    expect(found).toEqual([{ ...record, id: 'own' }]);
    expect(sent.map(({ parameters }) => parameters)).toEqual([
      { limit: 100 },
      { limit: 100, account_id: WALLET },
    ]);
  });

  test('compares the id once in lower case, and exactly', async () => {
    const of = (idem: string) => find(page([sentRow({ idem })]));
    await expect(of(ORDER.client_id.toUpperCase())).resolves.toMatchObject({ found: [record] });
    // As records of 2019 have it.
    await expect(of(`${ORDER.client_id}send`)).resolves.toMatchObject({ found: [] });
  });

  test('shows every record under one id, and searches each wallet of the asset', async () => {
    const rows = [sentRow(), sentRow({ id: 'another' })];
    await expect(find(page(rows))).resolves.toMatchObject({
      found: [record, { ...record, id: 'another' }],
    });
    const [, wallet] = (accounts() as { data: readonly object[] }).data;
    const second = { ...wallet, id: '3bbf394c-193b-5b2a-9155-3b4732659ede' };
    const { sent } = await find(page([]), {}, page([wallet!, second]));
    expect(sent.map(({ parameters }) => parameters['account_id'])).toEqual([
      undefined,
      WALLET,
      second.id,
    ]);
  });

  test.each([['findWithdrawals, none'], ['findDeposits'], ['records, trades'], ['records, fiat']])(
    'finds nothing in: %s',
    async (name) => {
      const { data } = example(name);
      await expect(find(page(data as readonly Row[]))).resolves.toMatchObject({ found: [] });
    },
  );

  test('without any account of the asset proves nothing', async () => {
    expect(await faultOf(find(page([]), {}, page([])))).toMatchObject({ kind: 'protocol' });
  });

  describe('of a send without an id of its request', () => {
    const nameless = (changes: object = {}) => sentRow({ idem: null, ...changes });

    test('leaves it to a person where it may be ours', async () => {
      for (const changes of [{}, { to: { resource: 'user' } }, { type: 'tx' }])
        expect(await faultOf(find(page([nameless(changes)])))).toMatchObject({
          kind: 'protocol',
          code: 'WITHDRAWAL_AMBIGUOUS',
        });
    });

    test('ignores what cannot be ours', async () => {
      const rows = [
        nameless({ to: { address: '1AHnhqbvbYx3rnZx8uC7NbFZaTe4tafFHX' } }),
        nameless({ id: 'b', created_at: at(PERIOD.from - 1) }),
        nameless({ id: 'c', amount: { amount: '0.1', currency: 'BTC' } }),
        nameless({ id: 'd', type: 'trade' }),
      ];
      await expect(find(page(rows))).resolves.toMatchObject({ found: [] });
    });

    test('finds it by the id that Coinbase answered', async () => {
      const { found } = await find(page([nameless()]), { reference: record.id });
      expect(found).toEqual([record]);
    });

    test('finds ours beside it', async () => {
      const { found } = await find(page([nameless({ id: 'x' }), sentRow()]));
      expect(found).toEqual([record]);
    });
  });

  test.each<[string, object]>([
    ['another address', { to: { address: '1AHnhqbvbYx3rnZx8uC7NbFZaTe4tafFHX' } }],
    ['another network', { network: { status: 'confirmed', hash: HASH, network_name: 'base' } }],
    ['another asset', { amount: { amount: '-0.1003', currency: 'BCH' } }],
    ['an amount that was added', { amount: { amount: '0.1003', currency: 'BTC' } }],
    [
      'a fee in another asset',
      {
        network: {
          ...{ status: 'confirmed', hash: HASH },
          transaction_fee: { amount: '0.0001', currency: 'SOL' },
        },
      },
    ],
    [
      'figures that do not add up',
      {
        network: {
          ...{ status: 'confirmed', hash: HASH },
          transaction_fee: { amount: '0.0003', currency: 'BTC' },
          transaction_amount: { amount: '0.2', currency: 'BTC' },
        },
      },
    ],
    [
      'a negative fee',
      {
        network: {
          ...{ status: 'confirmed', hash: HASH },
          transaction_fee: { amount: '-0.0003', currency: 'BTC' },
        },
      },
    ],
  ])('leaves a record with %s to a person', async (_, changes) => {
    expect(await faultOf(find(page([sentRow(changes)])))).toMatchObject({
      kind: 'protocol',
      code: 'WITHDRAWAL_MISMATCH',
    });
  });

  test('leaves a record to a person that has our reference and the id of another request', async () => {
    const rows = page([sentRow({ idem: OTHER_ID })]);
    expect(await faultOf(find(rows, { reference: record.id }))).toMatchObject({
      code: 'WITHDRAWAL_MISMATCH',
    });
  });

  const fee = { amount: '0.00030000', currency: 'BTC' };
  const within = { status: 'off_blockchain' };
  const pending = { tx_hash: null, transaction: null, status: 'pending' } as const;

  test.each<[string, object, Partial<WithdrawalRecord>]>([
    [
      'what was sent, where the record shows it',
      {
        network: {
          ...{ status: 'confirmed', hash: HASH, name: 'bitcoin' },
          transaction_amount: { amount: '0.10000000', currency: 'BTC' },
        },
      },
      { net_amount: '0.1', fee: '0.0003' },
    ],
    [
      'a booking within Coinbase, which is free',
      { network: within, to: { resource: 'user' } },
      {
        ...{ network: null, address: '', net_amount: '0.1003', fee: '0' },
        ...{ tx_hash: null, transaction: record.id },
      },
    ],
    [
      'a completed send without a network as pending, not as one with a fee of 0',
      { network: undefined },
      { ...pending, network: null, exchange_status: 'completed, without a fee' },
    ],
    [
      'a completed send without a fee as pending',
      { network: { status: 'confirmed', hash: HASH, network_name: 'bitcoin' } },
      { status: 'pending', exchange_status: 'completed, without a fee' },
    ],
    [
      'a completed send without a hash as pending',
      { network: { status: 'pending', network_name: 'bitcoin', transaction_fee: fee } },
      { ...pending, exchange_status: 'completed, without a hash' },
    ],
    // The library's own record has both.
    [
      'a completed send whose network is pending',
      { network: { ...(sentRow()['network'] as object), status: 'pending' } },
      {},
    ],
  ])('reads %s', async (_, changes, expected) => {
    const { found } = await find(page([sentRow(changes)]));
    // What is pending has figures that are not reported.
    const { net_amount, fee: charged, ...rest } = { ...record, ...expected };
    expect(found).toMatchObject([rest.status === 'pending' ? rest : { ...rest, net_amount }]);
    if (rest.status !== 'pending') expect(found).toMatchObject([{ fee: charged }]);
  });

  test.each<[string, WithdrawalRecord['status']]>([
    ['pending', 'pending'],
    ['waiting_for_clearing', 'pending'],
    [' waiting_for_clearing', 'pending'],
    ['waiting_for_signature', 'pending'],
    ['completed', 'completed'],
    [' completed', 'completed'],
    ['failed', 'failed'],
    ['canceled', 'failed'],
    // No text says that the money came back.
    ['expired', 'pending'],
    // Not documented, so nothing is known to be over.
    ['created', 'pending'],
    ['reversed', 'pending'],
    ['constructor', 'pending'],
  ])('reads the status %s as %s', async (status, expected) => {
    // One that failed has no hash.
    const changes = expected === 'failed' ? { status, network: { name: 'bitcoin' } } : { status };
    const { found } = await find(page([sentRow(changes)]));
    expect(found).toMatchObject([{ status: expected }]);
  });

  test.each(['failed', 'canceled'])('reads %s with a hash as pending', async (status) => {
    const { found } = await find(page([sentRow({ status })]));
    expect(found).toMatchObject([
      { status: 'pending', exchange_status: `${status}, with a hash`, tx_hash: HASH },
    ]);
  });

  test('reads the documented record, whose parts contradict each other, as pending', async () => {
    const { found } = await find(page([rowOf('findWithdrawals by id', 1)]), {
      order: { ...ORDER, address: '0xabc' },
    });
    expect(found).toMatchObject([{ status: 'pending', asset: 'BTC' }]);
  });
});

describe('the list', () => {
  /** Pages of so many records, each a minute older than the one before. */
  const listOf =
    (rows: readonly Row[], size: number, isSilent = false) =>
    ({ starting_after }: Request): object => {
      const start = rows.findIndex(({ id }) => id === starting_after) + 1;
      const shown = rows.slice(start, start + size);
      const more = start + size < rows.length;
      // The newer form does not say which page is the last one.
      if (isSilent) return { data: shown, pagination: { starting_after: '', order: 'desc' } };
      const next = more ? `/v2/x?limit=100&starting_after=${shown.at(-1)?.id ?? ''}` : null;
      return page(shown, next);
    };
  const rows = (count: number, from = Date.now()): readonly Row[] =>
    Array.from({ length: count }, (_, index) => ({
      ...rowOf('findDeposits'),
      ...{ id: `r${String(index)}`, created_at: at(from - index * 60_000) },
      amount: { amount: '1', currency: 'BTC' },
    }));
  const read = async (history: History, from = PERIOD.from) => {
    const { connection, sent } = scripted({ [ACCOUNTS]: accounts(), [TRANSACTIONS]: history });
    const transaction = rows(1)[0]!['network'] as { hash: string };
    const of = { transaction: transaction.hash, asset: 'BTC', period: { ...PERIOD, from } };
    const found = await coinbase.findDeposits(connection, of, call);
    return { ids: found.map(({ id }) => id), pages: sent.length - 1 };
  };

  test('is read to the end, though pages are short', async () => {
    const all = rows(11);
    const { ids, pages } = await read(listOf(all, 3));
    expect(ids).toEqual(all.map(({ id }) => id));
    expect(pages).toBe(4);
  });

  test('is read to an empty page where no page says that it is the last one', async () => {
    const all = rows(11);
    const { ids, pages } = await read(listOf(all, 3, true));
    expect(ids).toEqual(all.map(({ id }) => id));
    expect(pages).toBe(5);
  });

  test('is read on after an empty page that names another one', async () => {
    const history = ({ starting_after }: Request): object =>
      starting_after === undefined ? page([], '/v2/x?starting_after=next') : page(rows(1));
    await expect(read(history)).resolves.toEqual({ ids: ['r0'], pages: 2 });
  });

  test('is read for a page beyond the start of the period', async () => {
    const now = Date.now();
    // The last record of the period is the fifth, on the second page of three.
    const { ids, pages } = await read(listOf(rows(20, now), 3), now - 4 * 60_000);
    expect(ids).toHaveLength(9);
    expect(pages).toBe(3);
  });

  test('that repeats a page has a fault', async () => {
    const same = page(rows(2), '/v2/x?starting_after=r1');
    expect(await faultOf(read(same))).toMatchObject({ kind: 'protocol' });
    const silent = { data: rows(2) };
    expect(await faultOf(read(silent))).toMatchObject({ kind: 'protocol' });
  });

  test.each(['/v2/x?limit=100', '/v2/x?starting_after=', '/v2/x?starting_after=a%26b'])(
    'is not continued by %s',
    async (next) => {
      expect(await faultOf(read(page(rows(1), next)))).toMatchObject({ kind: 'protocol' });
    },
  );
});

describe('a deposit', () => {
  const HASH = '56222d865dae83774fccb2efbd9829cf08c75c94ce135bfe4276f3fb46d49701';
  const find = async (rows: readonly object[], transaction = HASH, asset = 'BTC') => {
    const { connection } = scripted({ [ACCOUNTS]: accounts(), [TRANSACTIONS]: page(rows) });
    return coinbase.findDeposits(connection, { transaction, asset, period: PERIOD }, call);
  };
  const btc = { amount: { amount: '28.31976528', currency: 'BTC' } };
  const row = (changes: object = {}): Row => rowOf('findDeposits', 0, { ...btc, ...changes });

  test('is found by its hash, in any case and with or without 0x', async () => {
    for (const transaction of [HASH, HASH.toUpperCase(), `0x${HASH}`])
      await expect(find([row()], transaction)).resolves.toEqual([
        {
          id: '34e4816b-4c8c-5323-a01c-35a9fa26e490',
          status: 'completed',
          exchange_status: 'completed',
          asset: 'BTC',
          network: null,
          amount: '28.31976528',
          transaction: HASH,
        },
      ]);
  });

  test('is one of today as well, and one that is not categorized', async () => {
    for (const type of ['receive', 'tx'])
      await expect(find([row({ type })])).resolves.toHaveLength(1);
  });

  test.each<[string, readonly object[], string?]>([
    ['of another transaction', [row({ network: { hash: 'ab'.repeat(32) } })]],
    // A deposit without a hash proves nothing.
    ['without a hash', [rowOf('findDeposits, new form')]],
    ['within Coinbase', [rowOf('findDeposits, within Coinbase', 0, btc)]],
    ['by the id of a record', [rowOf('findDeposits, within Coinbase', 0, btc)], 'id4'],
    ['of another asset', [row({ amount: { amount: '1', currency: 'BCH' } })]],
    ['that is a trade', [row({ type: 'trade' })]],
    ['that is a send', [row({ amount: { amount: '-1', currency: 'BTC' } })]],
  ])('%s is not found', async (_, rows, transaction = HASH) => {
    await expect(find(rows, transaction)).resolves.toEqual([]);
  });

  test.each([
    ['pending', 'pending'],
    ['completed', 'completed'],
    ['failed', 'failed'],
    ['expired', 'pending'],
  ])('with the status %s is %s', async (status, expected) => {
    await expect(find([row({ status })])).resolves.toMatchObject([{ status: expected }]);
  });

  test('of an asset without an account is awaited', async () => {
    await expect(find([], HASH, 'ETH')).resolves.toEqual([]);
  });
});

describe('the records', () => {
  const NOW = Date.now();
  const read = async (rows: readonly object[], listed: object = accounts()) => {
    const { connection, sent } = scripted({
      [ACCOUNTS]: listed,
      [TRANSACTIONS]: ({ account_id }) => page(account_id === WALLET ? rows : []),
    });
    const period = { from: NOW - DAY, to: NOW };
    return { records: await coinbase.records(connection, { period, subs: [] }, call), sent };
  };
  const made = (type: string, amount: string, changes: object = {}): Row =>
    sentRow({
      ...{ id: `${type}${amount}`, type, created_at: at(NOW - 60_000) },
      amount: { amount, currency: 'BTC' },
      ...changes,
    });

  test('have of a send what left with its fee, its address and our id', async () => {
    const { records } = await read([made('send', '-0.1003')]);
    expect(records).toEqual([
      {
        kind: 'withdrawal',
        id: 'send-0.1003',
        client_id: ORDER.client_id,
        at: at(NOW - 60_000),
        status: 'completed',
        asset: 'BTC',
        amount: '0.1003',
        fee: '0.0003',
        network: 'bitcoin',
        address: ADDRESS,
        tag: null,
        transaction: '463397c87beddd9a61ade61359a13adc9efea26062191fe07147037bce7f33ed',
        source: null,
        destination: null,
      },
    ]);
  });

  const kinds = (kind: VenueRecord['kind'] | null, names: string) =>
    names.split(' ').map((name): [string, string, typeof kind] => {
      const [type = '', sign = '-'] = name.split(':');
      return [type, `${sign}1`, kind];
    });

  test.each([
    ...kinds('withdrawal', 'send:- tx:-'),
    ...kinds('deposit', 'send:+ receive:+ tx:+'),
    ...kinds('transfer', 'transfer vault_withdrawal staking_transfer intx_deposit'),
    ...kinds('transfer', 'intx_withdrawal:+ pro_withdrawal:+ exchange_deposit'),
    ...kinds(null, 'trade buy sell:+ advanced_trade_fill request:+ fiat_withdrawal'),
    ...kinds(null, 'interest:+ cardspend earn_payout:+ asset_migration'),
    // Types may be added: a debit may be a payment.
    ...kinds('withdrawal', 'of_no_page constructor'),
    ...kinds(null, 'of_no_page:+'),
  ])('have of %s with %s: %s', async (type, signed, kind) => {
    const { records } = await read([made(type, signed.replace('+', ''))]);
    expect(records.map((each) => each.kind)).toEqual(kind === null ? [] : [kind]);
  });

  test('have no fee and no address that Coinbase does not show', async () => {
    const sol = { transaction_fee: { amount: '1', currency: 'SOL' } };
    const { records } = await read([
      made('send', '-1', { network: sol, to: undefined, idem: undefined }),
      made('receive', '1', { network: { status: 'off_blockchain' } }),
    ]);
    expect(records).toMatchObject([
      { fee: null, address: null, client_id: null, amount: '1' },
      // Our id is of sends alone.
      { fee: null, address: null, client_id: null, transaction: 'receive1' },
    ]);
  });

  test('have the state of a send as its search has it, and one that contradicts itself', async () => {
    const hash = '463397c87beddd9a61ade61359a13adc9efea26062191fe07147037bce7f33ed';
    const transaction_fee = { amount: '0.0003', currency: 'BTC' };
    const { records } = await read([
      made('send', '-1', { network: { status: 'pending', transaction_fee } }),
      made('send', '-2', { network: { status: 'confirmed', hash } }),
      made('send', '-3', { status: 'failed' }),
      made('send', '-4', { network: { status: 'off_blockchain' } }),
      made('send', '-5', { network: { hash, transaction_fee: { amount: '9', currency: 'BTC' } } }),
    ]);
    expect(records).toMatchObject([
      { amount: '1', status: 'pending', transaction: null, fee: '0.0003' },
      { amount: '2', status: 'pending', transaction: hash, fee: null },
      { amount: '3', status: 'pending', transaction: hash },
      { amount: '4', status: 'completed', transaction: 'send-4', fee: '0' },
      { amount: '5', status: 'completed', transaction: hash, fee: '9' },
    ]);
  });

  test('are those of the period alone', async () => {
    const { records } = await read([
      made('send', '-1', { created_at: at(NOW + 1_000) }),
      made('send', '-2', { created_at: at(NOW) }),
      made('send', '-3', { created_at: at(NOW - DAY) }),
      made('send', '-4', { created_at: at(NOW - DAY - 1) }),
    ]);
    expect(records.map(({ amount }) => amount)).toEqual(['2', '3']);
  });

  test('are read of vaults and of empty accounts too, and not of fiat or unused ones', async () => {
    const { data } = accounts({ balance: { amount: '0', currency: 'BTC' } }) as {
      data: readonly Row[];
    };
    const fiat = { ...data[0], id: '91cd2d36-3a91-55b6-a5d4-0124cf105483', type: 'fiat' };
    const unused = { ...data[1], id: 'BTC' };
    const { sent } = await read([], page([...data, fiat, unused]));
    expect(sent.slice(1).map(({ parameters }) => parameters['account_id'])).toEqual(
      data.map(({ id }) => id),
    );
  });
});
