/** A copy of the project in which something is broken, and what its tests say of that. */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runCommand } from '../../dev/bootstrap/command.mjs';
import { ROOT } from '../../dev/stack/ports.ts';

/** What came of a run of jest. It may not have run any test at all. */
export interface TestRun {
  readonly ran: boolean;
  readonly failed: boolean;
  readonly output: string;
}

/** What git tracks or would track, with the same dependencies. */
export function copyProject(): string {
  const copy = mkdtempSync(join(tmpdir(), 'rules-'));
  const listed = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  for (const file of listed.stdout.split('\n').filter((name) => name !== '')) {
    mkdirSync(join(copy, dirname(file)), { recursive: true });
    cpSync(join(ROOT, file), join(copy, file));
  }
  cpSync(join(ROOT, 'prisma', 'generated'), join(copy, 'prisma', 'generated'), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** Removes a copy in which parts of a stack may still be ending. */
export function removeCopy(copy: string): void {
  rmSync(copy, { recursive: true, force: true, maxRetries: 30, retryDelay: 200 });
}

/** Runs jest in the copy with these arguments; what takes longer than `mostMs` is ended. */
export async function runJest(
  copy: string,
  args: readonly string[],
  mostMs: number,
): Promise<TestRun> {
  const jest = join('node_modules', 'jest', 'bin', 'jest.js');
  const logFile = join(copy, '.data', 'rule.log');
  rmSync(logFile, { force: true });
  const succeeded = await runCommand(
    process.execPath,
    ['--experimental-vm-modules', '--no-warnings', jest, ...args],
    {
      cwd: copy,
      env: { ...process.env, RULES_PROOF: 'true' },
      logFile,
      signal: AbortSignal.timeout(mostMs),
    },
  ).then(
    () => true,
    () => false,
  );
  const output = readFileSync(logFile, 'utf8');
  return {
    ran: /^Tests: .*(passed|failed)/m.test(output),
    failed: !succeeded && /^Tests: .*failed/m.test(output),
    output,
  };
}

/**
 * Writes a text of the copy, and what is made from it: the database knows SQL only by its
 * migration.
 */
export function put(copy: string, file: string, text: string): void {
  writeFileSync(join(copy, file), text);
  if (!file.startsWith('prisma/functions/')) return;
  const { status, stderr } = spawnSync(process.execPath, ['dev/run.mjs', 'sql:migration'], {
    cwd: copy,
    encoding: 'utf8',
  });
  if (status !== 0)
    throw new Error(`the migration of the functions could not be written: ${stderr}`);
}
