/** `fundadmin venues reconcile`: what it prints and how it ends, over books of the test's own. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MARGIN_MS, type ReconciledLine } from '../../domain/reconcile/match.ts';
import type { StoredRecord, VenueRecord } from '../../domain/reconcile/records.ts';
import type { OurRecordsQuery } from '../../store/reconcile.ts';
import { fundadmin } from '../../tools/command-line.ts';
import { ToolError } from '../../tools/io.ts';
import { linesAsCsv } from '../../tools/venues/csv.ts';
import {
  reconcileVenue,
  type ReconcileOptions,
  type Sources,
} from '../../tools/venues/reconcile.ts';

const OPTIONS: ReconcileOptions = {
  venue: 'main',
  from: new Date('2026-01-01T00:00:00.000Z'),
  to: new Date('2026-02-01T00:00:00.000Z'),
  format: 'json',
};
const AT = '2026-01-15T12:00:00.000Z';

const STORED: StoredRecord = {
  kind: 'withdrawal',
  movement_id: 'm',
  node_key: 'out',
  attempt: 1,
  transfer_id: null,
  send_key: 'm:out:1',
  state: 'COMPLETED',
  external_ref: 'id',
  asset: 'USDC',
  amount: '100',
  fee: '1',
  network: 'ETH',
  address: '0x01',
  tag: null,
  transaction: null,
  source: null,
  destination: null,
  since: AT,
  until: AT,
};

const RECORD: VenueRecord = {
  kind: 'withdrawal',
  id: 'id',
  client_id: 'client of m:out:1',
  at: AT,
  status: 'completed',
  asset: 'USDC',
  amount: '100',
  fee: '1',
  network: 'ETH',
  address: '0x01',
  tag: null,
  transaction: '0x02',
  source: null,
  destination: null,
};

/** The records of both sides. */
interface Sides {
  readonly ours?: readonly StoredRecord[];
  readonly theirs?: readonly VenueRecord[];
  readonly family?: readonly string[];
  readonly feeAfterSend?: boolean;
}

/** Runs the comparison over these records. */
async function run(
  { ours = [], theirs = [], family = ['main', 'desk'], feeAfterSend = false }: Sides,
  options: Partial<ReconcileOptions> = {},
) {
  const read: { query?: OurRecordsQuery; period?: { from: number; to: number } } = {};
  const sources: Sources = {
    open: async () => ({
      ...{ family, feeAfterSend },
      clientId: ({ send_key }) => (send_key === null ? null : `client of ${send_key}`),
      sideName: ({ venue_key, account_type }) =>
        venue_key === 'gone' ? null : `${venue_key}:${account_type}`,
      read: async (period) => {
        read.period = period;
        return theirs;
      },
    }),
    ours: async (_options, _io, { query }) => {
      read.query = query;
      return ours;
    },
  };
  let out = '';
  const io = { env: {}, out: (text: string) => (out += text), err: () => undefined };
  try {
    await reconcileVenue({ ...OPTIONS, ...options }, io, sources);
    return { status: 0, out, message: '', read };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return { status: error.exitCode, out, message: error.message, read };
  }
}

const countsOf = (out: string): unknown => (JSON.parse(out) as { readonly counts: unknown }).counts;
const NONE = { ours: 0, foreign: 0, missing: 0, differs: 0, open: 0 };

describe('the exit status', () => {
  test('is 0 where everything agrees, also with records of somebody else', async () => {
    const other = { ...RECORD, id: 'other', client_id: null };
    const unsent = { ...STORED, send_key: 'm:out:2', state: 'UNKNOWN', until: null } as const;
    const { status, out } = await run({ ours: [STORED, unsent], theirs: [RECORD, other] });
    expect(status).toBe(0);
    expect(countsOf(out)).toEqual({ ...NONE, ours: 1, foreign: 1, open: 1 });
    expect(await run({})).toMatchObject({ status: 0 });
  });

  test('is 1 where one is missing or differs, and the comparison is printed all the same', async () => {
    const missing = await run({ ours: [STORED] });
    expect(missing).toMatchObject({
      status: 1,
      message: 'The books of main do not agree with ours: missing 1, different 0.',
    });
    expect(countsOf(missing.out)).toEqual({ ...NONE, missing: 1 });
    const differs = await run({ ours: [STORED], theirs: [{ ...RECORD, amount: '99' }] });
    expect(differs).toMatchObject({ status: 1, message: expect.stringContaining('different 1') });
    expect(countsOf(differs.out)).toEqual({ ...NONE, differs: 1 });
  });

  test('is 2 for a time that cannot be compared, before anything is read', async () => {
    const early = new Date('2025-12-01T00:00:00.000Z');
    for (const [options, message] of [
      [{ to: OPTIONS.from }, '--from must be before --to'],
      [{ to: early }, '--from must be before --to'],
      [{ to: new Date(Date.now() - 60_000) }, 'ten minutes ago'],
      [{ to: new Date(Date.now() + MARGIN_MS) }, 'ten minutes ago'],
    ] as const)
      expect(await run({}, options)).toEqual({
        status: 2,
        out: '',
        message: expect.stringContaining(message),
        read: {},
      });
  });

  test('is 2 where there are more records than are held at once', async () => {
    const many = Array.from({ length: 200_001 }, () => STORED);
    expect(await run({ ours: many })).toMatchObject({
      status: 2,
      message: expect.stringMatching(/^The database has more than 200000 records.*shorter time/),
    });
    const theirs = Array.from({ length: 200_001 }, () => RECORD);
    expect(await run({ theirs })).toMatchObject({
      status: 2,
      message: expect.stringMatching(/^The exchange has more than 200000 records/),
    });
  });
});

