import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import {
  TEMPORAL_VERSION,
  builtBinary,
  cacheDir,
  findOnPath,
  isExecutable,
  startTemporalBuild,
  temporalBuildInFlight,
} from '../bootstrap/temporal-build.mjs';
import { built } from '../bootstrap/programs.mjs';
import { report } from '../bootstrap/progress.mjs';
import { ROOT } from './ports.ts';

/** The Temporal server to use: one that already runs, or a program that starts one. */
export type TemporalServer =
  { kind: 'address'; address: string } | { kind: 'binary'; path: string };

/** No Temporal server was found; the message lists every attempt and what to do. */
export class TemporalNotFoundError extends Error {
  override name = 'TemporalNotFoundError';

  constructor(tried: readonly string[]) {
    super(
      [
        'No Temporal server was found or could be made. Tried, in this order:',
        ...tried.map((line) => `  - ${line}`),
        'Do one of these:',
        '  - set SVC_TEMPORAL_ADDRESS (host:port) to a Temporal server that runs already',
        '  - install the `temporal` command line program so that it is on PATH',
        '  - install Go 1.25 or newer and allow it to fetch modules; the server is then built once',
        `  - copy a \`temporal\` program (version ${TEMPORAL_VERSION}) to ${builtBinary()}`,
      ].join('\n'),
    );
  }
}

type Attempt = TemporalServer | { skipped: string };
const DOWNLOAD_LIMIT_MS = 15_000;

/** Searches Temporal in the documented order; logs why a step was skipped or failed. */
export async function findTemporalServer(
  env: NodeJS.ProcessEnv = process.env,
  log: (line: string) => void = report,
): Promise<TemporalServer> {
  const steps: (() => Attempt | Promise<Attempt>)[] = [
    () => fromAddress(env),
    () => fromPath(env),
    () => fromCache(env),
    () => fromSdkDownload(env, log),
    () => fromBuild(env),
  ];
  const reasons: string[] = [];
  for (const step of steps) {
    const attempt = await step();
    if (!('skipped' in attempt)) {
      // A build that was started early, during the installation, is no longer needed.
      if (reasons.length < steps.length - 1) await temporalBuildInFlight()?.cancel();
      return attempt;
    }
    reasons.push(attempt.skipped);
    // The first three steps take no time, so their reasons are shown only when all three failed.
    if (reasons.length === 3) for (const reason of reasons) log(`  - Temporal: ${reason}`);
    if (reasons.length > 3) log(`  - Temporal: ${attempt.skipped}`);
  }
  throw new TemporalNotFoundError(reasons);
}

function fromAddress(env: NodeJS.ProcessEnv): Attempt {
  const address = env['SVC_TEMPORAL_ADDRESS']?.trim();
  if (address === undefined || address === '')
    return { skipped: 'SVC_TEMPORAL_ADDRESS is not set' };
  return { kind: 'address', address };
}

function fromPath(env: NodeJS.ProcessEnv): Attempt {
  const path = findOnPath('temporal', env);
  return path === null ? { skipped: 'no `temporal` program on PATH' } : { kind: 'binary', path };
}

function fromCache(env: NodeJS.ProcessEnv): Attempt {
  const path = builtBinary(env);
  return isExecutable(path)
    ? { kind: 'binary', path }
    : { skipped: `nothing in the cache (${path})` };
}

/** Searches the SDK's download folder first, then downloads into ours. */
async function fromSdkDownload(
  env: NodeJS.ProcessEnv,
  log: (line: string) => void,
): Promise<Attempt> {
  const folder = join(cacheDir(env), 'sdk');
  const known = sdkBinary(folder) ?? sdkBinary(tmpdir());
  if (known !== null) return { kind: 'binary', path: known };
  log(`  … Temporal: trying the SDK's download for ${DOWNLOAD_LIMIT_MS / 1000} s`);
  mkdirSync(folder, { recursive: true });
  const fault = await runDownload(folder);
  const path = sdkBinary(folder);
  return path === null
    ? { skipped: `the SDK's download did not work (${fault})` }
    : { kind: 'binary', path };
}

function sdkBinary(folder: string): string | null {
  try {
    const candidates = readdirSync(folder)
      .filter(
        (name) => /^temporal-sdk-typescript-[\w.-]+$/.test(name) && !name.endsWith('.downloading'),
      )
      .map((name) => join(folder, name))
      // A shared temporary folder may hold other users' files: only our own are run.
      .filter((path) => isExecutable(path) && statSync(path).uid === userInfo().uid);
    return candidates.sort().at(-1) ?? null;
  } catch {
    return null;
  }
}

function runDownload(folder: string): Promise<string> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [built('temporal-download'), folder], {
      cwd: ROOT,
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let said = '';
    const stopAll = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // the process has already ended
      }
    };
    const timer = setTimeout(() => {
      said = `no download within ${DOWNLOAD_LIMIT_MS / 1000} s`;
      stopAll();
    }, DOWNLOAD_LIMIT_MS);
    process.once('exit', stopAll);
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
    child.once('error', (error) => (said = error.message));
    child.once('close', () => {
      clearTimeout(timer);
      process.off('exit', stopAll);
      stopAll();
      resolve(said.trim().split('\n')[0]?.slice(0, 160) || 'no answer');
    });
  });
}

async function fromBuild(env: NodeJS.ProcessEnv): Promise<Attempt> {
  const build = startTemporalBuild(env);
  if (build === null) return { skipped: 'no `go` on PATH to build it with' };
  try {
    return { kind: 'binary', path: await build.done };
  } catch (error) {
    return {
      skipped: `the build with Go failed: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}
