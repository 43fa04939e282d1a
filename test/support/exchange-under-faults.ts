/** The test of one exchange under faults: a file for each, so that CI can draw some of them. */
import { randomInt } from 'node:crypto';
import { contradictions, LEAST_PAID, runThroughFaults, STRUCK } from './exchange-faults.ts';
import { formatOf, startExchangeStack, wholeBudgets } from './exchange-stack.ts';
import { started } from './started.ts';

const SEED = Number(process.env['EXCHANGE_SEED'] ?? randomInt(2 ** 31));

/** Declares the test. `EXCHANGE_SEED` repeats the plan of an earlier run. */
export function testUnderFaults(exchange: string): void {
  const bench = started(() =>
    startExchangeStack([formatOf(exchange)], {
      // Less than the shortest pause after a 429 would fail sends that wait for its end.
      binding: () => ({ timeout_seconds: 15, fetch_interval_seconds: 60 }),
    }),
  );
  // The limits of an account have tests of their own (test/slow/shared-limits-processes.test.ts);
  // at those of the lowest tier twenty movements may take a quarter of an hour.
  started(async () => wholeBudgets(bench.own));

  test(`20 movements out of ${exchange} through faults and killed workers: none twice, none lost`, async () => {
    console.log(`EXCHANGE_SEED=${String(SEED)}`);
    const outcome = await runThroughFaults(bench, exchange, SEED);
    const { moved, ended, doubts, kills, sends } = outcome;
    const { books } = bench.deskOf(exchange).exchange;
    const completed = ended.filter(({ request_state }) => request_state === 'COMPLETED').length;
    console.log(
      `${exchange}: ${String(moved.length)} movements, ${String(completed)} COMPLETED, ${String(doubts.length)} UNKNOWN for a while; ${String(kills.drawn + kills.afterPaying)} kills, ${String(kills.afterPaying)} of them right after the exchange had paid`,
    );
    expect(await contradictions(bench, exchange, outcome)).toEqual([]);
    // The run was what it is meant to be: every fault has struck, and enough was paid.
    expect(moved.length).toBeGreaterThanOrEqual(20);
    expect(sends).toBeGreaterThanOrEqual(STRUCK);
    expect(books.withdrawals.length).toBeGreaterThanOrEqual(LEAST_PAID);
    expect(kills.afterPaying).toBeGreaterThanOrEqual(1);
    expect(kills.drawn + kills.afterPaying).toBeGreaterThanOrEqual(4);
  }, 600_000);
}
