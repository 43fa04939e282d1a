/** Finds conflicts of an exchange account's entry with the other accounts of the file. */
import { accountTypes, BELONGS_TO_PROCESS, type CcxtVenue } from './config.ts';

interface Others {
  /** The entry's place, such as `venues[2]`. */
  readonly at: string;
  readonly all: readonly CcxtVenue[];
  readonly earlier: readonly CcxtVenue[];
}

export function accountFaults(venue: CcxtVenue, { at, all, earlier }: Others): readonly string[] {
  // Two bindings of one account would count the same funds twice.
  const twice = earlier.some((other) => isSameAccount(other, venue))
    ? [`${at}.account: this account of ${venue.exchange} is already bound above`]
    : [];
  return [
    ...twice,
    ...masterProblem(venue, all).map((problem) => `${at}.master: ${problem}`),
    ...servedProblems(venue, all).map((problem) => `${at}.${problem}`),
  ];
}

/**
 * Returns what an account may not have here if another process serves its master: that process has
 * all keys, and fetches the balances. Pools that are the default have no effect anywhere.
 */
function servedProblems(venue: CcxtVenue, all: readonly CcxtVenue[]): readonly string[] {
  const { credentials_file, master, account_types } = venue;
  const isServed = all.some(
    ({ venue_key, served_at }) => venue_key === master && served_at !== undefined,
  );
  if (!isServed) return [];
  if (credentials_file !== undefined)
    return [
      `credentials_file: belongs into the venues file of the process that serves ${String(master)}`,
    ];
  const isDefault = account_types.join() === accountTypes(venue).join();
  return isDefault ? [] : [`account_types: ${BELONGS_TO_PROCESS}`];
}

/** Returns why the named master cannot serve: it must be a master account of the same exchange. */
function masterProblem(venue: CcxtVenue, all: readonly CcxtVenue[]): readonly string[] {
  if (venue.master === undefined) return [];
  const master = all.find(({ venue_key }) => venue_key === venue.master);
  if (master === undefined) return [`${venue.master} is not an exchange account of this file`];
  if (master.account_role !== 'master') return [`${venue.master} is not a master account`];
  return isSameExchange(master, venue)
    ? []
    : [`${venue.master} has another exchange, sandbox or base_url`];
}

function isSameAccount(left: CcxtVenue, right: CcxtVenue): boolean {
  return isSameExchange(left, right) && left.account.toLowerCase() === right.account.toLowerCase();
}

function isSameExchange(left: CcxtVenue, right: CcxtVenue): boolean {
  return (
    left.exchange === right.exchange &&
    left.sandbox === right.sandbox &&
    left.base_url === right.base_url
  );
}
