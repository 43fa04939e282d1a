/** Returns the clocks of the bound exchanges. */
import type { CallOptions } from '../../domain/executor.ts';
import type { VenueClock } from '../../domain/send/clocks.ts';
import type { CexAccount, CexAccounts } from './accounts.ts';
import { QUESTIONS } from './served/protocol.ts';

/** Returns clocks by venue key; a sub-account without its own key uses its master's key. */
export function exchangeClocks(accounts: CexAccounts): Readonly<Record<string, VenueClock>> {
  return Object.fromEntries(
    accounts.list().map((account) => [
      account.venue.venue_key,
      {
        read: (signal) => timeOf(account, { signal, requestId: 'clocks' }),
        counts: 'either',
      } satisfies VenueClock,
    ]),
  );
}

async function timeOf(account: CexAccount, call: CallOptions): Promise<number> {
  const { venue, dialect, served, own, ofMaster } = account;
  if (served === null)
    return dialect.time(await (venue.credentials_file === undefined ? ofMaster : own)(), call);
  const { venue_key } = venue;
  const read = await served.ask(QUESTIONS.clock, { venue_key }, { accounts: [account], call });
  const now = Date.now();
  // Requests are signed by the clock of the process, this host limits their time, and the process
  // compares that limit with its own clock: the two that are furthest apart count.
  const differences = [read.exchange - read.process, read.exchange - now, read.process - now];
  return now + differences.reduce((most, each) => (Math.abs(each) > Math.abs(most) ? each : most));
}
