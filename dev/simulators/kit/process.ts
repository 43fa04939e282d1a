/** Life cycle of a simulator: its port, its lock, its background work, its process. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Express } from 'express';
import { lockPath } from '../../../executor-kit/lock.ts';

const POLL_MS = 150;

/** A running simulator. */
export interface Running {
  readonly port: number;
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Opens the port on 127.0.0.1. `atEnd` releases what the application uses: after the port is
 * closed, or when it cannot be opened.
 *
 * @throws Error when the port is taken.
 */
export async function listen(
  app: Express,
  port: number,
  atEnd: () => Promise<void> | void,
): Promise<Running> {
  const server = app.listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    await atEnd();
    throw error;
  }
  const address = server.address();
  const taken = typeof address === 'object' && address !== null ? address.port : port;
  return {
    port: taken,
    url: `http://127.0.0.1:${String(taken)}`,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await atEnd();
    },
  };
}

/**
 * Opens a simulator that signs and keeps its nonces in the journal `file`. Two processes would use
 * the same nonces, so the file is locked until the simulator is closed.
 *
 * @throws Error when another `holder` has the file.
 */
export async function openAlone(
  file: string,
  holder: string,
  open: () => Promise<Running>,
): Promise<Running> {
  const unlock = await lockPath(file, 5_000, holder);
  try {
    const running = await open();
    const close = async (): Promise<void> => {
      await running.close();
      unlock();
    };
    return { ...running, close };
  } catch (error) {
    unlock();
    throw error;
  }
}

/**
 * Repeats the steps in order until `ending` aborts. A failed step is reported and tried again: most
 * likely its chain is unreachable.
 */
export async function repeatSteps(
  name: string,
  steps: readonly (() => Promise<void>)[],
  ending: AbortSignal,
): Promise<void> {
  const report = (error: unknown): void =>
    void process.stderr.write(`${name}: ${String(error).split('\n')[0] ?? ''}\n`);
  while (!ending.aborted) {
    for (const step of steps) await step().catch(report);
    await sleep(POLL_MS, undefined, { signal: ending }).catch(() => undefined);
  }
}

/**
 * Writes the line that reports the simulator as ready; ends the process on a signal, or when its
 * parent ends.
 */
export function serve(running: Running): void {
  let ending = false;
  const end = (): void => {
    if (ending) return;
    ending = true;
    void running.close().finally(() => process.exit(0));
  };
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
  // The parent holds the other end of this channel; the channel closes even when the parent is
  // killed.
  process.on('disconnect', end);
  process.stdout.write(`${JSON.stringify({ ready: true, port: running.port })}\n`);
}
