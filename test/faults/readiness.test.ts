/**
 * GET /readyz on the operations listener: 200 only while every part is ready, 503 with the part's
 * name otherwise.
 */
import { freePort } from '../../dev/stack/ports.ts';
import { eventually, ownStack } from '../support/own-stack.ts';
import { startServiceProcess } from '../support/service-process.ts';

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

test('an API that waits for Postgres at its start is alive, and then measures the database’s clock alone', async () => {
  await own.stack.stopChild('postgres');
  const opsPort = await freePort(Object.values(own.stack.ports));
  const get = (path: string) => fetch(`http://127.0.0.1:${String(opsPort)}${path}`);
  const starting = startServiceProcess(own.stack, 'api', { opsPort });
  const alive = await eventually(() => get('/healthz').catch(() => null), {
    timeoutMs: 60_000,
    what: () => 'the process that waits to be alive',
  });
  expect(alive.status).toBe(200);
  const waiting = await get('/readyz');
  expect([waiting.status, await waiting.json()]).toEqual([
    503,
    {
      status: 'not_ready',
      checks: {
        start: {
          ok: false,
          required: true,
          detail: 'the process starts, and waits for the database first',
        },
      },
    },
  ]);
  // A page without the figures of the database would pass for one of a process at work.
  expect((await get('/metrics')).status).toBe(503);

  await own.stack.startChild('postgres');
  const api = await starting;
  const clocks = await eventually(async () => {
    const page = await (await get('/metrics')).text();
    const found = [...page.matchAll(/^svc_clock_difference_seconds\{clock="([^"]+)"\}/gm)];
    return found.length > 0 ? found.map(([, clock]) => clock) : null;
  });
  expect(clocks).toEqual(['database']);
  api.signal('SIGTERM');
  expect(await api.ended).toBe(0);
  await becomes(200);
}, 240_000);

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
