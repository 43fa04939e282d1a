/**
 * The fuzzer's Python, in a virtual environment of its own beside what else the project keeps in
 * its cache.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCommand } from '../../dev/bootstrap/command.mjs';
import { takeLock } from '../../dev/bootstrap/lock.mjs';
import { findOnPath, cacheDir } from '../../dev/bootstrap/temporal-build.mjs';

const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt');

/**
 * The interpreter that has exactly what `requirements.txt` pins; set up when it is missing or pins
 * have changed.
 */
export async function fuzzPython(
  signal: AbortSignal,
  log: (line: string) => void,
): Promise<string> {
  const python = findOnPath('python3', process.env);
  if (python === null)
    throw new Error('The schema fuzz needs `python3` (3.11 or newer, with venv) on PATH.');
  const release = await lock(signal);
  try {
    return await prepared(python, signal, log);
  } finally {
    release();
  }
}

async function prepared(
  python: string,
  signal: AbortSignal,
  log: (line: string) => void,
): Promise<string> {
  const folder = join(cacheDir(), 'fuzz-venv');
  const interpreter = join(folder, 'bin', 'python');
  // Written last: a set-up that was broken off is begun again.
  const marker = join(folder, 'requirements.sha256');
  const pins = createHash('sha256').update(readFileSync(REQUIREMENTS)).digest('hex');
  if (existsSync(interpreter) && existsSync(marker) && readFileSync(marker, 'utf8') === pins)
    return interpreter;
  log('Setting up the fuzzer (once)');
  rmSync(folder, { recursive: true, force: true });
  const logFile = join(cacheDir(), 'fuzz-venv.log');
  await runCommand(python, ['-m', 'venv', folder], { logFile, signal });
  const pip = [
    '-m',
    'pip',
    'install',
    '--require-virtualenv',
    '--disable-pip-version-check',
    '--no-input',
  ];
  await runCommand(interpreter, [...pip, '--no-deps', '-r', REQUIREMENTS], { logFile, signal });
  await runCommand(interpreter, ['-m', 'pip', 'check', '--disable-pip-version-check'], {
    logFile,
    signal,
  });
  writeFileSync(marker, pins);
  return interpreter;
}

/** One at a time sets it up; a second run waits for the first. */
async function lock(signal: AbortSignal): Promise<() => void> {
  for (;;) {
    const taken = await takeLock(join(cacheDir(), 'fuzz-venv.lock'));
    if (taken.release !== undefined) return taken.release;
    await sleep(500, undefined, { signal });
  }
}
