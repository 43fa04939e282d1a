/**
 * `npm run release:migrations`: records that the present migrations belong to the version of
 * package.json. A recorded migration must never change.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { VERSION } from '../../platform/version.ts';
import { functionsMigration } from '../../prisma/functions-migration.ts';
import { MIGRATIONS_DIR, readBuild } from '../../prisma/migration-state.ts';
import { RELEASES_FILE, withRelease } from '../../prisma/releases.ts';
import { lintFaults } from './lint.ts';

async function release(): Promise<void> {
  const written = functionsMigration();
  if (written !== null && !(existsSync(written.file) && isText(written.file, written.text)))
    throw new Error('The functions are not in a migration: npm run sql:migration, and commit it.');
  const faults = await lintFaults(MIGRATIONS_DIR);
  if (faults.length > 0) throw new Error(faults.join('\n'));
  const { releases, migrations } = await readBuild();
  const all = withRelease(releases, VERSION, migrations);
  writeFileSync(join(MIGRATIONS_DIR, RELEASES_FILE), `${JSON.stringify(all, null, 2)}\n`);
  const names = Object.keys(all.at(-1)?.migrations ?? {});
  process.stdout.write(
    `${VERSION}: ${names.length === 0 ? 'no new migration' : names.join(', ')}\n`,
  );
}

function isText(file: string, text: string): boolean {
  return readFileSync(file, 'utf8') === text;
}

await release().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
