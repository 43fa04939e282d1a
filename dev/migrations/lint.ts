/**
 * Finds faults of a folder's migrations: lint faults of unreleased ones, changes of released ones.
 */
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readBuild, type Migration } from '../../prisma/migration-state.ts';
import { releasedNames, releaseFaults } from '../../prisma/releases.ts';
import { ONLINE, RULES } from './rules.ts';

const CONFIG = join(dirname(fileURLToPath(import.meta.url)), 'squawk.toml');

/** Returns each fault with its file and what to do. */
export async function lintFaults(dir: string): Promise<readonly string[]> {
  const { migrations, releases } = await readBuild(dir);
  const released = releasedNames(releases);
  const fresh = migrations.filter(({ name }) => !released.has(name));
  return [
    ...releaseFaults(releases, migrations),
    ...fresh.flatMap((migration) =>
      migration.online ? onlineFaults(migration) : ruleFaults(migration),
    ),
    ...squawkFaults(fresh.filter(({ online }) => !online).map(({ name }) => fileOf(dir, name))),
  ];
}

function fileOf(dir: string, name: string): string {
  return join(dir, name, 'migration.sql');
}

function onlineFaults({ name, sql }: Migration): readonly string[] {
  if (ONLINE.test(bare(sql))) return [];
  return [
    `${name}: online: the migration must be exactly one repeatable statement: CREATE INDEX CONCURRENTLY IF NOT EXISTS, DROP INDEX CONCURRENTLY IF EXISTS, or ALTER TABLE … VALIDATE CONSTRAINT`,
  ];
}

function ruleFaults({ name, sql }: Migration): readonly string[] {
  const text = bare(sql);
  const allowed = [...sql.matchAll(/^-- allowed: ([\w-]+)/gm)].map(([, rule]) => rule);
  return [
    ...(/\bCONCURRENTLY\b/.test(text)
      ? [`${name}: online: CONCURRENTLY works only outside a transaction: mark it "-- online"`]
      : []),
    ...RULES.filter(({ rule, refused }) => refused.test(text) && !allowed.includes(rule)).map(
      ({ rule, why }) => `${name}: ${rule}: ${why}`,
    ),
  ];
}

/** Returns the SQL text without comments, function bodies and strings. */
function bare(sql: string): string {
  return sql
    .replace(/\$(\w*)\$[\s\S]*?\$\1\$|'(?:[^']|'')*'|--[^\n]*/g, (part) =>
      part.startsWith('--') ? '' : "''",
    )
    .replace(/\s+/g, ' ')
    .trim()
    .toUpperCase();
}

function squawkFaults(files: readonly string[]): readonly string[] {
  if (files.length === 0) return [];
  const program = squawk();
  if (program === null) return [];
  const { stdout, stderr } = spawnSync(
    program,
    ['--config', CONFIG, '--reporter', 'json', ...files],
    { encoding: 'utf8' },
  );
  try {
    const found = JSON.parse(stdout) as readonly Found[];
    return found.map(
      ({ file, line, rule_name, message, help }) =>
        `${file}:${String(line + 1)}: ${rule_name}: ${message}${help === null ? '' : ` ${help}`}`,
    );
  } catch {
    return [`squawk did not run: ${stderr}${stdout}`];
  }
}

/** Returns the path of squawk; null on a machine without it. CI has the program. */
export function squawk(): string | null {
  try {
    return createRequire(import.meta.url).resolve('@squawk-cli/linux-x64/bin/squawk');
  } catch {
    return null;
  }
}

interface Found {
  readonly file: string;
  readonly line: number;
  readonly rule_name: string;
  readonly message: string;
  readonly help: string | null;
}
