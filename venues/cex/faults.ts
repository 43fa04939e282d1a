/** Finds conflicts of an exchange account's entry with the other accounts of the file. */
import type { CcxtVenue } from './config.ts';

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
  return [...twice, ...masterProblem(venue, all).map((problem) => `${at}.master: ${problem}`)];
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
