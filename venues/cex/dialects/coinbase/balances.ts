/** Reads the spot balances at Coinbase, from v3: v2 does not show what is held. */
import type { z } from 'zod';
import type { PoolBalance } from '../../../../domain/balances.ts';
import { ExecutorFault, type CallOptions } from '../../../../domain/executor.ts';
import { add, compare } from '../../../../domain/money.ts';
import { ask } from '../../answers.ts';
import type { CexConnection } from '../../connection.ts';
import type { BalanceAccountType } from '../../dialect.ts';
import { CEX_FAULTS } from '../../errors.ts';
import { readAccounts } from './accounts.ts';
import * as answers from './answers.ts';

type Balance = z.output<typeof answers.balance>;

/** The largest page of v3 (docs/coinbase-facts.md, 4). */
const LIMIT = 250;

/** As `balances` of the dialect. */
export async function readBalances(
  connection: CexConnection,
  types: readonly BalanceAccountType[],
  call: CallOptions,
): Promise<readonly PoolBalance[]> {
  if (!types.includes('SPOT')) return [];
  const byAsset = new Map<string, Balance[]>();
  for (const each of await readAccountBalances(connection, call))
    byAsset.set(each.currency, [...(byAsset.get(each.currency) ?? []), each]);
  const isShared = [...byAsset.values()].some(({ length }) => length > 1);
  const wallets = isShared ? await readWalletIds(connection, call) : [];
  return [...byAsset].map(([asset, accounts]) => poolOf(asset, accounts, wallets));
}

async function readWalletIds(
  connection: CexConnection,
  call: CallOptions,
): Promise<readonly string[]> {
  const accounts = await readAccounts(connection, call);
  return accounts.filter(({ type }) => type === 'wallet').map(({ id }) => id);
}

/**
 * Returns the balance of every account.
 *
 * @throws ExecutorFault `protocol` if Coinbase returns a page twice, or a balance of another asset.
 */
export async function readAccountBalances(
  connection: CexConnection,
  call: CallOptions,
): Promise<readonly Balance[]> {
  const found: Balance[] = [];
  const cursors = new Set<string>();
  let cursor: string | undefined;
  for (;;) {
    const method = 'v3PrivateGetBrokerageAccounts';
    const page: z.output<typeof answers.balances> = await ask(
      connection,
      method,
      { limit: LIMIT, cursor },
      call,
      answers.balances,
    );
    found.push(...page.accounts);
    if (!page.has_next) break;
    if (page.cursor === null || cursors.has(page.cursor))
      throw fault('does not continue its list of balances');
    cursors.add(page.cursor);
    cursor = page.cursor;
  }
  if (found.some(isMixed)) throw fault('shows a balance in another asset than its account');
  return found;
}

function isMixed({ currency, available_balance, hold }: Balance): boolean {
  return [available_balance, hold].some((each) => each.currency !== currency);
}

/**
 * Returns the pool of an asset. Of several accounts a send leaves the wallet, not a vault (4); of
 * several wallets nothing shows which one pays.
 */
function poolOf(
  asset: string,
  accounts: readonly Balance[],
  wallets: readonly string[],
): PoolBalance {
  const paying =
    accounts.length === 1 ? accounts : accounts.filter(({ uuid }) => wallets.includes(uuid));
  const [wallet, ...others] = paying;
  const available = accounts.map((each) => each.available_balance.value).reduce(add);
  const total = accounts.map(({ hold }) => hold.value).reduce(add, available);
  return {
    account_type: 'SPOT',
    asset: asset.toUpperCase(),
    available: notBelowZero(available),
    withdrawable:
      wallet === undefined || others.length > 0
        ? null
        : notBelowZero(wallet.available_balance.value),
    total: notBelowZero(total),
    details: null,
  };
}

/** A debt is nothing that could be withdrawn. */
function notBelowZero(value: string): string {
  return compare(value, '0') < 0 ? '0' : value;
}

function fault(what: string): ExecutorFault {
  return new ExecutorFault('protocol', CEX_FAULTS.protocol, `the exchange ${what}`);
}
