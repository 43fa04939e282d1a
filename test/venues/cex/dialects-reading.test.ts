/**
 * What every exchange shows, whatever its wire format: its terms, balances, deposits and records
 * are those of its books, and transfers are made once. Each dialect runs over HTTP against the
 * local exchange.
 */
import type { CompletionAssurance } from '../../../domain/executor.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { add, compare } from '../../../domain/money.ts';
import { VENUE_WAIT_CODES } from '../../../domain/venue-waits.ts';
import { createCexBalances } from '../../../venues/cex/balances.ts';
import { expectedClientId, readVenueRecords } from '../../../venues/cex/records.ts';
import { started } from '../../support/started.ts';
import type { Books, Deposit } from './support/books.ts';
import { ADDRESS, call, contextOf, observe } from './support/desk.ts';
import { shows, type Format, type Unshown } from './support/format.ts';
import { madeDeposit, madeWithdrawal } from './support/made.ts';
import { recovered, runOnce } from './support/run.ts';
import { DONE, EXCHANGES, NOT_DONE, startWorlds, type World } from './support/world.ts';

const worlds = started(() => startWorlds());

const ELSEWHERE = '0x0000000000000000000000000000000000000001';
const HASH = `0x${'c4'.repeat(32)}`;
const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

describe.each(EXCHANGES)('the terms of %s', (_exchange, format) => {
  test('are those of its books', async () => {
    const { dialect, accounts } = worlds.open(format);
    const order = {
      client_id: dialect.withdrawalId('key'),
      asset: 'USDC',
      network: format.books.networks.open,
      address: ADDRESS,
      tag: null,
      amount: '100.5',
      fee_limit: format.fee_limit ?? null,
    };
    const connection = await accounts.get('cex-main').own();
    const terms = await dialect.withdrawalTerms(connection, order, call());
    expect(terms).toMatchObject({ enabled: true });
    expect(compare(terms?.fee ?? '0', '0.25')).toBe(0);
    if (shows(format, 'smallest amount')) expect(compare(terms?.min ?? '0', '10')).toBe(0);
    // Not every exchange shows these two.
    expect(compare(terms?.max ?? '1000000', '1000000')).toBeLessThanOrEqual(0);
    expect(compare(terms?.step ?? '0.000001', '0.000001')).toBe(0);
  });

  interface Case {
    readonly config?: JsonObject;
    readonly amount?: string;
    readonly asset?: string;
    readonly before?: (books: Books) => void;
    /** The code that each exchange has; absent: it depends on what the exchange shows. */
    readonly code?: string;
    /** What an exchange has to show for the code; absent: every one shows what it needs. */
    readonly by?: Unshown;
  }
  const unlisted = { code: 'ADDRESS_NOT_WHITELISTED', by: 'address book' } as const;
  const cases: Readonly<Record<string, Case>> = {
    'below the minimum': { amount: '9.999999', code: 'AMOUNT_TOO_SMALL', by: 'smallest amount' },
    'above the balance': { amount: '1000.000001', code: 'INSUFFICIENT_FUNDS' },
    'over an unknown network': {
      config: { network: 'MOON' },
      code: 'NETWORK_UNKNOWN',
      by: 'networks',
    },
    'of an unknown asset': { asset: 'NONE' },
    'above the maximum': {
      amount: '1000000.000001',
      before: (books) => books.set(null, 'SPOT', 'USDC', '2000000'),
    },
    'no multiple of the step': { amount: '100.0000001' },
    'over a suspended network': { config: { network: format.books.networks.suspended } },
    'with no quota left': { before: (books) => void (books.quota = { unit: 'USD', left: '0' }) },
    'during a hold': { before: (books) => void (books.held_until = Date.now() + HOUR) },
    'to an address that is not listed': {
      config: { destination_address: ELSEWHERE },
      ...unlisted,
    },
    'to an address that is not verified': {
      before: ({ book }) => void (book[0]!.verified = false),
      ...unlisted,
    },
    'with a tag that is not listed': { config: { tag: '77' }, ...unlisted },
  };
  test.each(Object.entries(cases))('a withdrawal %s is not paid', async (_what, of) => {
    const world = worlds.open(format);
    const executor = world.executorOf('cex_withdrawal');
    of.before?.(world.books);
    const before = world.books.get(null, 'SPOT', 'USDC');
    const { amount = '100.5', asset = 'USDC' } = of;
    const node = world.node(of.config, { amount, asset });
    const checked = await executor.preflight(node, call());
    const { reported, context } =
      checked === null ? await runOnce(executor, node) : { reported: checked, context: node };
    expect(world.books.withdrawals).toEqual([]);
    expect(world.books.get(null, 'SPOT', 'USDC')).toBe(before);
    if (of.code !== undefined && (of.by === undefined || shows(format, of.by)))
      expect(reported).toMatchObject({ next_state: 'FAILED', error_code: of.code });
    // A wait has a reason that the service knows, and what is open is found not to have landed.
    else if (reported === null)
      expect(await recovered(executor, context)).toEqual({ next_state: 'READY' });
    else if (reported.next_state === 'READY')
      expect(VENUE_WAIT_CODES).toContain(reported.error_code);
    else expect(reported.next_state).toBe('FAILED');
  });
});

