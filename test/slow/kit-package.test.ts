/**
 * The kit as a package, in a folder that knows nothing of this clone: the executor of its README is
 * type-checked against it, started, and passes the check that the package brings, both ways.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { jest } from '@jest/globals';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { npmCommand } from '../../dev/bootstrap/install.mjs';
import { built } from '../../dev/bootstrap/programs.mjs';
import { freePort, ROOT } from '../../dev/stack/ports.ts';
import { findTemporalServer } from '../../dev/stack/temporal-binary.ts';
import { installRuntime } from '../../executor-kit/runtime.ts';

jest.setTimeout(240_000);

const NAME = 'fund-movement-executor-kit';
const REGISTRY_HOST = /\bregistry(\.[\w-]+)*\.[\w-]+\.[a-z]+/;

interface PackageJson {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional?: boolean }>>;
}
interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}
interface Verdict {
  readonly verdict: string;
  readonly checks: readonly { readonly id: string; readonly status: string }[];
}

let room: string;
/** The other repository. */
let team: string;
const running: ChildProcess[] = [];
const ours = readJson(join(ROOT, 'package.json'));

beforeAll(async () => {
  room = mkdtempSync(join(tmpdir(), 'kit-package-'));
  team = join(room, 'team');
  mkdirSync(team);
  expect(relative(ROOT, team)).toMatch(/^\.\./);
  const packed = await run(ROOT, built('kit-pack'), '--out', join(room, 'packed'));
  expect([packed.code, packed.stderr]).toEqual([0, '']);
  const tarball = packed.stdout.trim().split('\n').at(-1) ?? '';
  expect(basename(tarball)).toBe(`${NAME}-${ours.version}.tgz`);
  await install(tarball);
  writeReadmeSources();
});
afterAll(async () => {
  for (const child of running) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
  rmSync(room, { recursive: true, force: true });
});

/**
 * As a team would, but for the network: what the kit depends on is taken from this clone, and only
 * what it names is there.
 */
async function install(tarball: string): Promise<void> {
  const needed = readJson(join(room, 'packed', 'executor-kit', 'package.json')).dependencies;
  const from = (name: string): string => `file:${join(ROOT, 'node_modules', name)}`;
  const dependencies = {
    ...Object.fromEntries(Object.keys(needed).map((name) => [name, from(name)])),
    [NAME]: `file:${tarball}`,
  };
  const described = { name: 'team', private: true, type: 'module', dependencies };
  writeFileSync(join(team, 'package.json'), JSON.stringify(described));
  const [npm = 'npm', ...first] = npmCommand();
  const options = ['--offline', '--install-links', '--ignore-scripts', '--no-audit', '--no-fund'];
  const done = await command(team, npm, [...first, 'install', ...options]);
  expect([done.code, done.code === 0 ? '' : done.stderr]).toEqual([0, '']);
  for (const types of ['@types/node', 'undici-types']) link(types);
}

