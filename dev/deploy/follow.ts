/**
 * `npm run deploy:follow`: runs docs/deploy.md exactly as written in an empty root file system,
 * with only Debian's packages and the production build, as a user without rights. Postgres, and
 * Temporal's real server on Postgres, run next to it and accept only TLS of their own authority.
 * Two movements complete; before the second, an API and a worker are stopped.
 */
import { execFile, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { npmCommand } from '../bootstrap/install.mjs';
import { waitForLock } from '../bootstrap/lock.mjs';
import { built } from '../bootstrap/programs.mjs';
import { report, startStep } from '../bootstrap/progress.mjs';
import { cacheDir } from '../bootstrap/temporal-build.mjs';
import { BASE, makeBase, whyNoBase } from '../image/base.ts';
import { packagesOf } from '../image/contents.ts';
import { whyMissing } from '../image/packages.ts';
import { takeSignals } from '../stack/foreground.ts';
import { ROOT } from '../stack/ports.ts';
import { findTemporalServer } from '../stack/temporal-binary.ts';
import { NAMESPACES, type Handover } from './surroundings.ts';
import { sectionsOf } from './page.ts';
import { clusterPrograms, composeVersion } from './temporal-cluster.ts';
import { timing } from './timed.ts';

const run = promisify(execFile);
/** Debian packages that the page requires, besides Node and Temporal's command line. */
const PACKAGES = ['ca-certificates', 'curl', 'haproxy', 'openssl', 'postgresql-client'];
const APP = '/opt/fund';

const work = mkdtempSync(join(tmpdir(), 'fmo-follow-'));
const foreground = takeSignals(() => undefined);
process.exitCode = await main().catch((error: unknown) => {
  report(`\n${error instanceof Error ? error.message : String(error)}`);
  return foreground.status ?? 1;
});
rmSync(work, { recursive: true, force: true, maxRetries: 3 });
process.exit();

async function main(): Promise<number> {
  const why = await whyNot();
  if (why !== null) {
    report(`SKIPPED: the guide is not followed here: ${why}.`);
    return 0;
  }
  const programs = await clusterPrograms();
  if (programs === null) {
    report("SKIPPED: the guide is not followed here: there is no Go to build Temporal's server.");
    return 0;
  }
  const cli = await findTemporalServer({ ...process.env, SVC_TEMPORAL_ADDRESS: '' });
  if (cli.kind !== 'binary') throw new Error("Temporal's command line is needed as a program");
  const base = await ensureBase();
  const seconds: Record<string, number> = {};
  const timed = timing(seconds);
  const root = join(work, 'root');
  await timed('a copy of the empty root', async () => {
    await run('cp', ['-a', '--reflink=auto', base, root]);
    cpSync(cli.path, join(root, 'usr/local/bin/temporal'));
  });
  await timed('1. Build (build, npm ci)', () => build(join(root, APP)));
  const { foreign, count } = packagesOf(join(root, APP));
  if (foreign.length > 0) throw new Error(`not needed in production: ${foreign.join(', ')}`);
  if (foreground.status !== null) return foreground.status;
  const handover: Handover = { work, root, app: APP, programs: { ...programs, cli: cli.path } };
  const done = join(work, 'done.json');
  const status = await inNamespaces(handover);
  if (status !== 0) return foreground.status ?? status;
  const inside = JSON.parse(readFileSync(done, 'utf8')) as { seconds: Record<string, number> };
  const all = { ...inside, seconds: { ...seconds, ...inside.seconds } };
  for (const [what, took] of Object.entries(all.seconds))
    report(`${took.toFixed(1).padStart(7)} s  ${what}`);
  process.stdout.write(
    `${JSON.stringify({ temporal: composeVersion(), packages: count, ...all })}\n`,
  );
  return 0;
}

async function whyNot(): Promise<string | null> {
  const why = whyNoBase() ?? (await whyMissing(['debootstrap', 'unshare', 'ip', 'openssl']));
  if (why !== null) return why;
  return run('unshare', [...NAMESPACES, 'true']).then(
    () => null,
    () => 'name spaces for networks, mounts and processes are forbidden',
  );
}

/** Returns the base file system, kept in the cache folder; callers must copy it. */
async function ensureBase(): Promise<string> {
  const folder = join(cacheDir(), 'deploy-root');
  const [root, note] = [join(folder, 'root'), join(folder, 'made-from.json')];
  const wanted = JSON.stringify({ ...BASE, packages: PACKAGES });
  const there = (): boolean => existsSync(note) && readFileSync(note, 'utf8') === wanted;
  if (there()) return root;
  mkdirSync(folder, { recursive: true });
  const release = await waitForLock(join(folder, 'lock'));
  const step = startStep("Making an empty root file system of Debian's and npm's packages (once)");
  const draft = mkdtempSync(join(folder, 'draft-'));
  try {
    if (!there()) {
      const made = join(draft, 'root');
      await makeBase(made, { include: PACKAGES, logFile: join(folder, 'base.log') });
      await run('chroot', [made, 'useradd', '--create-home', '--shell', '/bin/bash', 'fund']);
      rmSync(root, { recursive: true, force: true });
      renameSync(made, root);
      writeFileSync(note, wanted);
    }
    step.done();
    return root;
  } catch (error) {
    step.fail();
    throw error;
  } finally {
    rmSync(draft, { recursive: true, force: true });
    release();
  }
}

/** Runs the build commands of the page in the clone. */
async function build(app: string): Promise<void> {
  const block = sectionsOf('docs/deploy.md')
    .flatMap(({ blocks }) => blocks)
    .find((each) => each.includes('npm run build'));
  if (block === undefined) throw new Error('docs/deploy.md has no block with `npm run build`');
  // The npm that started this process: a new shell may not find it.
  const npm = npmCommand().map((part) => `'${part}'`);
  await run('bash', ['-e', '-c', `npm() { ${npm.join(' ')} "$@"; }\n${block}`], {
    cwd: ROOT,
    env: { ...process.env, FUND_APP: app },
  });
}

/**
 * Follows the rest of the page in namespaces whose network reaches only the processes started
 * there.
 */
async function inNamespaces(handover: Handover): Promise<number> {
  const file = join(work, 'handover.json');
  writeFileSync(file, JSON.stringify(handover));
  const child = spawn(
    'unshare',
    // bash is process 1 of the namespace, so it reaps orphaned processes.
    [...NAMESPACES, 'bash', '-c', '"$@"; exit $?', 'init', process.execPath].concat(
      built('deploy-follow-inside'),
      file,
    ),
    // All processes in the namespaces end with this child.
    { stdio: 'inherit', detached: true },
  );
  void foreground.stopped.then(() => child.kill('SIGKILL'));
  return new Promise((resolve) => {
    child.once('exit', (code) => resolve(code ?? 1));
  });
}