test('the limit of a fee counts only at an exchange that shows its fee afterwards', async () => {
  const ours = [{ ...STORED, fee_limit: '3' }];
  // Of the 100, 3 were kept back and 1 was charged.
  const short = { ours, theirs: [{ ...RECORD, amount: '98' }] };
  expect(await run({ ...short, feeAfterSend: true })).toMatchObject({ status: 0 });
  expect(await run(short)).toMatchObject({ status: 1 });
  const whole = { ours, theirs: [RECORD] };
  expect(await run({ ...whole, feeAfterSend: true })).toMatchObject({ status: 1 });
  expect(await run(whole)).toMatchObject({ status: 0 });
});

test('both sides are read a day beyond the period', async () => {
  const { read } = await run({});
  expect(read).toEqual({
    query: {
      venue_key: 'main',
      family: ['main', 'desk'],
      since: '2025-12-31T00:00:00.000Z',
      before: '2026-02-02T00:00:00.000Z',
    },
    period: {
      from: Date.parse('2025-12-31T00:00:00.000Z'),
      to: Date.parse('2026-02-02T00:00:00.000Z'),
    },
  });
});

test('transfers have the names of their accounts, and the books of a sub-account have none', async () => {
  const transfer: StoredRecord = {
    ...STORED,
    kind: 'transfer',
    network: null,
    address: null,
    source: { venue_key: 'main', account_type: 'SPOT' },
    destination: { venue_key: 'desk', account_type: 'USDT_FUTURE' },
  };
  const record: VenueRecord = {
    ...RECORD,
    kind: 'transfer',
    network: null,
    address: null,
    source: 'main:SPOT',
    destination: 'desk:USDT_FUTURE',
  };
  const verdictOf = async (sides: Sides): Promise<unknown> => countsOf((await run(sides)).out);
  expect(await verdictOf({ ours: [transfer], theirs: [record] })).toEqual({ ...NONE, ours: 1 });
  expect(
    await verdictOf({ ours: [transfer], theirs: [{ ...record, destination: 'desk:SPOT' }] }),
  ).toEqual({ ...NONE, differs: 1 });
  expect(await verdictOf({ ours: [transfer] })).toEqual({ ...NONE, missing: 1 });
  const gone = { venue_key: 'gone', account_type: 'SPOT' } as const;
  expect(await verdictOf({ ours: [{ ...transfer, destination: gone }] })).toEqual({
    ...NONE,
    open: 1,
  });
  expect(await verdictOf({ ours: [transfer], family: [] })).toEqual(NONE);
});

