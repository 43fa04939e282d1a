/** The package of the project brings the programs that it names, and all of ours that they load. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../dev/stack/ports.ts';

interface Packed {
  readonly files: readonly { readonly path: string; readonly mode: number }[];
}

test('every program of `bin` is packed, can be executed, and finds what it imports', () => {
  const { bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    readonly bin: Readonly<Record<string, string>>;
  };
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const said = execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' });
  // One package, in a list or under its name, as the version of npm has it.
  const [packed] = Object.values(JSON.parse(said) as Readonly<Record<string, Packed>>);
  const modes = new Map(packed?.files.map(({ path, mode }) => [path, mode]));
  const seen = new Set<string>();
  const take = (path: string): void => {
    if (seen.has(path)) return;
    seen.add(path);
    expect([path, modes.has(path)]).toEqual([path, true]);
    const text = readFileSync(join(ROOT, path), 'utf8');
    for (const [, name = ''] of text.matchAll(
      /(?:from|import)\s*\(?"?'?(\.{1,2}\/[^"']+\.js)["']/g,
    ))
      take(join('dist', name));
  };
  expect(Object.keys(bin).sort()).toEqual(['fund-mcp', 'fundadmin', 'fundagent', 'fundctl']);
  for (const path of Object.values(bin)) {
    take(path);
    expect((modes.get(path) ?? 0) & 0o111).toBe(0o111);
  }
  expect(seen.size).toBeGreaterThan(6);
});
