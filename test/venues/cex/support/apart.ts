/** A process that serves the accounts of a local exchange, and the service's side of it. */
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { serveRoutes, type ServedExecutor } from '../../../../executor-kit/http.ts';
import type { TransferOrder } from '../../../../domain/capital-transfers/provider.ts';
import { ExecutorFault, type Executor } from '../../../../domain/executor.ts';
import type { CexAccounts } from '../../../../venues/cex/accounts.ts';
import { createCexExecutors } from '../../../../venues/cex/executors.ts';
import { servedRoutes } from '../../../../venues/cex/served/server.ts';
import { accountsOf, configOf, freshBooks, openDesk, withdrawal, type Desk } from './desk.ts';
import type { Format } from './format.ts';

export const TOKEN = 'a-token-of-this-test';

export interface Apart {
  readonly url: string;
  /** The accounts with their keys, as the process has them. */
  readonly keyed: CexAccounts;
  /** The same accounts on the service's side, which has no key. */
  readonly accounts: CexAccounts;
  /** The lines that the process has written about sends. */
  readonly lines: string[];
  executorOf(actionType: string): Executor;
  close(): Promise<void>;
}

export interface ApartOptions {
  /** Changes of the master's and the sub-account's entry in the file of the process. */
  readonly changes?: object;
  readonly subChanges?: object;
  /** The token that the service sends. */
  readonly token?: string;
}

/** Returns the service's accounts, whose process is at `url`. */
export async function remoteAccounts(desk: Desk, url: string, token = TOKEN): Promise<CexAccounts> {
  const auth_token_file = join(desk.folder, `service-${token}.token`);
  await writeFile(auth_token_file, token);
  const own = { credentials_file: undefined, base_url: undefined, exclusive: true };
  const served_at = { url, auth_token_file };
  return accountsOf(desk.bindings({ ...own, served_at }, { base_url: undefined }));
}

export function executorIn(accounts: CexAccounts, actionType: string): Executor {
  const found = createCexExecutors(accounts).find(({ descriptor }) =>
    descriptor.action_types.includes(actionType),
  );
  if (found === undefined) throw new Error(`no executor of ${actionType}`);
  return found;
}

async function openApart(desk: Desk, options: ApartOptions = {}): Promise<Apart> {
  const keyed = desk.accounts({ exclusive: true, ...options.changes }, options.subChanges);
  const authTokenFile = join(desk.folder, 'process.token');
  await writeFile(authTokenFile, TOKEN);
  const lines: string[] = [];
  const log = (line: string): void => void lines.push(line);
  const served: ServedExecutor = await serveRoutes(servedRoutes(keyed, log), {
    port: 0,
    authTokenFile,
    graceMs: 100,
    log,
  });
  const accounts = await remoteAccounts(desk, served.url, options.token);
  return {
    ...{ url: served.url, keyed, accounts, lines },
    executorOf: (actionType) => executorIn(accounts, actionType),
    close: async () => {
      await accounts.close();
      await served.stop();
    },
  };
}

/** Local exchanges for all tests of a file, and processes that end with each test. */
export function startAparts(formats: readonly Format[]) {
  const desks = new Map<string, Desk>();
  const closers: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    for (const format of formats) desks.set(format.exchange, await openDesk(format));
  });
  afterEach(async () => {
    for (const close of closers.splice(0)) await close();
  });
  afterAll(async () => {
    for (const desk of desks.values()) await desk.close();
  });
  const deskOf = (exchange: string): Desk => {
    const desk = desks.get(exchange);
    if (desk === undefined) throw new Error(`no local ${exchange}`);
    return desk;
  };
  return {
    deskOf,
    onClose: (close: () => Promise<void>): void => void closers.push(close),
    /** Opens a process over the exchange, whose books are fresh. */
    open: async (exchange: string, options: ApartOptions = {}) => {
      const desk = deskOf(exchange);
      freshBooks(desk);
      const opened = await openApart(desk, options);
      closers.push(opened.close);
      const { books, format, requests } = desk.exchange;
      const { paths } = format;
      return {
        ...opened,
        ...{ desk, books, paths },
        node: () => withdrawal(configOf(format)),
        /** How many requests to withdraw arrived at the exchange. */
        sends: () =>
          requests.filter(({ method, path }) => method === 'POST' && path === paths.withdraw)
            .length,
      };
    },
  };
}

/** Returns the fault of `work`; throws if there is none. */
export async function faultOf(work: Promise<unknown>): Promise<ExecutorFault> {
  const outcome = await work.then(
    (value) => value,
    (error: unknown) => error,
  );
  if (outcome instanceof ExecutorFault) return outcome;
  throw new Error(`no fault, but ${String(outcome)} ${JSON.stringify(outcome)}`);
}

/** A transfer from the master to its sub-account. */
export const order = (changes: Partial<TransferOrder> = {}): TransferOrder => ({
  reference: randomUUID(),
  source: { venue_key: 'cex-main', account_type: 'SPOT' },
  destination: { venue_key: 'cex-sub', account_type: 'SPOT' },
  asset: 'USDC',
  amount: '12.5',
  created_at: new Date().toISOString(),
  ...changes,
});
