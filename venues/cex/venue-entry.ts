/**
 * Says which account a venue key means. It is recorded with what is prepared and sent: the venues
 * file may call another account by the same key later
 * (docs/decisions/0151-which-account-a-key-means.md).
 */
import { transferEntries } from '../../domain/capital-transfers/topology.ts';
import { ExecutorFault, type ExecutionContext } from '../../domain/executor.ts';
import { VENUE_ENTRY_CHANGED } from '../../domain/send/at-venue.ts';
import { TERMS } from '../../domain/signing.ts';
import { requireSameEntries } from '../same-entries.ts';
import { readConfig } from '../node-plan.ts';
import type { CexAccount, CexAccounts } from './accounts.ts';
import { internalTransferConfigSchema, withdrawalConfigSchema, type CcxtVenue } from './config.ts';

/**
 * Returns which account the entry names: nothing of how it is reached, and no secret. An e-mail
 * address in another case is the same account; names of OKX are not.
 */
export function accountEntry({
  venue_key,
  exchange,
  sandbox,
  account_role,
  account,
}: Pick<CcxtVenue, 'venue_key' | 'exchange' | 'sandbox' | 'account_role' | 'account'>): string {
  const kind = account_role === 'master' ? 'account' : 'sub-account';
  return `${venue_key}: ${exchange}${sandbox ? ' sandbox' : ''} ${kind} ${nameOf(account)}`;
}

/** As {@link accountEntry}, with the master: another master may have a sub-account of one name. */
export function memberEntry({ venue, master }: Pick<CexAccount, 'venue' | 'master'>): string {
  const own = accountEntry(venue);
  return venue.account_role === 'master' || master === null
    ? own
    : `${own} of ${nameOf(master.account)}`;
}

const nameOf = (account: string): string =>
  account.includes('@') ? account.toLowerCase() : account;

/** Returns which accounts the ends of a transfer within the exchange are. */
export function endEntries(
  accounts: Pick<CexAccounts, 'get'>,
  { venue, destination_venue }: { readonly venue: string; readonly destination_venue: string },
): string | null {
  const end = (key: string) => ({ entry: memberEntry(accounts.get(key)) });
  return transferEntries(end(venue), end(destination_venue));
}

/**
 * Throws if the venue keys of a node mean other accounts than it was prepared for. Called before
 * anything else in a look that may throw: a refusal of the plan, or the silence of the process that
 * has the keys, would count as a look at the right account.
 *
 * @throws ExecutorFault `not_yet` `VENUE_ENTRY_CHANGED`, `rejected` `VENUE_NOT_BOUND`.
 */
export type RequireAccounts = (
  accounts: Pick<CexAccounts, 'get'>,
  context: Pick<ExecutionContext, 'config' | 'prior'>,
) => void;

/** {@link RequireAccounts} of a withdrawal. */
export const requireSameAccount: RequireAccounts = (accounts, { config, prior }) => {
  const recorded = prior?.prepared_action?.[TERMS];
  if (recorded === undefined) return;
  const { venue } = readConfig(withdrawalConfigSchema, { config });
  requireSameEntries(recorded, memberEntry(accounts.get(venue)));
};

/** {@link RequireAccounts} of a transfer within the exchange. */
export const requireSameEnds: RequireAccounts = (accounts, { config, prior }) => {
  const recorded = prior?.prepared_action?.[TERMS];
  if (recorded === undefined) return;
  const ends = readConfig(internalTransferConfigSchema, { config });
  requireSameEntries(recorded, endEntries(accounts, ends));
};

/**
 * Returns what the process with the keys finds in a look. That the process means another account
 * (or has other flags, which it does not tell apart) is a changed entry where one was recorded:
 * only the file of the process may have changed, and the look has seen nothing of the send.
 *
 * @throws ExecutorFault `not_yet` `VENUE_ENTRY_CHANGED` in place of `VENUE_MISMATCH`.
 */
export async function atRecorded<T>(recorded: unknown, look: () => Promise<T>): Promise<T> {
  try {
    return await look();
  } catch (error) {
    const isOther = error instanceof ExecutorFault && error.code === 'VENUE_MISMATCH';
    if (!isOther || typeof recorded !== 'string') throw error;
    const options = { cause: error, retryAfterSeconds: 15 };
    const why = `the send was made under [${recorded}], and the process with the keys means another account by now, or its flags differ: ${error.message}`;
    throw new ExecutorFault('not_yet', VENUE_ENTRY_CHANGED, why, options);
  }
}