describe.each(EXCHANGES)('the balances of %s', (_exchange, format) => {
  const pools = ['SPOT', 'USDT_FUTURE'] as const;
  const read = async ({ accounts }: World, index: number) => {
    const { pools: found } = await createCexBalances(accounts)[index]!.fetch(call());
    return found.filter(({ asset }) => asset === 'USDC');
  };
  const shown = (account_type: string, amount: string, total: string) =>
    expect.objectContaining({ account_type, available: amount, withdrawable: amount, total });

  test('are those of its books, with what is locked in the total alone', async () => {
    const world = worlds.open(format);
    world.books.lock(null, 'SPOT', 'USDC', '12.5');
    world.books.set(null, 'USDT_FUTURE', 'USDC', '7.00000001');
    const { own } = world.dialect.account_types;
    const amounts = { SPOT: ['1000', '1012.5'], USDT_FUTURE: ['7.00000001', '7.00000001'] };
    expect(await read(world, 0)).toEqual(
      pools
        .filter((pool) => own.includes(pool))
        .map((pool) => shown(pool, amounts[pool][0]!, amounts[pool][1]!)),
    );
  });

  test("of a sub-account are read with its master's key, where it shows them", async () => {
    const world = worlds.open(format);
    const [sub] = format.books.subs;
    if (sub === undefined) return;
    world.books.set(sub, 'SPOT', 'USDC', '3.25');
    world.books.set(sub, 'USDT_FUTURE', 'USDC', '4.5');
    const types = world.dialect.account_types.sub;
    const amounts = { SPOT: '3.25', USDT_FUTURE: '4.5' };
    expect(await read(world, 1)).toEqual(
      pools
        .filter((pool) => types.includes(pool))
        .map((pool) => shown(pool, amounts[pool], amounts[pool])),
    );
    const keys = world.desk.exchange.requests.flatMap(({ key }) => key ?? []);
    expect(keys).not.toContain(world.desk.exchange.key(sub).api_key);
  });
});

