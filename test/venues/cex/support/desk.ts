/** Bindings of the local exchange, with key files, and contexts of nodes. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RequestDesk } from '../../../../domain/request-desk.ts';
import type { ExecutionContext, ExecutionResult, Executor } from '../../../../domain/executor.ts';
import type { JsonObject } from '../../../../domain/json.ts';
import { newId } from '../../../../platform/ids.ts';
import { createLocalRequestDesk } from '../../../../platform/request-desk.ts';
import { createCexAccounts, type CexAccounts } from '../../../../venues/cex/accounts.ts';
import { cex } from '../../../../venues/cex/index.ts';
import { ccxtVenueSchema, type CcxtVenue } from '../../../../venues/cex/config.ts';
import { assetsOf, settings, type PoolName } from './books.ts';
import { startExchange, type FakeExchange } from './exchange.ts';
import type { Format } from './format.ts';
import { binance } from './formats/binance.ts';

/** Binance's sub-account. */
export const SUB = 'sub-a@example.com';
export const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7';
export const NO_JOURNAL = {
  transactions: async () => [],
  releaseNonce: async () => true,
  displaced: async () => false,
  held: async () => null,
  accepted: async () => undefined,
};

export interface Desk {
  readonly exchange: FakeExchange;
  readonly folder: string;
  /** Writes a key file and answers its path. */
  keyFile(name: string, content: unknown, mode?: number): Promise<string>;
  /** Bindings with `changes` of the master's. */
  bindings(changes?: object, subChanges?: object): readonly CcxtVenue[];
  /** The accounts of such bindings, with connections of their own. */
  accounts(changes?: object, subChanges?: object): CexAccounts;
  /**
   * The accounts of the bindings without changes, always the same: the library takes longest to
   * make a connection. A stop of the key stays for later tests.
   */
  sharedAccounts(): CexAccounts;
  close(): Promise<void>;
}

/**
 * An exchange with a master `cex-main` and, where the format has a sub-account, `cex-sub`, which
 * has no key of its own.
 */
