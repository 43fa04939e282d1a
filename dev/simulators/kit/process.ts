/** The life of a simulator: its port, its lock, its work in the background, its process. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Express } from 'express';
import { lockPath } from '../../../executor-kit/lock.ts';

const POLL_MS = 150;

/** A simulator that listens. */
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
 * Opens a simulator that signs by its journal `file`. Two at a time would use the same nonces, so
 * the file is locked until the simulator is closed.
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
 * Repeats the steps in their order until `ending` aborts. A step that fails is reported and tried
 * again: most likely its chain is away.
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

/** Writes one line that it is ready, and ends on a signal or with its parent. */
export function serve(running: Running): void {
  let ending = false;
  const end = (): void => {
    if (ending) return;
    ending = true;
    void running.close().finally(() => process.exit(0));
  };
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
  // The parent holds the other end of this channel; it closes even when the parent is killed.
  process.on('disconnect', end);
  process.stdout.write(`${JSON.stringify({ ready: true, port: running.port })}\n`);
}
