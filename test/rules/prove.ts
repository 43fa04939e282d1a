/**
 * Takes each rule out, in a copy of the project, and runs the test that should notice. Ends with a line
 * `N noticed, M missed`; a rule that no test misses is missed. Slow: the better part of an hour for all rules.
 * `--sample` takes the tenth whose turn it is at this commit, `--only <rule>…` those that are named.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from '../../dev/stack/ports.ts';
import { plainName, projectOf, type Rule } from './rule.ts';
import { RULES } from './rules.ts';
import { sampleOf } from './sample.ts';

const { values, positionals } = parseArgs({
  options: { sample: { type: 'boolean', default: false }, only: { type: 'string', multiple: true, default: [] } },
  allowPositionals: true,
});

function choose(): readonly Rule[] {
  const wanted = [...values.only, ...positionals];
  const unknown = wanted.filter((id) => RULES.every((rule) => rule.id !== id));
  if (unknown.length > 0) throw new Error(`no such rule: ${unknown.join(', ')}; docs/rules.md lists them`);
  if (wanted.length > 0) return RULES.filter(({ id }) => wanted.includes(id));
  return values.sample ? sampleOf(RULES, commits()) : RULES;
}

function commits(): number {
  const { status, stdout, stderr } = spawnSync('git', ['rev-list', '--count', 'HEAD'], { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) throw new Error(`the commits cannot be counted: ${stderr}`);
  return Number(stdout);
}

function copyProject(): string {
  const copy = mkdtempSync(join(tmpdir(), 'rules-'));
  const listed = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' });
  for (const file of listed.stdout.split('\n').filter((name) => name !== '')) {
    mkdirSync(join(copy, dirname(file)), { recursive: true });
    cpSync(join(ROOT, file), join(copy, file));
  }
  cpSync(join(ROOT, 'prisma', 'generated'), join(copy, 'prisma', 'generated'), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** Whether the rule's test fails in the copy; `undefined` when the test did not run at all. */
function runs(copy: string, rule: Rule): { readonly ran: boolean; readonly failed: boolean; readonly output: string } {
  const pattern = plainName(rule).replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const jest = join('node_modules', 'jest', 'bin', 'jest.js');
  const args = ['--experimental-vm-modules', '--no-warnings', jest, '--selectProjects', projectOf(rule.test.file), '-t', pattern];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...args, '--', rule.test.file], {
    cwd: copy,
    env: { ...process.env, RULES_PROOF: 'true' },
    encoding: 'utf8',
    timeout: 300_000,
    maxBuffer: 1 << 28,
  });
  const output = stdout + stderr;
  return { ran: /^Tests: .*(passed|failed)/m.test(output), failed: status !== 0 && /^Tests: .*failed/m.test(output), output };
}

/** Writes a text of the copy, and what is made from it: the database knows SQL only by its migration. */
function put(copy: string, file: string, text: string): void {
  writeFileSync(join(copy, file), text);
  if (!file.startsWith('prisma/functions/')) return;
  const { status, stderr } = spawnSync(process.execPath, ['dev/run.mjs', 'sql:migration'], {
    cwd: copy,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`the migration of the functions could not be written: ${stderr}`);
}

function prove(copy: string, rule: Rule): boolean {
  const whole = readFileSync(join(copy, rule.broken.file), 'utf8');
  put(
    copy,
    rule.broken.file,
    whole.replace(rule.broken.find, () => rule.broken.replace),
  );
  const begun = Date.now();
  const { ran, failed, output } = runs(copy, rule);
  put(copy, rule.broken.file, whole);
  const seconds = ((Date.now() - begun) / 1000).toFixed(0);
  const verdict = failed ? 'noticed' : ran ? 'MISSED' : 'MISSED (the test did not run)';
  process.stdout.write(`${verdict.padEnd(8)} ${rule.id} (${seconds} s)\n`);
  if (!failed) process.stdout.write(`${output.split('\n').slice(-15).join('\n')}\n`);
  return failed;
}

const chosen = choose();
const copy = copyProject();
const noticed = chosen.filter((rule) => prove(copy, rule)).length;
rmSync(copy, { recursive: true, force: true });
process.stdout.write(`\n${noticed} noticed, ${chosen.length - noticed} missed\n`);
process.exitCode = noticed === chosen.length && chosen.length > 0 ? 0 : 1;
