/** Postgres, Temporal and the bench's processes, on free ports and in a folder of their own. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from '../dev/stack/ports.ts';
import { postgresPart } from '../dev/stack/postgres.ts';
import { SEARCH_ATTRIBUTES } from '../dev/stack/config.ts';
import { Supervisor } from '../dev/stack/supervise/supervisor.ts';
import { findTemporalServer } from '../dev/stack/temporal-binary.ts';
import { temporalPart } from '../dev/stack/temporal.ts';
import { applyMigrations } from '../prisma/migrate.ts';
import { CREATE_JOBS } from './baseline/jobs.ts';
import { cpuOf } from './cpu.ts';
import { memoryOf } from './memory.ts';
import { PROCESSES, processPart, type ProcessName } from './parts.ts';
import { PERIMETER_LAYERS, type PartSettings } from './processes/part.ts';

/** Every process whose work is part of a figure. */
export type PartName = ProcessName | 'postgres' | 'temporal';

export interface BenchStack {
  readonly settings: PartSettings;
  readonly pool: pg.Pool;
  /** Starts and ends processes besides those of {@link PROCESSES}. */
  readonly supervisor: Supervisor;
  readonly folder: string;
  /** Starts the bench's own processes; before that only Postgres and Temporal run. */
  startProcesses(profileDir: string | null): Promise<void>;
  /** CPU milliseconds of these parts, with all processes below them, since they began. */
  cpu(parts: readonly PartName[]): Record<string, number>;
  /** Megabytes of memory that these parts hold, with all processes below them. */
  memory(parts: readonly PartName[]): Record<string, number>;
  stop(): Promise<void>;
}

/** Starts the parts that are not the bench's own. `log` gets a line for each fault of a part. */
export async function startBenchStack(log: (line: string) => void): Promise<BenchStack> {
  const dataDir = mkdtempSync(join(tmpdir(), 'bench-'));
  const logDir = join(dataDir, 'logs');
  mkdirSync(logDir);
  const supervisor = new Supervisor({ dataDir, restart: false, log });
  let pool: pg.Pool | null = null;
  const stop = async (): Promise<void> => {
    await pool?.end();
    await supervisor.stopAll();
    rmSync(dataDir, { recursive: true, force: true });
  };
  const pidsOf = (parts: readonly PartName[]): Record<string, number> =>
    Object.fromEntries(parts.map((name) => [name, supervisor.pid(name) ?? 0]));
  try {
    const settings = await startServers(supervisor, dataDir, logDir);
    pool = new pg.Pool({ connectionString: settings.databaseUrl, max: 4 });
    // A connection that breaks fails the query that uses it; that error is the one to report.
    pool.on('error', () => undefined);
    await pool.query(CREATE_JOBS);
    const settingsFile = join(dataDir, 'bench.json');
    writeFileSync(settingsFile, JSON.stringify(settings), { mode: 0o600 });
    return {
      settings,
      pool,
      supervisor,
      folder: dataDir,
      startProcesses: async (profileDir) => {
        await Promise.all(
          PROCESSES.map((name) =>
            supervisor.add(processPart(name, { settingsFile, logDir, profileDir })),
          ),
        );
      },
      cpu: (parts) => cpuOf(pidsOf(parts)),
      memory: (parts) => memoryOf(pidsOf(parts)),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startServers(
  supervisor: Supervisor,
  dataDir: string,
  logDir: string,
): Promise<PartSettings> {
  const ports: number[] = [];
  for (let count = 0; count < 5 + PERIMETER_LAYERS.length; count += 1)
    ports.push(await freePort(ports));
  const [postgres = 0, temporal = 0, uiPort = 0, apiPort = 0, remotePort = 0, ...rest] = ports;
  const [bare = 0, validated = 0, signed = 0, nonce = 0, counted = 0, whole = 0] = rest;
  const server = await findTemporalServer();
  if (server.kind === 'address')
    throw new Error('The bench measures a Temporal server of its own: unset SVC_TEMPORAL_ADDRESS.');
  const database = await postgresPart({ dataDir, port: postgres, logDir });
  const perimeterUrl = withDatabaseName(database.databaseUrl, 'perimeter');
  await Promise.all([
    supervisor.add(database.spec).then(() => databases(database.databaseUrl, perimeterUrl)),
    supervisor.add(
      temporalPart({
        binary: server.path,
        dataDir,
        port: temporal,
        uiPort,
        logDir,
        searchAttributes: SEARCH_ATTRIBUTES,
      }),
    ),
  ]);
  const layers = { bare, validated, signed, nonce, counted, whole };
  const perimeter = { databaseUrl: perimeterUrl, ports: layers };
  const temporalAddress = `127.0.0.1:${temporal}`;
  return { databaseUrl: database.databaseUrl, temporalAddress, apiPort, remotePort, perimeter };
}

/** The service's database and that of the perimeter, both as a release has them. */
async function databases(serviceUrl: string, perimeterUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: serviceUrl });
  await client.connect();
  await client.query('CREATE DATABASE perimeter').finally(() => client.end());
  await applyMigrations(serviceUrl);
  await applyMigrations(perimeterUrl);
}

function withDatabaseName(url: string, name: string): string {
  const other = new URL(url);
  other.pathname = `/${name}`;
  return other.href;
}
