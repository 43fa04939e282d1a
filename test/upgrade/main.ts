/**
 * `npm run release:state`: keeps, for the newest release of `prisma/migrations/released.json`, a
 * database with data in it, from which the builds after it are upgraded in `test/slow/upgrade`.
 */
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { MIGRATIONS_DIR } from '../../prisma/migration-state.ts';
import { readReleases } from '../../prisma/releases.ts';
import { recordState } from './record.ts';
import { STATES } from './state.ts';

async function main(): Promise<void> {
  const release = readReleases(MIGRATIONS_DIR).at(-1);
  if (release === undefined)
    throw new Error('No release is listed: npm run release:migrations writes the first.');
  const folder = join(STATES, release.version);
  const name = relative('.', folder);
  if (existsSync(join(folder, 'state.json')))
    throw new Error(`${name} is there already, and what is released stays.`);
  process.stderr.write(`Recording what ${release.version} leaves behind takes a minute or two.\n`);
  await recordState(folder, release.version);
  process.stdout.write(`${name}: commit it with released.json.\n`);
}

await main().catch((error: unknown) => {
  process.stderr.write(
    `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  process.exitCode = 1;
});
process.exit();
