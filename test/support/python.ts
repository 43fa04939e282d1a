/**
 * Programs in Python that tests use, each in a virtual environment of its own beside what else the
 * project keeps in its cache.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '../../dev/bootstrap/command.mjs';
import { waitForLock } from '../../dev/bootstrap/lock.mjs';
import { findOnPath, cacheDir } from '../../dev/bootstrap/temporal-build.mjs';

export interface PythonProgram {
  /** Of the folder in the cache. */
  readonly name: string;
  /** A file of exact versions, with everything that each of them needs. */
  readonly requirements: string;
  /** What a person reads. */
  readonly called: string;
}

/**
 * The interpreter that has exactly what the file pins; set up when it is missing or pins have
 * changed.
 */
export async function pythonFor(
  program: PythonProgram,
  signal: AbortSignal,
  log: (line: string) => void,
): Promise<string> {
  const python = findOnPath('python3', process.env);
  if (python === null)
    throw new Error(`${program.called} needs \`python3\` (3.11 or newer, with venv) on PATH.`);
  const release = await lock(program, signal);
  try {
    return await prepared(program, python, signal, log);
  } finally {
    release();
  }
}

async function prepared(
  { name, requirements, called }: PythonProgram,
  python: string,
  signal: AbortSignal,
  log: (line: string) => void,
): Promise<string> {
  const folder = join(cacheDir(), name);
  const interpreter = join(folder, 'bin', 'python');
  // Written last: an interrupted set-up starts again.
  const marker = join(folder, 'requirements.sha256');
  const pins = createHash('sha256').update(readFileSync(requirements)).digest('hex');
  if (existsSync(interpreter) && existsSync(marker) && readFileSync(marker, 'utf8') === pins)
    return interpreter;
  log(`Setting up ${called} (once)`);
  rmSync(folder, { recursive: true, force: true });
  const logFile = join(cacheDir(), `${name}.log`);
  await runCommand(python, ['-m', 'venv', folder], { logFile, signal });
  const pip = [
    '-m',
    'pip',
    'install',
    '--require-virtualenv',
    '--disable-pip-version-check',
    '--no-input',
  ];
  await runCommand(interpreter, [...pip, '--no-deps', '-r', requirements], { logFile, signal });
  await runCommand(interpreter, ['-m', 'pip', 'check', '--disable-pip-version-check'], {
    logFile,
    signal,
  });
  writeFileSync(marker, pins);
  return interpreter;
}

/** One at a time sets it up; a second run waits for the first. */
function lock({ name }: PythonProgram, signal: AbortSignal): Promise<() => void> {
  return waitForLock(join(cacheDir(), `${name}.lock`), signal);
}
