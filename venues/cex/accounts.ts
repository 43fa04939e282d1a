/** The bound accounts of exchanges, each with the connection that may ask for it. */
import { ExecutorFault, type CallOptions, type ExecutorHealth } from '../../domain/executor.ts';
import { openConnection } from './client.ts';
import type { CexConnection } from './connection.ts';
import type { CcxtVenue } from './config.ts';
import { CredentialsError } from './credentials.ts';
import type { Dialect } from './dialect.ts';
import { DIALECTS } from './dialects/index.ts';
import { refuse, toFault } from './errors.ts';

export interface CexAccount {
  readonly venue: CcxtVenue;
  readonly dialect: Dialect;
  /**
   * The binding of the account's master; for a master its own. Null for a sub-account that is bound
   * alone.
   */
  readonly master: CcxtVenue | null;
  /**
   * With the account's own key. Throws the `rejected` fault `CREDENTIALS_MISSING` when it has none.
   */
  own(): Promise<CexConnection>;
  /** With the master's key. Throws the `rejected` fault `MASTER_MISSING` when it is not bound. */
  ofMaster(): Promise<CexConnection>;
}

export interface CexAccounts {
  list(): readonly CexAccount[];
  /** Throws the `rejected` fault `VENUE_NOT_BOUND`. */
  get(venueKey: string): CexAccount;
}

/**
 * One connection for each binding, whoever asks: the exchange counts an account's calls together.
 */
const connections = new WeakMap<CcxtVenue, Promise<CexConnection>>();

/**
 * The accounts of `bindings`. Opens nothing: the exchange library is loaded with the first
 * question.
 */
export function createCexAccounts(bindings: readonly CcxtVenue[]): CexAccounts {
  const accounts = new Map(bindings.map((venue) => [venue.venue_key, accountOf(venue, bindings)]));
  return {
    list: () => [...accounts.values()],
    get(venueKey) {
      const account = accounts.get(venueKey);
      if (account === undefined)
        throw refuse('VENUE_NOT_BOUND', `${venueKey} is no bound account of an exchange`);
      return account;
    },
  };
}

function accountOf(venue: CcxtVenue, bindings: readonly CcxtVenue[]): CexAccount {
  const dialect = DIALECTS.get(venue.exchange);
  if (dialect === undefined) throw new Error(`there is no dialect for ${venue.exchange}`);
  const master =
    venue.account_role === 'master'
      ? venue
      : (bindings.find(({ venue_key }) => venue_key === venue.master) ?? null);
  return {
    venue,
    dialect,
    master,
    own: () => connect(venue, dialect),
    ofMaster: async () => {
      if (master === null)
        throw refuse('MASTER_MISSING', `the master account of ${venue.venue_key} is not bound`);
      return connect(master, dialect);
    },
  };
}

function connect(venue: CcxtVenue, dialect: Dialect): Promise<CexConnection> {
  const known = connections.get(venue);
  if (known !== undefined) return known;
  const opened = openConnection(venue, dialect).catch((error: unknown) => {
    // A file that is mended is read again.
    connections.delete(venue);
    if (error instanceof CredentialsError)
      throw new ExecutorFault('unreachable', 'CREDENTIALS_UNREADABLE', error.message);
    throw toFault(error);
  });
  connections.set(venue, opened);
  return opened;
}

/** Whether every account's key works; `unknown` without accounts. */
export async function checkAccounts(
  accounts: CexAccounts,
  needs: { readonly withdraw: boolean },
  call: CallOptions,
): Promise<ExecutorHealth> {
  const asked = accounts.list().filter(({ venue }) => venue.credentials_file !== undefined);
  if (asked.length === 0) return { state: 'unknown', detail: 'no account of an exchange is bound' };
  const faults = await Promise.all(asked.map((account) => keyFault(account, needs, call)));
  const told = faults.filter((fault) => fault !== null);
  return told.length === 0 ? { state: 'up' } : { state: 'down', detail: told.join('; ') };
}

async function keyFault(
  { venue, dialect, own }: CexAccount,
  needs: { readonly withdraw: boolean },
  call: CallOptions,
): Promise<string | null> {
  try {
    const fault = await dialect.keyFault(await own(), needs, call);
    return fault === null ? null : `${venue.venue_key}: ${fault}`;
  } catch (error) {
    return `${venue.venue_key}: ${toFault(error).message}`;
  }
}
