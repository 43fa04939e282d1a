/**
 * A comparison with an exchange's books: of ten thousand records it names the ten that were
 * changed, and it never calls one missing that may stand in another period.
 */
import {
  MARGIN_MS,
  reconcile,
  type ReconciledLine,
  type Scope,
} from '../../domain/reconcile/match.ts';
import {
  VENUE_RECORD_KINDS,
  type OurRecord,
  type VenueRecord,
} from '../../domain/reconcile/records.ts';

const FROM = Date.parse('2026-11-01T00:00:00.000Z');
const TO = Date.parse('2026-12-01T00:00:00.000Z');
const SCOPE: Scope = { from: FROM, to: TO, kinds: VENUE_RECORD_KINDS };
const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7';

const at = (milliseconds: number): string => new Date(milliseconds).toISOString();

/** A withdrawal of ours that completed in the middle of the period. */
const withdrawal = (name: string, more: Partial<OurRecord> = {}): OurRecord => ({
  kind: 'withdrawal',
  movement_id: name,
  node_key: 'out',
  attempt: 1,
  transfer_id: null,
  state: 'COMPLETED',
  external_ref: `id-${name}`,
  client_id: `client-${name}`,
  asset: 'USDC',
  amount: '100.5',
  fee: '0.25',
  network: 'ETH',
  address: ADDRESS,
  tag: null,
  transaction: null,
  source: null,
  destination: null,
  since: at(FROM + 10 * MARGIN_MS),
  until: at(FROM + 10 * MARGIN_MS + 1_000),
  ...more,
});

const deposit = (name: string, more: Partial<OurRecord> = {}): OurRecord =>
  withdrawal(name, {
    kind: 'deposit',
    node_key: 'seen',
    client_id: null,
    fee: null,
    address: null,
    transaction: `0x${name.padStart(64, 'a')}`,
    ...more,
  });

const transfer = (name: string, more: Partial<OurRecord> = {}): OurRecord =>
  withdrawal(name, {
    kind: 'transfer',
    movement_id: null,
    node_key: null,
    attempt: null,
    transfer_id: name,
    fee: null,
    network: null,
    address: null,
    source: ':SPOT',
    destination: 'desk@example.com:SPOT',
    ...more,
  });

/** The exchange's record of one of ours, as it should be. */
const recordOf = (our: OurRecord, more: Partial<VenueRecord> = {}): VenueRecord => ({
  kind: our.kind,
  id: our.external_ref ?? `id-${our.client_id ?? our.transaction ?? ''}`,
  client_id: our.client_id,
  at: our.since,
  status: 'completed',
  asset: our.asset,
  amount: our.amount ?? '1',
  fee: our.fee,
  network: our.network,
  address: our.address,
  tag: our.tag,
  transaction: our.transaction,
  source: our.source,
  destination: our.destination,
  ...more,
});

const foreign = (id: string): VenueRecord =>
  recordOf(withdrawal(id), { id, client_id: null, transaction: null });

/** Who a line is of: our name, or the exchange's id of a record that is not ours. */
const nameOf = ({ ours, records: [record] }: ReconciledLine): string =>
  ours?.movement_id ?? ours?.transfer_id ?? record?.id ?? '';

const shortOf = (line: ReconciledLine) => [
  nameOf(line),
  line.verdict,
  ...line.differences.map(({ field }) => field),
];

const verdicts = (
  ours: readonly OurRecord[],
  theirs: readonly VenueRecord[],
  scope = SCOPE,
): readonly (readonly string[])[] => reconcile(ours, theirs, scope).lines.map(shortOf);

