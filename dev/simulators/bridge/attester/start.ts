/** Assembles the attester and opens its port. */
import { join } from 'node:path';
import { createFaultBox } from '../../kit/faults.ts';
import { listen, type Running } from '../../kit/process.ts';
import { type BridgeSettings, connectSides } from '../sides.ts';
import { createAttestations } from './attestations.ts';
import { attesterFaultsSchema } from './faults.ts';
import { openAttesterJournal } from './journal.ts';
import { createAttesterServer } from './server.ts';

/**
 * Starts the attester on 127.0.0.1 with the journal of earlier runs.
 *
 * @throws Error when the port is taken or the journal is damaged.
 */
export async function startAttester({ port, dataDir, urls }: BridgeSettings): Promise<Running> {
  const journal = openAttesterJournal(join(dataDir, 'attester.jsonl'));
  const faults = createFaultBox(attesterFaultsSchema);
  const attestations = createAttestations(connectSides(urls), journal, faults.current);
  const app = createAttesterServer({ attestations, journal, faults });
  return listen(app, port, () => journal.close());
}
