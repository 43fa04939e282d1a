/**
 * GET /readyz on the operations listener: 200 only while every part is ready, 503 with the part's
 * name otherwise.
 */
import { eventually, ownStack } from '../support/own-stack.ts';

interface Readiness {
  readonly status: number;
  readonly checks: Readonly<Record<string, { readonly ok: boolean }>>;
}
const own = ownStack({ env: { SVC_REGISTRY_HEALTH_INTERVAL_SECONDS: '1' } });

async function readiness(): Promise<Readiness> {
  const answer = await fetch(`${own.stack.opsUrl}/readyz`);
  const { checks } = (await answer.json()) as Pick<Readiness, 'checks'>;
  return { status: answer.status, checks };
}

function failing({ checks }: Readiness): string[] {
  return Object.keys(checks).filter((part) => checks[part]?.ok !== true);
}

/** Waits until exactly the wanted answer comes, then says which parts it names. */
function becomes(status: number, part?: string): Promise<Readiness> {
  return eventually(
    async () => {
      const now = await readiness();
      return now.status === status && (part === undefined || failing(now).includes(part))
        ? now
        : null;
    },
    { timeoutMs: 60_000, what: () => `readyz ${status} ${part ?? ''}` },
  );
}

test('with every part up it is 200 and names postgres, migrations, temporal, worker and clocks', async () => {
  const ready = await becomes(200);
  expect(Object.keys(ready.checks).sort()).toEqual([
    'clocks',
    'migrations',
    'postgres',
    'temporal',
    'worker',
  ]);
  expect(failing(ready)).toEqual([]);
});

test('a clock that cannot be read is named, and it is 200 all the same', async () => {
  await own.stack.stopChild('chain');
  const ready = await becomes(200, 'clocks');
  expect(ready.checks['clocks']).toMatchObject({ detail: 'cannot be read: local-chain' });
  await own.stack.startChild('chain');
  await eventually(async () => (failing(await readiness()).length === 0 ? true : null), {
    timeoutMs: 60_000,
    what: () => 'every clock to be read again',
  });
}, 120_000);

test('without Temporal it is 503, and 200 again when Temporal is back', async () => {
  await own.stack.stopChild('temporal');
  await becomes(503, 'temporal');
  await own.stack.startChild('temporal');
  await becomes(200);
}, 120_000);

test('without Postgres it is 503, and 200 again when Postgres is back', async () => {
  await own.stack.stopChild('postgres');
  await becomes(503, 'postgres');
  await own.stack.startChild('postgres');
  await becomes(200);
}, 120_000);

test('with a migration that was not applied it is 503', async () => {
  const [row] = await own.query<{ id: string; finished_at: Date }>(
    `SELECT id, finished_at FROM _prisma_migrations ORDER BY started_at DESC LIMIT 1`,
  );
  await own.query(`UPDATE _prisma_migrations SET finished_at = NULL WHERE id = $1`, [row?.id]);
  // A clock that was not read while Postgres was away is read a while later, and stops nothing.
  const failed = failing(await becomes(503, 'migrations'));
  expect(failed.filter((name) => name !== 'clocks')).toEqual(['migrations']);
  await own.query(`UPDATE _prisma_migrations SET finished_at = $2 WHERE id = $1`, [
    row?.id,
    row?.finished_at,
  ]);
  await becomes(200);
});
