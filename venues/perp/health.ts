/** Whether the venue can be worked with, on the rail that is used here. */
import { ExecutorFault, type CallOptions, type ExecutorHealth } from '../../domain/executor.ts';
import { requireRail } from './account.ts';
import type { PerpClient } from './client.ts';
import { RATE_LIMITED } from './shared-ledger.ts';

/**
 * `down` where it does not answer or funds go by another rail (`way` null: by none); `unknown`
 * where it only says that it is asked too much.
 */
export async function checkVenue(
  client: PerpClient,
  way: 'deposit' | 'withdrawal' | null,
  call: CallOptions,
): Promise<ExecutorHealth> {
  try {
    await (way === null ? client.rails(call) : requireRail(client, way, call));
    return { state: 'up' };
  } catch (error) {
    if (!(error instanceof ExecutorFault)) throw error;
    const state = error.code === RATE_LIMITED ? 'unknown' : 'down';
    return { state, detail: error.message };
  }
}
