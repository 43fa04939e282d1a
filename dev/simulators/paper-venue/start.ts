/** Assembles the venue and opens its port. */
import { join } from 'node:path';
import { getAddress } from 'viem';
import { listen, openAlone, type Running } from '../kit/process.ts';
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

/**
 * Starts the venue on 127.0.0.1 and sends again the transactions that an earlier process left
 * unmined. On close, unfinished orders stay for the next start.
 *
 * @throws Error when the port is taken, the ledger is damaged or belongs to another chain.
 */
export function startVenue(settings: VenueSettings): Promise<Running> {
  const file = join(settings.dataDir, 'ledger.jsonl');
  return openAlone(file, 'paper venue', () => open(settings));
}

async function open(settings: VenueSettings): Promise<Running> {
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
  const running = await listen(app, settings.port, async () => {
    await Promise.all([sender.stop(), deposits.stop()]);
    ledger.close();
  });
  void sender.wake();
  return running;
}

/**
 * Returns the identity of the chain, wallet and tokens, on which a ledger's nonces and signed bytes
 * depend.
 */
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
