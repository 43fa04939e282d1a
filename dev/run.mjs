// Entry of every npm script: `node dev/run.mjs <target> …`. It needs nothing but Node, brings the
// clone and what is built of it up to date, and then runs the target in this same process, so that
// Ctrl-C and SIGTERM reach our own code and not a wrapper.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from './bootstrap/build.mjs';
import { commandsEnded, runCommand, signalCommands } from './bootstrap/command.mjs';
import { CHECKS } from './bootstrap/checks.mjs';
import { findChromium } from './bootstrap/chromium.mjs';
import {
  ROOT,
  ensureDependencies,
  ensurePostgresLinks,
  ensurePrismaClient,
} from './bootstrap/install.mjs';
import { layOutProduction } from './bootstrap/production.mjs';
import { built } from './bootstrap/programs.mjs';
import { report } from './bootstrap/progress.mjs';
import { closeTestRooms, openTestRoom } from './bootstrap/test-room.mjs';
import {
  startTemporalBuild,
  temporalAtHand,
  temporalBuildInFlight,
} from './bootstrap/temporal-build.mjs';

/** Which targets exist, and which of them need Temporal's server. */
const TARGETS = {
  build: { needsTemporal: false, run: layOut },
  start: { needsTemporal: true, run: runProgram('start') },
  demo: { needsTemporal: true, run: runProgram('demo') },
  test: { needsTemporal: true, run: runQuickTests },
  'test:faults': {
    needsTemporal: true,
    run: (extra) => runTests([...extra, '--selectProjects', 'faults']),
  },
  'test:slow': {
    needsTemporal: true,
    run: (extra) => runTests([...extra, '--selectProjects', 'slow']),
  },
  'test:bridges': {
    needsTemporal: true,
    run: (extra) => runTests([...extra, '--selectProjects', 'bridges']),
  },
  growth: {
    needsTemporal: false,
    run: (extra) => runJest([...extra, '--selectProjects', 'growth']),
  },
  'test:browser': { needsTemporal: true, run: runBrowserTests },
  check: { needsTemporal: true, run: runChecks },
  bench: { needsTemporal: true, run: runProgram('bench') },
  'bench:scale': { needsTemporal: true, run: runProgram('bench-scale') },
  chaos: { needsTemporal: true, run: runProgram('chaos') },
  simulate: { needsTemporal: false, run: runProgram('simulate') },
  fuzz: { needsTemporal: true, run: runProgram('fuzz') },
  fundadmin: { needsTemporal: false, run: runProgram('embedded-fundadmin') },
  fundctl: { needsTemporal: false, run: runProgram('embedded-fundctl') },
  mcp: { needsTemporal: false, run: runProgram('fund-mcp') },
  fundagent: { needsTemporal: false, run: runProgram('embedded-fundagent') },
  executor: { needsTemporal: false, run: runProgram('executor') },
  'executor:check': { needsTemporal: false, run: runProgram('executor-check') },
  'client:pack': { needsTemporal: false, run: runProgram('client-pack') },
  'client:types': { needsTemporal: false, run: runProgram('client-types') },
  contracts: { needsTemporal: false, run: runProgram('contracts') },
  'docs:examples': { needsTemporal: true, run: recordExamples },
  'docs:pictures': { needsTemporal: true, run: runProgram('docs-pictures') },
  'deploy:check': { needsTemporal: false, run: runProgram('deploy-check') },
  'deploy:follow': { needsTemporal: true, run: runProgram('deploy-follow') },
  topology: { needsTemporal: true, run: runProgram('topology') },
  'image:check': { needsTemporal: true, run: runProgram('image-check') },
  'kit:pack': { needsTemporal: false, run: runProgram('kit-pack') },
  'docs:tables': { needsTemporal: false, run: runProgram('docs-tables') },
  'monitoring:check': { needsTemporal: false, run: runProgram('monitoring-check') },
  'monitoring:dashboards': { needsTemporal: false, run: runProgram('monitoring-dashboards') },
  'replay:record': { needsTemporal: true, run: runProgram('replay-record') },
  breaks: { needsTemporal: true, run: runProgram('breaks') },
  'rules:prove': { needsTemporal: true, run: runProgram('rules-prove') },
  'rules:table': { needsTemporal: false, run: runProgram('rules-table') },
  'sql:migration': { needsTemporal: false, run: runProgram('sql-migration') },
  'release:migrations': { needsTemporal: true, run: releaseMigrations },
  'release:state': { needsTemporal: true, run: runProgram('release-state') },
  prepare: { needsTemporal: true, run: () => findTemporal() },
};

const [name, ...args] = process.argv.slice(2);
const target = Object.hasOwn(TARGETS, name ?? '') ? TARGETS[name] : undefined;
// Signals end the set-up at once; a target that runs in this process takes them over.
// A second signal changes nothing. Declared before the command runs, which signals interrupt.
let stopping = false;
const onSignal = (signal) => stopSetUp(signal);
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

