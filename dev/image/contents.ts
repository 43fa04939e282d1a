/** Checks which files the image contains. */
import { lstatSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** All files that the service's folder may contain, except npm packages. */
const OURS = [
  /^bin\/(fundadmin|fundctl|healthy)$/,
  /^dist\/(main|executor|fundadmin|fundctl)(-code)?\.js$/,
  /^dist\/shared-[A-Z0-9]+\.js$/,
  /^dist\/[\w-]+\.js\.map$/,
  /^dist\/workflows\.js$/,
  /^dist\/console\/(index\.html|manifest\.json|[A-Za-z]+-[A-Z0-9]{8}\.(js|css))$/,
  /^docs\/clients\//,
  /^prisma\/migrations\//,
  /^workflows\/failure-converter\.cjs$/,
  /^package(-lock)?\.json$/,
];
/** File names that look like secrets. */
const SECRET = /(^|\/)(\.npmrc|\.env(\..*)?|id_(rsa|ed25519)|.*\.(pem|key|p12|pfx|kdbx))$/;

interface Lock {
  readonly packages: Readonly<
    Record<string, { dev?: boolean; optional?: boolean; devOptional?: boolean }>
  >;
}

/** Whether the image may contain this file of ours; `file` is its path below /app. */
export function mayBeInImage(file: string): boolean {
  return OURS.some((each) => each.test(file));
}

/**
 * Returns one line for each fault of the file system below `root`, and the size of the service's
 * own folder.
 */
export function lookThrough(root: string): {
  readonly faults: readonly string[];
  readonly files: number;
  readonly bytes: number;
  readonly packages: number;
} {
  const app = join(root, 'app');
  const faults: string[] = [];
  let bytes = 0;
  const files = filesOf(app);
  for (const file of files) {
    const { mode, uid, size } = lstatSync(join(app, file));
    bytes += size;
    if (uid !== 0) faults.push(`/app/${file} belongs to user ${String(uid)}, not to root`);
    if (!isLink(mode) && (mode & 0o6022) !== 0)
      faults.push(`/app/${file} has mode ${(mode & 0o7777).toString(8)}`);
    if (SECRET.test(file)) faults.push(`/app/${file} has the name of a secret file`);
    if (file.startsWith('node_modules/')) continue;
    if (!mayBeInImage(file)) faults.push(`/app/${file} must not be in the image`);
    if (file.endsWith('.map') && 'sourcesContent' in readJson(join(app, file)))
      faults.push(`/app/${file} holds sources`);
  }
  const packages = packagesOf(app);
  for (const name of packages.foreign)
    faults.push(`/app/${name} is a package that production does not need`);
  for (const folder of ['root', 'home', 'tmp', 'var/tmp', 'build'])
    for (const file of filesOf(join(root, folder)))
      if (!/^\.(bashrc|profile)$/.test(file)) faults.push(`/${folder}/${file} was left behind`);
  return { faults, files: files.length, bytes, packages: packages.count };
}

/**
 * Returns the number of packages in a production build, and the names of those that production does
 * not need.
 */
export function packagesOf(app: string): { count: number; foreign: string[] } {
  const lock = readJson(join(app, 'package-lock.json')) as unknown as Lock;
  const installed = readJson(join(app, 'node_modules/.package-lock.json')) as unknown as Lock;
  const names = Object.keys(installed.packages);
  const foreign = names.filter((name) => {
    const { dev = false, optional = false, devOptional = false } = lock.packages[name] ?? {};
    return lock.packages[name] === undefined || dev || optional || devOptional;
  });
  return { count: names.length, foreign };
}

const isLink = (mode: number): boolean => (mode & 0o170000) === 0o120000;

function filesOf(folder: string): string[] {
  const found: string[] = [];
  const walk = (below: string): void => {
    for (const entry of entriesOf(join(folder, below))) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) walk(path);
      else found.push(path);
    }
  };
  walk('');
  return found;
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function readJson(file: string): Record<string, unknown> {
  return JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
}
