// Builds Temporal's development server from the committed Go module, once for each machine. Plain
// JavaScript, because on a fresh clone it runs at the same time as `npm ci`.
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  statfsSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from './command.mjs';
import { takeLock } from './lock.mjs';
import { startStep } from './progress.mjs';

/** Version of Temporal's command line program, as dev/stack/temporal-server/go.mod pins it. */
export const TEMPORAL_VERSION = '1.5.1';
const PACKAGE = 'github.com/temporalio/cli/cmd/temporal';
const MODULE_DIR = join(
  dirname(dirname(fileURLToPath(import.meta.url))),
  'stack',
  'temporal-server',
);
const NEEDED_BYTES = 6e9; // the build's own module and build caches, removed afterwards

/**
 * The project's cache folder, shared by all clones of one user.
 *
 * @param {Record<string, string | undefined>} env
 */
export function cacheDir(env = process.env) {
  const base = env.XDG_CACHE_HOME ? env.XDG_CACHE_HOME : join(homedir(), '.cache');
  return join(base, 'fund-movement-orchestrator');
}

/**
 * The path of the built server, whether or not it exists.
 *
 * @param {Record<string, string | undefined>} env
 */
export function builtBinary(env = process.env) {
  return join(cacheDir(env), `temporal-${TEMPORAL_VERSION}`);
}

/**
 * Whether the path is a file that this user may run.
 *
 * @param {string} path
 */
export function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/**
 * A program's full path on PATH, or null.
 *
 * @param {string} name
 * @param {Record<string, string | undefined>} env
 */
export function findOnPath(name, env = process.env) {
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, name)).find(isExecutable) ?? null;
}

/**
 * Whether there is a server without a build.
 *
 * @param {Record<string, string | undefined>} env
 */
export function temporalAtHand(env = process.env) {
  return (
    Boolean(env.SVC_TEMPORAL_ADDRESS) ||
    findOnPath('temporal', env) !== null ||
    isExecutable(builtBinary(env))
  );
}

/**
 * @typedef {{ done: Promise<string>, cancel: () => Promise<void> }} TemporalBuild A build under
 *   way.
 */

/** @type {TemporalBuild | undefined} */
let inFlight;

/**
 * Starts the build in the background, or joins the one already started here. `null` when Go is
 * missing. `done` resolves to the binary's path; `cancel` stops the build and removes its caches.
 *
 * @param {Record<string, string | undefined>} env
 * @returns {TemporalBuild | null}
 */
export function startTemporalBuild(env = process.env) {
  if (findOnPath('go', env) === null) return null;
  if (inFlight === undefined) {
    const abort = new AbortController();
    const done = build(env, abort.signal).finally(() => {
      inFlight = undefined;
    });
    done.catch(() => undefined); // callers that await `done` get the error; there may be none yet
    inFlight = {
      done,
      cancel: async () => {
        abort.abort();
        await done.catch(() => undefined);
      },
    };
  }
  return inFlight;
}

/** The build under way in this process, if any. */
export function temporalBuildInFlight() {
  return inFlight;
}

async function build(env, signal) {
  const target = builtBinary(env);
  mkdirSync(cacheDir(env), { recursive: true });
  const step = startStep(
    `Building Temporal's server ${TEMPORAL_VERSION} with Go (once, 2 to 4 minutes)`,
  );
  try {
    const lock = await waitForLock(`${target}.lock`, target, step, signal);
    if (lock !== null) {
      try {
        if (!isExecutable(target)) await compile(target, env, signal);
      } finally {
        lock.release();
      }
    }
  } catch (error) {
    if (signal.aborted) step.cancel();
    else step.fail();
    throw error;
  }
  step.done(target);
  return target;
}

/** Null when another process finished the build while we waited for it. */
async function waitForLock(path, target, step, signal) {
  for (;;) {
    signal.throwIfAborted();
    if (isExecutable(target)) return null;
    const lock = await takeLock(path);
    if (lock.release !== undefined) return lock;
    step.detail(`process ${lock.holder.pid} is building it`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

async function compile(target, env, signal) {
  removeLeftovers(dirname(target));
  const work = `${target}.work-${process.pid}`;
  const free = statfsSync(dirname(target));
  if (free.bavail * free.bsize < NEEDED_BYTES) {
    throw new Error(`the build needs 6 GB of free space in ${dirname(target)} while it runs`);
  }
  const output = join(work, 'temporal');
  try {
    // Without debugging information, which the linker would drop anyway.
    const flags = ['-trimpath', '-gcflags=all=-dwarf=false', '-ldflags', '-s -w'];
    await runCommand('go', ['build', ...flags, '-o', output, PACKAGE], {
      cwd: MODULE_DIR,
      logFile: `${target}.build.log`,
      signal,
      env: goEnvironment(work, env),
    });
    renameSync(output, target);
  } finally {
    rmSync(work, { recursive: true, force: true, maxRetries: 5 });
  }
}

/**
 * The environment of a Go build whose modules and caches lie in `work`, and are removed with it.
 *
 * @param {string} work
 * @param {Record<string, string | undefined>} env
 */
export function goEnvironment(work, env = process.env) {
  for (const folder of ['mod', 'cache', 'tmp']) mkdirSync(join(work, folder), { recursive: true });
  return {
    ...env,
    CGO_ENABLED: '0',
    GOWORK: 'off',
    // Without -modcacherw modules are read-only, and could not be removed.
    GOFLAGS: '-modcacherw -buildvcs=false',
    GOMODCACHE: join(work, 'mod'),
    GOCACHE: join(work, 'cache'),
    GOTMPDIR: join(work, 'tmp'),
  };
}

/** Removes the remains of a killed build; call it only with the lock held. */
function removeLeftovers(folder) {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    if (name.includes('.work-'))
      rmSync(join(folder, name), { recursive: true, force: true, maxRetries: 5 });
  }
}
