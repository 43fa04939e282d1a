/**
 * Builds docs/licences.md from the lockfile: the packages that `npm ci --omit=dev` installs, and
 * those that the operators' page contains.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const LICENCES_FILE = 'docs/licences.md';

/** Licences under which a dependency may ship without a review of its own. */
const ALLOWED: readonly string[] = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'Unlicense',
];

/** Packages that a person has reviewed: their licence, and why they may ship under it. */
const LOOKED_AT: Readonly<Record<string, { readonly licence: string; readonly because: string }>> =
  {
    'caniuse-lite': {
      licence: 'CC-BY-4.0',
      because: "data about browsers, of Temporal's bundler; unchanged, and named here",
    },
    elkjs: {
      licence: 'EPL-2.0',
      because: "of Prisma's Studio, which nothing here runs; unchanged, its source is public",
    },
    unionfs: {
      licence: 'Unlicense',
      because: 'its package.json names none; its file LICENSE is the Unlicense',
    },
  };

/** Packages that the build puts into the operators' page; their own dependencies come with them. */
const IN_THE_CONSOLE: readonly string[] = [
  '@base-ui/react',
  '@dagrejs/dagre',
  '@tanstack/react-query',
  '@tanstack/react-router',
  '@tanstack/react-virtual',
  'react',
  'react-dom',
];

interface Locked {
  readonly version?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly link?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
}

export interface Lockfile {
  readonly packages: Readonly<Record<string, Locked>>;
}

interface Shipped {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
}

/**
 * Returns the lockfile paths of the packages in the operators' page: each package is in its
 * dependant's folder or at the root.
 */
function inTheConsole({ packages }: Lockfile): ReadonlySet<string> {
  const found = new Set(
    IN_THE_CONSOLE.map((name) => `node_modules/${name}`).filter((path) => path in packages),
  );
  for (const path of found)
    for (const name of Object.keys(packages[path]?.dependencies ?? {})) {
      const nested = `${path}/node_modules/${name}`;
      found.add(nested in packages ? nested : `node_modules/${name}`);
    }
  return found;
}

/** Returns every shipped package once, by name and version. */
function shipped(lockfile: Lockfile): readonly Shipped[] {
  const { packages } = lockfile;
  const inPage = inTheConsole(lockfile);
  const found = new Map<string, Shipped>();
  for (const [path, { version = '', license, dev = false, link = false }] of Object.entries(
    packages,
  )) {
    if (path === '' || link || (dev && !inPage.has(path))) continue;
    const name = path.replace(/^.*node_modules\//, '');
    const licence = license ?? LOOKED_AT[name]?.licence ?? 'none named';
    found.set(`${name} ${version}`, { name, version, licence });
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
}

function mayShip({ name, licence }: Shipped): boolean {
  if (licence === LOOKED_AT[name]?.licence) return true;
  return licence
    .replace(/^\((.*)\)$/, '$1')
    .split(/ or /i)
    .some((one) => one.split(/ and /i).every((each) => ALLOWED.includes(each)));
}

/** Returns one sentence for each package under a licence that is not allowed. */
export function licenceFaults(lockfile: Lockfile = readLockfile()): readonly string[] {
  return shipped(lockfile)
    .filter((each) => !mayShip(each))
    .map(
      ({ name, version, licence }) =>
        `${name} ${version} ships under ${licence}: use another package, or say in tools/docs/licences.ts why it may.`,
    );
}

/** Returns the text of the page. */
export function licencesPage(): string {
  const all = shipped(readLockfile());
  return [
    '# Licences',
    '',
    '<!-- Written by `npm run docs:tables` from package-lock.json; not by hand. -->',
    '',
    `The ${String(all.length)} packages that ship with the service (\`npm ci --omit=dev\`, and what its console`,
    'contains; some only on other platforms), and the licence that each says it has. `npm run check -- --static` refuses any but',
    `${ALLOWED.join(', ')},`,
    'and what stands below.',
    '',
    '| looked at | licence | why it may ship |',
    '|---|---|---|',
    ...Object.entries(LOOKED_AT).map(
      ([name, { licence, because }]) => `| \`${name}\` | ${licence} | ${because} |`,
    ),
    '',
    '| package | version | licence |',
    '|---|---|---|',
    ...all.map(({ name, version, licence }) => `| \`${name}\` | ${version} | ${licence} |`),
    '',
  ].join('\n');
}

function readLockfile(): Lockfile {
  const file = join(import.meta.dirname, '..', '..', 'package-lock.json');
  return JSON.parse(readFileSync(file, 'utf8')) as Lockfile;
}
