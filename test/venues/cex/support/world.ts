/** One local exchange for each format, with the executors that the service has for it. */
import type { ExecutionContext, Executor } from '../../../../domain/executor.ts';
import type { JsonObject } from '../../../../domain/json.ts';
import type { RequestDesk } from '../../../../domain/request-desk.ts';
import { createCexAccounts, type CexAccounts } from '../../../../venues/cex/accounts.ts';
import type { Dialect } from '../../../../venues/cex/dialect.ts';
import { DIALECTS } from '../../../../venues/cex/dialects/index.ts';
import { createCexExecutors } from '../../../../venues/cex/executors.ts';
import type { Books, Withdrawal } from './books.ts';
import { configOf, freshBooks, openDesk, unhurriedDesk, withdrawal, type Desk } from './desk.ts';
import type { Format } from './format.ts';
import { FORMATS } from './formats/index.ts';
import type { Fault, FaultKind } from './misbehaviour.ts';

/** For `describe.each`. */
export const EXCHANGES = FORMATS.map((format) => [format.exchange, format] as const);

/** The answer is lost after the request had its effect. */
export const DONE: readonly FaultKind[] = [
  'done_then_500',
  'done_then_hangup',
  'done_then_malformed',
  'done_then_restart',
];
/** The request has no effect, and no answer proves that. */
export const NOT_DONE: readonly FaultKind[] = [
  'error_500',
  'hangup',
  'malformed',
  'rate_limited',
  'restart',
];

export interface World {
  readonly desk: Desk;
  readonly books: Books;
  readonly dialect: Dialect;
  readonly accounts: CexAccounts;
  executorOf(actionType: string): Executor;
  /** Lets requests to withdraw fail. */
  fail(kind: FaultKind, changes?: Partial<Fault>): void;
  /** A withdrawal of 100.5 USDC to the address of the exchange's book. */
  node(config?: JsonObject, changes?: Partial<ExecutionContext>): ExecutionContext;
  /** How many requests to withdraw arrived. */
  sends(): number;
  /** The only withdrawal of the books. */
  only(): Withdrawal;
}

export interface Worlds {
  /**
   * The exchange with fresh books, and its accounts, the master bound with `changes`. Accounts of
   * equal changes share their connections, since the library takes longest to make one; what the
   * exchange has limited is forgotten.
   */
  open(format: Format, changes?: object): World;
  /** As {@link open}, with connections that no other test has: they know nothing of a key yet. */
  openNew(format: Format, changes?: object): World;
  close(): Promise<void>;
}

export async function startWorlds(): Promise<Worlds> {
  const exchanges = new Map<string, Opened>();
  for (const format of FORMATS) exchanges.set(format.exchange, opened(await openDesk(format)));
  const freshly = (format: Format): Opened => {
    const found = exchanges.get(format.exchange);
    if (found === undefined) throw new Error(`no local exchange ${format.exchange}`);
    freshBooks(found.desk);
    found.forgetRequests();
    return found;
  };
  return {
    open(format, changes = {}) {
      const { desk, accounts } = freshly(format);
      return worldOf(desk, accounts(changes));
    },
    openNew(format, changes = {}) {
      const { desk } = freshly(format);
      return worldOf(desk, desk.accounts(changes));
    },
    async close() {
      for (const { desk } of exchanges.values()) await desk.close();
    },
  };
}

interface Opened {
  readonly desk: Desk;
  /** The accounts of such bindings, always the same of equal changes. */
  accounts(changes: object): CexAccounts;
  /** Forgets every stop, turn and nonce of the exchange's keys. */
  forgetRequests(): void;
}

/** Longest pause of a key: an exchange that says no time has one of ten seconds. */
const LONGEST_STOP_MS = 200;

function opened(desk: Desk): Opened {
  const known = new Map<string, CexAccounts>();
  let requests = unhurriedDesk();
  const current: RequestDesk = {
    take: (...of) => requests.take(...of),
    stoppedFor: (key) => requests.stoppedFor(key),
    stop: (key, milliseconds) => requests.stop(key, Math.min(milliseconds, LONGEST_STOP_MS)),
    takeTurn: (...of) => requests.takeTurn(...of),
  };
  return {
    desk,
    accounts(changes) {
      const name = JSON.stringify(changes);
      const accounts = known.get(name) ?? createCexAccounts(desk.bindings(changes), current);
      known.set(name, accounts);
      return accounts;
    },
    forgetRequests() {
      requests = unhurriedDesk();
    },
  };
}

function worldOf(desk: Desk, accounts: CexAccounts): World {
  const { exchange } = desk;
  const { format, books } = exchange;
  const dialect = DIALECTS.get(format.exchange);
  if (dialect === undefined) throw new Error(`no dialect ${format.exchange}`);
  return {
    ...{ desk, books, dialect, accounts },
    executorOf(actionType) {
      const executor = createCexExecutors(accounts).find(({ descriptor }) =>
        descriptor.action_types.includes(actionType),
      );
      if (executor === undefined) throw new Error(`no executor of ${actionType}`);
      return executor;
    },
    fail: (kind, changes = {}) =>
      exchange.fail({ path: format.paths.withdraw, method: 'POST', kind, ...changes }),
    node: (config = {}, changes = {}) => withdrawal({ ...configOf(format), ...config }, changes),
    sends: () =>
      exchange.requests.filter(
        ({ method, path }) => method === 'POST' && path === format.paths.withdraw,
      ).length,
    only() {
      const [first, ...others] = books.withdrawals;
      if (first === undefined || others.length > 0)
        throw new Error(`the books hold ${String(books.withdrawals.length)} withdrawals`);
      return first;
    },
  };
}
