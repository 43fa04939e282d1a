/**
 * Takes each rule out, in a copy of the project, and runs the test that should notice. Ends with a
 * line `N noticed, M missed`; a rule that no test misses is missed. Slow: half an hour for all
 * rules. `--sample` takes the fiftieth that is drawn by this commit's hash, `--only <rule>…`
 * those that are named; `--times 5` asks each five times, as the rules whose test tries random
 * cases want it. `--simulation` asks the simulation in place of the rule's own test: it has noticed
 * when one of ten worlds of a hundred movements contradicts something (`--worlds`, `--movements`).
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { commandsEnded, runCommand, signalCommands } from '../../dev/bootstrap/command.mjs';
import { takeSignals } from '../../dev/stack/foreground.ts';
import { ROOT } from '../../dev/stack/ports.ts';
import { findTemporalServer } from '../../dev/stack/temporal-binary.ts';
import { copyProject, put, removeCopy, runJest, type TestRun } from './copy.ts';
import { plainName, projectOf, type Rule } from './rule.ts';
import { RULES } from './rules.ts';
import { sampleOf } from './sample.ts';

const { values, positionals } = parseArgs({
  options: {
    sample: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    times: { type: 'string', default: '1' },
    simulation: { type: 'boolean', default: false },
    worlds: { type: 'string', default: '10' },
    movements: { type: 'string', default: '100' },
  },
  allowPositionals: true,
});
const times = Number(values.times);
if (!Number.isInteger(times) || times < 1)
  throw new Error(`--times takes a whole number from 1, not "${values.times}"`);

/** A test that takes longer is ended, and counts as one that did not run. */
const LONGEST_MS = 300_000;
/**
 * Rules that are taken out at a time, each in a copy of its own: a test waits half of its time. The
 * simulation runs two worlds at a time by itself.
 */
const LANES = values.simulation ? 1 : 2;

function choose(): readonly Rule[] {
  const wanted = [...values.only, ...positionals];
  const unknown = wanted.filter((id) => RULES.every((rule) => rule.id !== id));
  if (unknown.length > 0)
    throw new Error(`no such rule: ${unknown.join(', ')}; docs/rules.md lists them`);
  if (wanted.length > 0) return wanted.flatMap((id) => RULES.filter((rule) => rule.id === id));
  return values.sample ? sampleOf(RULES, head()) : RULES;
}

function head(): string {
  const { status, stdout, stderr } = spawnSync('git', ['rev-parse', 'HEAD'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`the commit cannot be read: ${stderr}`);
  return stdout.trim();
}

/** What became of the rule's test in the copy. */
function runTest(copy: string, rule: Rule): Promise<TestRun> {
  const pattern = plainName(rule).replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const args = ['--selectProjects', projectOf(rule.test.file), '-t', pattern];
  return runJest(copy, [...args, '--', rule.test.file], LONGEST_MS);
}

/** What became of a thousand simulated movements in the copy. */
async function runSimulation(copy: string): Promise<TestRun> {
  const logFile = join(copy, '.data', 'rule.log');
  rmSync(logFile, { force: true });
  const { worlds, movements } = values;
  const args = ['--worlds', worlds, '--movements', movements, '--first', '--seed', '7000'];
  await runCommand(process.execPath, ['dev/run.mjs', 'simulate', ...args], {
    cwd: copy,
    logFile,
    signal: AbortSignal.timeout(2 * LONGEST_MS),
  }).catch(() => undefined);
  const output = readFileSync(logFile, 'utf8');
  const found = /^(\d+) contradictions$/m.exec(output)?.[1];
  return { ran: found !== undefined, failed: found !== undefined && found !== '0', output };
}

/** The worlds that contradicted something, with the first contradiction of each, and the sums. */
function findings(output: string): string {
  const lines = output.split('\n');
  return lines
    .flatMap((line, index) => {
      const seed = /^seed \d+/.exec(line)?.[0];
      const found =
        seed === undefined ? undefined : /^ {2}(.*?): /.exec(lines[index + 1] ?? '')?.[1];
      if (found !== undefined) return [`  ${seed ?? ''}: ${found}`];
      return /^\d+ movements, /.test(line) ? [`  ${line}`] : [];
    })
    .join('\n');
}

async function prove(copy: string, rule: Rule): Promise<boolean> {
  const whole = readFileSync(join(copy, rule.broken.file), 'utf8');
  put(
    copy,
    rule.broken.file,
    whole.replace(rule.broken.find, () => rule.broken.replace),
  );
  let noticed = true;
  for (let time = 0; time < times && foreground.status === null; time += 1) {
    const startedAt = Date.now();
    const { ran, failed, output } = await (values.simulation
      ? runSimulation(copy)
      : runTest(copy, rule));
    if (foreground.status !== null) break;
    const seconds = ((Date.now() - startedAt) / 1000).toFixed(0);
    const verdict = failed ? 'noticed' : ran ? 'MISSED' : 'MISSED (the test did not run)';
    process.stdout.write(`${verdict.padEnd(8)} ${rule.id} (${seconds} s)\n`);
    if (values.simulation) process.stdout.write(`${findings(output)}\n`);
    if (failed) continue;
    noticed = false;
    process.stdout.write(`${output.split('\n').slice(-15).join('\n')}\n`);
  }
  put(copy, rule.broken.file, whole);
  return noticed;
}

/**
 * How many of these rules were noticed each time; the copies are gone afterwards, also after a
 * signal.
 */
async function proveAll(chosen: readonly Rule[]): Promise<number> {
  await findTemporalServer();
  const waiting = [...chosen];
  let noticed = 0;
  const lane = async (): Promise<void> => {
    const copy = copyProject();
    try {
      while (foreground.status === null) {
        const rule = waiting.shift();
        if (rule === undefined) break;
        if (await prove(copy, rule)) noticed += 1;
      }
    } finally {
      if (foreground.status !== null) await commandsEnded(15_000);
      removeCopy(copy);
    }
  };
  await Promise.all(Array.from({ length: Math.min(LANES, chosen.length) }, lane));
  return noticed;
}

const foreground = takeSignals(() => signalCommands('SIGKILL'));
foreground.signal.addEventListener('abort', () => {
  signalCommands('SIGTERM');
});
const chosen = choose();
const noticed = await proveAll(chosen);
if (foreground.status === null)
  process.stdout.write(`\n${noticed} noticed, ${chosen.length - noticed} missed\n`);
process.exit(foreground.status ?? (noticed === chosen.length && chosen.length > 0 ? 0 : 1));