describe('ten thousand records of which ten were changed', () => {
  const COUNT = 10_000;
  const STEP = (TO - FROM) / COUNT;

  /** Of every twenty: eleven withdrawals, four deposits, three transfers, two of somebody else. */
  function pairAt(index: number): readonly [OurRecord | null, VenueRecord | null] {
    const name = String(index);
    const since = FROM + Math.floor(index * STEP);
    const time = { since: at(since), until: at(since + 5_000) };
    // No two alike, and some with as many digits as there are.
    const amount = `${String(index + 1)}.${'0'.repeat(index % 17)}5`;
    const part = index % 20;
    if (part >= 18) return [null, { ...foreign(`foreign-${name}`), at: time.since, amount }];
    const more = { ...time, amount };
    const our =
      part < 11
        ? withdrawal(name, { ...more, tag: part === 3 ? `tag-${name}` : null })
        : part < 15
          ? deposit(name, more)
          : transfer(name, more);
    // The exchange writes the same in other ways.
    const record = recordOf(our, {
      at: at(since + 2_000),
      amount: amount.length < 18 ? `${amount}0` : amount,
      address: our.address?.toLowerCase() ?? null,
      transaction:
        our.kind === 'deposit' ? (our.transaction?.slice(2).toUpperCase() ?? null) : `0x${name}`,
      ...(our.kind === 'deposit' && part === 12 ? { status: 'credited' as const } : {}),
    });
    const unread = { ...our, fee: null };
    if (part === 4)
      return [
        { ...unread, state: 'FAILED' },
        { ...record, status: 'failed' },
      ];
    if (part === 5) return [{ ...unread, state: 'OBSERVING' }, record];
    // Refused before anything was sent, or not known to be sent.
    if (part === 6) return [{ ...our, state: index % 40 === 6 ? 'FAILED' : 'UNKNOWN' }, null];
    return [our, record];
  }

  const ours: OurRecord[] = [];
  const theirs: VenueRecord[] = [];
  const pairs = Array.from({ length: COUNT }, (_, index) => pairAt(index));

  /** What is changed, by the index of the record. */
  const changed: Readonly<Record<number, readonly [field: string, Partial<VenueRecord>]>> = {
    220: ['amount', { amount: '221.50000000001' }],
    1_421: ['fee', { fee: '0.26' }],
    2_622: ['asset', { asset: 'USDT' }],
    3_820: ['address', { address: '0x52908400098527886E0F7030069857D2E4169EE8' }],
    4_461: ['network', { network: 'MATIC' }],
    5_002: ['status', { status: 'failed' }],
    // One of those that failed here.
    6_204: ['status', { status: 'completed' }],
    7_311: ['amount', { amount: '7311.5' }],
  };
  const MISSING = 8_400;
  const TWICE = 9_015;

  for (const [index, [our, record]] of pairs.entries()) {
    if (our !== null) ours.push(our);
    if (record === null || index === MISSING) continue;
    theirs.push({ ...record, ...changed[index]?.[1] });
    if (index === TWICE) theirs.push({ ...record, id: 'another' });
  }
  // Neither side comes in an order that helps.
  theirs.reverse();
  const result = reconcile(ours, theirs, SCOPE);

  test('names these ten, and says what of each', () => {
    const wrong = result.lines
      .filter(({ verdict }) => verdict === 'missing' || verdict === 'differs')
      .map(shortOf);
    expect(wrong).toEqual(
      [
        ...Object.entries(changed).map(([index, [field]]) => [index, 'differs', field]),
        [String(MISSING), 'missing'],
        [String(TWICE), 'differs', 'records'],
      ].sort(([left], [right]) => Number(left) - Number(right)),
    );
    expect(wrong).toHaveLength(10);
  });

  test('lists each other record once, as ours, as foreign, or as open', () => {
    const strangers = pairs.filter(([our]) => our === null).length;
    const unrecorded = pairs.filter(([, record]) => record === null).length;
    expect([strangers, unrecorded]).toEqual([COUNT / 10, COUNT / 20]);
    expect(result.counts).toEqual({
      ours: COUNT - strangers - unrecorded - 10,
      foreign: strangers,
      missing: 1,
      differs: 9,
      open: unrecorded,
    });
    expect(new Set(result.lines.map(nameOf)).size).toBe(COUNT);
  });
});

describe('whose a record is', () => {
  test('is never decided by its amount', () => {
    const our = withdrawal('a');
    expect(verdicts([our], [recordOf(our, { id: 'x', client_id: 'of-another' })])).toEqual([
      ['a', 'missing'],
      ['x', 'foreign'],
    ]);
    const seen = deposit('b', { until: at(FROM + 11 * MARGIN_MS) });
    expect(verdicts([seen], [recordOf(seen, { id: 'y', transaction: '0x01' })])).toEqual([
      ['b', 'missing'],
      ['y', 'foreign'],
    ]);
    expect(verdicts([seen], [recordOf(seen, { id: 'y', asset: 'USDT' })])).toEqual([
      ['b', 'missing'],
      ['y', 'foreign'],
    ]);
  });

  test('depends on its kind, too: the same client id names two records', () => {
    const [out, moved] = [withdrawal('a'), transfer('b', { client_id: 'client-a' })];
    expect(verdicts([out, moved], [recordOf(moved), recordOf(out)])).toEqual([
      ['a', 'ours'],
      ['b', 'ours'],
    ]);
  });

  test('of several deposits in one transaction, all together', () => {
    const our = deposit('a', { amount: '3' });
    const part = (id: string, amount: string, more: Partial<VenueRecord> = {}) =>
      recordOf(our, { id, amount, ...more });
    expect(verdicts([our], [part('1', '1'), part('2', '2', { status: 'credited' })])).toEqual([
      ['a', 'ours'],
    ]);
    expect(verdicts([our], [part('1', '1'), part('2', '1.9')])).toEqual([
      ['a', 'differs', 'amount'],
    ]);
    expect(verdicts([our], [part('1', '1'), part('2', '2', { status: 'pending' })])).toEqual([
      ['a', 'differs', 'status'],
    ]);
  });

  test('of two nodes that look for one transaction, the one that completed', () => {
    const completed = deposit('a');
    const { transaction } = completed;
    const other = deposit('b', { transaction, state: 'FAILED', until: null });
    expect(verdicts([other, completed], [recordOf(completed)])).toEqual([
      ['a', 'ours'],
      ['b', 'open'],
    ]);
  });
});

