// Who a process is: its id together with the moment it started, so that a reused id is never
// mistaken for the process that had it before. Plain JavaScript, because the first command on a
// fresh clone and the reaper run without any loader.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * @typedef {{ pid: number, start: string }} ProcessIdentity A process id together with the moment
 *   the process started.
 */

/**
 * Start mark of a running process, or null when there is none (or it is only a zombie).
 *
 * @param {number} pid
 * @returns {string | null}
 */
export function startMark(pid) {
  if (process.platform === 'linux') return linuxStartMark(pid);
  try {
    const out = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
      encoding: 'utf8',
    }).trim();
    return out === '' || out.startsWith('Z') ? null : out.replace(/^\S+\s+/, '');
  } catch {
    return null;
  }
}

function linuxStartMark(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may hold spaces, so fields are counted from the last parenthesis.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return null;
    return `${bootId()}/${fields[19]}`;
  } catch {
    return null;
  }
}

let cachedBootId;
function bootId() {
  // Start times count from boot, so two boots could give one mark to two processes.
  cachedBootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return cachedBootId;
}

/**
 * The identity of a running process, or null when it has gone.
 *
 * @param {number} pid
 * @returns {ProcessIdentity | null}
 */
export function identify(pid) {
  const start = startMark(pid);
  return start === null ? null : { pid, start };
}

/**
 * Whether exactly this process still runs.
 *
 * @param {ProcessIdentity} identity
 */
export function isAlive(identity) {
  return startMark(identity.pid) === identity.start;
}

/**
 * Sends a signal to exactly this process, or with `group` to the process group it leads.
 * Returns whether the process was running.
 *
 * @param {ProcessIdentity} identity
 * @param {NodeJS.Signals} signal
 * @returns {boolean}
 */
export function signalProcess(identity, signal, { group = false } = {}) {
  if (!isAlive(identity)) return false;
  try {
    process.kill(group ? -identity.pid : identity.pid, signal);
    return true;
  } catch {
    return group ? signalProcess(identity, signal) : false;
  }
}

/**
 * Waits until the process has ended; false when it still runs after the time limit.
 *
 * @param {ProcessIdentity} identity
 * @param {number} timeoutMs
 */
export async function waitGone(identity, timeoutMs) {
  const deadline = Date.now() + timeoutMs;
  while (isAlive(identity)) {
    if (Date.now() >= deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return true;
}

/**
 * Stops the process and its group: first with a signal, after the time limit with SIGKILL.
 *
 * @param {ProcessIdentity} identity
 * @param {{ signal?: NodeJS.Signals, timeoutMs?: number }} options
 */
export async function endProcess(identity, { signal = 'SIGTERM', timeoutMs = 5_000 } = {}) {
  if (signalProcess(identity, signal) && (await waitGone(identity, timeoutMs))) return;
  signalProcess(identity, 'SIGKILL', { group: true });
  await waitGone(identity, 2_000);
}
