/**
 * What every exchange keeps, whatever its wire format: nothing is paid twice, what is reported is
 * what happened, and money is exact. Each dialect runs over HTTP against the local exchange. What
 * an exchange shows is in `dialects-reading.test.ts`.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SubmitInput } from '../../../domain/executor.ts';
import type { RequestDesk } from '../../../domain/request-desk.ts';
import { createLocalRequestDesk } from '../../../platform/request-desk.ts';
import { createCexAccounts } from '../../../venues/cex/accounts.ts';
import { sendingDescriptor } from '../../../venues/cex/descriptor.ts';
import { DIALECTS } from '../../../venues/cex/dialects/index.ts';
import { createCexWithdrawalExecutor } from '../../../venues/cex/withdrawal.ts';
import { started } from '../../support/started.ts';
import { ADDRESS, call, NO_JOURNAL, observe } from './support/desk.ts';
import { shows } from './support/format.ts';
import { FORMATS } from './support/formats/index.ts';
import { madeWithdrawal } from './support/made.ts';
import type { OtherThanOrdered } from './support/misbehaviour.ts';
import { prepareOnce, recovered, runOnce, submitOnce } from './support/run.ts';
import { DONE, EXCHANGES, NOT_DONE, startWorlds, type World } from './support/world.ts';

const worlds = started(() => startWorlds());

/** The exchanges whose records show the tag of a withdrawal to an EVM address. */
const SHOW_TAGS = ['binance', 'bybit', 'okx'];

const OTHERWISE: readonly OtherThanOrdered[] = ['other_network', 'other_tag', 'other_amount'];
const HASH = `0x${'c4'.repeat(32)}`;
/** Longer than any test. */
const LATER_MS = 3_600_000;

/** Codes that each exchange documents, or may send, and that leave open what was done. */
const OPEN_CODES: Readonly<Record<string, readonly string[]>> = {
  binance: ['-1000', '-1001', '-1006', '-1007', '-4027', '-9999'],
  okx: ['1', '50001', '50004', '50026', '50042', '50071', '51000', '58112', '58208', '59999'],
  kraken: [
    'EFunding:Max fee exceeded',
    'EFunding:Invalid amount',
    'EService:Unavailable',
    'EService:Deadline elapsed',
    'EGeneral:Internal error',
    'EUnknown:Of no page',
  ],
  bybit: [
    ...['-1', '429', '10000', '10008', '10009', '10014', '10016', '10024', '10027', '10029'],
    ...['131001', '131001: openapi svc error', '131003', '131067', '131069', '131080', '131082'],
    ...['131084', '131092', '131099', '131200', '131201', '131204', '131205', '131206', '131209'],
    ...['131213', '131214', '131216', '131217', '131226', '131230', '141004', '999999'],
  ],
  coinbase: [
    'internal_server_error',
    'unknown',
    'INVALID_ARGUMENT',
    'NOT_FOUND',
    'INSUFFICIENT_FUND',
    'UNKNOWN_FAILURE_REASON',
    'of_no_page',
  ],
};

/** What left the account: one withdrawal of 100.5, or nothing. */
function expectPaid({ books }: World, times: 0 | 1): void {
  expect(books.withdrawals).toHaveLength(times);
  expect(books.get(null, 'SPOT', 'USDC')).toBe(times === 0 ? '1000' : '899.5');
}

/** What recover reports of a withdrawal that was paid: without an id of ours, not always it. */
function landing({ dialect, only }: World, isExclusive: boolean): object {
  return dialect.search.by === 'client_id' || isExclusive
    ? { next_state: 'COMPLETED', external_ref: only().id, output: { received_amount: '100.25' } }
    : { next_state: 'UNKNOWN', error_code: 'WITHDRAWAL_AMBIGUOUS' };
}

test('every dialect has a format', () => {
  expect(FORMATS.map(({ exchange }) => exchange).sort()).toEqual([...DIALECTS.keys()].sort());
});

test('several exchanges have the longest time to settle, and the weakest promise', () => {
  const of = (settle_seconds: number, same_key_safe = false) => ({ settle_seconds, same_key_safe });
  for (const all of [
    [of(60), of(300)],
    [of(300), of(60)],
  ])
    expect(sendingDescriptor('withdrawal', all)).toMatchObject({ settle_seconds: 300 });
  expect(sendingDescriptor('withdrawal', [of(1, true), of(1)]).same_key_safe).toBe(false);
});

