// Which process has which port. A part that was stopped listens on nothing until it is started
// again, so that a free port may still be somebody's; a claim lasts as long as the process that has
// it.
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { identify } from './identity.mjs';
import { cacheDir } from './temporal-build.mjs';

const NAME = /^(\d+)\.(\d+)$/;

/**
 * Takes a port for this process, unless one that lives has it. Two that ask at once see each
 * other's claim and neither gets it, so no process has to take another's claim away.
 *
 * @param {number} port
 * @param {string} folder where the claims of all processes of this machine lie
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
