/** Puts the venue together and opens its port. */
import { once } from 'node:events';
import { join } from 'node:path';
import { getAddress } from 'viem';
import { lockPath } from '../../../executor-kit/lock.ts';
import { openingPostings } from './accounts.ts';
import { createInternalTransfer } from './actions/internal-transfer.ts';
import { createWithdrawal } from './actions/withdrawal.ts';
import { connectChain } from './chain.ts';
import { createDepositObserver } from './deposit-observe.ts';
import { watchDeposits } from './deposits.ts';
import { createFaultInjector } from './faults.ts';
import { openLedger } from './ledger.ts';
import { createSender } from './sender.ts';
import { createServer } from './server.ts';
import type { ChainSettings, VenueSettings } from './settings.ts';
import { createTransfers } from './transfers.ts';
import { createVenue } from './venue.ts';

export interface RunningVenue {
  readonly port: number;
  /** Closes port and ledger; orders in flight go on at the next start. */
  close(): Promise<void>;
}

/**
 * Starts the venue on 127.0.0.1 and sends again what an earlier process left unmined.
 *
 * @throws Error when the port is taken, the ledger is damaged or belongs to another chain.
 */
export async function startVenue(settings: VenueSettings): Promise<RunningVenue> {
  // One venue per ledger: two would hand out the same nonces.
  const unlock = await lockPath(join(settings.dataDir, 'ledger.jsonl'), 5_000, 'paper venue');
  try {
    return await open(settings, unlock);
  } catch (error) {
    unlock();
    throw error;
  }
}

async function open(settings: VenueSettings, unlock: () => void): Promise<RunningVenue> {
  const ledger = openLedger(settings.dataDir, {
    identity: identityOf(settings.chain),
    postings: openingPostings(settings.chain),
  });
  const chain = connectChain(settings.chain);
  const sender = createSender(ledger, chain);
  const deposits = watchDeposits(ledger, chain, settings.chain);
  const observer = createDepositObserver({ ledger, chain, deposits, settings: settings.chain });
  const actions = [createWithdrawal(settings.chain), createInternalTransfer(settings.chain)];
  const venue = createVenue({ ledger, chain, sender, actions, observer });
  const transfers = createTransfers(ledger, settings.chain);
  const app = createServer({
    venue,
    transfers,
    ledger,
    faults: createFaultInjector(),
    chain: settings.chain,
  });
  const server = app.listen(settings.port, '127.0.0.1');
  await once(server, 'listening');
  void sender.wake();
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : settings.port,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await Promise.all([sender.stop(), deposits.stop()]);
      ledger.close();
      unlock();
    },
  };
}

/** What a ledger's nonces and signed bytes are tied to. */
function identityOf(chain: ChainSettings): string {
  const tokens = Object.entries(chain.tokens)
    .map(([symbol, { address }]) => `${symbol}=${getAddress(address)}`)
    .sort();
  return [
    `chain ${chain.chainId}`,
    `wallet ${getAddress(chain.accounts.venueHotWallet.address)}`,
    ...tokens,
  ].join(', ');
}