/** Also its own packages are found, where it really lies. */
function link(name: string): void {
  const place = join(team, 'node_modules', name);
  mkdirSync(join(place, '..'), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules', name), place);
}

/** The README's programs, each under the name in its first line. */
function writeReadmeSources(): void {
  const readme = readFileSync(join(team, 'node_modules', NAME, 'README.md'), 'utf8');
  const sources = [...readme.matchAll(/^```ts\n\/\/ (\S+)\n(.*?)^```$/gms)];
  expect(sources.map(([, name]) => name)).toEqual(['executor.ts', 'serve.ts', 'worker.ts']);
  for (const [, name = '', text = ''] of sources) writeFileSync(join(team, name), text);
}

/** As a team's own compiler sees it; the declarations of packages are checked too. */
function compile(...sources: readonly string[]): Promise<Ended> {
  const options = ['--strict', '--noUncheckedIndexedAccess', '--exactOptionalPropertyTypes'];
  return run(
    team,
    join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'),
    '--module',
    'nodenext',
    '--moduleResolution',
    'nodenext',
    '--target',
    'es2022',
    ...options,
    '--types',
    'node',
    '--outDir',
    'build',
    ...sources,
  );
}

function run(folder: string, ...args: readonly string[]): Promise<Ended> {
  return command(folder, process.execPath, args);
}

function command(folder: string, file: string, args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(
      file,
      [...args],
      { cwd: folder, timeout: 200_000, maxBuffer: 2 ** 24 },
      (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

/** Starts a compiled program of the team and waits for its first line. */
async function start(program: string, env: Readonly<Record<string, string>>): Promise<void> {
  const child = spawn(process.execPath, [join('build', program)], {
    cwd: team,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.push(child);
  let said = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (chunk: Buffer) => void (said += chunk.toString()));
    child.stdout.once('data', () => resolve());
    child.once('exit', () => reject(new Error(`${program} ended: ${said}`)));
  });
}

/** The command that npm has linked. */
async function check(...args: readonly string[]): Promise<Verdict> {
  const bin = join('node_modules', '.bin', 'executor-check');
  const { stdout, stderr } = await run(
    team,
    bin,
    ...args,
    '--action-type',
    'bank_payment',
    '--config',
    '{"to":"alice"}',
    '--json',
    '--payees',
    '[{"field":"to","family":"cex"}]',
  );
  expect(stderr).toBe('');
  return JSON.parse(stdout) as Verdict;
}

function readJson(file: string): PackageJson {
  return JSON.parse(readFileSync(file, 'utf8')) as PackageJson;
}

test('it says who it is as we do, with our versions, and nothing of where it was made', () => {
  const folder = join(team, 'node_modules', NAME);
  const kit = readJson(join(folder, 'package.json'));
  expect([kit.name, kit.version, kit.license]).toEqual([NAME, ours.version, ours.license]);
  const pinned = { ...kit.dependencies, ...kit.peerDependencies };
  for (const [name, version] of Object.entries(pinned))
    expect([name, version]).toEqual([name, ours.dependencies[name]]);
  const queues = Object.keys(kit.peerDependencies);
  expect(queues.filter((name) => !name.startsWith('@temporalio/'))).toEqual([]);
  expect(queues.filter((name) => kit.peerDependenciesMeta[name]?.optional !== true)).toEqual([]);
  expect(Object.keys(kit.dependencies).filter((name) => queues.includes(name))).toEqual([]);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
  expect(files.length).toBeGreaterThan(15);
  for (const file of files) {
    const text = readFileSync(file, 'utf8');
    for (const secret of [ROOT, `${homedir()}/`, `${tmpdir()}/`])
      expect([file, secret, text.includes(secret)]).toEqual([file, secret, false]);
    expect([file, REGISTRY_HOST.exec(text)]).toEqual([file, null]);
  }
});

test('over HTTP it needs nothing of Temporal: types hold, the executor starts, and passes', async () => {
  expect(await compile('executor.ts', 'serve.ts')).toEqual({ code: 0, stdout: '', stderr: '' });
  const port = await freePort();
  await start('serve.js', { PORT: String(port), DATA: join(room, 'served') });
  const url = `http://127.0.0.1:${port}`;
  const effects = ['--effects-url', `${url}/effects/{idempotency_key}`];
  const served = await check(url, ...effects);
  expect(served.checks.filter(({ status }) => status === 'failed')).toEqual([]);
  expect(served.verdict).toBe('PASSED_WITHOUT');
  // The same with kill -9, as the README says.
  const own = await freePort();
  const killed = await check(
    `http://127.0.0.1:${own}`,
    '--effects-url',
    `http://127.0.0.1:${own}/effects/{idempotency_key}`,
    '--only',
    'crash-after-answer,crash-during-submit',
    '--command',
    `PORT=${own} DATA=${join(room, 'killed')} exec node build/serve.js`,
  );
  expect(killed.checks.filter(({ status }) => status === 'passed').map(({ id }) => id)).toEqual(
    expect.arrayContaining(['complete', 'crash-after-answer', 'crash-during-submit']),
  );
});

test('wrong code does not compile against its types', async () => {
  writeFileSync(
    join(team, 'wrong.ts'),
    `import { defineExecutor, notLanded, passed } from '${NAME}';
export const one: string = passed();
export const two = defineExecutor({ name: 'too little', preflight: async () => notLanded() });
`,
  );
  const { code, stdout } = await compile('wrong.ts');
  expect(code).not.toBe(0);
  expect(stdout).toMatch(/wrong\.ts\(2,14\): error TS2322/);
  expect(stdout).toMatch(/wrong\.ts\(3,\d+\): error/);
  expect(stdout).not.toMatch(/Cannot find module|implicitly has an 'any' type/);
});

test('a task queue asks for the packages of Temporal, and works with them', async () => {
  const without = await run(
    team,
    join('node_modules', '.bin', 'executor-check'),
    'payouts',
    '--action-type',
    'x',
  );
  expect([without.code, without.stderr]).toEqual([2, expect.stringMatching(/@temporalio\/client/)]);
  for (const name of Object.keys(
    readJson(join(team, 'node_modules', NAME, 'package.json')).peerDependencies,
  ))
    link(name);
  const { stdout } = await compile('executor.ts', 'worker.ts');
  const faults = stdout.split('\n').filter((line) => line.includes(': error '));
  // Temporal's own declarations want types that it does not bring.
  expect(faults.filter((line) => !/node_modules\/@temporalio\/[^(]+\(/.test(line))).toEqual([]);
  installRuntime('ERROR');
  const server = await findTemporalServer();
  const environment =
    server.kind === 'address'
      ? null
      : await TestWorkflowEnvironment.createLocal({
          server: { executable: { type: 'existing-path', path: server.path } },
        });
  const address = server.kind === 'address' ? server.address : (environment?.address ?? '');
  try {
    await start('worker.js', { TEMPORAL_ADDRESS: address, DATA: join(room, 'worked') });
    const { checks } = await check(
      'payouts',
      '--temporal-address',
      address,
      '--only',
      'repeat,recover,never-sent,too-late',
    );
    expect(checks.filter(({ status }) => status === 'failed')).toEqual([]);
    expect(checks.filter(({ status }) => status === 'passed').map(({ id }) => id)).toEqual(
      expect.arrayContaining(['complete', 'repeat', 'recover', 'never-sent', 'too-late']),
    );
  } finally {
    const worker = running.at(-1);
    if (worker?.exitCode === null && worker.kill('SIGTERM')) await once(worker, 'exit');
    await environment?.teardown();
  }
});
