/** Reports whether the venue answers and moves funds over its bridge. */
import { ExecutorFault, type CallOptions, type ExecutorHealth } from '../../domain/executor.ts';
import { requireRail } from './account.ts';
import type { PerpClient } from './client.ts';
import { RATE_LIMITED } from './shared-ledger.ts';

/**
 * Returns `down` if the venue does not answer or its rail is not the bridge (`way` null: no rail is
 * needed), and `unknown` if the venue rate-limits us.
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
