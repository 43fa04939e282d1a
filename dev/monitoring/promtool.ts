/** Finds Prometheus' programs, or gets them once for this machine. */
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runCommand } from '../bootstrap/command.mjs';
import { waitForLock } from '../bootstrap/lock.mjs';
import { startStep } from '../bootstrap/progress.mjs';
import { cacheDir, findOnPath, isExecutable } from '../bootstrap/temporal-build.mjs';
import { goPrograms } from '../deploy/go-programs.ts';

/** Paths of the programs. */
export interface PrometheusPrograms {
  readonly prometheus: string;
  /** Checks rules and runs their unit tests. */
  readonly promtool: string;
}

/** Version of the Go module, built where Debian's package cannot be had: Prometheus 3.16.0. */
const GO_VERSION = '0.316.0';
const GO_MODULE = 'github.com/prometheus/prometheus';

/** What to do on a machine without the programs. */
export const NO_PROMETHEUS =
  "There is no promtool here, no apt-get that can fetch Debian's package `prometheus`, and no Go to build it with. Install one of them, or name promtool in SVC_PROMTOOL.";

/**
 * Returns both programs: those of SVC_PROMTOOL or PATH, else Debian's, else built with Go; null
 * where none can be had. Throws when SVC_PROMTOOL names no program.
 */
export async function prometheusPrograms(): Promise<PrometheusPrograms | null> {
  const promtool = presentPromtool();
  const prometheus = promtool === null ? null : prometheusBeside(promtool);
  if (promtool !== null && prometheus !== null) return { prometheus, promtool };
  return (await fromDebian()) ?? (await fromGo());
}

/** Returns promtool alone, which may be there without Prometheus; null where it cannot be had. */
export async function findPromtool(): Promise<string | null> {
  return presentPromtool() ?? (await prometheusPrograms())?.promtool ?? null;
}

function presentPromtool(): string | null {
  const named = process.env['SVC_PROMTOOL'] ?? '';
  if (named === '') return findOnPath('promtool');
  if (isExecutable(named)) return named;
  throw new Error(`SVC_PROMTOOL names ${named}, which is no program. Correct it, or leave it out.`);
}

function prometheusBeside(promtool: string): string | null {
  const beside = join(dirname(promtool), 'prometheus');
  return isExecutable(beside) ? beside : findOnPath('prometheus');
}

/** Unpacks Debian's package into the cache, without installing the server that it would start. */
async function fromDebian(): Promise<PrometheusPrograms | null> {
  const folder = join(cacheDir(), 'prometheus-debian');
  const bin = join(folder, 'usr', 'bin');
  const programs = { prometheus: join(bin, 'prometheus'), promtool: join(bin, 'promtool') };
  const there = (): boolean => Object.values(programs).every(isExecutable);
  if (there()) return programs;
  if (findOnPath('apt-get') === null || findOnPath('dpkg-deb') === null) return null;
  const release = await waitForLock(`${folder}.lock`);
  const logFile = `${folder}.log`;
  const step = startStep("Fetching Prometheus (Debian's package, once)");
  try {
    if (!there()) await unpackInto(folder, logFile);
    step.done();
    return there() ? programs : null;
  } catch {
    step.fail(`see ${logFile}`);
    return null;
  } finally {
    release();
  }
}

async function unpackInto(folder: string, logFile: string): Promise<void> {
  const work = `${folder}.work-${String(process.pid)}`;
  mkdirSync(work, { recursive: true });
  const apt = (...args: string[]): Promise<number> =>
    // As root, apt downloads as a user of its own, who may not enter root's folders.
    runCommand('apt-get', ['-q', '-o', 'APT::Sandbox::User=root', ...args], { cwd: work, logFile });
  try {
    // The lists of packages may be missing or old.
    await apt('download', 'prometheus').catch(async () => {
      await apt('update');
      await apt('download', 'prometheus');
    });
    const [archive] = readdirSync(work).filter((name) => name.endsWith('.deb'));
    if (archive === undefined) throw new Error('apt-get downloaded no package');
    await runCommand('dpkg-deb', ['-x', archive, 'files'], { cwd: work, logFile });
    rmSync(folder, { recursive: true, force: true });
    renameSync(join(work, 'files'), folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

async function fromGo(): Promise<PrometheusPrograms | null> {
  const built = await goPrograms({
    label: 'Prometheus',
    version: GO_VERSION,
    packages: {
      prometheus: `${GO_MODULE}/cmd/prometheus`,
      promtool: `${GO_MODULE}/cmd/promtool`,
    },
  });
  return built && { prometheus: built['prometheus'] ?? '', promtool: built['promtool'] ?? '' };
}
