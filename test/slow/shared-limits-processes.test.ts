/**
 * Two worker processes on one account of each exchange stay within the limits that the exchange
 * itself counts; without the budget that they share they would not.
 */
import { movementWorkflowId } from '../../domain/messages.ts';
import { PAYEES, startExchangeStack, wholeBudgets } from '../support/exchange-stack.ts';
import { moreParts } from '../support/more-parts.ts';
import { eventually } from '../support/own-stack.ts';
import { started } from '../support/started.ts';
import type { Format } from '../venues/cex/support/format.ts';
import { FORMATS } from '../venues/cex/support/formats/index.ts';

/** How often each exchange has limited a request. */
const limited = new Map<string, number>();

/** A slow exchange takes half a minute of its budget for a withdrawal. */
const isSlow = ({ limits }: Format): boolean => limits.units_per_second < 1;
const countAt = (format: Format): number => (isSlow(format) ? 2 : 6);

/** The format, whose exchange reads its answer to a limited request here each time. */
function counted(format: Format): Format {
  const { broken, exchange } = format;
  return {
    ...format,
    broken: {
      ...broken,
      get rate_limited() {
        limited.set(exchange, (limited.get(exchange) ?? 0) + 1);
        return broken.rate_limited;
      },
    },
  };
}

const COUNTED = FORMATS.map(counted);

const bench = started(() =>
  startExchangeStack(COUNTED, {
    binding: (format) => ({
      timeout_seconds: 60,
      fetch_interval_seconds: isSlow(format) ? 600 : 5,
    }),
    prepare: ({ exchange }) => exchange.limit(true),
  }),
);
started(async () => {
  const parts = moreParts(bench.own.stack);
  await parts.worker('second-worker');
  return parts;
});

/** Starts so many withdrawals at once; returns the ids of the movements. */
function start({ exchange }: Format, count: number): Promise<readonly string[]> {
  return Promise.all(
    Array.from({ length: count }, (_, index) =>
      bench.pay(exchange, PAYEES[index % PAYEES.length] ?? '', `${String(20 + index)}.5`),
    ),
  );
}

/** The processes that took activities of the movement, as Temporal recorded them. */
async function workersOf(id: string): Promise<readonly string[]> {
  const { events } = await bench.own.temporal.workflow
    .getHandle(movementWorkflowId(id))
    .fetchHistory();
  return (events ?? []).flatMap(
    ({ activityTaskStartedEventAttributes: taken }) => taken?.identity ?? [],
  );
}

async function fetchBalances(format: Format): Promise<void> {
  const query = `fresh=true&venue_key=${format.exchange}-main`;
  await bench.own.api.expect(200, 'GET', `/balances?${query}`);
}

/** Waits for the first look at the account: until then nothing can be held there. */
async function hasBalances({ exchange }: Format): Promise<void> {
  await eventually(
    async () => {
      const path = `/balances?venue_key=${exchange}-main`;
      const { balances } = await bench.own.api.expect(200, 'GET', path);
      return (balances as readonly unknown[]).length > 0 ? true : null;
    },
    { timeoutMs: 120_000, what: () => `balances of ${exchange}` },
  );
}

test('movements and balances of two workers are served at every exchange, and none is limited', async () => {
  await Promise.all(COUNTED.map(hasBalances));
  const workers = new Set<string>();
  await Promise.all(
    COUNTED.map(async (format) => {
      // What a slow exchange's budget cannot send in a call's time has failed unsent, by design.
      const rounds = isSlow(format) ? 2 : 1;
      let count = 0;
      for (let round = 0; round < rounds; round += 1) {
        const ids = await start(format, countAt(format) / rounds);
        if (!isSlow(format)) await fetchBalances(format);
        for (const id of ids) {
          await bench.own.api.reaches(id, 'COMPLETED', 400_000);
          for (const worker of await workersOf(id)) workers.add(worker);
        }
        count += ids.length;
      }
      const { books } = bench.deskOf(format.exchange).exchange;
      expect([format.exchange, books.withdrawals.length]).toEqual([format.exchange, count]);
    }),
  );
  expect(workers.size).toBe(2);
  expect([...limited]).toEqual([]);
}, 600_000);

test('without the budget that they share, the slowest exchange limits them', async () => {
  const [slowest] = [...COUNTED].sort(
    (one, other) => one.limits.units_per_second - other.limits.units_per_second,
  );
  if (slowest === undefined) throw new Error('no exchange');
  const budgets = wholeBudgets(bench.own);
  try {
    await start(slowest, 4);
    await eventually(async () => ((limited.get(slowest.exchange) ?? 0) > 0 ? true : null), {
      timeoutMs: 120_000,
      what: () => `${slowest.exchange} to limit the requests`,
    });
  } finally {
    await budgets.stop();
  }
}, 180_000);
