/**
 * The migrations of each release, listed in `prisma/migrations/released.json`. Listed migrations
 * were applied to databases with data, so they are never changed or removed.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Release {
  readonly version: string;
  /** The migrations that the release added, each with the SHA-256 of its file. */
  readonly migrations: Readonly<Record<string, string>>;
}

/** A migration that is compared with the list of releases. */
interface Migration {
  readonly name: string;
  readonly checksum: string;
}

export const RELEASES_FILE = 'released.json';

/** Returns the releases of a folder of migrations, oldest first; empty without the file. */
export function readReleases(dir: string): readonly Release[] {
  try {
    return JSON.parse(readFileSync(join(dir, RELEASES_FILE), 'utf8')) as readonly Release[];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Returns the names of all released migrations. */
export function releasedNames(releases: readonly Release[]): ReadonlySet<string> {
  return new Set(releases.flatMap(({ migrations }) => Object.keys(migrations)));
}

/** Returns the forbidden changes that were made to released migrations. */
export function releaseFaults(
  releases: readonly Release[],
  migrations: readonly Migration[],
): readonly string[] {
  const there = new Map(migrations.map(({ name, checksum }) => [name, checksum]));
  const released = releasedNames(releases);
  const last = [...released].sort().at(-1) ?? '';
  return [
    ...releases.flatMap(({ version, migrations: of }) =>
      Object.entries(of).flatMap(([name, checksum]) => {
        if (!there.has(name))
          return [`${name} was released with ${version} and is gone: put it back.`];
        return there.get(name) === checksum
          ? []
          : [
              `${name} was released with ${version} and was changed since: put its text back, and write a new migration.`,
            ];
      }),
    ),
    ...migrations
      .filter(({ name }) => !released.has(name) && name < last)
      .map(({ name }) => `${name} is new and stands before ${last}, which is released: rename it.`),
  ];
}

/** Returns the list with one more release: all migrations that are not released yet. */
export function withRelease(
  releases: readonly Release[],
  version: string,
  migrations: readonly Migration[],
): readonly Release[] {
  const faults = releaseFaults(releases, migrations);
  if (faults.length > 0) throw new Error(faults.join('\n'));
  if (releases.some((each) => each.version === version))
    throw new Error(`${version} is released already: raise the version in package.json.`);
  const released = releasedNames(releases);
  const added = migrations.filter(({ name }) => !released.has(name));
  const entries = added.map(({ name, checksum }) => [name, checksum] as const);
  return [...releases, { version, migrations: Object.fromEntries(entries) }];
}

/**
 * Returns the release before the one that a build with these migrations is or becomes; its
 * processes can run on this schema too. Null when there is no such release.
 */
export function releaseBefore(
  releases: readonly Release[],
  migrations: readonly Migration[],
): string | null {
  const released = releasedNames(releases);
  const isNewer = migrations.some(({ name }) => !released.has(name));
  return releases.at(isNewer ? -1 : -2)?.version ?? null;
}
