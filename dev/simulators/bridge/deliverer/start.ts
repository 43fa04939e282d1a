/**
 * The deliverer: brings packets, and over HTTP takes faults on demand and shows what it carries
 * (`GET /packets`).
 */
import express from 'express';
import { type Running, addErrorRoutes, addFaultRoutes, createFaultBox, listen } from '../admin.ts';
import { type BridgeSettings, connectSides } from '../sides.ts';
import { startDeliveries } from './deliveries.ts';
import { delivererFaultsSchema } from './faults.ts';

/**
 * Starts the deliverer on 127.0.0.1; what waits from before is found on the chains.
 *
 * @throws Error when the port is taken.
 */
export async function startDeliverer({
  port,
  urls,
}: Omit<BridgeSettings, 'dataDir'>): Promise<Running> {
  const faults = createFaultBox(delivererFaultsSchema);
  const app = express();
  app.disable('x-powered-by');
  app.use(express.json({ limit: '1mb' }));
  const deliveries = startDeliveries(connectSides(urls), faults.current);
  app.get('/health', (_request, response) => void response.json({ status: 'ok' }));
  app.get(
    '/packets',
    (_request, response) => void response.json({ packets: deliveries.packets() }),
  );
  addFaultRoutes(app, faults);
  addErrorRoutes(app, 'deliverer');
  return listen(app, port, deliveries.stop);
}
