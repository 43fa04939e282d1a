/** The books of an account of Bybit, read completely. */
import type { VenueRecord } from '../../../../domain/reconcile/records.ts';
import type { Parameters as Sent } from '../../../../venues/cex/connection.ts';
import type { Period } from '../../../../venues/cex/dialect.ts';
import { bybit } from '../../../../venues/cex/dialects/bybit/dialect.ts';
import {
  call,
  DAY,
  faultOf,
  good,
  KEY,
  keyOf,
  MASTER,
  NOW,
  pageOf,
  recordOf,
  scripted,
  type Answering,
  type Answers,
} from './bybit-script.ts';

const WITHDRAWALS = 'privateGetV5AssetWithdrawQueryRecord';
const DEPOSITS = 'privateGetV5AssetDepositQueryRecord';
const INTERNAL = 'privateGetV5AssetDepositQueryInternalRecord';
const UNIVERSAL = 'privateGetV5AssetTransferQueryUniversalTransferList';
const WITHIN = 'privateGetV5AssetTransferQueryInterTransferList';
/** A whole second. */
const AT = Math.floor(NOW / 1_000) * 1_000 - 3_600_000;
const AT_TEXT = new Date(AT).toISOString();

const withdrawal = (withdrawId: string, time: number, changes: object = {}): object =>
  recordOf('listWithdrawals', { withdrawId, createTime: String(time), ...changes });

const read = async (
  answers: Answers,
  {
    from = NOW - DAY,
    to = NOW,
    subs = [],
  }: Partial<Period> & { readonly subs?: readonly string[] | null } = {},
) => {
  const empty = [WITHDRAWALS, DEPOSITS, INTERNAL, UNIVERSAL, WITHIN].map((each) => [
    each,
    pageOf(),
  ]);
  const { connection, sent } = scripted({
    ...Object.fromEntries(empty),
    [KEY]: keyOf(),
    ...answers,
  });
  const records = await bybit.records(connection, { period: { from, to }, subs }, call);
  return { records, sent };
};

const idsOf = (records: readonly VenueRecord[]): readonly string[] =>
  records.map(({ id }) => id).sort();

/** Rows with the time that a window counts. */
type Row = readonly [time: number, record: object];

/** A list as Bybit describes it: the newest first, by pages, with a cursor also on the last one. */
const listOf =
  (rows: readonly Row[]): Answering =>
  ({ startTime, endTime, limit, cursor }: Sent): object => {
    const shown = rows
      .filter(([time]) => time >= Number(startTime) && time <= Number(endTime))
      .sort(([left], [right]) => right - left)
      .map(([, record]) => record);
    const start = Number(cursor ?? 0);
    const records = shown.slice(start, start + Number(limit));
    const nextPageCursor = records.length === 0 ? '' : String(start + records.length);
    return good({ rows: records, list: records, nextPageCursor });
  };

