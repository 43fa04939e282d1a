/** Builds of other releases, laid out as production has them, with this build's programs. */
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { layOutProduction } from '../../dev/bootstrap/production.mjs';
import { ROOT } from '../../dev/stack/ports.ts';
import { VERSION } from '../../platform/version.ts';
import { MIGRATIONS_DIR, readBuild } from '../../prisma/migration-state.ts';
import { releasedNames, RELEASES_FILE, withRelease, type Release } from '../../prisma/releases.ts';

export interface OtherBuild {
  readonly main: string;
  readonly fundadmin: string;
  readonly migrations: string;
}

/** Migrations that no release has, by folder of `test/upgrade`. */
export type MadeUp = 'next' | `losing/${string}`;

/** This release, with these migrations and this list. */
export function layOut(folder: string, releases: readonly Release[]): OtherBuild {
  layOutProduction(folder);
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const migrations = join(folder, 'prisma', 'migrations');
  writeFileSync(join(migrations, RELEASES_FILE), JSON.stringify(releases));
  const program = (name: string): string => join(folder, 'dist', `${name}.js`);
  return { main: program('main'), fundadmin: program('fundadmin'), migrations };
}

/** This release, its workflow code changed by `change`; returns its program. */
export async function layOutChanged(
  folder: string,
  change: (code: string) => string,
): Promise<string> {
  const { main } = layOut(folder, await releasesUntilNow());
  const bundle = join(dirname(main), 'workflows.js');
  writeFileSync(bundle, change(readFileSync(bundle, 'utf8')));
  return main;
}

/** The releases up to this build, which counts as one. */
export async function releasesUntilNow(): Promise<readonly Release[]> {
  const { releases, migrations } = await readBuild(MIGRATIONS_DIR);
  const released = releasedNames(releases);
  return migrations.every(({ name }) => released.has(name))
    ? releases
    : withRelease(releases, `${VERSION}-unreleased`, migrations);
}

/** The release after this build: the same programs, and migrations of `test/upgrade`. */
export async function layOutNext(folder: string, ...madeUp: MadeUp[]): Promise<OtherBuild> {
  const before = await releasesUntilNow();
  const build = layOut(folder, before);
  for (const from of madeUp) putMigrations(from, build.migrations);
  const { migrations } = await readBuild(build.migrations);
  writeFileSync(
    join(build.migrations, RELEASES_FILE),
    JSON.stringify(withRelease(before, '99.0.0', migrations)),
  );
  return build;
}

/** Each file of the folder as a migration behind all others. */
export function putMigrations(from: MadeUp, into: string): void {
  const dir = join(ROOT, 'test', 'upgrade', from);
  for (const file of readdirSync(dir).sort()) {
    const to = join(into, `99990101${file.replace(/\.sql$/, '')}`);
    mkdirSync(to, { recursive: true });
    cpSync(join(dir, file), join(to, 'migration.sql'));
  }
}
