/** Builds Go programs once from their module and keeps them in the cache folder. */
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { runCommand } from '../bootstrap/command.mjs';
import { waitForLock } from '../bootstrap/lock.mjs';
import { startStep } from '../bootstrap/progress.mjs';
import { cacheDir, findOnPath, goEnvironment, isExecutable } from '../bootstrap/temporal-build.mjs';

export interface GoPrograms {
  /** Label of the progress step. */
  readonly label: string;
  readonly version: string;
  /** Go package of each program, by program name; all are in one module. */
  readonly packages: Readonly<Record<string, string>>;
}

/**
 * Returns the path of each program; null when the cache does not have them and Go is not installed.
 */
export async function goPrograms({
  label,
  version,
  packages,
}: GoPrograms): Promise<Readonly<Record<string, string>> | null> {
  const entries = Object.entries(packages);
  const kept = (name: string): string => join(cacheDir(), `${name}-${version}`);
  const paths = Object.fromEntries(entries.map(([name]) => [name, kept(name)]));
  const there = (): boolean => Object.values(paths).every(isExecutable);
  if (there()) return paths;
  if (findOnPath('go') === null) return null;
  const [first = 'program'] = Object.keys(packages);
  const release = await waitForLock(`${kept(first)}.lock`);
  const work = `${kept(first)}.work-${String(process.pid)}`;
  const step = startStep(`Building ${label} ${version} with Go (once, 1 to 4 minutes)`);
  try {
    if (!there()) await build(work, version, entries, kept);
    step.done();
    return paths;
  } catch (error) {
    step.fail();
    throw error;
  } finally {
    rmSync(work, { recursive: true, force: true, maxRetries: 3 });
    release();
  }
}

async function build(
  work: string,
  version: string,
  entries: readonly (readonly [string, string])[],
  kept: (name: string) => string,
): Promise<void> {
  mkdirSync(join(work, 'bin'), { recursive: true });
  // Without debugging information, which the linker would drop anyway.
  const flags = ['-trimpath', '-gcflags=all=-dwarf=false', '-ldflags', '-s -w'];
  const versioned = entries.map(([, path]) => `${path}@v${version}`);
  await runCommand('go', ['install', ...flags, ...versioned], {
    cwd: work,
    logFile: `${kept(entries[0]?.[0] ?? '')}.build.log`,
    env: { ...goEnvironment(work), GOBIN: join(work, 'bin') },
  });
  for (const [name, path] of entries) renameSync(join(work, 'bin', basename(path)), kept(name));
}
