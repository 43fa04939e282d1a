/**
 * Two clients of one API key, each with a database connection of its own as two processes have,
 * stay within the limits that the exchange itself counts.
 */
import { createRequestDesk } from '../../store/request-desk.ts';
import { connectDatabase, type Database } from '../../prisma/client.ts';
import { createCexAccounts } from '../../venues/cex/accounts.ts';
import { storeBench } from '../store/support.ts';
import { call, freshBooks, openDesk } from '../venues/cex/support/desk.ts';
import { FORMATS } from '../venues/cex/support/formats/index.ts';

const bench = storeBench();
const clients: Database[] = [];
beforeAll(() => {
  for (let each = 0; each < 2; each += 1)
    clients.push(connectDatabase({ url: bench.url, poolSize: 4 }));
});
afterAll(() => Promise.all(clients.map((db) => db.$disconnect())));

/** Requests of each client: more than any exchange here takes at once. */
const EACH = 9;

test.each(FORMATS.map((format) => [format.exchange, format] as const))(
  '%s answers every request of two processes, and limits none',
  async (_, format) => {
    const desk = await openDesk(format);
    try {
      freshBooks(desk);
      desk.exchange.limit(true);
      const times = clients.map(async (db) => {
        // Bindings of their own, and so connections of their own.
        const bindings = desk.bindings({ timeout_seconds: 60 });
        const { dialect, own } = createCexAccounts(bindings, createRequestDesk(db)).get('cex-main');
        const connection = await own();
        const read = () => dialect.balances(connection, ['SPOT'], call());
        return Promise.all(Array.from({ length: EACH }, read));
      });
      const answers = (await Promise.all(times)).flat();
      expect(answers).toHaveLength(2 * EACH);
      expect(answers.every((pools) => pools.some(({ asset }) => asset === 'USDC'))).toBe(true);
      const counted = desk.exchange.requests.filter(({ path }) =>
        path.endsWith(format.paths.balances),
      );
      // A limited request would have been made again.
      expect(counted).toHaveLength(2 * EACH);
    } finally {
      await desk.close();
    }
  },
  180_000,
);

test('without a shared desk the same requests are limited, so the exchange does count', async () => {
  const kraken = FORMATS.find(({ exchange }) => exchange === 'kraken');
  if (kraken === undefined) throw new Error('no format of Kraken');
  const desk = await openDesk(kraken);
  freshBooks(desk);
  desk.exchange.limit(true);
  const work = [1, 2].map(async () => {
    const { dialect, own } = desk.accounts({ timeout_seconds: 5 }).get('cex-main');
    const connection = await own();
    const read = () => dialect.balances(connection, ['SPOT'], call());
    return Promise.all(Array.from({ length: EACH }, read));
  });
  const outcomes = await Promise.allSettled(work);
  expect(outcomes.some(({ status }) => status === 'rejected')).toBe(true);
  await desk.close();
}, 180_000);