describe.each(EXCHANGES)('a withdrawal at %s', (_exchange, format) => {
  test('is paid once, with exact money', async () => {
    const world = worlds.open(format);
    const executor = world.executorOf('cex_withdrawal');
    world.books.settles = false;
    const node = world.node();
    expect(await executor.preflight(node, call())).toBeNull();
    expectPaid(world, 0);
    const { reported, context } = await runOnce(executor, node);
    const paid = world.only();
    expect(reported).toEqual({ next_state: 'SUBMITTED', external_ref: paid.id });
    expect(await observe(executor, context)).toMatchObject({ next_state: 'OBSERVING' });
    Object.assign(paid, { status: 'completed', tx: HASH });
    expect(await observe(executor, context)).toMatchObject({
      next_state: 'COMPLETED',
      external_ref: paid.id,
      output: {
        requested_amount: '100.5',
        submitted_amount: '100.5',
        fee_amount: '0.25',
        fee_asset: 'USDC',
        received_amount: '100.25',
        tx_hash: HASH,
        exchange_transaction: HASH,
      },
    });
    expect({ ...paid, address: paid.address.toLowerCase() }).toMatchObject({
      account: null,
      asset: 'USDC',
      network: format.books.networks.open,
      address: ADDRESS.toLowerCase(),
      tag: null,
      net_amount: '100.25',
      fee: '0.25',
    });
    expectPaid(world, 1);
    expect(world.sends()).toBe(1);
  });

  test("reaches an address that the exchange's book spells in other letter case", async () => {
    const world = worlds.open(format);
    const executor = world.executorOf('cex_withdrawal');
    const { book } = world.books;
    book.splice(0, 1, { ...book[0]!, address: ADDRESS.toLowerCase() });
    const node = world.node();
    expect(await executor.preflight(node, call())).toBeNull();
    const { context } = await runOnce(executor, node);
    expect(await observe(executor, context)).toMatchObject({
      next_state: 'COMPLETED',
      external_ref: world.only().id,
    });
    expectPaid(world, 1);
  });

  test('carries the nonces of its turns, where nonces grow', async () => {
    const world = worlds.open(format);
    if (world.dialect.growing_nonce !== true) return;
    const FIRST = 1_900_000_000_000_000_000n;
    let last = FIRST;
    const local = createLocalRequestDesk();
    const desk: RequestDesk = {
      ...local,
      async takeTurn(key, milliseconds) {
        const turn = await local.takeTurn(key, milliseconds);
        return turn === null ? null : { ...turn, nonce: String((last += 1n)) };
      },
    };
    const accounts = createCexAccounts(world.desk.bindings(), desk);
    await runOnce(createCexWithdrawalExecutor(accounts), world.node());
    const nonces = world.desk.exchange.requests
      .filter(({ path }) => path.includes('/private/'))
      .map(({ parameters }) => BigInt(parameters.get('nonce') ?? ''));
    expect(nonces.length).toBeGreaterThan(1);
    expect(nonces.every((each) => each > FIRST && each <= last)).toBe(true);
    expectPaid(world, 1);
  });

  test('is FAILED, and never unknown, when its request was not sent', async () => {
    const world = worlds.open(format);
    const shared = createLocalRequestDesk();
    const accounts = createCexAccounts(world.desk.bindings({ timeout_seconds: 1 }), shared);
    const executor = createCexWithdrawalExecutor(accounts);
    const node = world.node();
    const { prepared_action = {} } = await executor.prepare(node, call());
    const { api_key = '' } = format.keyOf(null);
    await shared.stop(createHash('sha256').update(api_key).digest('hex'), 60_000);
    const input = { context: node, prepared_action, journal: NO_JOURNAL };
    expect(await executor.submit(input, call())).toMatchObject({
      next_state: 'FAILED',
      error_code: 'CEX_TIMEOUT',
    });
    expectPaid(world, 0);
  });

  test('stays within the limits of its key', async () => {
    const world = worlds.open(format);
    const accounts = createCexAccounts(world.desk.bindings(), createLocalRequestDesk());
    const executor = createCexWithdrawalExecutor(accounts);
    world.desk.exchange.limit(true);
    const node = world.node();
    expect(await executor.preflight(node, call())).toBeNull();
    const { context } = await runOnce(executor, node);
    expect(await observe(executor, context)).toMatchObject({ next_state: 'COMPLETED' });
    const keys = world.desk.exchange.requests.flatMap(({ key }) => key ?? []);
    expect(new Set(keys)).toEqual(new Set([world.desk.exchange.key(null).api_key]));
  });

  test('that the exchange ended is FAILED, and in an unknown state it is under way', async () => {
    const world = worlds.open(format);
    const executor = world.executorOf('cex_withdrawal');
    const { context } = await runOnce(executor, world.node());
    Object.assign(world.only(), { status: 'failed', tx: null });
    expect(await observe(executor, context)).toMatchObject({
      next_state: 'FAILED',
      error_code: 'WITHDRAWAL_FAILED',
    });
    world.only().exchange_status = '77';
    expect(await observe(executor, context)).toMatchObject({ next_state: 'OBSERVING' });
  });

  test('is not paid with a key that may not withdraw, and health shows the key', async () => {
    const world = worlds.openNew(format);
    const executor = world.executorOf('cex_withdrawal');
    world.books.permissions.withdraw = false;
    const { reported } = await runOnce(executor, world.node());
    expect(reported).toMatchObject({ next_state: 'FAILED', error_code: 'EXCHANGE_KEY_REFUSED' });
    expectPaid(world, 0);
    expect(await executor.health(call())).toMatchObject({ state: 'down' });
    world.books.permissions.withdraw = true;
    expect(await executor.health(call())).toEqual({ state: 'up' });
  });
});

