/** Puts the venue together and opens its port. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lockPath } from '../../../executor-kit/lock.ts';
import { createFaultBox, listen, type Running } from '../bridge/admin.ts';
import { connectPerpChain } from './chain.ts';
import { createDepositWatch } from './deposits.ts';
import { perpFaultsSchema } from './faults.ts';
import { createPayouts } from './payouts.ts';
import { createPerpServer } from './server.ts';
import type { PerpSettings } from './settings.ts';
import { openStore } from './store.ts';

const POLL_MS = 150;

/**
 * Starts the venue on 127.0.0.1 with all that an earlier one knew; faults it has none.
 *
 * @throws Error when the port is taken, or the journal is damaged or in use.
 */
export async function startPerpVenue(settings: PerpSettings): Promise<Running> {
  const file = join(settings.dataDir, 'perp.jsonl');
  // Two would pay with the same nonces.
  const unlock = await lockPath(file, 5_000, 'perp venue');
  try {
    return await open(settings, file, unlock);
  } catch (error) {
    unlock();
    throw error;
  }
}

async function open(settings: PerpSettings, file: string, unlock: () => void): Promise<Running> {
  const store = openStore(file);
  const faults = createFaultBox(perpFaultsSchema);
  const parts = { store, chain: connectPerpChain(settings), faults: faults.current };
  const steps = [createDepositWatch(parts), createPayouts(parts)];
  const ending = new AbortController();
  const run = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      for (const step of steps) await step().catch(told);
      await sleep(POLL_MS, undefined, { signal: ending.signal }).catch(() => undefined);
    }
  };
  const app = createPerpServer({ store, faults, network: settings.network });
  const atEnd = async (): Promise<void> => {
    ending.abort();
    await running;
    store.close();
    unlock();
  };
  let running = Promise.resolve();
  try {
    const listening = await listen(app, settings.port, atEnd);
    running = run();
    return listening;
  } catch (error) {
    store.close();
    throw error;
  }
}

/** A chain that is away is asked again. */
function told(error: unknown): void {
  process.stderr.write(`perp venue: ${String(error).split('\n')[0] ?? ''}\n`);
}
