/**
 * Builds the Dockerfile unchanged and runs its image on machines without access to an image
 * registry: the base is a Debian from `debootstrap` with Node from npm, committed under the name
 * that the Dockerfile uses. Base and images are kept in the project's cache folder.
 */
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { npmCommand } from '../bootstrap/install.mjs';
import { waitForLock } from '../bootstrap/lock.mjs';
import { startStep } from '../bootstrap/progress.mjs';
import { cacheDir } from '../bootstrap/temporal-build.mjs';
import { ROOT } from '../stack/ports.ts';
import { BASE, makeBase, whyNoBase } from './base.ts';
import { find, whyMissing } from './packages.ts';

const run = promisify(execFile);
const PROGRAMS = ['buildah', 'podman', 'runc', 'debootstrap'];
export const TAG = 'localhost/fund-movement-orchestrator:check';

const folder = join(cacheDir(), 'image');
const storage = ['--root', join(folder, 'store'), '--runroot', join(folder, 'run')];
const policy = join(folder, 'policy.json');

/**
 * Returns why this machine cannot build and run images; null when it can. Installs missing
 * programs.
 */
export async function whyNoContainers(): Promise<string | null> {
  return whyNoBase() ?? whyMissing(PROGRAMS);
}

/** Builds the Dockerfile; returns the seconds that it took. */
export async function buildImage(args: Readonly<Record<string, string>>): Promise<number> {
  mkdirSync(join(folder, 'tmp'), { recursive: true });
  writeFileSync(policy, JSON.stringify({ default: [{ type: 'insecureAcceptAnything' }] }));
  const lock = await waitForLock(join(folder, 'build.lock'));
  try {
    await ensureBase();
    const step = startStep('Building the image');
    const started = Date.now();
    const secret = await npmSecret();
    try {
      await buildah([
        'bud',
        ...['--pull-never', '--isolation', 'chroot', '--format', 'docker'],
        ...['--signature-policy', policy],
        ...secret.args,
        ...Object.entries(args).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]),
        ...['--tag', TAG, ROOT],
      ]);
    } catch (error) {
      step.fail();
      throw error;
    } finally {
      secret.forget();
    }
    step.done();
    // Removes images of earlier builds, which have no name.
    await podman('image', 'prune', '--force');
    return (Date.now() - started) / 1000;
  } finally {
    lock();
  }
}

/**
 * Returns build arguments that mount this machine's and user's npm settings. The settings may
 * contain tokens, so they are mounted only while npm runs, and are in no image layer.
 */
async function npmSecret(): Promise<{ args: string[]; forget: () => void }> {
  const [command = 'npm', ...args] = npmCommand();
  const found = await Promise.all(
    ['globalconfig', 'userconfig'].map(async (which) => {
      const { stdout } = await run(command, [...args, 'config', 'get', which], { cwd: '/' });
      return existsSync(stdout.trim()) ? readFileSync(stdout.trim(), 'utf8') : '';
    }),
  );
  const file = join(folder, `npmrc-${String(process.pid)}`);
  writeFileSync(file, found.join('\n'), { mode: 0o600 });
  return {
    args: ['--secret', `id=npmrc,src=${file}`],
    forget: () => rmSync(file, { force: true }),
  };
}

async function ensureBase(): Promise<void> {
  const name = /^ARG NODE_IMAGE=(\S+)$/m.exec(dockerfile())?.[1];
  if (name === undefined) throw new Error('the Dockerfile has no line ARG NODE_IMAGE=…');
  const made = join(folder, 'base.made-from');
  const wanted = JSON.stringify({ name, ...BASE });
  if (existsSync(made) && readFileSync(made, 'utf8') === wanted && (await has(name))) return;
  const step = startStep(`Making ${name} from Debian's and npm's packages (once)`);
  const work = mkdtempSync(join(folder, 'base-'));
  try {
    const root = join(work, 'root');
    await makeBase(root, { include: ['ca-certificates'], logFile: join(folder, 'base.log') });
    const { stdout } = await buildah(['from', '--signature-policy', policy, 'scratch']);
    const container = stdout.trim();
    await buildah(['add', container, root, '/']);
    await buildah(['config', '--cmd', 'node', container]);
    const commit = ['commit', '--rm', '--format', 'docker', '--signature-policy', policy];
    await buildah([...commit, container, name]);
    writeFileSync(made, wanted);
    step.done();
  } catch (error) {
    step.fail();
    throw error;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

async function has(image: string): Promise<boolean> {
  return podman('image', 'exists', image).then(
    () => true,
    () => false,
  );
}

export function dockerfile(): string {
  return readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
}

interface Output {
  readonly stdout: string;
  readonly stderr: string;
}

function buildah(args: readonly string[]): Promise<Output> {
  // Podman keeps the build's caches (npm's downloads) below its temporary folder.
  const env = { ...process.env, TMPDIR: join(folder, 'tmp') };
  return run('buildah', [...storage, ...args], { env, maxBuffer: 64 << 20 });
}

const RUNTIME = [
  ...['--runtime', find('runc') ?? 'runc', '--cgroup-manager', 'cgroupfs'],
  ...['--events-backend', 'file'],
];

/** Runs a podman command on the images of this folder. */
export function podman(...args: readonly string[]): Promise<Output> {
  return run('podman', [...storage, ...RUNTIME, ...args], { maxBuffer: 64 << 20 });
}

/** Options of each container in the check: read-only, and without root rights. */
export const STRICT = [
  ...['--read-only', '--read-only-tmpfs=false', '--cap-drop=ALL', '--network=host'],
  ...['--security-opt=no-new-privileges', '--ulimit=nofile=1024:1024', '--ulimit=nproc=1000:1000'],
];

/** Starts a container in the background; `log` receives its output. */
export function follow(args: readonly string[], log: number): ReturnType<typeof spawn> {
  return spawn('podman', [...storage, ...RUNTIME, ...args], { stdio: ['ignore', log, log] });
}
