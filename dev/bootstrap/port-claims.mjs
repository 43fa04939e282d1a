// Records which process owns which port. A stopped part of a stack listens on no port until its
// next start, but must find its port free then. So a port is claimed by a file, which counts as
// long as the claiming process lives.
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { identify } from './identity.mjs';
import { cacheDir } from './temporal-build.mjs';

const NAME = /^(\d+)\.(\d+)$/;

/**
 * Claims a port for this process, unless a live process has claimed it. Of two processes that claim
 * at the same moment, each sees the other's file and neither gets the port.
 *
 * @param {number} port
 * @param {string} folder contains the claims of all processes of this machine
 * @returns {boolean}
 */
export function claimPort(port, folder = join(cacheDir(), 'ports')) {
  mkdirSync(folder, { recursive: true });
  const own = join(folder, `${port}.${process.pid}`);
  if (existsSync(own)) return false;
  writeFileSync(own, '');
  const taken = readdirSync(folder).filter((name) => {
    const [, claimed, pid] = NAME.exec(name) ?? [];
    if (Number(claimed) !== port || Number(pid) === process.pid) return false;
    if (identify(Number(pid)) !== null) return true;
    rmSync(join(folder, name), { force: true });
    return false;
  });
  if (taken.length > 0) rmSync(own, { force: true });
  return taken.length === 0;
}
