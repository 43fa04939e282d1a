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

/** Says what the next beats are to show of the work. */
export type Tell = (details: unknown) => void;

/**
 * {@link named}, beating while it works, so that a worker that died is noticed in seconds and a
 * slow other side is not taken for one.
 */
export async function beating<T>(
  deps: { readonly log: Logger },
  work: (tell: Tell) => Promise<T>,
): Promise<T> {
  let told: unknown;
  const heartbeat = startHeartbeat(() => told);
  try {
    return await named(deps, () => work((details) => void (told = details)));
  } finally {
    heartbeat.stop();
  }
}
