/**
 * Takes each rule out, in a copy of the project, and runs the test that should notice. Ends with a line
 * `N noticed, M missed`; a rule that no test misses is missed. Slow: minutes for all rules.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ROOT } from '../../dev/ports.ts';
import { projectOf, type Rule } from './rule.ts';
import { RULES } from './rules.ts';

const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));

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
  const [plain = ''] = rule.test.name.split('%');
  const pattern = plain.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const jest = join('node_modules', 'jest', 'bin', 'jest.js');
  const args = ['--experimental-vm-modules', '--no-warnings', jest, '--selectProjects', projectOf(rule.test.file), '-t', pattern];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...args, '--', rule.test.file], {
    cwd: copy,
    encoding: 'utf8',
    timeout: 300_000,
    maxBuffer: 1 << 28,
  });
  const output = stdout + stderr;
  return { ran: /^Tests: .*(passed|failed)/m.test(output), failed: status !== 0 && /^Tests: .*failed/m.test(output), output };
}

function prove(copy: string, rule: Rule): boolean {
  const file = join(copy, rule.broken.file);
  const whole = readFileSync(file, 'utf8');
  writeFileSync(
    file,
    whole.replace(rule.broken.find, () => rule.broken.replace),
  );
  const begun = Date.now();
  const { ran, failed, output } = runs(copy, rule);
  writeFileSync(file, whole);
  const seconds = ((Date.now() - begun) / 1000).toFixed(0);
  const verdict = failed ? 'noticed' : ran ? 'MISSED' : 'MISSED (the test did not run)';
  process.stdout.write(`${verdict.padEnd(8)} ${rule.id} (${seconds} s)\n`);
  if (!failed) process.stdout.write(`${output.split('\n').slice(-15).join('\n')}\n`);
  return failed;
}

const chosen = RULES.filter((rule) => wanted.length === 0 || wanted.includes(rule.id));
const copy = copyProject();
const noticed = chosen.filter((rule) => prove(copy, rule)).length;
rmSync(copy, { recursive: true, force: true });
process.stdout.write(`\n${noticed} noticed, ${chosen.length - noticed} missed\n`);
process.exitCode = noticed === chosen.length && chosen.length > 0 ? 0 : 1;
