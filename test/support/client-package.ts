/** The client as somebody else has it: packed, and installed from its tarball into an empty folder. */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { npmCommand } from '../../dev/bootstrap/install.mjs';
import { built } from '../../dev/bootstrap/programs.mjs';

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface InstalledClient {
  /** Where it is installed, with the README's program as `movement.js`. */
  readonly folder: string;
  /** The program's lines. */
  readonly program: readonly string[];
  /** The package, where it lies. */
  readonly library: string;
  /** Runs Node there. */
  run(...args: readonly string[]): Promise<Ended>;
}

/** Packs and installs it in `room`, without any network. */
export async function installClient(room: string): Promise<InstalledClient> {
  const folder = join(room, 'elsewhere');
  mkdirSync(folder, { recursive: true });
  const run = (...args: readonly string[]) => ended(folder, process.execPath, args);
  const packed = await run(built('client-pack'), '--out', join(room, 'packed'));
  const tarball = packed.stdout.trim().split('\n').at(-1) ?? '';
  if (packed.code !== 0) throw new Error(`the client was not packed: ${packed.stderr}`);
  const dependencies = { 'fund-movement-client': `file:${tarball}` };
  const described = { name: 'elsewhere', private: true, type: 'module', dependencies };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(described));
  const [npm = 'npm', ...first] = npmCommand();
  const options = ['--offline', '--ignore-scripts', '--no-audit', '--no-fund'];
  const installed = await ended(folder, npm, [...first, 'install', ...options]);
  if (installed.code !== 0) throw new Error(`it was not installed: ${installed.stderr}`);
  const library = join(folder, 'node_modules', 'fund-movement-client');
  const readme = readFileSync(join(library, 'README.md'), 'utf8');
  const [, text = ''] = /^```js\n\/\/ movement\.js\n(.*?)^```$/ms.exec(readme) ?? [];
  writeFileSync(join(folder, 'movement.js'), text);
  return { folder, program: text.trimEnd().split('\n'), library, run };
}

function ended(folder: string, file: string, args: readonly string[]): Promise<Ended> {
  const options = { cwd: folder, timeout: 120_000, maxBuffer: 2 ** 24 };
  return new Promise((resolve) => {
    execFile(file, [...args], options, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr }),
    );
  });
}