describe.each(EXCHANGES)('a deposit at %s', (_exchange, format) => {
  const look = (
    world: World,
    completion_assurance: CompletionAssurance,
    received_amount = '100.25',
  ) =>
    observe(
      world.executorOf('cex_deposit_observe'),
      contextOf(
        'cex_deposit_observe',
        { venue: 'cex-main', match_from: 'pay' },
        {
          completion_assurance,
          matched: { node_key: 'pay', output: { tx_hash: HASH, received_amount } },
        },
      ),
    );
  const arrives = ({ books }: World, changes: Partial<Deposit> = {}) =>
    books.deposits.push(
      madeDeposit({
        id: String(700_000 + books.deposits.length),
        network: format.books.networks.open,
        tx: HASH,
        ...changes,
      }),
    );

  test.each<[Deposit['status'], string[], string[]]>([
    ['pending', ['OBSERVING'], ['OBSERVING']],
    ['credited', ['COMPLETED'], ['OBSERVING']],
    ['completed', ['COMPLETED'], ['COMPLETED']],
    // Not every exchange has a state in which a deposit has failed for good.
    ['failed', ['FAILED', 'OBSERVING'], ['FAILED', 'OBSERVING']],
  ])('that is %s', async (status, credited, final) => {
    if (status === 'credited' && !shows(format, 'deposits on hold')) return;
    const world = worlds.open(format);
    arrives(world, { status });
    expect(credited).toContain((await look(world, 'destination_credited')).next_state);
    expect(final).toContain((await look(world, 'destination_finalized')).next_state);
  });

  test('is found by its transaction and asset alone, and added up exactly', async () => {
    const world = worlds.open(format);
    arrives(world, { tx: `0x${'c5'.repeat(32)}` });
    arrives(world, { asset: 'TINY' });
    expect(await look(world, 'provider_completed')).toMatchObject({ next_state: 'OBSERVING' });
    arrives(world, { amount: '0.10000001' });
    arrives(world, { amount: '99.9' });
    expect(await look(world, 'provider_completed', '100.00000001')).toMatchObject({
      next_state: 'COMPLETED',
      output: { tx_hash: HASH, received_amount: '100.00000001', deposits: 2 },
    });
  });
});

describe.each(EXCHANGES)('the records of %s', (_exchange, format) => {
  test('are those of its books, over several pages, and only of the period', async () => {
    const { books, accounts } = worlds.open(format);
    const from = Math.floor(Date.now() / SECOND) * SECOND - 6 * HOUR;
    const fill = (count: number, time: (index: number) => number): void => {
      for (let index = 0; index < count; index += 1) {
        const of = { network: format.books.networks.open, time: time(index), tx: newTx(books) };
        const id = format.books.ids.withdrawal(books.withdrawals.length);
        const label = books.book[0]!.label;
        books.withdrawals.push(madeWithdrawal({ id, label, address: ADDRESS, ...of }));
        books.deposits.push(madeDeposit({ id: String(700_000 + books.deposits.length), ...of }));
      }
    };
    fill(2, (index) => from - (index + 1) * 60 * SECOND);
    fill(format.page + 3, (index) => from + (index + 1) * SECOND);
    const period = { from, to: Date.now() };
    const records = await readVenueRecords(accounts, 'cex-main', period, call());
    const ids = (kind: string) =>
      records
        .filter((each) => each.kind === kind)
        .map(({ id }) => id)
        .sort();
    const expected = (all: readonly { readonly id: string; readonly time: number }[]) =>
      all
        .filter(({ time }) => time >= from)
        .map(({ id }) => id)
        .sort();
    expect(ids('withdrawal')).toEqual(expected(books.withdrawals));
    expect(ids('deposit')).toEqual(expected(books.deposits));
    for (const { kind, asset, amount, fee, status } of records) {
      expect({ asset, status }).toEqual({ asset: 'USDC', status: 'completed' });
      expect(amount).toBe(kind === 'withdrawal' ? '100' : '100.25');
      if (kind === 'withdrawal') expect(fee).toBe('0.25');
    }
  });

  test('have the client id that is expected of a send', async () => {
    const world = worlds.open(format);
    const node = world.node();
    const { reported } = await runOnce(world.executorOf('cex_withdrawal'), node);
    const client_id = expectedClientId(world.accounts, 'cex-main', {
      kind: 'withdrawal',
      key: node.idempotency_key,
      external_ref: reported?.external_ref ?? null,
    });
    expect(client_id).not.toBeNull();
    const period = { from: Date.now() - HOUR, to: Date.now() + HOUR };
    expect(await readVenueRecords(world.accounts, 'cex-main', period, call())).toMatchObject([
      { kind: 'withdrawal', id: world.only().id, client_id, amount: '100.5', fee: '0.25' },
    ]);
  });
});

