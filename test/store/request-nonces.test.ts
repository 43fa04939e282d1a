/** When a used nonce is on the disk. */
import { randomUUID } from 'node:crypto';
import { connectDatabase, type Database } from '../../prisma/client.ts';
import { takeNonces } from '../../store/request-nonces.ts';
import { startOwnDatabase } from '../support/own-stack.ts';

const TIMES = 20;
const KEY = 'nonce-key';

let own: Awaited<ReturnType<typeof startOwnDatabase>>;
let db: Database;
beforeAll(async () => {
  own = await startOwnDatabase();
  db = connectDatabase({ url: own.url, poolSize: 1 });
  await db.sql`
    WITH client AS (
      INSERT INTO api_clients (client_id, client_name, created_at)
        VALUES (gen_random_uuid(), 'nonces', now()) RETURNING client_id)
    INSERT INTO api_client_keys (key_id, client_id, role, secret, created_at)
      SELECT ${KEY}, client_id, 'operator', '\\x00', now() FROM client`;
}, 60_000);
afterAll(async () => {
  await db?.$disconnect();
  await own?.close();
}, 30_000);

/** How often of {@link TIMES} the log was on the disk up to the nonces when they were answered. */
async function durable(requests: readonly ('reads' | 'acts')[]): Promise<number> {
  let count = 0;
  for (let time = 0; time < TIMES; time += 1) {
    const [before] = await db.sql<{ lsn: string }>`SELECT pg_current_wal_insert_lsn() AS lsn`;
    const taken = await takeNonces(
      db,
      requests.map((what) => ({ key_id: KEY, nonce: randomUUID(), acts: what === 'acts' })),
    );
    expect(taken.map((each) => each?.fresh)).toEqual(requests.map(() => true));
    const [after] = await db.sql<{ flushed: boolean }>`
      SELECT pg_current_wal_flush_lsn() > ${before!.lsn}::pg_lsn AS flushed`;
    if (after!.flushed) count += 1;
  }
  return count;
}

test('a nonce of a request that may act is on the disk before the request goes on', async () => {
  expect(await durable(['acts'])).toBe(TIMES);
  expect(await durable(['reads', 'acts', 'reads'])).toBe(TIMES);
});

test('a nonce of a read waits for no disk, and is taken all the same', async () => {
  expect(await durable(['reads'])).toBeLessThan(TIMES);
  const asked = { key_id: KEY, nonce: randomUUID(), acts: false };
  expect((await takeNonces(db, [asked]))[0]?.fresh).toBe(true);
  expect((await takeNonces(db, [asked]))[0]?.fresh).toBe(false);
});