describe('what our state says of a record', () => {
  const out = (state: OurRecord['state']) => withdrawal('a', { state, fee: null });
  const moved = (state: OurRecord['state'], external_ref: string | null = 'id') =>
    transfer('a', { state, external_ref });
  const seen = (state: OurRecord['state']) => deposit('a', { state });

  test.each([
    ['a submitted withdrawal', out('SUBMITTED'), 'missing'],
    ['an observed withdrawal', out('OBSERVING'), 'missing'],
    ['a completed withdrawal', out('COMPLETED'), 'missing'],
    ['one that is being submitted', out('SUBMITTING'), 'open'],
    ['an unknown one', out('UNKNOWN'), 'open'],
    ['a failed one', out('FAILED'), 'open'],
    ['a cancelled one', out('CANCELLED'), 'open'],
    ['one that will be sent again', out('READY'), 'open'],
    ['a transfer that was accepted', moved('PENDING_PROVIDER_CONFIRMATION'), 'missing'],
    ['one without an answer', moved('PENDING_PROVIDER_CONFIRMATION', null), 'open'],
    ['one that a person must decide', moved('MANUAL_INTERVENTION'), 'open'],
    ['a completed transfer', moved('COMPLETED'), 'missing'],
    ['one from an account that is not bound', transfer('a', { source: null }), 'open'],
    ['a deposit that is waited for', seen('OBSERVING'), 'open'],
    ['a completed deposit', seen('COMPLETED'), 'missing'],
    ['one whose transaction is not known', deposit('a', { transaction: null }), 'open'],
  ] as const)('%s without a record is %s', (_, our, verdict) => {
    expect(verdicts([our], [])).toEqual([['a', verdict]]);
  });

  test.each([
    [out('COMPLETED'), 'completed', []],
    [out('COMPLETED'), 'pending', ['status']],
    [out('COMPLETED'), 'failed', ['status']],
    [out('FAILED'), 'completed', ['status']],
    [out('FAILED'), 'pending', ['status']],
    [out('FAILED'), 'failed', []],
    [out('CANCELLED'), 'completed', ['status']],
    [out('CANCELLED'), 'failed', []],
    // It has not looked yet.
    [out('OBSERVING'), 'completed', []],
    [out('OBSERVING'), 'failed', []],
    [out('UNKNOWN'), 'completed', []],
    [moved('FAILED'), 'completed', ['status']],
    [moved('MANUAL_INTERVENTION'), 'completed', []],
    [seen('OBSERVING'), 'pending', []],
    [seen('COMPLETED'), 'credited', []],
    [seen('COMPLETED'), 'pending', ['status']],
    [seen('FAILED'), 'credited', ['status']],
  ] as const)('the status of a record is compared with our state (%#)', (our, status, fields) => {
    expect(verdicts([our], [recordOf(our, { status })])).toEqual([
      ['a', fields.length > 0 ? 'differs' : 'ours', ...fields],
    ]);
  });
});

