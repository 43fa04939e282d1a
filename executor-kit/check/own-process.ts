/** Runs the executor as a child process, so that it can be killed and started again. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

const STOP_LIMIT_MS = 5_000;
const KEPT_OUTPUT = 2_000;

export interface OwnProcess {
  start(): void;
  /** Sends SIGKILL to the command and all its processes; resolves once they have ended. */
  kill(): Promise<void>;
  /** Sends SIGTERM, and SIGKILL after STOP_LIMIT_MS. */
  stop(): Promise<void>;
  /** Returns why the process is not running; null while it runs. */
  ended(): string | null;
}

/** Creates the process that `command` starts in a shell, in its own process group. */
export function createOwnProcess(command: string): OwnProcess {
  let child: ChildProcess | null = null;
  let output = '';
  const signalAll = (signal: NodeJS.Signals): void => {
    try {
      if (child?.pid !== undefined) process.kill(-child.pid, signal);
    } catch {
      // The process has ended already.
    }
  };
  const gone = async (): Promise<void> => {
    if (child !== null && child.exitCode === null && child.signalCode === null)
      await once(child, 'exit');
  };
  // The check must leave no process running, however it ends.
  process.once('exit', () => signalAll('SIGKILL'));
  return {
    start: () => {
      output = '';
      child = spawn('/bin/sh', ['-c', command], {
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const keep = (chunk: Buffer): void =>
        void (output = (output + chunk.toString()).slice(-KEPT_OUTPUT));
      child.stdout?.on('data', keep);
      child.stderr?.on('data', keep);
    },
    kill: async () => {
      signalAll('SIGKILL');
      await gone();
      await groupGone(child?.pid);
    },
    stop: async () => {
      signalAll('SIGTERM');
      const timer = setTimeout(() => signalAll('SIGKILL'), STOP_LIMIT_MS);
      await gone();
      clearTimeout(timer);
      signalAll('SIGKILL');
    },
    ended: () => {
      if (child === null || (child.exitCode === null && child.signalCode === null)) return null;
      return `the command ended (${child.signalCode ?? `status ${child.exitCode}`})${output === '' ? '' : `:\n${output.trim()}`}`;
    },
  };
}

/**
 * Waits for the whole process group: the shell may end before the processes that it started have
 * released their port.
 */
async function groupGone(pid: number | undefined): Promise<void> {
  for (let left = 50; pid !== undefined && left > 0; left -= 1) {
    try {
      process.kill(-pid, 0);
    } catch {
      return;
    }
    await sleep(20);
  }
}
