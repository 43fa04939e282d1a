/**
 * Behind pgbouncer in transaction mode: nothing is prepared, and no session is believed to have a
 * setting that did not arrive. Skipped where there is no pgbouncer.
 */
import { connectDatabase, type Database } from '../../prisma/client.ts';
import {
  codeOf,
  connectionFault,
  databaseOptions,
  databaseSettings,
  sessionFaults,
} from '../../service/database.ts';
import { createMovement } from '../../store/movements.ts';
import { applyTransition } from '../../store/transition.ts';
import { HAS_PGBOUNCER, startPooler, type Pooler } from '../support/pgbouncer.ts';
import { approvalOf, startStoreBench, type StoreBench } from './support.ts';

const withPgbouncer = HAS_PGBOUNCER ? test : test.skip;

let bench: StoreBench;
const poolers: Pooler[] = [];
const clients: Database[] = [];
beforeAll(async () => {
  if (HAS_PGBOUNCER) bench = await startStoreBench({ guarded: true });
});
afterAll(async () => {
  await Promise.all(clients.map((db) => db.$disconnect()));
  await Promise.all(poolers.map((pooler) => pooler.close()));
  await bench?.close();
});

async function pooled(ignored?: string): Promise<string> {
  const pooler = await startPooler(bench.url, ignored);
  poolers.push(pooler);
  return pooler.url;
}
const settings = (url: string, pooler: 'none' | 'transaction') =>
  databaseSettings(
    { SVC_DATABASE_POOLER: pooler, SVC_CALLBACK_ALLOWED_HOSTS_CSV: ['hooks.example.com'] },
    url,
  );

withPgbouncer('a pooler that nothing was said of is noticed at the start', async () => {
  const strict = await sessionFaults(settings(await pooled(), 'none')).catch((error: unknown) =>
    connectionFault(codeOf(error)),
  );
  expect(strict).toMatch(/Set SVC_DATABASE_POOLER=transaction/);
  const [lenient] = await sessionFaults(settings(await pooled('options'), 'none'));
  expect(lenient).toMatch(/do not arrive \(svc.callback_allowed_hosts, .*SVC_DATABASE_POOLER=/);
});

withPgbouncer('a start is refused until the role brings the settings, and says how', async () => {
  const [fault = ''] = await sessionFaults(settings(await pooled(), 'transaction'));
  const commands = fault.match(/ALTER ROLE [^;]*;/g) ?? [];
  expect(commands).toHaveLength(3);
  for (const command of commands) await bench.db.$executeRawUnsafe(command);
  expect(await sessionFaults(settings(await pooled(), 'transaction'))).toEqual([]);
  // The client gives up a statement after its own limit, and the server would go on with it.
  const role = /ALTER ROLE ("[^"]+")/.exec(fault)?.[1] ?? '';
  const limited = (limit: string): Promise<unknown> =>
    bench.db.$executeRawUnsafe(`ALTER ROLE ${role} SET statement_timeout = '${limit}'`);
  await limited('61s');
  const [longer = ''] = await sessionFaults(settings(await pooled(), 'transaction'));
  expect(longer.match(/SET (\w+) = '(\w+)'/)?.slice(1)).toEqual(['statement_timeout', '60000ms']);
  await limited('5s');
  expect(await sessionFaults(settings(await pooled(), 'transaction'))).toEqual([]);
});

withPgbouncer(
  'movements are made and changed by more callers than there are sessions',
  async () => {
    const url = await pooled();
    const options = databaseOptions(settings(url, 'transaction'));
    const db = connectDatabase({ ...options, poolSize: 12 });
    clients.push(db);
    const ids = await Promise.all(
      Array.from({ length: 60 }, async () => {
        const made = await createMovement(db, { ...bench.draft(), auto_approve_result: null });
        const approved = await applyTransition(db, approvalOf(made.movement_id));
        expect(approved).toMatchObject({ ok: true });
        return made.movement_id;
      }),
    );
    expect(await db.movement.count({ where: { request_state: 'APPROVED' } })).toBe(ids.length);
    expect(new Set(ids).size).toBe(60);
    // What a connection prepares is not there for its next transaction.
    const preparing = connectDatabase({ url, poolSize: 12 });
    clients.push(preparing);
    const outcomes = await Promise.allSettled(
      Array.from(
        { length: 60 },
        (_, index) => preparing.sql`SELECT ${index}::integer, pg_sleep(0.01)`,
      ),
    );
    expect(outcomes.some(({ status }) => status === 'rejected')).toBe(true);
  },
);
