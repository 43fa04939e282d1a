/**
 * The fee of a withdrawal and its limit in the plan, at every exchange. Where the exchange shows
 * its fee, nothing is sent above the limit; where the fee is only known afterwards, the limit is
 * kept back from what is sent. Each dialect runs over HTTP against the local exchange.
 */
import { started } from '../../support/started.ts';
import { call, NO_JOURNAL, observe, withdrawal } from './support/desk.ts';
import { recovered, runOnce } from './support/run.ts';
import { EXCHANGES, startWorlds, type World } from './support/world.ts';

const worlds = started(() => startWorlds());

/** What left the account: one withdrawal of 100.5, or nothing. */
function expectPaid({ books }: World, times: 0 | 1): void {
  expect(books.withdrawals).toHaveLength(times);
  expect(books.get(null, 'SPOT', 'USDC')).toBe(times === 0 ? '1000' : '899.5');
}

const hasLateFee = ([, { fee_limit }]: (typeof EXCHANGES)[number]): boolean =>
  fee_limit !== undefined;

describe.each(EXCHANGES.filter((each) => !hasLateFee(each)))(
  'the limit of a fee that %s shows before the send',
  (_exchange, format) => {
    test.each([
      ['0.249999', { next_state: 'FAILED', error_code: 'FEE_ABOVE_LIMIT' }],
      ['0.25', { next_state: 'SUBMITTED' }],
    ])('of %s, where the fee is 0.25', async (fee_limit, outcome) => {
      const world = worlds.open(format);
      const executor = world.executorOf('cex_withdrawal');
      const node = world.node({ fee_limit });
      const isStopped = outcome.next_state === 'FAILED';
      const checked = await executor.preflight(node, call());
      if (isStopped) expect(checked).toMatchObject(outcome);
      else expect(checked).toBeNull();
      expect((await runOnce(executor, node)).reported).toMatchObject(outcome);
      expectPaid(world, isStopped ? 0 : 1);
      expect(world.sends()).toBe(isStopped ? 0 : 1);
    });
  },
);

describe.each(EXCHANGES.filter((each) => !hasLateFee(each)))(
  'a fee that %s showed in time for a limit',
  (_exchange, format) => {
    /** Sends what was prepared, with this time of the look at the fee. */
    async function sentAfter(of: (read: string) => string | undefined) {
      const world = worlds.open(format);
      const executor = world.executorOf('cex_withdrawal');
      const context = world.node({ fee_limit: '0.25' });
      const before = Date.now();
      const prepared = await executor.prepare(context, call());
      const { fee_read_at, ...rest } = prepared.prepared_action ?? {};
      const read = String(fee_read_at);
      expect(Date.parse(read)).toBeGreaterThanOrEqual(before);
      expect(Date.parse(read)).toBeLessThanOrEqual(Date.now());
      const time = of(read);
      const prepared_action = time === undefined ? rest : { ...rest, fee_read_at: time };
      const input = { context, prepared_action, journal: NO_JOURNAL };
      return { world, reported: await executor.submit(input, call()) };
    }
    const earlier = (milliseconds: number) => (read: string) =>
      new Date(Date.parse(read) - milliseconds).toISOString();

    test('is too old for a send after ten minutes: nothing is sent', async () => {
      const { world, reported } = await sentAfter(earlier(601_000));
      expect(reported).toMatchObject({ next_state: 'FAILED', error_code: 'QUOTE_EXPIRED' });
      expectPaid(world, 0);
      expect(world.sends()).toBe(0);
    });

    test.each<[string, (read: string) => string | undefined]>([
      ['nine minutes later', earlier(540_000)],
      ['as an earlier release prepared it', () => undefined],
    ])('is sent %s', async (_, of) => {
      const { world, reported } = await sentAfter(of);
      expect(reported).toMatchObject({ next_state: 'SUBMITTED' });
      expectPaid(world, 1);
    });
  },
);

describe.each(EXCHANGES.filter(hasLateFee))('a fee that %s shows after the send', (_, format) => {
  const { open } = format.books.networks;

  /** Makes the withdrawal of 100.5 with 0.25 at most for the fee. */
  async function paidWith(fee: string) {
    const world = worlds.open(format);
    world.books.termsOf('USDC', open).fee = fee;
    const executor = world.executorOf('cex_withdrawal');
    const { context } = await runOnce(executor, world.node());
    expect(world.only()).toMatchObject({ net_amount: '100.25', fee });
    return { world, executor, context };
  }

  test('needs a limit: without one nothing is sent', async () => {
    const world = worlds.open(format);
    const executor = world.executorOf('cex_withdrawal');
    const node = withdrawal({ network: open });
    const missing = { next_state: 'FAILED', error_code: 'FEE_LIMIT_MISSING' };
    expect(await executor.preflight(node, call())).toMatchObject(missing);
    expect((await runOnce(executor, node)).reported).toMatchObject(missing);
    expectPaid(world, 0);
    expect(world.sends()).toBe(0);
  });

  test('below the limit leaves the rest in the account', async () => {
    const { world, executor, context } = await paidWith('0.1');
    expect(await observe(executor, context)).toMatchObject({
      next_state: 'COMPLETED',
      output: { requested_amount: '100.5', fee_amount: '0.1', received_amount: '100.25' },
    });
    expect(world.books.get(null, 'SPOT', 'USDC')).toBe('899.65');
  });

  test('above the limit is left to a person', async () => {
    const { world, executor, context } = await paidWith('0.3');
    expect(await recovered(executor, context)).toMatchObject({
      next_state: 'UNKNOWN',
      error_code: 'WITHDRAWAL_FEE_ABOVE_LIMIT',
      error_message: expect.stringContaining('0.05 USDC more left the account'),
      external_ref: world.only().id,
    });
    expect(world.books.get(null, 'SPOT', 'USDC')).toBe('899.45');
    expect(world.sends()).toBe(1);
  });

  test('is not known before the end, and is no fee of 0', async () => {
    const world = worlds.open(format);
    const executor = world.executorOf('cex_withdrawal');
    world.books.settles = false;
    const { context } = await runOnce(executor, world.node());
    // The exchange calls it completed, and shows neither fee nor hash.
    world.only().exchange_status = 'completed';
    expect(await observe(executor, context)).toMatchObject({ next_state: 'OBSERVING' });
  });

  test('is the only one: a withdrawal sent again under its id is not paid twice', async () => {
    const { world, executor, context } = await paidWith('0.25');
    const prepared_action = context.prior?.prepared_action ?? {};
    const again = { context, prepared_action, journal: NO_JOURNAL };
    expect(await executor.submit(again, call())).toMatchObject({ external_ref: world.only().id });
    expectPaid(world, 1);
    expect(world.sends()).toBe(2);
  });
});
