/** Handles one call with the faults drawn for it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Request } from 'express';
import type { Misfortune } from './faults.ts';
import { VenueHttpError } from './http-error.ts';

/**
 * Waits and fails as drawn; otherwise does `work` and sends its response, unless the response must
 * be lost.
 */
export async function suffer(
  misfortune: Misfortune,
  request: Request,
  work: (misfortune: Misfortune) => Promise<() => void>,
): Promise<void> {
  await sleep(misfortune.latency_ms);
  if (misfortune.fails)
    throw new VenueHttpError(500, 'INJECTED_FAULT', 'a fault on demand; nothing was done');
  await sleep(misfortune.hold_ms);
  const working = work(misfortune);
  if (!misfortune.losesAnswer) return (await working)();
  // The call was executed or refused; its caller gets no response.
  await working.catch(() => undefined);
  request.socket.destroy();
}