/** A transaction hash that no other record of the books has. */
function newTx({ withdrawals }: Books): string {
  return `0x${withdrawals.length.toString(16).padStart(64, '0')}`;
}

const MOVING = EXCHANGES.filter(([, { paths }]) => paths.transfer !== null);

describe.each(MOVING)('a transfer at %s', (_exchange, format: Format) => {
  const node = (amount = '100.5') =>
    contextOf(
      'cex_internal_transfer',
      { venue: 'cex-main', destination_venue: 'cex-sub' },
      { amount },
    );
  const fault = { path: format.paths.transfer ?? '', method: 'POST' } as const;
  const expectMoved = ({ books }: World, times: 0 | 1): void => {
    const [sub = null] = format.books.subs;
    expect(books.transfers).toHaveLength(times);
    const [left, moved] = [books.get(null, 'SPOT', 'USDC'), books.get(sub, 'SPOT', 'USDC')];
    expect([left, moved]).toEqual(times === 0 ? ['1000', '0'] : ['899.5', '100.5']);
    expect(add(left, moved)).toBe('1000');
  };

  test('is made once, and observed to its end', async () => {
    const world = worlds.open(format);
    const executor = world.executorOf('cex_internal_transfer');
    const context = node();
    expect(await executor.preflight(context, call())).toBeNull();
    const ran = await runOnce(executor, context);
    expect(ran.reported).toMatchObject({ external_ref: world.books.transfers[0]?.id });
    expect(await observe(executor, ran.context)).toMatchObject({
      next_state: 'COMPLETED',
      output: { submitted_amount: '100.5', fee_amount: '0', received_amount: '100.5' },
    });
    expectMoved(world, 1);
  });

  test.each(DONE)('%s: is made once, and found', async (kind) => {
    const world = worlds.open(format);
    const executor = world.executorOf('cex_internal_transfer');
    world.fail(kind, fault);
    const { reported, context } = await runOnce(executor, node());
    expect(reported).toBeNull();
    expect(await recovered(executor, context)).toMatchObject({ next_state: 'COMPLETED' });
    expectMoved(world, 1);
  });

  test.each(NOT_DONE)('%s: is not made, and nothing is found', async (kind) => {
    const world = worlds.open(format);
    const executor = world.executorOf('cex_internal_transfer');
    world.fail(kind, fault);
    const { reported, context } = await runOnce(executor, node());
    expect(reported).toBeNull();
    expect(await recovered(executor, context)).toEqual({ next_state: 'READY' });
    expectMoved(world, 0);
  });

  test.each([
    ['1000.1', 'INSUFFICIENT_FUNDS'],
    [`0.${'1'.repeat(format.transfer_decimals + 1)}`, 'AMOUNT_PRECISION'],
  ])('of %s is refused: %s', async (amount, error_code) => {
    const world = worlds.open(format);
    const executor = world.executorOf('cex_internal_transfer');
    expect(await executor.preflight(node(amount), call())).toMatchObject({
      next_state: 'FAILED',
      error_code,
    });
    const { reported } = await runOnce(executor, node(amount));
    // Not every exchange has a code that proves it.
    expect(reported?.next_state ?? 'FAILED').toBe('FAILED');
    expectMoved(world, 0);
  });

  test('is not made with a key that may not', async () => {
    const world = worlds.open(format);
    world.books.permissions.transfer = false;
    const { reported } = await runOnce(world.executorOf('cex_internal_transfer'), node());
    expect(reported).toMatchObject({ next_state: 'FAILED', error_code: 'EXCHANGE_KEY_REFUSED' });
    expectMoved(world, 0);
  });
});
