/**
 * One migrated cluster for a run of the tests: every database of theirs begins as a copy of it,
 * since initialising and migrating takes ten times as long as copying.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { takeLock } from '../../dev/bootstrap/lock.mjs';
import { isTestRoom } from '../../dev/bootstrap/test-room.mjs';
import { freePort } from '../../dev/stack/ports.ts';
import { postgresPart } from '../../dev/stack/postgres.ts';
import { Supervisor } from '../../dev/stack/supervise/supervisor.ts';
import { applyMigrations } from '../../prisma/migrate.ts';

const PARTS = ['postgres', 'postgres.password', 'postgres-service.password'];
const run = promisify(execFile);

/**
 * Puts a cluster that is migrated and not running into `dataDir`, which a stack then finds as its
 * own. Outside of a run's own temporary folder it does nothing, and the stack makes one: whatever
 * is made there once would stay.
 */
export async function copyCluster(dataDir: string): Promise<void> {
  const room = tmpdir();
  if (!isTestRoom(basename(room))) return;
  const made = await madeOnce(room);
  await run('cp', ['-a', ...PARTS.map((part) => join(made, part)), dataDir]);
}

/** The folder of the cluster that is copied; of several files that need it first, one makes it. */
async function madeOnce(room: string): Promise<string> {
  const made = join(room, 'migrated-cluster');
  while (!existsSync(made)) {
    const lock = await takeLock(`${made}.lock`);
    if (lock.release === undefined) {
      await sleep(50);
      continue;
    }
    try {
      if (!existsSync(made)) await make(made);
    } finally {
      lock.release();
    }
  }
  return made;
}

async function make(made: string): Promise<void> {
  const draft = `${made}.draft`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { mode: 0o700 });
  const supervisor = new Supervisor({ dataDir: draft, restart: false, log: () => undefined });
  try {
    const { spec, databaseUrl } = await postgresPart({
      dataDir: draft,
      port: await freePort(),
      logDir: join(draft, 'logs'),
      durable: false,
    });
    await supervisor.add(spec);
    await applyMigrations(databaseUrl);
  } finally {
    await supervisor.stopAll();
  }
  renameSync(draft, made);
}
