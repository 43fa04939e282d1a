/** The books of an account of OKX, read completely. */
import type { VenueRecord } from '../../../../domain/reconcile/records.ts';
import type { Parameters as Sent } from '../../../../venues/cex/connection.ts';
import type { Period } from '../../../../venues/cex/dialect.ts';
import { okx } from '../../../../venues/cex/dialects/okx/dialect.ts';
import { call, example, faultOf, good, scripted } from './okx-script.ts';

const DAY = 86_400_000;
const NOW = Date.now();
const WITHDRAWALS = 'privateGetAssetWithdrawalHistory';
const DEPOSITS = 'privateGetAssetDepositHistory';
const BILLS = 'privateGetAssetBills';

type Row = Readonly<Record<string, unknown>> & { readonly ts: string };

/** A history as OKX describes it: the newest first, `after` a time the older ones alone. */
const history =
  (rows: readonly Row[], { inclusive = false } = {}) =>
  ({ after, limit }: Sent): object => {
    const end = Number(after ?? Number.MAX_SAFE_INTEGER) + (inclusive ? 1 : 0);
    const older = rows.filter(({ ts }) => Number(ts) < end);
    const newest = [...older].sort((left, right) => Number(right.ts) - Number(left.ts));
    return good(...newest.slice(0, Number(limit)));
  };

/** The first item of an example. */
const item = (name: string, changes: object): Row => {
  const [first] = example(name)['data'] as readonly Row[];
  return { ...first, ts: '', ...changes };
};

const withdrawal = (wdId: string, ts: number, changes: object = {}): Row =>
  item('findWithdrawals, a real record', { wdId, ts: String(ts), ...changes });

const read = async (
  answers: Parameters<typeof scripted>[0],
  {
    from = NOW - DAY,
    to = NOW,
    subs = null,
  }: Partial<Period> & { subs?: readonly string[] | null },
) => {
  const { connection, sent } = scripted({ [WITHDRAWALS]: good(), [DEPOSITS]: good(), ...answers });
  const records = await okx.records(connection, { period: { from, to }, subs }, call);
  return { records, sent };
};

const idsOf = (records: readonly VenueRecord[]): readonly string[] =>
  records.map(({ id }) => id).sort();

