/**
 * A new bridge, as CONTRIBUTING leads to it: added to a copy of the tree it compiles, moves funds,
 * and is held to what every act is held to.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from '../../dev/stack/ports.ts';
import { copyProject, put, removeCopy, runJest } from '../rules/copy.ts';
import { EDITS } from '../sample-venue/edits.ts';

const SAMPLE = join(ROOT, 'test', 'sample-venue');
const OWN = readdirSync(SAMPLE, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts.txt'))
  .map((file) => file.replace(/\.txt$/, ''));
const EDITED = [...new Set(EDITS.map(({ file }) => file))];
const textOf = (file: string): string => readFileSync(join(SAMPLE, `${file}.txt`), 'utf8');

test('it needs edits in six files outside its folders at most, and CONTRIBUTING names all', () => {
  expect(EDITED.length).toBeLessThanOrEqual(6);
  const guide = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8');
  const steps = /^## A new bridge\n([\s\S]*?)^## /m.exec(guide)?.[1] ?? '';
  const places = OWN.map((file) =>
    file.replace('sample.ts', '<bridge>.ts').replace(/\/sample\/.*/, '/<bridge>/'),
  );
  for (const place of [...EDITED, ...places]) expect(steps).toContain(`\`${place}`);
});

test('no line of its own refuses what every act refuses', () => {
  const product = OWN.filter((file) => !file.startsWith('test/'));
  expect(product.length).toBeGreaterThan(4);
  for (const file of product)
    expect(textOf(file)).not.toMatch(
      /CONFIG_INVALID|VENUE_ENTRY_CHANGED|BRIDGE_PAUSED|SIGN_REQUEST_MISMATCH|refus(?:al|ed)/,
    );
});

test('it compiles, moves funds, and is refused a wrong payee, more, stale terms and a paused path', async () => {
  const copy = copyProject();
  try {
    for (const file of OWN) {
      mkdirSync(join(copy, dirname(file)), { recursive: true });
      cpSync(join(SAMPLE, `${file}.txt`), join(copy, file));
    }
    for (const { file, behind, added } of EDITS) {
      const [before, after, ...more] = readFileSync(join(copy, file), 'utf8').split(behind);
      expect([file, behind, after === undefined, more]).toEqual([file, behind, false, []]);
      put(copy, file, `${String(before)}${behind}${added}${String(after)}`);
    }
    const tsc = join('node_modules', 'typescript', 'bin', 'tsc');
    const compiled = spawnSync(process.execPath, [tsc, '--noEmit'], {
      cwd: copy,
      encoding: 'utf8',
    });
    expect([compiled.stdout, compiled.status]).toEqual(['', 0]);
    const tests = ['--selectProjects', 'unit', '--', 'test/venues/sample'];
    const run = await runJest(copy, tests, 300_000);
    expect([run.ran, run.failed, run.failed ? run.output : '']).toEqual([true, false, '']);
  } finally {
    removeCopy(copy);
  }
}, 900_000);
