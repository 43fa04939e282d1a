/**
 * The deliverer: delivers packets; over HTTP it accepts faults and shows its packets (`GET
 * /packets`).
 */
import { addFaultRoutes, createFaultBox } from '../../kit/faults.ts';
import { PLAIN_ERRORS, addErrorRoutes, addViews, createApp } from '../../kit/http.ts';
import { listen, type Running } from '../../kit/process.ts';
import { type BridgeSettings, connectSides } from '../sides.ts';
import { startDeliveries } from './deliveries.ts';
import { delivererFaultsSchema } from './faults.ts';

/**
 * Starts the deliverer on 127.0.0.1; packets that still wait are found on the chains.
 *
 * @throws Error when the port is taken.
 */
export async function startDeliverer({
  port,
  urls,
}: Omit<BridgeSettings, 'dataDir'>): Promise<Running> {
  const faults = createFaultBox(delivererFaultsSchema);
  const app = createApp();
  const deliveries = startDeliveries(connectSides(urls), faults.current);
  addViews(app, {
    '/health': () => ({ status: 'ok' }),
    '/packets': () => ({ packets: deliveries.packets() }),
  });
  addFaultRoutes(app, faults);
  addErrorRoutes(app, 'deliverer', PLAIN_ERRORS);
  return listen(app, port, deliveries.stop);
}
