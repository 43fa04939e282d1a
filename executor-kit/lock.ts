/**
 * Lets only one process use a journal: two processes would not see each other's sends and would
 * repeat them.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, realpathSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const RETRY_MS = 100;

/**
 * Locks `path` for this process until the returned function is called or the process ends in any
 * way. The lock is a name in the kernel, not a file, which a killed process would leave behind.
 * Only Linux has such names; elsewhere nothing is locked. Waits up to `waitMs` for an earlier
 * process to end; the error calls that process `holder`.
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
  const name = `\0executor-kit-${createHash('sha256').update(real).digest('hex')}`;
  for (const start = Date.now(); ; await sleep(RETRY_MS)) {
    const lock = await tryListen(name);
    if (lock !== null) return () => void lock.close();
    if (Date.now() - start >= waitMs) throw new Error(`another ${holder} is using ${path}`);
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