describe('the records', () => {
  const at = NOW - 3_600_000;
  const at_text = new Date(at).toISOString();

  test('of a sub-account are its withdrawals and deposits', async () => {
    const deposit = { ...example('findDeposits, a real record'), ts: String(at) } as Row;
    const { records, sent } = await read(
      {
        [WITHDRAWALS]: history([withdrawal('7', at, { clientId: 'ours', tag: '77' })]),
        [DEPOSITS]: history([deposit]),
      },
      {},
    );
    const nothing = { source: null, destination: null };
    expect(records).toEqual([
      {
        ...{ kind: 'withdrawal', id: '7', client_id: 'ours', at: at_text, status: 'completed' },
        // What left the account: 54.561 arrived.
        ...{ asset: 'USDT', amount: '55.361', fee: '0.8', network: 'TRC20' },
        ...{ address: 'TEY6qjnKDyyq5jDc3DJizWLCdUySrpQ4yp', tag: '77' },
        transaction: '00cff6ec7fa7c7d7d184bd84e82b9ff36863f07c0421188607f87dfa94e06b70',
        ...nothing,
      },
      {
        ...{ kind: 'deposit', id: '31314720', client_id: null, at: at_text, status: 'completed' },
        ...{ asset: 'USDT', amount: '10', fee: null, network: 'TRC20' },
        ...{ address: 'TPuNfHJNAdjAADBjVPjSyEtDXjXtf4zNTT', tag: null },
        transaction: 'a00e9ae2fa86486468080e708771f5a406904d599090132006fbb84a8252fc75',
        ...nothing,
      },
    ]);
    expect(sent.map(({ parameters }) => parameters)).toEqual([{ limit: '100' }, { limit: '100' }]);
  });

  test('of a master are its transfers too, as its ledger has them', async () => {
    const bill = (billId: string, type: string, balChg: string): Row =>
      item('bills of the funding account', {
        ...{ billId, type, balChg, clientId: `client-${billId}`, ts: String(at) },
      });
    const rows = [
      bill('1', '20', '-1.5'),
      bill('2', '21', '2.5'),
      bill('3', '130', '3'),
      bill('4', '131', '-4'),
      // A deposit and a withdrawal, which are in the ledger as well.
      bill('5', '1', '5'),
      bill('6', '2', '-6'),
    ];
    // The whole ledger each time, as if OKX did not filter.
    const { records } = await read({ [BILLS]: history(rows) }, { subs: ['test'] });
    const common = {
      ...{ kind: 'transfer', at: at_text, status: 'completed', asset: 'BTC', fee: null },
      ...{ network: null, address: null, tag: null },
    };
    const line = (
      id: string,
      amount: string,
      source: string | null,
      destination: string | null,
    ) => ({
      ...common,
      ...{ id, transaction: id, client_id: `client-${id}`, amount, source, destination },
    });
    expect(records).toEqual([
      line('1', '1.5', ':SPOT', null),
      line('2', '2.5', null, ':SPOT'),
      line('3', '3', ':USDT_FUTURE', ':SPOT'),
      line('4', '4', ':SPOT', ':USDT_FUTURE'),
    ]);
  });

  test.each([
    [27, BILLS],
    [29, 'privateGetAssetBillsHistory'],
  ])('of the last %s days have their transfers from %s', async (days, method) => {
    const { sent } = await read({ [method]: good() }, { from: NOW - days * DAY, subs: [] });
    const types = sent.flatMap((each) => (each.method === method ? [each.parameters['type']] : []));
    expect(types).toEqual(['20', '21', '130', '131']);
  });

  test('are none before or after the period', async () => {
    const rows = [-1, 0, 1].flatMap((off) => [
      withdrawal(`start${String(off)}`, NOW - DAY + off),
      withdrawal(`end${String(off)}`, NOW - 60_000 + off),
    ]);
    const { records } = await read({ [WITHDRAWALS]: history(rows) }, { to: NOW - 60_000 });
    expect(idsOf(records)).toEqual(['end-1', 'end0', 'start0', 'start1']);
  });

  test('beyond what OKX certainly keeps are not read', async () => {
    const fault = await faultOf(read({}, { from: NOW - 91 * DAY }));
    expect(fault).toMatchObject({ code: 'HISTORY_TOO_OLD' });
  });
});

describe('the pages', () => {
  /** 250 withdrawals within 125 ms, two at a time. */
  const rows = Array.from({ length: 250 }, (_, index) =>
    withdrawal(String(index), NOW - 1_000 - Math.floor(index / 2)),
  );

  test.each([false, true])(
    'are read completely, whether `after` itself belongs to them or not: %s',
    async (inclusive) => {
      const { records } = await read({ [WITHDRAWALS]: history(rows, { inclusive }) }, {});
      expect(new Set(idsOf(records))).toEqual(new Set(rows.map((row) => row['wdId'])));
      expect(records).toHaveLength(250);
    },
  );

  test('end with the period: older ones are not read', async () => {
    const old = Array.from({ length: 500 }, (_, index) =>
      withdrawal(`old-${String(index)}`, NOW - 2 * DAY - index),
    );
    const { records, sent } = await read({ [WITHDRAWALS]: history([...rows, ...old]) }, {});
    expect(records).toHaveLength(250);
    const pages = sent.filter(({ method }) => method === WITHDRAWALS);
    // Three pages hold the period; a history that may have grown is read once more.
    expect(pages).toHaveLength(6);
  });

  test.each<[string, (parameters: Sent) => object]>([
    // The other reading of `after`: what is newer.
    [
      'newer records',
      ({ after, limit }) =>
        after === undefined ? history(rows)({ limit }) : good(...rows.slice(0, 2)),
    ],
    ['none', ({ after, limit }) => (after === undefined ? history(rows)({ limit }) : good())],
    ['the same page', ({ limit }) => history(rows)({ limit })],
    [
      'a page with a gap before it',
      ({ after, limit }) => history(rows)({ limit, after: Number(after ?? NOW) - 10 }),
    ],
  ])('whose continuation is %s are an error, not a short history', async (_, answer) => {
    const fault = await faultOf(read({ [WITHDRAWALS]: answer }, {}));
    expect(fault).toMatchObject({ kind: 'protocol', code: 'CEX_PROTOCOL_ERROR' });
  });
});