describe('the fields', () => {
  const our = withdrawal('a', { tag: '7' });
  const fieldsOf = (one: OurRecord, more: Partial<VenueRecord>) =>
    reconcile([one], [recordOf(one, more)], SCOPE).lines.flatMap(({ differences }) => differences);

  test('are shown as both sides have them', () => {
    expect(fieldsOf(our, { amount: '100.75', fee: '0.5', status: 'pending' })).toEqual([
      { field: 'status', ours: 'COMPLETED', theirs: 'pending' },
      { field: 'amount', ours: '100.5', theirs: '100.75' },
      { field: 'fee', ours: '0.25', theirs: '0.5' },
    ]);
  });

  test('that one side does not know are not compared', () => {
    expect(fieldsOf(our, { network: null, address: null, tag: null })).toEqual([]);
    expect(fieldsOf({ ...our, amount: null, fee: null, network: null }, { fee: '9' })).toEqual([]);
    expect(fieldsOf({ ...our, fee: '0' }, { fee: null })).toEqual([]);
    expect(fieldsOf(our, { fee: null })).toMatchObject([{ field: 'fee', theirs: null }]);
  });

  test('include a tag that only one side has, and both ends of a transfer', () => {
    expect(fieldsOf(our, { tag: null })).toMatchObject([{ field: 'tag', ours: '7' }]);
    expect(fieldsOf({ ...our, tag: null }, { tag: '8' })).toMatchObject([{ field: 'tag' }]);
    const ends = { source: ':USDT_FUTURE', destination: ':SPOT' };
    expect(fieldsOf(transfer('b'), ends)).toMatchObject([
      { field: 'source' },
      { field: 'destination' },
    ]);
  });

  test('a fee that the exchange returns is no difference until our output says otherwise', () => {
    const returned = { amount: '100.25', fee: '0.25' };
    expect(fieldsOf({ ...our, state: 'OBSERVING', fee: null }, returned)).toEqual([]);
    expect(fieldsOf(our, returned)).toMatchObject([{ field: 'amount' }]);
    expect(fieldsOf({ ...our, amount: '100.25' }, returned)).toEqual([]);
  });

  test('a fee that is only known afterwards is no difference below its limit', () => {
    const limited = { ...our, fee: null, fee_limit: '0.25' };
    expect(fieldsOf(limited, { amount: '100.35', fee: '0.1' })).toEqual([]);
    // Nothing shows the fee so far, or a booking within the exchange has none.
    expect(fieldsOf(limited, { amount: '100.25', fee: null })).toEqual([]);
    expect(fieldsOf({ ...limited, fee: '0.1' }, { amount: '100.35', fee: '0.1' })).toEqual([]);
    expect(fieldsOf(limited, { amount: '100.3', fee: '0.1' })).toMatchObject([{ field: 'amount' }]);
    // The whole amount left, and another one than was planned arrived.
    expect(fieldsOf(limited, { amount: '100.5', fee: '0.1' })).toMatchObject([{ field: 'amount' }]);
    // More left than was approved.
    expect(fieldsOf(limited, { amount: '100.55', fee: '0.3' })).toMatchObject([
      { field: 'amount' },
    ]);
    expect(fieldsOf(limited, { amount: '100.5', fee: '0.25' })).toEqual([]);
    expect(fieldsOf(our, { amount: '100.35', fee: '0.1' })).toMatchObject([
      { field: 'amount' },
      { field: 'fee' },
    ]);
  });

  test('an address of another family is compared with its case', () => {
    expect(fieldsOf({ ...our, address: 'TXyz' }, { address: 'Txyz' })).toMatchObject([
      { field: 'address' },
    ]);
  });
});

describe('at an end of the period', () => {
  const HOUR = 3_600_000;
  const sent = (since: number, until: number | null) =>
    withdrawal('a', { since: at(since), until: until === null ? null : at(until) });
  const nextMonth: Scope = { ...SCOPE, from: TO, to: TO + (TO - FROM) };

  test('a record is listed in its own period, whenever we sent it', () => {
    const our = sent(TO - 500, TO + 500);
    const record = recordOf(our, { at: at(TO) });
    expect(verdicts([our], [record])).toEqual([]);
    expect(verdicts([our], [record], nextMonth)).toEqual([['a', 'ours']]);
    expect(verdicts([], [{ ...record, at: at(TO - 1) }])).toEqual([['id-a', 'foreign']]);
    expect(verdicts([], [{ ...record, at: at(TO - 1) }], nextMonth)).toEqual([]);
  });

  test('what was sent across it and has no record is missing in both', () => {
    const our = sent(TO - 500, TO + 500);
    expect(verdicts([our], [])).toEqual([['a', 'missing']]);
    expect(verdicts([our], [], nextMonth)).toEqual([['a', 'missing']]);
  });

  test('what was sent in another period is not missing here', () => {
    expect(verdicts([sent(FROM - HOUR, FROM - 1)], [])).toEqual([]);
    expect(verdicts([sent(TO, TO + HOUR)], [])).toEqual([]);
  });

  test('what may have been sent beyond the time that was read is open', () => {
    expect(verdicts([sent(FROM - MARGIN_MS - 1, FROM + HOUR)], [])).toEqual([['a', 'open']]);
    expect(verdicts([sent(FROM - MARGIN_MS, FROM + HOUR)], [])).toEqual([['a', 'missing']]);
    expect(verdicts([sent(TO - HOUR, TO + MARGIN_MS + 1)], [])).toEqual([['a', 'open']]);
    expect(verdicts([sent(TO - HOUR, null)], [])).toEqual([['a', 'open']]);
  });

  test('an open one is listed once, in the period in which it was sent', () => {
    const our = { ...sent(TO - HOUR, TO + HOUR), state: 'UNKNOWN' } as const;
    expect(verdicts([our], [])).toEqual([['a', 'open']]);
    expect(verdicts([our], [], nextMonth)).toEqual([]);
  });

  test('books without transfers miss none', () => {
    const scope: Scope = { ...SCOPE, kinds: ['withdrawal', 'deposit'] };
    expect(verdicts([transfer('a'), withdrawal('b')], [], scope)).toEqual([['b', 'missing']]);
  });
});
