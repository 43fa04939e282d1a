/** Finds Coinbase's accounts, each of which is of one asset (docs/coinbase-facts.md, 4). */
import type { z } from 'zod';
import type { CallOptions } from '../../../../domain/executor.ts';
import { rejected } from '../../../node-plan.ts';
import type { CexConnection } from '../../connection.ts';
import * as answers from './answers.ts';
import { readAll } from './history.ts';

export type Account = z.output<typeof answers.account>;

/**
 * Returns the accounts that were ever used. An account that never was has its asset's code as id,
 * by which a send would mean any account of the asset.
 */
export async function readAccounts(
  connection: CexConnection,
  call: CallOptions,
): Promise<readonly Account[]> {
  const method = 'v2PrivateGetAccounts';
  const list = { method, parameters: {}, record: answers.account };
  return (await readAll(connection, list, call)).filter(({ id }) => answers.isUuid(id));
}

/** Returns the asset's accounts from which Coinbase pays; a vault is none of them. */
export async function readWallets(
  connection: CexConnection,
  asset: string,
  call: CallOptions,
): Promise<readonly Account[]> {
  const accounts = await readAccounts(connection, call);
  return accounts.filter(({ type, currency }) => {
    const code = answers.code.safeParse(currency);
    return type === 'wallet' && code.success && code.data.code === asset;
  });
}

/**
 * Returns the only account from which Coinbase pays the asset; null without one.
 *
 * @throws ExecutorFault `rejected` `ACCOUNT_UNKNOWN` for several.
 */
export async function findWallet(
  connection: CexConnection,
  asset: string,
  call: CallOptions,
): Promise<Account | null> {
  const [wallet = null, ...others] = await readWallets(connection, asset, call);
  if (others.length === 0) return wallet;
  throw rejected(
    'ACCOUNT_UNKNOWN',
    `Coinbase shows ${String(others.length + 1)} wallets of ${asset}, and not which one pays`,
  );
}
