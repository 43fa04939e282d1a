/** What moves and watches funds at bound exchanges. */
import type { Executor } from '../../domain/executor.ts';
import { createCexAccounts } from './accounts.ts';
import type { CcxtVenue } from './config.ts';
import { createCexDepositObserveExecutor } from './deposit-observe.ts';
import { createCexInternalTransferExecutor } from './internal-transfer.ts';
import { createCexWithdrawalExecutor } from './withdrawal.ts';

/**
 * None without a binding: an executor that can serve nothing would only be one more to choose from.
 */
export function createCexExecutors(bindings: readonly CcxtVenue[]): readonly Executor[] {
  if (bindings.length === 0) return [];
  const accounts = createCexAccounts(bindings);
  return [
    createCexWithdrawalExecutor(accounts),
    createCexInternalTransferExecutor(accounts),
    createCexDepositObserveExecutor(accounts),
  ];
}
