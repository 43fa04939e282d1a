/**
 * Bundles of the workflow code that services of other data folders have made: bundling takes seconds of
 * processor time, and a service asks for its bundle by the hash of what that is made of.
 */
import { copyFileSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './ports.ts';

const KEPT = join(ROOT, 'node_modules', '.cache', 'workflows');
const KEPT_MS = 7 * 24 * 3_600_000;

/** Gives the service of this data folder what is kept, before it starts. */
export function lendBundles(dataDir: string): void {
  copyMissing(KEPT, cacheOf(dataDir));
}

/** Keeps what the service of this data folder has made. */
export function keepBundles(dataDir: string): void {
  copyMissing(cacheOf(dataDir), KEPT);
  for (const name of bundlesIn(KEPT)) if (Date.now() - modified(join(KEPT, name)) > KEPT_MS) rmSync(join(KEPT, name), { force: true });
}

function cacheOf(dataDir: string): string {
  return join(dataDir, 'cache');
}

/** Each in one step, so that nobody reads half a bundle. */
function copyMissing(from: string, to: string): void {
  try {
    mkdirSync(to, { recursive: true });
    const there = new Set(bundlesIn(to));
    for (const name of bundlesIn(from).filter((each) => !there.has(each))) {
      const draft = join(to, `${name}.${process.pid}`);
      copyFileSync(join(from, name), draft);
      renameSync(draft, join(to, name));
    }
  } catch {
    // The service makes its own; a folder that cannot be written is no fault here.
  }
}

function bundlesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.startsWith('workflows-') && entry.name.endsWith('.js'))
    .map((entry) => entry.name);
}

function modified(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
}
