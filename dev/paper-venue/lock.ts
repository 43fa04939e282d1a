/** One venue per ledger: two would hand out the same nonces. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, realpathSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const RETRY_MS = 100;

/**
 * Holds `dataDir` for this process until the returned function is called or the process ends. A lock of the
 * kernel's (an abstract socket) and not a file, since it must not outlive a killed process; systems other than
 * Linux have none, and go without. Waits up to `waitMs` for an earlier process to end.
 *
 * @throws Error when another process still holds the folder then.
 */
export async function lockFolder(dataDir: string, waitMs = 5_000): Promise<() => void> {
  if (process.platform !== 'linux') return () => undefined;
  mkdirSync(dataDir, { recursive: true });
  const name = `\0paper-venue-${createHash('sha256').update(realpathSync(dataDir)).digest('hex')}`;
  for (const start = Date.now(); ; await sleep(RETRY_MS)) {
    const lock = await listen(name);
    if (lock !== null) return () => void lock.close();
    if (Date.now() - start >= waitMs) throw new Error(`another paper venue is using ${dataDir}`);
  }
}

async function listen(name: string): Promise<Server | null> {
  const server = createServer((socket) => socket.destroy());
  server.unref();
  try {
    server.listen(name);
    await once(server, 'listening');
    return server;
  } catch {
    return null;
  }
}
