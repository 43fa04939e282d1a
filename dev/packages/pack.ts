/** Implements `npm run kit:pack` and `npm run client:pack`. */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { npmCommand } from '../bootstrap/install.mjs';
import { ROOT } from '../stack/ports.ts';
import { writePackage, type PackageSpec } from './package.ts';

/**
 * Writes the package into dist/ and its tarball next to it; `-- --out <folder>` uses another
 * folder. The last line of output is the tarball's path.
 */
export async function pack(spec: PackageSpec): Promise<void> {
  const { values } = parseArgs({
    options: { out: { type: 'string', default: join(ROOT, 'dist') } },
  });
  const out = resolve(values.out);
  const folder = join(out, spec.folder);
  mkdirSync(out, { recursive: true });
  await writePackage(spec, folder);
  const [npm = 'npm', ...first] = npmCommand();
  const packed = spawnSync(npm, [...first, 'pack', '--json', '--pack-destination', out], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (packed.status !== 0) {
    process.stderr.write(`${packed.stderr || String(packed.error)}\n`);
    process.exitCode = 1;
    return;
  }
  const [made] = JSON.parse(packed.stdout) as readonly { readonly filename: string }[];
  const tarball = join(out, made?.filename ?? '');
  const short = relative(process.cwd(), tarball);
  process.stdout.write(`${short.startsWith('..') ? tarball : short}\n`);
}
