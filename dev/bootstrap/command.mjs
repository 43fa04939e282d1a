// Runs helper commands in process groups of their own, so that stopping one stops all it started.
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';

const running = new Set();

/**
 * Runs a command to its end with its output in a log file (passed through without a log file).
 * Fails with the end of the log when the command fails.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, logFile?: string, signal?: AbortSignal }}
 *   options
 * @returns {Promise<number>}
 */
export async function runCommand(command, args, { cwd, env, logFile, signal } = {}) {
  const log = logFile === undefined ? undefined : openLog(logFile);
  const child = spawn(command, args, {
    cwd,
    env: env ?? process.env,
    detached: logFile !== undefined,
    stdio: log === undefined ? 'inherit' : ['ignore', log, log],
  });
  if (log !== undefined) closeSync(log);
  running.add(child);
  const kill = () => killGroup(child, 'SIGKILL');
  signal?.addEventListener('abort', kill, { once: true });
  try {
    const { code, by } = await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (exitCode, exitSignal) => resolve({ code: exitCode, by: exitSignal }));
      if (signal?.aborted) kill();
    });
    if (code !== 0 && logFile !== undefined) {
      const why = by === null ? `exit status ${code}` : `killed by ${by}`;
      throw new Error(
        `${command} ${args[0] ?? ''} failed (${why}). End of ${logFile}:\n${tail(logFile)}`,
      );
    }
    return by === null ? code : 128 + 15;
  } finally {
    running.delete(child);
    signal?.removeEventListener('abort', kill);
  }
}

/**
 * Sends a signal to every helper command still running.
 *
 * @param {NodeJS.Signals} name
 */
export function signalCommands(name) {
  for (const child of running) killGroup(child, name);
}

/**
 * Waits until every helper command has ended; kills those that still run after `timeoutMs`.
 *
 * @param {number} timeoutMs
 * @returns {Promise<void>}
 */
export async function commandsEnded(timeoutMs) {
  const deadline = Date.now() + timeoutMs;
  while (running.size > 0) {
    if (Date.now() > deadline) return signalCommands('SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/**
 * The last lines of a log file.
 *
 * @param {string} file
 */
export function tail(file, lines = 15) {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-lines).join('\n');
  } catch {
    return '(no output)';
  }
}

function openLog(file) {
  mkdirSync(dirname(file), { recursive: true });
  return openSync(file, 'w');
}

function killGroup(child, name) {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, name);
  } catch {
    child.kill(name);
  }
}
