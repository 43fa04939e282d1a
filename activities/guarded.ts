/**
 * How an activity's work is run: what it leaves in Temporal's history, and how a lost worker is
 * noticed.
 */
import type { Logger } from 'pino';
import { forHistory } from './failures.ts';
import { startHeartbeat } from './call.ts';

/** Of an unexpected error only the name reaches the history. */
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
 * {@link named} with heartbeats, so that a dead worker is noticed within seconds and a slow
 * counterpart is not mistaken for one.
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
