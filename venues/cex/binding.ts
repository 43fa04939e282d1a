/** Checks that an API key is of the account that its binding names. */
import type { CallOptions } from '../../domain/executor.ts';
import { rejected } from '../node-plan.ts';
import type { CcxtVenue } from './config.ts';
import type { CexConnection } from './connection.ts';
import type { Dialect } from './dialect.ts';
import { beforeSend } from './errors.ts';

/**
 * Throws if the exchange shows that the connection's key is of another account than `venue`: a send
 * would move the funds of that account. Runs before anything is sent.
 *
 * @throws ExecutorFault `rejected` `EXCHANGE_KEY_REFUSED`, or UnsentFault if the exchange does not
 *   show the account of the key.
 */
export async function requireBoundKey(
  { bindingFault }: Dialect,
  { connection, venue }: { readonly connection: CexConnection; readonly venue: CcxtVenue },
  call: CallOptions,
): Promise<void> {
  if (bindingFault === undefined) return;
  const fault = await beforeSend(bindingFault(connection, venue, call));
  if (fault !== null) throw rejected('EXCHANGE_KEY_REFUSED', `${venue.venue_key}: ${fault}`);
}
