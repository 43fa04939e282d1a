/**
 * `npm run monitoring:check`: has promtool read the alert rules of deploy/monitoring and run their
 * unit tests. Prints `N alerts, M cases`; exit status 1 when a rule or a case fails.
 */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { report } from '../bootstrap/progress.mjs';
import { ROOT } from '../stack/ports.ts';
import { findPromtool, NO_PROMETHEUS } from './promtool.ts';

const run = promisify(execFile);
const rules = filesOf('alerts');
const tests = filesOf('tests');

const promtool = await findPromtool();
if (promtool === null) {
  report(NO_PROMETHEUS);
  process.exitCode = 1;
} else {
  const passed = [
    await passes(promtool, 'check', rules),
    // Rule files are named relative to the tests.
    await passes(promtool, 'test', tests),
  ];
  const alerts = countOf(/^ *- alert: /gm, rules);
  process.stdout.write(`${alerts} alerts, ${countOf(/^ *- eval_time: /gm, tests)} cases\n`);
  if (passed.includes(false)) process.exitCode = 1;
}

async function passes(
  program: string,
  command: 'check' | 'test',
  files: readonly string[],
): Promise<boolean> {
  try {
    await run(program, [command, 'rules', ...files]);
    return true;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    report(`✗ promtool ${command} rules\n${`${stdout}${stderr}`.trim() || String(error)}`);
    return false;
  }
}

function filesOf(folder: 'alerts' | 'tests'): readonly string[] {
  const path = join(ROOT, 'deploy', 'monitoring', folder);
  return readdirSync(path)
    .filter((name) => name.endsWith('.yml'))
    .sort()
    .map((name) => join(path, name));
}

function countOf(entry: RegExp, files: readonly string[]): string {
  const text = files.map((file) => readFileSync(file, 'utf8')).join('\n');
  return String(text.match(entry)?.length ?? 0);
}
