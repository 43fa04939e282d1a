/** Parts of the documentation that follow from a table are as the table says. */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ROOT } from '../../dev/stack/ports.ts';
import { licenceFaults } from '../../tools/docs/licences.ts';
import { readImports, withImports } from '../../tools/docs/imports.ts';
import { allPages } from '../../dev/docs/pages.ts';

interface Cruiser {
  readonly forbidden: readonly { readonly name: string; readonly to: { readonly path?: string } }[];
}

const { folders } = readImports();
const names = folders.map(({ folder }) => folder);

test.each(allPages().map((page) => [page.file, page] as const))(
  '%s is as its table says; `npm run docs:tables` writes it',
  (_, { is, shouldBe }) => {
    expect(is).toBe(shouldBe);
  },
);

test('a part is written anew whatever stood there, and the rest of the page is kept', () => {
  const page = 'before\n\n<!-- imports: x -->\nstale\n<!-- /imports -->\nafter\n';
  const written = withImports(page);
  expect(written).toMatch(/^before\n\n<!-- imports: x -->\n\n\| folder /);
  expect(written).toMatch(/\n\n<!-- \/imports -->\nafter\n$/);
  expect(written).not.toContain('stale');
  expect(withImports(written)).toBe(written);
  expect(() => withImports('nothing')).toThrow('no place');
});

test('every folder with programs stands in the table once', () => {
  const found = readdirSync(ROOT, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !/^(\.|(node_modules|dist)$)/.test(entry.name))
    .map(({ name }) => name)
    .filter((name) =>
      readdirSync(join(ROOT, name), { recursive: true, encoding: 'utf8' }).some((file) =>
        file.endsWith('.ts'),
      ),
    );
  expect([...names].sort()).toEqual(found.sort());
});

test('the check of imports forbids what the table does not allow, and nothing else', () => {
  const config = createRequire(import.meta.url)(join(ROOT, '.dependency-cruiser.cjs')) as Cruiser;
  for (const { folder, may_import } of folders) {
    const rule = config.forbidden.find(({ name }) => name === `${folder}-imports`);
    const forbids = (other: string): boolean =>
      rule !== undefined && new RegExp(rule.to.path ?? '').test(`${other}/x.ts`);
    for (const other of names) {
      const allowed = may_import === 'anything' || other === folder || may_import.includes(other);
      expect([folder, other, forbids(other)]).toEqual([folder, other, !allowed]);
    }
  }
});

test('what ships is under a licence that is allowed, or that a person has looked at', () => {
  expect(licenceFaults()).toEqual([]);
  const named = (license?: string, more = {}) => {
    const said = license === undefined ? {} : { license };
    return licenceFaults({
      packages: { 'node_modules/a/node_modules/@b/c': { version: '1.0.0', ...said, ...more } },
    });
  };
  for (const fine of ['MIT', '(MIT OR GPL-3.0)', 'MIT and ISC']) expect(named(fine)).toEqual([]);
  expect(named('GPL-3.0', { dev: true })).toEqual([]);
  for (const not of ['GPL-3.0', 'MIT AND GPL-3.0', 'EPL-2.0', undefined])
    expect(named(not)).toEqual([expect.stringMatching(/^@b\/c 1\.0\.0 ships under /)]);
});

test('no package runs a script of its own when it is installed', () => {
  expect(readFileSync(join(ROOT, '.npmrc'), 'utf8').split('\n')).toContain('ignore-scripts=true');
});

test('CONTRIBUTING says of every override why it stands, and of nothing else', () => {
  const { overrides } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    overrides: Readonly<Record<string, string>>;
  };
  const [, table = ''] = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8').split(
    '| override | why |\n|---|---|\n',
  );
  const reasons = [...table.matchAll(/^\| `(.+)` \| (.{10,}) \|$/gm)].map(([, name]) => name);
  expect(reasons).toEqual(Object.keys(overrides));
});
