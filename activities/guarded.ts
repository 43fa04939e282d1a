/**
 * Runs the work of an activity: limits what an error leaves in Temporal's history, and sends
 * heartbeats so that a lost worker is noticed.
 */
import type { Logger } from 'pino';
import { forHistory } from './failures.ts';
import { startHeartbeat } from './call.ts';

/** Runs `work`; only the name of an unexpected error reaches Temporal's history. */
export async function named<T>(
  { log }: { readonly log: Logger },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw forHistory(error, log);
  }
}

/** Sets the details that the next heartbeats show. */
export type Tell = (details: unknown) => void;

/**
 * Runs `work` as {@link named} does, with heartbeats: a dead worker is noticed within seconds, and
 * a slow executor does not look like a dead worker.
 */
export async function beating<T>(
  deps: { readonly log: Logger },
  work: (tell: Tell) => Promise<T>,
): Promise<T> {
  let shown: unknown;
  const heartbeat = startHeartbeat(() => shown);
  try {
    return await named(deps, () => work((details) => void (shown = details)));
  } finally {
    heartbeat.stop();
  }
}