describe.each(EXCHANGES)('what %s pays otherwise than ordered', (exchange, format) => {
  const shown = (kind: OtherThanOrdered) => kind !== 'other_tag' || SHOW_TAGS.includes(exchange);

  test.each(OTHERWISE.filter(shown))('is left to a person: %s', async (kind) => {
    const world = worlds.open(format);
    const executor = world.executorOf('cex_withdrawal');
    world.fail(kind);
    const { reported, context } = await runOnce(executor, world.node());
    expect(reported).toMatchObject({ next_state: 'SUBMITTED', external_ref: world.only().id });
    expect(await recovered(executor, context)).toMatchObject({
      next_state: 'UNKNOWN',
      error_code: 'WITHDRAWAL_MISMATCH',
    });
    await expect(observe(executor, context)).rejects.toMatchObject({
      code: 'WITHDRAWAL_MISMATCH',
    });
    expect(world.sends()).toBe(1);
  });
});

describe.each(EXCHANGES)('a withdrawal whose answer is lost at %s', (exchange, format) => {
  const isFoundById = DIALECTS.get(exchange)?.search.by === 'client_id';

  // Where the exchange stores our id, nothing depends on who else withdraws.
  describe.each(isFoundById ? [false] : [false, true])('(exclusive: %s)', (exclusive) => {
    test.each(DONE)('%s: is paid once, and found or left to a person', async (kind) => {
      const world = worlds.open(format, { exclusive });
      const executor = world.executorOf('cex_withdrawal');
      world.fail(kind);
      const { reported, context } = await runOnce(executor, world.node());
      expect(reported).toBeNull();
      expectPaid(world, 1);
      expect(await recovered(executor, context)).toMatchObject(landing(world, exclusive));
      expectPaid(world, 1);
      expect(world.sends()).toBe(1);
    });

    test('is found once histories show it', async () => {
      const world = worlds.open(format, { exclusive });
      const executor = world.executorOf('cex_withdrawal');
      world.books.late_ms = LATER_MS;
      world.fail('done_then_hangup');
      const { context } = await runOnce(executor, world.node());
      expect(await recovered(executor, context)).toEqual({ next_state: 'READY' });
      world.only().visible_from = 0;
      expect(await recovered(executor, context)).toMatchObject(landing(world, exclusive));
      expect(world.sends()).toBe(1);
    });

    test('is found when it is done after the time is over', async () => {
      const world = worlds.open(format, { timeout_seconds: 1, exclusive });
      const executor = world.executorOf('cex_withdrawal');
      world.fail('slow', { milliseconds: 1_100 });
      const { reported, context } = await runOnce(executor, world.node());
      expect(reported).toBeNull();
      while (world.books.withdrawals.length === 0) await sleep(20);
      expect(await recovered(executor, context)).toMatchObject(landing(world, exclusive));
      expectPaid(world, 1);
    });
  });

  test('is never mistaken for an equal one of before', async () => {
    const world = worlds.open(format, { exclusive: true });
    const executor = world.executorOf('cex_withdrawal');
    const { label } = world.books.book[0]!;
    const of = { network: format.books.networks.open, address: ADDRESS, label };
    world.books.withdrawals.push(madeWithdrawal({ id: 'earlier', net_amount: '100.25', ...of }));
    world.fail('hangup');
    const lost = await runOnce(executor, world.node());
    expect(lost.reported).toBeNull();
    expect(await recovered(executor, lost.context)).toEqual({ next_state: 'READY' });
    world.fail('done_then_hangup');
    const { context } = await runOnce(executor, world.node());
    expect(await recovered(executor, context)).toMatchObject({
      next_state: 'COMPLETED',
      external_ref: world.books.withdrawals[1]!.id,
    });
  });

  test.each(NOT_DONE)('%s: is not paid, and nothing is found', async (kind) => {
    const world = worlds.open(format);
    const executor = world.executorOf('cex_withdrawal');
    world.fail(kind);
    const { reported, context } = await runOnce(executor, world.node());
    expect(reported).toBeNull();
    expect(await recovered(executor, context)).toEqual({ next_state: 'READY' });
    expectPaid(world, 0);
    expect(world.sends()).toBe(1);
  });
});

