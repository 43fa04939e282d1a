/**
 * `npm run simulate -- --seed N`: worlds of movements under a scheduler that a seed drives. Ends
 * with exit status 0 only if nothing contradicts anything.
 */
import './machine/seams.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { freePort } from '../../dev/stack/ports.ts';
import { postgresPart } from '../../dev/stack/postgres.ts';
import { Supervisor } from '../../dev/stack/supervise/supervisor.ts';
import { applyMigrations } from '../../prisma/migrate.ts';
import { Sandbox } from './runtime/sandbox.ts';
import { DATABASE_SEAMS, runWorld, type WorldReport } from './world.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    worlds: { type: 'string', default: '1' },
    movements: { type: 'string', default: '100' },
    calm: { type: 'boolean', default: false },
    log: { type: 'boolean', default: false },
  },
});
process.exitCode = await main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? '') : String(error)}\n`);
  return 1;
});
process.exit();

async function main(): Promise<number> {
  const dataDir = mkdtempSync(join(tmpdir(), 'simulation-'));
  const supervisor = new Supervisor({ dataDir, restart: false, log: () => undefined });
  let found = 0;
  try {
    const { spec, databaseUrl } = await postgresPart({
      dataDir,
      port: await freePort(),
      logDir: join(dataDir, 'logs'),
      durable: false,
    });
    await supervisor.add(spec);
    await applyMigrations(databaseUrl);
    const base = new pg.Client({ connectionString: databaseUrl });
    await base.connect();
    await base.query(DATABASE_SEAMS);
    await base.end();
    const keeper = new pg.Client({ connectionString: named(databaseUrl, 'postgres') });
    keeper.on('error', () => undefined); // the server ends first when something else has failed
    await keeper.connect();
    const sandbox = await Sandbox.open();
    const began = performance.now();
    let [movements, steps, faults] = [0, 0, 0];
    for (let index = 0; index < Number(values.worlds); index += 1) {
      const seed = Number(values.seed) + index;
      const name = `world_${String(index)}`;
      await keeper.query(`CREATE DATABASE ${name} TEMPLATE ${nameOf(databaseUrl)}`);
      const report = await runWorld({
        seed,
        movements: Number(values.movements),
        databaseUrl: named(databaseUrl, name),
        sandbox,
        ...(values.calm ? { storm: 0 } : {}),
        ...(values.log ? { tell: (line) => process.stdout.write(`${line}\n`) } : {}),
      });
      await keeper.query(`DROP DATABASE ${name} WITH (FORCE)`);
      found += report.verdicts.length;
      movements += Number(values.movements);
      steps += report.steps;
      faults += Object.values(report.faults).reduce((sum, each) => sum + each, 0);
      tell(report);
    }
    const seconds = (performance.now() - began) / 1_000;
    process.stdout.write(
      `${String(movements)} movements, ${String(faults)} faults, ${String(steps)} steps in ${seconds.toFixed(1)} s (${(movements / seconds).toFixed(1)} movements/s)\n${String(found)} contradictions\n`,
    );
    await sandbox.close();
    await keeper.end();
    return found === 0 ? 0 : 1;
  } finally {
    await supervisor.stopAll();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

function tell({ seed, digest, states, verdicts, faults }: WorldReport): void {
  process.stdout.write(
    `seed ${String(seed)}: ${digest.slice(0, 16)} ${JSON.stringify(states)} ${JSON.stringify(faults)}\n`,
  );
  for (const { rule, movement_id, found } of verdicts)
    process.stdout.write(`  ${rule}: ${String(movement_id)} ${found}\n`);
}

function nameOf(url: string): string {
  return new URL(url).pathname.slice(1);
}

function named(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}