export async function openDesk(format: Format = binance): Promise<Desk> {
  const exchange = await startExchange(format);
  const folder = await mkdtemp(join(tmpdir(), 'cex-'));
  const keyFile = async (name: string, content: unknown, mode = 0o600): Promise<string> => {
    const path = join(folder, name);
    await rm(path, { force: true });
    await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content), {
      mode,
    });
    return path;
  };
  const credentials_file = await keyFile('main.json', exchange.key(null));
  const common = {
    provider: 'ccxt',
    exchange: format.exchange,
    base_url: exchange.url,
    timeout_seconds: 5,
    ...whitelistOf(format),
  };
  const bindings = (changes: object = {}, subChanges: object = {}): readonly CcxtVenue[] => {
    const master = {
      ...common,
      venue_key: 'cex-main',
      account_role: 'master',
      account: format.books.master,
      credentials_file,
      ...changes,
    };
    const subs = format.books.subs.slice(0, 1).map((account) => ({
      ...common,
      venue_key: 'cex-sub',
      account_role: 'sub',
      account,
      master: 'cex-main',
      ...subChanges,
    }));
    return entriesOf([master, ...subs]);
  };
  let shared: CexAccounts | undefined;
  return {
    exchange,
    folder,
    keyFile,
    bindings,
    sharedAccounts: () => (shared ??= accountsOf(bindings())),
    accounts: (changes, subChanges) => accountsOf(bindings(changes, subChanges)),
    close: async () => {
      await exchange.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** As the venues file is read, without the other venues, which are most of what that loads. */
function entriesOf(entries: readonly object[]): readonly CcxtVenue[] {
  const all = entries.map((entry) => ccxtVenueSchema.parse(entry));
  const faults = all.flatMap((entry, index) =>
    cex.faults(entry, { at: `venues[${String(index)}]`, earlier: all.slice(0, index), all }),
  );
  if (faults.length > 0) throw new Error(faults.join('\n'));
  return all;
}

/** What a binding must say of an exchange whose address book cannot be read. */
export function whitelistOf({ paths }: Format): object {
  return paths.addressBook === null ? { withdrawal_whitelist: false } : {};
}

/** What the config of a withdrawal needs at this exchange besides venue and address. */
export function configOf({ books, fee_limit }: Format): JsonObject {
  return {
    network: books.networks.open,
    ...(fee_limit === undefined ? {} : { fee_limit }),
  };
}

/**
 * Accounts with a request desk of their own, whose budget no request uses: a suite at the pace of
 * the slowest exchange would take minutes. `test/store/request-desk.test.ts` and the tests of
 * shared limits keep to the pace.
 */
export function accountsOf(bindings: readonly CcxtVenue[]): CexAccounts {
  return createCexAccounts(bindings, unhurriedDesk());
}

/** A request desk of this process whose budget no request uses. */
export function unhurriedDesk(): RequestDesk {
  const desk = createLocalRequestDesk();
  return { ...desk, take: (key, _cost, budget, withinMs) => desk.take(key, 0, budget, withinMs) };
}

/** The books as every test begins with: 1,000 USDC, and the address in the exchange's own book. */
export function freshBooks({ exchange: { books, format, reset } }: Desk): void {
  reset();
  const { subs, networks } = format.books;
  for (const list of [books.withdrawals, books.transfers, books.deposits, books.book])
    list.length = 0;
  books.nonces.clear();
  books.assets.clear();
  for (const [asset, terms] of assetsOf(networks)) books.assets.set(asset, terms);
  books.subs.splice(0, Infinity, ...subs);
  for (const account of [null, ...subs]) {
    for (const pool of ['SPOT', 'USDT_FUTURE', 'FUNDING'] satisfies PoolName[])
      books.forget(account, pool);
    books.set(account, 'SPOT', 'USDC', '0');
    books.set(account, 'USDT_FUTURE', 'USDC', '0');
  }
  books.set(null, 'SPOT', 'USDC', '1000');
  books.book.push({
    label: 'treasury',
    address: ADDRESS,
    tag: null,
    asset: 'USDC',
    network: networks.open,
    verified: true,
  });
  Object.assign(books, settings());
}

/** The id of a movement that was created at this time. */
export function idAt(time: number): string {
  const hex = time.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000001`;
}

export function contextOf(
  action_type: string,
  config: JsonObject,
  changes: Partial<ExecutionContext> = {},
): ExecutionContext {
  const movement_id = changes.movement_id ?? newId();
  return {
    movement_id,
    node_key: 'out',
    attempt: 1,
    idempotency_key: `${movement_id}:out:1`,
    action_type,
    asset: 'USDC',
    amount: '100.5',
    config,
    input_params: {},
    intent: {},
    completion_assurance: 'provider_completed',
    ...changes,
  };
}

export const withdrawal = (
  config: JsonObject = {},
  changes: Partial<ExecutionContext> = {},
): ExecutionContext =>
  contextOf(
    'cex_withdrawal',
    { venue: 'cex-main', network: 'ETH', destination_address: ADDRESS, ...config },
    changes,
  );

export const call = (signal: AbortSignal = new AbortController().signal) => ({ signal });

/** Prepares and submits, as the service does. */
export async function send(
  executor: Executor,
  context: ExecutionContext,
  signal?: AbortSignal,
): Promise<ExecutionResult> {
  const { prepared_action = {} } = await executor.prepare(context, call());
  return executor.submit({ context, prepared_action, journal: NO_JOURNAL }, call(signal));
}

export const observe = (executor: Executor, context: ExecutionContext) =>
  executor.observe(context, call(), NO_JOURNAL);
export const recover = (executor: Executor, context: ExecutionContext) =>
  executor.recover(context, call(), NO_JOURNAL);