describe.each(EXCHANGES)('a withdrawal while something changes at %s', (_exchange, format) => {
  test('is waited for when histories show it late', async () => {
    const world = worlds.open(format);
    const executor = world.executorOf('cex_withdrawal');
    world.fail('late', { milliseconds: LATER_MS });
    const { reported, context } = await runOnce(executor, world.node());
    expect(reported).toMatchObject({ next_state: 'SUBMITTED' });
    expect(await observe(executor, context)).toMatchObject({ next_state: 'OBSERVING' });
    world.only().visible_from = 0;
    expect(await observe(executor, context)).toMatchObject({ next_state: 'COMPLETED' });
  });

  test('is refused when the clock is off, unless the exchange has no time limit', async () => {
    const world = worlds.open(format);
    world.fail('clock_off');
    const { reported } = await runOnce(world.executorOf('cex_withdrawal'), world.node());
    const isTimed = world.dialect.growing_nonce !== true;
    expect(reported).toMatchObject({ next_state: isTimed ? 'FAILED' : 'SUBMITTED' });
    if (isTimed && shows(format, 'reason of a wrong clock'))
      expect(reported).toMatchObject({ error_code: 'CLOCK_DIFFERENCE' });
    expectPaid(world, isTimed ? 0 : 1);
  });

  test.each(['suspended_between', 'address_removed'] as const)('%s: is not paid', async (kind) => {
    const world = worlds.open(format);
    const executor = world.executorOf('cex_withdrawal');
    const node = world.node();
    expect(await executor.preflight(node, call())).toBeNull();
    world.fail(kind);
    const { reported, context } = await runOnce(executor, node);
    const outcome = reported ?? (await recovered(executor, context));
    expect(outcome.next_state).toBe(reported === null ? 'READY' : 'FAILED');
    expectPaid(world, 0);
    expect(world.sends()).toBe(1);
  });
});

describe.each(EXCHANGES)('an error code of %s', (exchange, format) => {
  const { refusals = {}, rate_limit_codes = [] } = DIALECTS.get(exchange) ?? {};
  // Prepared once for all codes: none of them changes the books that it was prepared from.
  let input: SubmitInput;
  beforeAll(async () => {
    const world = worlds.open(format);
    input = await prepareOnce(world.executorOf('cex_withdrawal'), world.node());
  });
  const sendAgainst = async (code: string) => {
    const world = worlds.open(format);
    world.fail('refuse', format.error(code));
    return { world, reported: await submitOnce(world.executorOf('cex_withdrawal'), input) };
  };

  test.each(Object.entries(refusals))('%s proves that nothing was paid: %s', async (code, ours) => {
    // A rate limit counts first, and proves nothing.
    expect(rate_limit_codes).not.toContain(code);
    const { world, reported } = await sendAgainst(code);
    expect(reported).toMatchObject({ next_state: 'FAILED', error_code: ours });
    expectPaid(world, 0);
    expect(world.sends()).toBe(1);
  });

  test.each([...(OPEN_CODES[exchange] ?? []), ...rate_limit_codes])(
    '%s leaves the outcome open',
    async (code) => {
      const { world, reported } = await sendAgainst(code);
      expect(reported).toBeNull();
      expect(world.sends()).toBe(1);
    },
  );
});