describe('the records', () => {
  const nothing = { source: null, destination: null };

  test('of a master are its withdrawals and deposits', async () => {
    const { records } = await read({
      [WITHDRAWALS]: pageOf(withdrawal('7', AT, { tag: '77' })),
      [DEPOSITS]: pageOf(recordOf('findDeposits', { successAt: String(AT), tag: '78' })),
      [INTERNAL]: pageOf(recordOf('findDeposits within Bybit', { createdTime: AT / 1_000 })),
    });
    const hash = '0x3d7bddb797f0e86420c982c0723653b8b728fd0ec9953b6b354445848d83a185';
    expect(records).toEqual([
      {
        ...{ kind: 'withdrawal', id: '7', client_id: null, at: AT_TEXT, status: 'completed' },
        // What left the account by the plain reading: 41.43008 arrived, and the fee is 5.
        ...{ asset: 'USDC', amount: '46.43008', fee: '5', network: 'ETH' },
        ...{ address: '0xE3De6d711e0951d34777b5Cd93c827F822ee8514', tag: '77' },
        ...{ transaction: hash, ...nothing },
      },
      {
        ...{ kind: 'deposit', id: '160237231', client_id: null, at: AT_TEXT },
        ...{ status: 'completed', asset: 'USDT', amount: '999.0496', fee: null, network: 'TRX' },
        ...{ address: 'TDGYpm5zPacnEqKV34TJPuhJhHom9hcXAy', tag: '78' },
        transaction: '04bf3fbad2fc85b107a42cfdc5ff83110092b606ca754efa0f032f8b94b3262e',
        ...nothing,
      },
      {
        ...{ kind: 'deposit', id: '1103', client_id: null, at: AT_TEXT, status: 'completed' },
        ...{ asset: 'ETH', amount: '0.1', fee: null, network: null, address: null, tag: null },
        ...{ transaction: '77c37e5c-d9fa-41e5-bd13-c9b59d95', ...nothing },
      },
    ]);
  });

  test('of a deposit without a time are of now: it is under way', async () => {
    const row = recordOf('findDeposits', { successAt: '', status: 1, txID: '' });
    const { records } = await read({ [DEPOSITS]: pageOf(row) }, { to: NOW + DAY });
    expect(records).toMatchObject([{ status: 'pending', transaction: null }]);
    expect(Date.parse(records[0]?.at ?? '')).toBeGreaterThanOrEqual(NOW);
    expect(Date.parse(records[0]?.at ?? '')).toBeLessThanOrEqual(Date.now());
  });

  test('of a sub-account are its deposits alone', async () => {
    const deposit = recordOf('findDeposits', { successAt: String(AT) });
    const { records, sent } = await read({ [DEPOSITS]: pageOf(deposit) }, { subs: null });
    expect(idsOf(records)).toEqual(['160237231']);
    expect(sent.map(({ method }) => method)).toEqual([DEPOSITS, INTERNAL]);
  });

  test('of a master are its transfers and those of its bound sub-accounts', async () => {
    const uuid = (index: number): string => `4c3cfe2f-85cb-11ed-ac09-9e37823c81c${String(index)}`;
    const universal = (index: number, fromMemberId: string, toMemberId: string): object =>
      recordOf('findTransfers between uids', {
        transferId: `universalTransfer_${uuid(index)}_${fromMemberId}`,
        ...{ fromMemberId, toMemberId, timestamp: String(AT), fromAccountType: 'FUND' },
      });
    const within = recordOf('findTransfers within the account of the key', {
      ...{ transferId: 'selfTransfer_of the website', timestamp: String(AT), status: 'PENDING' },
      ...{ fromAccountType: 'UNIFIED', toAccountType: 'FUND' },
    });
    const { records } = await read(
      {
        [UNIVERSAL]: pageOf(
          universal(1, MASTER, '1'),
          universal(2, '1', MASTER),
          universal(3, '592334', '1'),
          // Between two accounts that are not bound.
          universal(4, '1', '2'),
        ),
        [WITHIN]: pageOf(within),
      },
      { subs: ['592334'] },
    );
    const nowhere = { network: null, address: null, tag: null };
    const common = { kind: 'transfer', at: AT_TEXT, fee: null, ...nowhere };
    const line = (index: number, from: string, source: string, destination: string) => {
      const id = `universalTransfer_${uuid(index)}_${from}`;
      return {
        ...common,
        ...{ id, transaction: id, client_id: uuid(index), status: 'completed' },
        ...{ asset: 'USDC', amount: '1000', source, destination },
      };
    };
    expect(records).toEqual([
      {
        ...common,
        ...{ id: 'selfTransfer_of the website', transaction: 'selfTransfer_of the website' },
        ...{ client_id: null, status: 'pending', asset: 'USDT', amount: '5000' },
        ...{ source: ':USDT_FUTURE', destination: ':SPOT' },
      },
      line(1, MASTER, ':SPOT', '1:USDT_FUTURE'),
      line(2, '1', '1:SPOT', ':USDT_FUTURE'),
      line(3, '592334', '592334:SPOT', '1:USDT_FUTURE'),
    ]);
  });

  test('are none before or after the period', async () => {
    const from = AT - 10_000;
    const rows = [-1_000, 0, 1_000].flatMap((off): Row[] => [
      [from + off, withdrawal(`start${String(off)}`, from + off)],
      [AT + off, withdrawal(`end${String(off)}`, AT + off)],
    ]);
    const { records } = await read({ [WITHDRAWALS]: listOf(rows) }, { from, to: AT });
    expect(idsOf(records)).toEqual(['end-1000', 'end0', 'start0', 'start1000']);
  });

  test('in the second in which the period starts are of it: times are whole seconds', async () => {
    const row = withdrawal('7', AT);
    const { records } = await read({ [WITHDRAWALS]: listOf([[AT, row]]) }, { from: AT + 999 });
    expect(idsOf(records)).toEqual(['7']);
  });

  test('beyond what Bybit certainly keeps are not read', async () => {
    const fault = await faultOf(read({}, { from: NOW - 91 * DAY }));
    expect(fault).toMatchObject({ code: 'HISTORY_TOO_OLD' });
    await read({}, { from: NOW - 89 * DAY });
  });
});