if (target === undefined) {
  report(`Usage: node dev/run.mjs <${Object.keys(TARGETS).join('|')}>`);
  process.exitCode = 2;
} else {
  for (const signal of SIGNALS) process.on(signal, onSignal);
  followNpm();
  await main(target).catch((error) => {
    report(`\n${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  });
  await temporalBuildInFlight()?.cancel();
}

async function main({ needsTemporal, run }) {
  checkNode();
  process.chdir(ROOT);
  const logDir = join(resolve(ROOT, process.env.SVC_DATA_DIR || '.data'), 'logs');
  mkdirSync(logDir, { recursive: true });
  // On a fresh clone the slowest step starts first, beside the installation.
  if (needsTemporal && !temporalAtHand() && !existsSync(join(ROOT, 'node_modules')))
    startTemporalBuild();
  await ensureDependencies(logDir);
  await ensurePostgresLinks(logDir);
  await ensurePrismaClient(logDir);
  await build();
  const code = await run(args);
  if (typeof code === 'number') process.exitCode = code;
}

/**
 * npm passes a SIGTERM only to the shell between npm and this process. The shell ends and sends no
 * signal on, so under npm the end of our parent process counts as a SIGTERM.
 */
function followNpm() {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, 200);
  timer.unref();
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 20)) {
    throw new Error(`Node 20.20 or newer is needed; this is ${process.versions.node}.`);
  }
}

/** Runs a program in this process; its arguments look as with `node dist/<program>.js …`. */
function runProgram(program) {
  return async (programArgs) => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
    process.argv.splice(1, process.argv.length, built(program), ...programArgs);
    await import(pathToFileURL(built(program)).href);
  };
}

/** Implements `--into <folder>`: copies the files of production from the finished build. */
function layOut([option, folder, ...rest]) {
  if (option === undefined) return 0;
  if (option !== '--into' || folder === undefined || rest.length > 0) {
    report('Usage: npm run build [-- --into <folder>]');
    return 2;
  }
  report(`  ✓ What production runs is in ${layOutProduction(folder)}`);
  return 0;
}

async function findTemporal() {
  const { findTemporalServer } = await import(pathToFileURL(built('temporal-binary')).href);
  await findTemporalServer();
}

async function runTests(extra) {
  await findTemporal();
  return runJest(extra);
}

async function runJest(extra) {
  try {
    return await runNode(
      ['--experimental-vm-modules', '--no-warnings', modules('jest/bin/jest.js'), ...extra],
      { ...process.env, TMPDIR: openTestRoom() },
    );
  } finally {
    await closeTestRooms();
  }
}

/** Runs the tests that need no stack of their own, or only the named files or projects. */
function runQuickTests(extra) {
  return runTests(extra.length > 0 ? extra : ['--selectProjects', 'unit', 'stack']);
}

/** Lists the migrations as released, and records what this release leaves behind in a database. */
async function releaseMigrations() {
  const listed = await runNode([built('release-migrations')], process.env);
  return listed === 0 ? runNode([built('release-state')], process.env) : listed;
}

/** Records the answers that the API's document shows; see test/support/seen.ts. */
function recordExamples() {
  writeFileSync(join(ROOT, 'api', 'openapi', 'seen.json'), '{ "answers": {}, "refusals": {} }\n');
  process.env.RECORD_EXAMPLES = 'true';
  const files = ['http/examples', 'http/rate-limit', 'faults/unknown-outcomes', 'faults/lanes'];
  return runTests(['--runInBand', ...files.map((file) => `test/${file}`)]);
}

/** Runs the tests in a real browser; finds the browser before anything is started. */
function runBrowserTests(extra) {
  process.env.TEST_CHROMIUM = findChromium();
  return runTests(['--config', join(ROOT, 'test', 'browser', 'jest.config.mjs'), ...extra]);
}

/**
 * Checks types, lint, format and imports, two at a time, and then runs the tests unless `--static`.
 */
async function runChecks(extra) {
  let failed = 0;
  const waiting = [...CHECKS];
  const one = async (check) => {
    const started = Date.now();
    const logFile = join(ROOT, 'node_modules', '.cache', `check ${check.name}.log`);
    const file = check.program === undefined ? modules(check.file) : built(check.program);
    const verdict = await runCommand(
      process.execPath,
      [...(check.node ?? []), file, ...check.args],
      {
        cwd: ROOT,
        logFile,
      },
    )
      .then(() => null)
      .catch((error) => error);
    report(
      `${verdict === null ? '✓' : '✗'} ${check.name} (${((Date.now() - started) / 1000).toFixed(1)} s)`,
    );
    if (verdict !== null) {
      failed += 1;
      report(verdict.message);
    }
  };
  const lane = async () => {
    for (let check = waiting.shift(); check !== undefined; check = waiting.shift())
      await one(check);
  };
  await Promise.all([lane(), lane()]);
  if (extra.includes('--static')) return failed === 0 ? 0 : 1;
  const tests = await runQuickTests(extra);
  report(`${tests === 0 ? '✓' : '✗'} tests`);
  return failed === 0 && tests === 0 ? 0 : 1;
}

/** Runs Node as a child on this terminal; passes on the signals that only this process got. */
function runNode(nodeArgs, env) {
  return runCommand(process.execPath, nodeArgs, { cwd: ROOT, env });
}

function modules(file) {
  return join(ROOT, 'node_modules', file);
}

function stopSetUp(signal) {
  if (stopping) return;
  stopping = true;
  signalCommands(signal);
  const code = 128 + (signal === 'SIGINT' ? 2 : signal === 'SIGHUP' ? 1 : 15);
  const leave = () => process.exit(code);
  // Helper commands end first: tests stop the processes that they started, builds remove caches.
  Promise.all([temporalBuildInFlight()?.cancel(), commandsEnded(15_000)])
    .then(closeTestRooms)
    .then(leave, leave);
}
