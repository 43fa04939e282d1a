/** What both runtimes need, put up and taken down together. */
import '../machine/seams.ts';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Supervisor } from '../../../dev/stack/supervise/supervisor.ts';
import { connectDatabase } from '../../../prisma/client.ts';
import { allowAddress } from '../../../store/allowlist.ts';
import { startOwnDatabase } from '../../support/own-database.ts';
import { DATABASE_SEAMS } from '../machine/database.ts';
import { Sandbox } from '../runtime/sandbox.ts';
import { playOnModel, statement } from './model.ts';
import { PAYEE } from './play.ts';
import { playOnReal, startTemporal } from './real.ts';
import type { Outcome, Scenario } from './script.ts';

export interface Both {
  /** What came of each scenario, by its name. */
  real(): Promise<ReadonlyMap<string, Outcome | Error>>;
  model(scenario: Scenario): Promise<Outcome>;
  close(): Promise<void>;
}

export async function openBoth(scenarios: readonly Scenario[]): Promise<Both> {
  const dataDir = mkdtempSync(join(tmpdir(), 'both-'));
  const logDir = join(dataDir, 'logs');
  mkdirSync(logDir);
  const supervisor = new Supervisor({ dataDir, restart: false, log: () => undefined });
  const [database, sandbox] = [await startOwnDatabase(), await Sandbox.open()];
  const close = async (): Promise<void> => {
    await sandbox.close();
    await supervisor.stopAll();
    await database.close();
    rmSync(dataDir, { recursive: true, force: true });
  };
  try {
    await allow(database.url);
    // The model's database has another clock, and starts as a copy.
    const simulated = new URL(database.url);
    const base = simulated.pathname.slice(1);
    simulated.pathname = '/simulated';
    const keeper = new URL(database.url);
    keeper.pathname = '/postgres';
    await statement(keeper.href, `CREATE DATABASE simulated TEMPLATE "${base}"`);
    await statement(simulated.href, DATABASE_SEAMS);
    const address = await startTemporal(supervisor, dataDir, scenarios);
    return {
      real: () => playOnReal(scenarios, { databaseUrl: database.url, address, logDir }),
      model: (scenario) =>
        playOnModel(
          scenario,
          { sandbox, databaseUrl: simulated.href },
          process.env['SIMULATION_TELL'] === scenario.name
            ? (line) => process.stderr.write(`${line}\n`)
            : undefined,
        ),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Puts whom the desks pay on the allowlist. */
async function allow(url: string): Promise<void> {
  const db = connectDatabase({ url, poolSize: 1 });
  try {
    await allowAddress(
      db,
      { chain_family: 'evm', address: PAYEE, chain_id: null, label: 'desk' },
      {
        by: 'scenarios',
        reason: 'the desks pay it',
        cooling_seconds: null,
        audit: (action, id) => ({
          action,
          entity_type: 'allowed_address',
          entity_key: id,
          outcome: 'success',
        }),
      },
    );
  } finally {
    await db.$disconnect();
  }
}
