/** What the texts name is there: pages, headings, commands of npm, files of ours. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { ROOT } from '../../dev/stack/ports.ts';
import { WEBHOOK_EVENTS } from '../../domain/callbacks/webhook.ts';
import { AUDIT_ACTIONS } from '../../domain/events.ts';

const PAGES = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard', '*.md'], {
  cwd: ROOT,
})
  .toString()
  .split('\0')
  .filter((file) => file !== '' && existsSync(join(ROOT, file)));

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** A page without its blocks of code, where a heading or a link is only quoted. */
const prose = (page: string): string => page.replace(/^ *```[\s\S]*?^ *```$/gm, '');

/** The anchors of a page as its headings get them: the second of one name ends with `-1`. */
function anchorsOf(page: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of prose(page).matchAll(/^#{1,6} +(.+?) *#*$/gm)) {
    const slug = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M} _-]/gu, '')
      .replaceAll(' ', '-');
    let anchor = slug;
    for (let again = 1; anchors.has(anchor); again += 1) anchor = `${slug}-${String(again)}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** Pages that lie elsewhere where they are read: the kit is a package that has its own docs/. */
const PACKED: Readonly<Record<string, string>> = { 'executor-kit/README.md': 'README.md' };

/** What is wrong with a link of a page, or null. Links to other hosts are not followed. */
function faultOf(file: string, link: string): string | null {
  if (/^[a-z][a-z0-9+.-]*:/i.test(link)) return null;
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? file : relative(ROOT, join(ROOT, dirname(file), decodeURI(path)));
  const found = join(ROOT, target);
  if (target.startsWith('..') || !existsSync(found))
    return `${file}: ${link}: there is no ${target}`;
  if (anchor === undefined) return null;
  if (!target.endsWith('.md') || statSync(found).isDirectory())
    return `${file}: ${link}: ${target} has no headings`;
  return anchorsOf(read(target)).has(anchor)
    ? null
    : `${file}: ${link}: ${target} has no such heading`;
}

test('every link of a page leads somewhere', () => {
  const faults = PAGES.flatMap((file) =>
    [...prose(read(file)).matchAll(/\]\(<?([^)\s>]+)>?(?: "[^"]*")?\)/g)].flatMap(
      ([, link = '']) => faultOf(PACKED[file] ?? file, link) ?? [],
    ),
  );
  expect(faults).toEqual([]);
  expect(PAGES.length).toBeGreaterThan(60);
});

test('every command of npm that a page names is one', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const named = PAGES.flatMap((file) =>
    [...read(file).matchAll(/\bnpm (?:run (?:-s |--silent )?([a-z][a-z:-]*)|(start|test)\b)/g)].map(
      ([, script, short]) => ({ file, script: script ?? short ?? '' }),
    ),
  );
  expect(named.filter(({ script }) => !Object.hasOwn(scripts, script))).toEqual([]);
  expect(named.length).toBeGreaterThan(100);
});

test('what the commands of a page write goes into the folder that git ignores', () => {
  const written = PAGES.flatMap((file) =>
    [...read(file).matchAll(/^```sh\n([^]*?)^```$/gm)].flatMap(([, block = '']) =>
      [...block.matchAll(/(?:[^-=<>]> ?|\| tee |--out | -o )([\w./-]+\.\w+)\b/g)].map(
        ([, to = '']) => ({ file, to }),
      ),
    ),
  );
  expect(written.filter(({ to }) => !to.startsWith('.data/'))).toEqual([]);
  expect(written.length).toBeGreaterThan(8);
});

test('a link to nothing, to a heading that is none, and out of the project is found', () => {
  expect(faultOf('docs/api.md', 'no-such-page.md')).toMatch('there is no docs/no-such-page.md');
  expect(faultOf('docs/api.md', 'errors.md#no-such-heading')).toMatch('has no such heading');
  expect(faultOf('README.md', '../elsewhere.md')).toMatch('there is no');
  expect(faultOf('docs/api.md', '#the-allowlist')).toBeNull();
  expect([...anchorsOf('# A `b`: c\n## x\n## x\n```\n# no\n```\n')]).toEqual(['a-b-c', 'x', 'x-1']);
});

const ACTIONS: ReadonlySet<string> = new Set([...AUDIT_ACTIONS, ...WEBHOOK_EVENTS]);
const ENTITIES = new Set<string | undefined>(AUDIT_ACTIONS.map((action) => action.split('.')[0]));

test('what is said to hold a statement of the security model is there', () => {
  const page = read('docs/security.md');
  const rules = new Set(
    [...read('docs/rules.md').matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, id]) => id),
  );
  const named = [...page.matchAll(/`([a-z]+(?:-[a-z]+){2,})`/g)].map(([, id]) => id);
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((id) => !rules.has(id))).toEqual([]);
});

test('tests, audit actions and types of webhooks that a page names are ones', () => {
  const files = PAGES.flatMap((file) =>
    [...read(file).matchAll(/`(test\/[\w./-]+\.ts)`/g)].map(([, path = '']) => path),
  );
  expect(files.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  const named = PAGES.flatMap((file) =>
    [...read(file).matchAll(/`([a-z_]+\.[a-z_]+)`/g)].flatMap(([, action = '']) =>
      ENTITIES.has(action.split('.')[0]) && !action.endsWith('.ts') ? [action] : [],
    ),
  );
  expect(named.filter((action) => !ACTIONS.has(action))).toEqual([]);
  expect(named.length).toBeGreaterThan(10);
});