describe('CSV', () => {
  /** The cells of each row, by a parser of our own: RFC 4180, section 2. */
  function parse(text: string): readonly (readonly string[])[] {
    const rows: string[][] = [[]];
    const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y;
    while (cell.lastIndex < text.length) {
      const found = cell.exec(text);
      if (found === null) throw new Error('not as RFC 4180 says');
      rows.at(-1)?.push(found[1]?.replaceAll('""', '"') ?? found[2] ?? '');
      if (found[3] === '\r\n') rows.push([]);
    }
    return rows.slice(0, -1);
  }

  /** Each row by the names of the header. */
  function rowsOf(text: string): readonly Readonly<Record<string, string>>[] {
    const [header = [], ...rows] = parse(text);
    expect(new Set(header).size).toBe(header.length);
    return rows.map((cells) => {
      expect(cells).toHaveLength(header.length);
      return Object.fromEntries(header.map((name, index) => [name, cells[index] ?? '']));
    });
  }

  test('has a header, and a line for each record or for ours without one', async () => {
    const second = { ...STORED, movement_id: 'n', send_key: 'n:out:1', state: 'UNKNOWN' } as const;
    const twice = [RECORD, { ...RECORD, id: 'again' }];
    const { status, out } = await run({ ours: [STORED, second], theirs: twice }, { format: 'csv' });
    expect(status).toBe(1);
    const differs = {
      verdict: 'differs',
      differences: 'records: ours 1, theirs 2',
      kind: 'withdrawal',
      movement_id: 'm',
      node_key: 'out',
      attempt: '1',
      our_state: 'COMPLETED',
      client_id: 'client of m:out:1',
      record_at: AT,
      our_amount: '100',
      amount: '100',
      our_tag: '',
      transaction: '0x02',
    };
    expect(rowsOf(out)).toMatchObject([
      { ...differs, record_id: 'id' },
      { ...differs, record_id: 'again' },
      { verdict: 'open', movement_id: 'n', our_state: 'UNKNOWN', record_id: '', amount: '' },
    ]);
    expect((await run({}, { format: 'csv' })).out).toMatch(/^verdict,differences,kind,[^\n]*\r\n$/);
  });

  test('keeps every text whole, and none of them is a formula', () => {
    const line = (address: string): ReconciledLine => ({
      verdict: 'foreign',
      differences: [],
      ours: null,
      records: [{ ...RECORD, client_id: null, address }],
    });
    for (const [address, expected] of [
      ['a,b', 'a,b'],
      ['say "so"', 'say "so"'],
      ['two\r\nlines', 'two\r\nlines'],
      ['=HYPERLINK("http://x","y")', '\'=HYPERLINK("http://x","y")'],
      ['+1', "'+1"],
      ['-1', "'-1"],
      ['@SUM(A1)', "'@SUM(A1)"],
      ['\t=1', "'\t=1"],
      ['a=1', 'a=1'],
      ['', ''],
    ] as const)
      expect(rowsOf(linesAsCsv([line(address)]))).toMatchObject([{ address: expected }]);
    expect(linesAsCsv([line('a"b')])).toContain(',"a""b",');
  });
});

describe('wrong usage', () => {
  const folder = mkdtempSync(join(tmpdir(), 'reconcile-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const keys = join(folder, 'keys.json');
  writeFileSync(keys, '{"api_key": "k", "secret": "s"}', { mode: 0o600 });
  const file = join(folder, 'venues.json');
  writeFileSync(
    file,
    JSON.stringify({
      venues: [
        {
          venue_key: 'main',
          provider: 'ccxt',
          exchange: 'binance',
          account_role: 'master',
          account: 'master@example.com',
          credentials_file: keys,
        },
      ],
    }),
  );
  const faulty = join(folder, 'faulty.json');
  writeFileSync(faulty, '{"venues": [{}]}');

  const TIME = '--from 2026-01-01 --to 2026-01-02';
  test.each([
    [`--venue main ${TIME}`, 'SVC_VENUES_FILE'],
    [
      `--venue other ${TIME} --venues-file ${file}`,
      'other is not a bound exchange account. Bound are: main.',
    ],
    [`--venue main ${TIME} --venues-file ${faulty}`, 'venues[0]'],
    [`--venue main ${TIME} --venues-file ${file}.gone`, 'cannot be read'],
    ['--venue main --from 2026-01-02 --to 2026-01-01', '--from must be before'],
    ['--venue main --from yesterday --to 2026-01-02', 'ISO 8601'],
    ['--venue main --from 2026-02-31 --to 2026-03-04', 'a day that exists'],
    ['--venue main --from 2026-01-01 --to 2026-02-29T00:00:00Z', 'a day that exists'],
    ['--venue main --from 0000-01-01 --to 2026-01-02', 'a day that exists'],
    [`--venue main ${TIME} --format xml`, 'Allowed choices are json, csv'],
    [TIME, '--venue'],
  ])('%s ends with 2: %s', async (line, reason) => {
    let err = '';
    const status = await fundadmin(`venues reconcile ${line}`.split(' '), {
      env: { SVC_DATABASE_URL: 'postgresql://127.0.0.1:1/nowhere' },
      out: () => undefined,
      err: (text) => (err += text),
    });
    expect({ status, err }).toEqual({ status: 2, err: expect.stringContaining(reason) });
  });

  test('with a bound account the database is read next', async () => {
    let err = '';
    const status = await fundadmin(
      `venues reconcile --venue main ${TIME} --venues-file ${file}`.split(' '),
      {
        env: { SVC_DATABASE_URL: 'postgresql://127.0.0.1:1/nowhere' },
        out: () => undefined,
        err: (text) => (err += text),
      },
    );
    expect({ status, err }).toEqual({
      status: 1,
      err: expect.stringContaining('The database does not answer'),
    });
  });
});
