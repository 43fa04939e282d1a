/** Assembles the venue and opens its port. */
import { join } from 'node:path';
import { createFaultBox } from '../kit/faults.ts';
import { listen, openAlone, repeatSteps, type Running } from '../kit/process.ts';
import { connectPerpChain } from './chain.ts';
import { createDepositWatch } from './deposits.ts';
import { perpFaultsSchema } from './faults.ts';
import { createPayouts } from './payouts.ts';
import { createPerpServer } from './server.ts';
import type { PerpSettings } from './settings.ts';
import { openStore } from './store.ts';

/**
 * Starts the venue on 127.0.0.1 with the journal of earlier runs, and without faults.
 *
 * @throws Error when the port is taken, or the journal is damaged or in use.
 */
export function startPerpVenue(settings: PerpSettings): Promise<Running> {
  const file = join(settings.dataDir, 'perp.jsonl');
  return openAlone(file, 'perp venue', async () => {
    const store = openStore(file);
    const faults = createFaultBox(perpFaultsSchema);
    const parts = { store, chain: connectPerpChain(settings), faults: faults.current };
    const ending = new AbortController();
    const app = createPerpServer({ store, faults, network: settings.network });
    const steps = [createDepositWatch(parts), createPayouts(parts)];
    const running = repeatSteps('perp venue', steps, ending.signal);
    return listen(app, settings.port, async () => {
      ending.abort();
      await running;
      store.close();
    });
  });
}