describe('the windows', () => {
  test.each([
    [WITHDRAWALS, 30],
    [DEPOSITS, 30],
    [INTERNAL, 30],
    [UNIVERSAL, 7],
    [WITHIN, 7],
  ])('of %s are below %i days, and overlap', async (method, days) => {
    const { sent } = await read({}, { from: NOW - 80 * DAY });
    const parts = sent
      .filter((each) => each.method === method)
      .map(({ parameters }) => ({
        start: Number(parameters['startTime']),
        end: Number(parameters['endTime']),
      }));
    expect(parts.length).toBeGreaterThan(80 / days);
    // Both ends beyond the period: whether they belong to a window is not documented.
    expect(parts[0]?.start).toBe(NOW - 80 * DAY - 1_000);
    expect(parts.at(-1)?.end).toBe(NOW + 1_000);
    for (const { start, end } of parts) expect(end - start).toBeLessThan(days * DAY - 1_000);
    for (const [index, { start }] of parts.entries()) {
      const before = parts[index - 1];
      if (before !== undefined) expect(before.end - start).toBeGreaterThanOrEqual(1_000);
    }
  });

  test('show a record at their border once', async () => {
    const { sent } = await read({}, { from: NOW - 40 * DAY });
    const ends = sent.flatMap(({ method, parameters }) =>
      method === WITHDRAWALS ? [Number(parameters['endTime'])] : [],
    );
    const time = (ends[0] ?? 0) - 1_000;
    const rows: Row[] = [[time, withdrawal('7', time)]];
    const { records } = await read({ [WITHDRAWALS]: listOf(rows) }, { from: NOW - 40 * DAY });
    expect(idsOf(records)).toEqual(['7']);
  });
});

describe('the pages', () => {
  const rows = Array.from({ length: 120 }, (_, index): Row => [
    AT - index * 1_000,
    withdrawal(String(index), AT - index * 1_000),
  ]);
  const cursorsOf = (sent: readonly { readonly method: string; readonly parameters: Sent }[]) =>
    sent.flatMap(({ method, parameters }) =>
      method === WITHDRAWALS ? [parameters['cursor'] ?? null] : [],
    );

  test('are read until one is empty', async () => {
    const { records, sent } = await read({ [WITHDRAWALS]: listOf(rows) });
    expect(records).toHaveLength(120);
    expect(new Set(idsOf(records)).size).toBe(120);
    expect(cursorsOf(sent)).toEqual([null, '50', '100', '120']);
  });

  test('are read on after a page that is not full, and end without a cursor', async () => {
    const pages = [rows.slice(0, 3), rows.slice(3, 5)].map((page) => page.map(([, each]) => each));
    const { records, sent } = await read({
      [WITHDRAWALS]: ({ cursor }) =>
        cursor === undefined
          ? good({ rows: pages[0], nextPageCursor: 'eyJtaW5JRCI6MX0=' })
          : good({ rows: pages[1], nextPageCursor: null }),
    });
    expect(records).toHaveLength(5);
    // As it came.
    expect(cursorsOf(sent)).toEqual([null, 'eyJtaW5JRCI6MX0=']);
  });

  test.each<[string, object]>([
    ['are one page again and again', good({ rows: [withdrawal('7', AT)], nextPageCursor: 'a' })],
    [
      'have a cursor that would start another parameter',
      good({ rows: [withdrawal('7', AT)], nextPageCursor: 'a&coin=BTC' }),
    ],
    ['hold no list', good({ nextPageCursor: '' })],
    ['hold nothing', good({})],
    ['are null', good(null)],
  ])('that %s are an error, not a short history', async (_, answer) => {
    expect(await faultOf(read({ [WITHDRAWALS]: answer }))).toMatchObject({
      kind: 'protocol',
      code: 'CEX_PROTOCOL_ERROR',
    });
  });
});
