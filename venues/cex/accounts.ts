/** Lists the bound exchange accounts, each with the connections that may read it. */
import type { CallOptions, ExecutorHealth } from '../../domain/executor.ts';
import type { RequestDesk } from '../../domain/request-desk.ts';
import { rejected } from '../node-plan.ts';
import { openConnection } from './client.ts';
import type { CexConnection } from './connection.ts';
import type { CcxtVenue } from './config.ts';
import { CredentialsError } from './credentials.ts';
import type { Dialect } from './dialect.ts';
import { DIALECTS } from './dialects/index.ts';
import { toFault, UnsentFault } from './errors.ts';
import { createServedExchange, type ServedAt, type ServedExchange } from './served/client.ts';

export interface CexAccount {
  readonly venue: CcxtVenue;
  readonly dialect: Dialect;
  /**
   * The binding of the account's master, for a master its own. Null if the master is not bound.
   */
  readonly master: CcxtVenue | null;
  /**
   * The process that has the account's keys; null: they are here. `own` and `ofMaster` then throw
   * `rejected` `KEYS_APART`.
   */
  readonly served: ServedExchange | null;
  /** Connects with the account's own key. Throws `rejected` `CREDENTIALS_MISSING` without one. */
  own(): Promise<CexConnection>;
  /**
   * Connects with the master's key. Throws `rejected` `MASTER_MISSING` if the master is not bound.
   */
  ofMaster(): Promise<CexConnection>;
}

export interface CexAccounts {
  list(): readonly CexAccount[];
  /** Throws `rejected` `VENUE_NOT_BOUND` for an unknown key. */
  get(venueKey: string): CexAccount;
  /** Returns the processes that serve accounts, each once. */
  served(): readonly ServedExchange[];
  /** Closes the connections to these processes. */
  close(): Promise<void>;
}

/**
 * One connection for each binding, shared by all callers: the exchange counts an account's calls
 * together.
 */
const connections = new WeakMap<CcxtVenue, Promise<CexConnection>>();

/**
 * Returns the accounts of `bindings`. Opens no connection: the exchange library is loaded with the
 * first call.
 */
export function createCexAccounts(bindings: readonly CcxtVenue[], desk: RequestDesk): CexAccounts {
  const processes = new Map<string, ServedExchange>();
  const servedAt = (at: ServedAt): ServedExchange => {
    const key = JSON.stringify([at.url, at.auth_token_file]);
    const served = processes.get(key) ?? createServedExchange(at);
    processes.set(key, served);
    return served;
  };
  const accounts = new Map(
    bindings.map((venue) => [venue.venue_key, accountOf(venue, { bindings, desk, servedAt })]),
  );
  return {
    list: () => [...accounts.values()],
    served: () => [...processes.values()],
    close: async () => {
      await Promise.all([...processes.values()].map((served) => served.close()));
    },
    get(venueKey) {
      const account = accounts.get(venueKey);
      if (account === undefined)
        throw rejected('VENUE_NOT_BOUND', `${venueKey} is not a bound exchange account`);
      return account;
    },
  };
}

interface Surroundings {
  readonly bindings: readonly CcxtVenue[];
  readonly desk: RequestDesk;
  servedAt(at: ServedAt): ServedExchange;
}

function accountOf(venue: CcxtVenue, { bindings, desk, servedAt }: Surroundings): CexAccount {
  const dialect = DIALECTS.get(venue.exchange);
  if (dialect === undefined) throw new Error(`no dialect supports the exchange ${venue.exchange}`);
  const master =
    venue.account_role === 'master'
      ? venue
      : (bindings.find(({ venue_key }) => venue_key === venue.master) ?? null);
  const at = venue.served_at ?? master?.served_at;
  if (at !== undefined) {
    const refuse = () =>
      Promise.reject(
        rejected('KEYS_APART', `the keys of ${venue.venue_key} are in another process`),
      );
    return { venue, dialect, master, served: servedAt(at), own: refuse, ofMaster: refuse };
  }
  return {
    venue,
    dialect,
    master,
    served: null,
    own: () => connect(venue, dialect, desk),
    ofMaster: async () => {
      if (master === null)
        throw rejected('MASTER_MISSING', `the master account of ${venue.venue_key} is not bound`);
      return connect(master, dialect, desk);
    },
  };
}

function connect(venue: CcxtVenue, dialect: Dialect, desk: RequestDesk): Promise<CexConnection> {
  const known = connections.get(venue);
  if (known !== undefined) return known;
  const opened = openConnection(venue, dialect, desk).catch((error: unknown) => {
    // The next call reads the credentials file again: the file may be corrected by then.
    connections.delete(venue);
    if (error instanceof CredentialsError)
      throw new UnsentFault('unreachable', 'CREDENTIALS_UNREADABLE', error.message);
    throw toFault(error);
  });
  connections.set(venue, opened);
  return opened;
}

/** Returns whether every account's key works; `unknown` without accounts. */
export async function checkAccounts(
  accounts: CexAccounts,
  needs: { readonly withdraw: boolean },
  call: CallOptions,
): Promise<ExecutorHealth> {
  const keyed = accounts.list().filter(({ venue }) => venue.credentials_file !== undefined);
  if (keyed.length === 0) return { state: 'unknown', detail: 'no exchange account is bound' };
  const results = await Promise.all(keyed.map((account) => keyFault(account, needs, call)));
  const faults = results.filter((fault) => fault !== null);
  return faults.length === 0 ? { state: 'up' } : { state: 'down', detail: faults.join('; ') };
}

/** How long a key that worked counts as working where each look uses the budget of sends. */
const KEY_KEPT_MS = 600_000;
const worked = new WeakMap<CcxtVenue, { readonly withdraw: boolean; readonly until: number }>();

async function keyFault(
  { venue, dialect, own }: CexAccount,
  needs: { readonly withdraw: boolean },
  call: CallOptions,
): Promise<string | null> {
  const known = worked.get(venue);
  const isKnown =
    known !== undefined && Date.now() < known.until && (known.withdraw || !needs.withdraw);
  if (dialect.growing_nonce && isKnown) return null;
  try {
    const connection = await own();
    const fault =
      (await dialect.keyFault(connection, needs, call)) ??
      (await dialect.bindingFault?.(connection, venue, call)) ??
      null;
    if (fault !== null) return `${venue.venue_key}: ${fault}`;
    worked.set(venue, { withdraw: needs.withdraw, until: Date.now() + KEY_KEPT_MS });
    return null;
  } catch (error) {
    return `${venue.venue_key}: ${toFault(error).message}`;
  }
}
