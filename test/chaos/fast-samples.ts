/** Reads what processes and tables take, and moves the service's clock. */
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { SERVICE_PROCESSES } from '../../dev/topology/service.ts';
import { eventually } from '../support/eventually.ts';
import type { ProcessSample, Sample, TableSample } from './fast-sums.ts';
import type { Run } from './run-stack.ts';

/** Reads a sample; `at` says how far the run is. */
export async function readSample(
  run: Run,
  at: Pick<Sample, 'hours' | 'movements'>,
): Promise<Sample> {
  const processes = SERVICE_PROCESSES.map((name) => {
    const pid = run.stack.children[name]?.pid ?? null;
    return [name, { pid, mib: pid === null ? Number.NaN : mibOf(pid) }] as const;
  });
  return {
    ...at,
    processes: Object.fromEntries<ProcessSample>(processes),
    tables: await tablesOf(run),
  };
}

/** The resident memory of a process, from Linux's own books. */
function mibOf(pid: number): number {
  const status = readFileSync(`/proc/${String(pid)}/status`, 'utf8');
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? [];
  return kib === undefined ? Number.NaN : Number(kib) / 1_024;
}

async function tablesOf({ query }: Run): Promise<Readonly<Record<string, TableSample>>> {
  const tables = await query<{ name: string; quoted: string; bytes: number }>(
    `SELECT relname AS name, quote_ident(relname) AS quoted,
       pg_total_relation_size(oid)::float8 AS bytes
     FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`,
  );
  const counts = tables.map(
    ({ quoted }, at) => `SELECT ${String(at)} AS at, count(*)::float8 AS rows FROM ${quoted}`,
  );
  const counted = await query<{ at: number; rows: number }>(counts.join(' UNION ALL '));
  const rowsAt = new Map(counted.map(({ at, rows }) => [at, rows]));
  return Object.fromEntries(
    tables.map(({ name, bytes }, at) => [name, { rows: rowsAt.get(at) ?? 0, bytes }]),
  );
}

/**
 * Moves the clock by which the service decides (`svc_now()`) to so many milliseconds ahead of the
 * real time. Every session is ended, since only a new one has the clock of its database.
 */
export async function moveClock(run: Run, aheadMs: number): Promise<void> {
  const ahead = Math.round(aheadMs);
  const client = new pg.Client({ connectionString: run.stack.databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>('SELECT current_database() AS name');
    const database = client.escapeIdentifier(rows[0]?.name ?? '');
    await client.query(`ALTER DATABASE ${database} SET svc.clock_offset_ms = '${String(ahead)}'`);
    await client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND backend_type = 'client backend'
         AND pid <> pg_backend_pid()`,
    );
  } finally {
    await client.end();
  }
  // The run's own sessions have ended with the others.
  await eventually(
    async () => {
      const [row] = await run.query<{ ahead: number }>(
        `SELECT extract(epoch FROM svc_now() - clock_timestamp())::float8 * 1000 AS ahead`,
      );
      return Math.abs((row?.ahead ?? 0) - ahead) < 1_000 ? true : null;
    },
    { what: () => `the service's clock to be ${String(ahead)} ms ahead` },
  );
}
