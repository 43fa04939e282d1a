/** Which withdrawal is ours at an exchange that stores no id of ours. */
import { createHash } from 'node:crypto';
import type { ExecutionContext } from '../../../domain/executor.ts';
import { createCexAccounts, type CexAccount } from '../../../venues/cex/accounts.ts';
import { baselineOf, ownRecord } from '../../../venues/cex/baseline.ts';
import type { ListedWithdrawal, WithdrawalOrder } from '../../../venues/cex/dialect.ts';
import { createLocalRequestDesk } from '../../../platform/request-desk.ts';
import { cex } from '../../../venues/cex/index.ts';
import { parseVenueBindings } from '../../../venues/bindings.ts';
import { ADDRESS, call, withdrawal } from './support/desk.ts';

const FENCE = '2026-06-01T12:00:00.000Z';
const at = (seconds: number): string => new Date(Date.parse(FENCE) + seconds * 1_000).toISOString();
const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);

const ORDER: WithdrawalOrder = {
  client_id: 'c',
  asset: 'USDC',
  network: 'Ethereum',
  address: ADDRESS,
  tag: null,
  amount: '100.5',
  fee_limit: null,
};

const record = (id: string, changes: Partial<ListedWithdrawal> = {}): ListedWithdrawal => ({
  id,
  at: at(1),
  status: 'pending',
  exchange_status: 'Pending',
  asset: 'USDC',
  network: 'Ethereum',
  address: ADDRESS.toLowerCase(),
  tag: null,
  net_amount: '100.25',
  fee: '0.25',
  tx_hash: null,
  transaction: null,
  ...changes,
});

/** An account whose exchange stores no id of ours and lists these withdrawals. */
function account(exclusive: boolean, listed: readonly ListedWithdrawal[] = []): CexAccount {
  const [venue] = cex.entries(
    parseVenueBindings({
      venues: [
        {
          venue_key: 'main',
          provider: 'ccxt',
          exchange: 'binance',
          account_role: 'master',
          account: 'treasury@example.com',
          credentials_file: 'main.json',
          exclusive,
        },
      ],
    }),
  );
  if (venue === undefined) throw new Error('no binding');
  const found = createCexAccounts([venue], createLocalRequestDesk()).get('main');
  return {
    ...found,
    own: () => Promise.resolve({ ask: fails, find: fails }),
    dialect: { ...found.dialect, search: { by: 'baseline', list: () => Promise.resolve(listed) } },
  };
}

const fails = () => Promise.reject(new Error('nothing is sent here'));

function context(
  lane: Partial<NonNullable<ExecutionContext['send_lane']>> = {},
  prior: ExecutionContext['prior'] = { prepared_action: { known: [] } },
): ExecutionContext {
  return withdrawal(
    {},
    { send_lane: { since: FENCE, references: [], unexplained: 0, ...lane }, prior },
  );
}

const own = (
  listed: readonly ListedWithdrawal[],
  of: ExecutionContext = context(),
  exclusive = true,
): ListedWithdrawal | null => ownRecord(account(exclusive), { order: ORDER, context: of }, listed);

test('one new record on an exclusive account is ours', () => {
  expect(own([record('A')])?.id).toBe('A');
});

test.each<[string, Partial<ListedWithdrawal>]>([
  ['another amount', { net_amount: '100.24' }],
  ['another address', { address: '0x0000000000000000000000000000000000000001' }],
  ['a tag that was not sent', { tag: '7' }],
  ['a time before the send', { at: at(-601) }],
])('a record with %s is none of ours, and none proves nothing', (_, changes) => {
  expect(own([record('A', changes)])).toBeNull();
});

test('a record of the minutes before the fence may be ours: clocks differ', () => {
  expect(own([record('A', { at: at(-599) })])?.id).toBe('A');
});

test('what was listed before the send, or belongs to another send, is not ours', () => {
  const prepared = context({ references: ['B'] }, { prepared_action: { known: [hash('A')] } });
  expect(own([record('A'), record('B')], prepared)).toBeNull();
  expect(own([record('A'), record('B'), record('C')], prepared)?.id).toBe('C');
});

test('once the reference is known, only that record counts', () => {
  const sent = context({}, { external_ref: 'B', prepared_action: { known: [] } });
  expect(own([record('A'), record('B', { net_amount: '1' })], sent)?.id).toBe('B');
  expect(own([record('A')], sent)).toBeNull();
  expect(own([record('A'), record('B')], sent, false)?.id).toBe('B');
});

test.each<[string, readonly ListedWithdrawal[], ExecutionContext, boolean]>([
  ['two candidates', [record('A'), record('B')], context(), true],
  ['an account that others use too', [record('A')], context(), false],
  ['another send without a record', [record('A')], context({ unexplained: 1 }), true],
])(
  'with %s nothing is proven, and a person is shown what may be ours',
  (_, listed, of, exclusive) => {
    const shown = listed.map(({ id }) => `${id} of ${at(1)} (Pending)`).join(', ');
    expect(() => own(listed, of, exclusive)).toThrow(
      expect.objectContaining({
        code: 'WITHDRAWAL_AMBIGUOUS',
        kind: 'protocol',
        message: expect.stringContaining(`it may be ${shown}`),
      }),
    );
  },
);

test('of a payee with a tag, a record without one may be ours, and one of another tag is not', () => {
  const order = { ...ORDER, tag: '7' };
  const found = (tag: string | null) =>
    ownRecord(account(true), { order, context: context() }, [record('A', { tag })]);
  expect([found(null)?.id, found('7')?.id, found('8')]).toEqual(['A', 'A', null]);
});

test.each<[string, ExecutionContext]>([
  ['what is known of its lane', { ...withdrawal(), prior: { prepared_action: { known: [] } } }],
  ['a baseline', context({}, {})],
])('without %s, as after a restore, nothing is proven', (_, of) => {
  expect(() => own([record('A')], of)).toThrow(
    expect.objectContaining({ code: 'WITHDRAWAL_AMBIGUOUS' }),
  );
});

describe('the baseline', () => {
  const listed = [
    record('A'),
    record('C', { address: '' }),
    record('B', { address: '0x0000000000000000000000000000000000000001' }),
  ];
  const of = (changes: Partial<WithdrawalOrder> = {}) =>
    baselineOf(
      account(true, listed),
      { order: { ...ORDER, ...changes }, context: withdrawal() },
      call(),
    );

  test('holds what is listed to the address, and neither ids nor addresses in clear', async () => {
    const { known, send_lane } = await of();
    expect(known).toEqual([hash('A'), hash('C')]);
    expect(send_lane).toMatch(/^[0-9a-f]{32}$/);
  });

  test('has one lane for an exchange, asset and address, whatever the amount', async () => {
    const { send_lane } = await of();
    expect((await of({ amount: '7', address: ADDRESS.toLowerCase() }))['send_lane']).toBe(
      send_lane,
    );
    // Not every list shows the tag or the network, so records of two of them may be mistaken.
    for (const change of [{ tag: '1' }, { network: 'Arbitrum One' }])
      expect((await of(change))['send_lane']).toBe(send_lane);
    for (const change of [{ asset: 'ETH' }, { address: `${ADDRESS.slice(0, -1)}0` }])
      expect((await of(change))['send_lane']).not.toBe(send_lane);
  });
});
