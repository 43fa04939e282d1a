/** Finds or installs programs from Debian's packages. */
import { join } from 'node:path';
import { runCommand, tail } from '../bootstrap/command.mjs';
import { startStep } from '../bootstrap/progress.mjs';
import { cacheDir, findOnPath } from '../bootstrap/temporal-build.mjs';

/**
 * Returns the path of a program, or null. Debian keeps some programs in folders that are only on
 * root's PATH.
 */
export function find(name: string): string | null {
  return findOnPath(name) ?? findOnPath(name, { PATH: '/usr/sbin:/sbin' });
}

/** Debian packages whose names differ from their programs. */
const PACKAGE_OF: Readonly<Record<string, string>> = { ip: 'iproute2', unshare: 'util-linux' };

/** Installs missing programs if this user may. Returns why some are still missing, or null. */
export async function whyMissing(names: readonly string[]): Promise<string | null> {
  const missing = names.filter((name) => find(name) === null);
  if (missing.length === 0) return null;
  const list = missing.join(', ');
  const packages = missing.map((name) => PACKAGE_OF[name] ?? name);
  if (findOnPath('apt-get') === null) return `${list} not found, and no apt-get to install with`;
  if (process.getuid?.() !== 0) return `${list} not found, and only root may install packages`;
  const step = startStep(`Installing ${list} (Debian's packages)`);
  const logFile = join(cacheDir(), 'apt.log');
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (...args: string[]): Promise<number> =>
    runCommand('apt-get', ['-q', '-o', 'DPkg::Lock::Timeout=120', ...args], { env, logFile });
  try {
    await apt('update');
    await apt('install', '-y', '--no-install-recommends', ...packages);
    step.done();
    return null;
  } catch {
    step.fail();
    return `${list} could not be installed:\n${tail(logFile)}`;
  }
}
