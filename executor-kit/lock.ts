/**
 * Lets only one process use a journal, or a key of an exchange: two processes would not see each
 * other's sends and would repeat them.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, realpathSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const RETRY_MS = 100;

/**
 * Locks `path` for this process, as {@link lockName} does; the error calls the other process
 * `holder`.
 *
 * @throws Error when another process still holds the lock after `waitMs`.
 */
export async function lockPath(
  path: string,
  waitMs: number,
  holder = 'process',
): Promise<() => void> {
  if (process.platform !== 'linux') return () => undefined;
  const folder = dirname(resolve(path));
  mkdirSync(folder, { recursive: true });
  const real = join(realpathSync(folder), basename(path));
  return lockName(real, waitMs, `another ${holder} is using ${path}`);
}

/**
 * Locks `name` for this process until the returned function is called or the process ends in any
 * way. The lock is a name in the kernel, not a file, which a killed process would leave behind; it
 * is a digest, so it shows no secret. Only Linux has such names, for each network namespace its
 * own; elsewhere nothing is locked. Waits up to `waitMs` for an earlier process to end.
 *
 * @throws Error with the message `problem` when another process still holds the lock after
 *   `waitMs`.
 */
export async function lockName(name: string, waitMs: number, problem: string): Promise<() => void> {
  if (process.platform !== 'linux') return () => undefined;
  const digest = createHash('sha256').update(name).digest('hex');
  for (const start = Date.now(); ; await sleep(RETRY_MS)) {
    const lock = await tryListen(`\0executor-kit-${digest}`);
    if (lock !== null) return () => void lock.close();
    if (Date.now() - start >= waitMs) throw new Error(problem);
  }
}

async function tryListen(name: string): Promise<Server | null> {
  const server = createServer((socket) => void socket.destroy());
  server.unref();
  try {
    server.listen(name);
    await once(server, 'listening');
    return server;
  } catch {
    return null;
  }
}
