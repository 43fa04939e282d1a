/**
 * The release before this build, as it was released: its tree comes from the history and builds
 * itself. It stays in the cache folder, and the next run builds only what is missing.
 */
import { execFile, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { waitForLock } from '../../dev/bootstrap/lock.mjs';
import { cacheDir } from '../../dev/bootstrap/temporal-build.mjs';
import { ROOT } from '../../dev/stack/ports.ts';
import type { Programs } from './programs.ts';

export const BEFORE = {
  version: '0.4.0',
  commit: '661b79865ad9acbd06b85deffe97435fdbc9d542',
} as const;

const run = promisify(execFile);

/** Returns whether the history has the release's commit; a shallow clone lacks it. */
export function isInHistory(): boolean {
  const object = `${BEFORE.commit}^{commit}`;
  return spawnSync('git', ['cat-file', '-e', object], { cwd: ROOT }).status === 0;
}

/** Builds the release with its own build command; returns its programs. */
export async function buildBefore(): Promise<Programs> {
  const tree = join(cacheDir(), `release-${BEFORE.version}-${BEFORE.commit.slice(0, 8)}`);
  mkdirSync(cacheDir(), { recursive: true });
  const release = await waitForLock(`${tree}.lock`);
  try {
    if (!existsSync(tree)) await unpack(tree);
    linkPackages(join(tree, 'node_modules'));
    await run(process.execPath, ['dev/run.mjs', 'build'], { cwd: tree, timeout: 480_000 });
  } finally {
    release();
  }
  const program = (name: string): string => join(tree, 'dist', `${name}.js`);
  return { main: program('main'), fundadmin: program('fundadmin') };
}

/** Puts the release's tree there in one step, so that an interrupted run leaves no half of it. */
async function unpack(tree: string): Promise<void> {
  const draft = `${tree}.draft`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft);
  const archive = join(draft, 'archive.tar');
  await run('git', ['archive', '--output', archive, BEFORE.commit], { cwd: ROOT });
  await run('tar', ['-xf', archive, '-C', draft]);
  rmSync(archive);
  renameSync(draft, tree);
}

/**
 * Links this tree's packages, with npm's record of them. By that record the release's build decides
 * whether they are those of its lockfile; where one is not, it runs `npm ci`, which removes the
 * links. So each package is a link: through one link of the whole folder it would remove ours. The
 * links are made each time, since those of another clone may lead nowhere.
 */
function linkPackages(modules: string): void {
  const ours = join(ROOT, 'node_modules');
  rmSync(modules, { recursive: true, force: true });
  mkdirSync(modules);
  for (const name of readdirSync(ours).filter((each) => !each.startsWith('.')))
    symlinkSync(join(ours, name), join(modules, name));
  copyFileSync(join(ours, '.package-lock.json'), join(modules, '.package-lock.json'));
}
