/**
 * `npm run image:check`: builds the Dockerfile unchanged, checks the files of the image, and runs a
 * movement with an API and a worker from that image, as a user without rights on a read-only file
 * system. Postgres, Temporal, the chain and the paper venue are those of the embedded stack. When
 * no image can be built, the command reports why, and runs the same movement with the same files as
 * plain processes. `--built` uses the image of the previous run; `--plain` builds none.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { report, startStep } from '../bootstrap/progress.mjs';
import { takeSignals } from '../stack/foreground.ts';
import { ANY_FREE_PORTS, ROOT } from '../stack/ports.ts';
import { startStack, type Stack } from '../stack/stack.ts';
import { buildImage, podman, TAG, whyNoContainers } from './containers.ts';
import { lookThrough } from './contents.ts';
import { inContainers } from './in-containers.ts';
import { asProcesses } from './as-processes.ts';
import { moveFunds, type Runner } from './movement.ts';

const VERSION = 'org.opencontainers.image.version';
const data = mkdtempSync(join(tmpdir(), 'fmo-image-'));
let stack: Stack | null = null;
const foreground = takeSignals(() => stack?.hurry());
process.exitCode = await main().catch((error: unknown) => {
  report(`\n${error instanceof Error ? error.message : String(error)}`);
  return foreground.status ?? 1;
});
rmSync(data, { recursive: true, force: true });
process.exit();

async function main(): Promise<number> {
  const why = process.argv.includes('--plain') ? '--plain' : await whyNoContainers();
  const version = (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Named).version;
  if (why !== null) {
    report(`\nSKIPPED: no image is built here: ${why}.`);
    report("The Dockerfile's commands run as plain ones instead.\n");
    return withStack(asProcesses(join(data, 'app')), { image: null, skipped: why });
  }
  const built = process.argv.includes('--built');
  const seconds = built ? null : await buildImage({ VERSION: version, REVISION: revision() });
  const image = await inspectImage(version);
  for (const fault of image.faults) report(`  ✗ ${fault}`);
  if (image.faults.length > 0) return 1;
  const { faults: _, ...facts } = image;
  return withStack(inContainers(join(data, 'mounted')), {
    image: TAG,
    build_seconds: seconds,
    ...facts,
  });
}

interface Named {
  readonly version: string;
}

async function withStack(runner: Runner, facts: object): Promise<number> {
  mkdirSync(join(data, 'stack'));
  try {
    await runner.prepare();
    const settings = { dataDir: join(data, 'stack'), ports: ANY_FREE_PORTS };
    stack = await startStack({
      settings,
      service: false,
      durable: false,
      signal: foreground.signal,
      log: () => undefined,
    });
    const step = startStep('A movement');
    const moved = await Promise.race([
      moveFunds(stack, runner),
      foreground.stopped.then(() => null),
    ]);
    if (moved === null) return foreground.status ?? 1;
    step.done();
    process.stdout.write(`${JSON.stringify({ ...facts, ...moved })}\n`);
    return 0;
  } finally {
    await runner.end();
    await stack?.stop();
  }
}

/** Reads and checks the image's metadata and its files. */
async function inspectImage(version: string) {
  const step = startStep('Looking through the image');
  const inspected = await podman('image', 'inspect', TAG);
  const [described] = JSON.parse(inspected.stdout) as [Described];
  const { User: user, Labels: labels, Entrypoint: entry } = described.Config;
  const faults: string[] = [];
  const expect = (what: string, is: boolean): void => {
    if (!is) faults.push(what);
  };
  expect(
    `the image's user is ${user ?? 'root'}, not the unprivileged 65532:65532`,
    user === '65532:65532',
  );
  expect('the image has no health check', (described.Healthcheck?.Test.length ?? 0) > 1);
  expect('process 1 is not tini', entry?.[0] === 'tini');
  expect('the label of the version is not that of package.json', labels?.[VERSION] === version);
  expect('a secret is among the settings of the image', !described.Config.Env.some(isSecret));
  const { stdout } = await podman('image', 'mount', TAG);
  try {
    const { faults: found, ...contents } = lookThrough(stdout.trim());
    step.done();
    return {
      faults: [...faults, ...found],
      user,
      megabytes: Math.round(described.Size / 1e6),
      app: { ...contents, megabytes: Math.round(contents.bytes / 1e6) },
    };
  } finally {
    await podman('image', 'unmount', TAG);
  }
}

function isSecret(line: string): boolean {
  return /^(SVC_|NPM_|.*(SECRET|TOKEN|PASSWORD|KEY))/.test(line);
}

interface Described {
  readonly Size: number;
  readonly Healthcheck?: { readonly Test: readonly string[] };
  readonly Config: {
    readonly User?: string;
    readonly Env: readonly string[];
    readonly Labels?: Readonly<Record<string, string>>;
    readonly Entrypoint?: readonly string[];
  };
}

function revision(): string {
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }).trim();
  } catch {
    return 'unknown';
  }
}
