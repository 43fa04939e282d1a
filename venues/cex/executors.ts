/** Creates the executors that move and watch funds at bound exchanges. */
import type { Executor } from '../../domain/executor.ts';
import { createCexAccounts } from './accounts.ts';
import type { CcxtVenue } from './config.ts';
import { createCexDepositObserveExecutor } from './deposit-observe.ts';
import { createCexInternalTransferExecutor } from './internal-transfer.ts';
import { createCexWithdrawalExecutor } from './withdrawal.ts';

/** Returns the executors; none without a binding, since such executors could serve no node. */
export function createCexExecutors(bindings: readonly CcxtVenue[]): readonly Executor[] {
  if (bindings.length === 0) return [];
  const accounts = createCexAccounts(bindings);
  return [
    createCexWithdrawalExecutor(accounts),
    createCexInternalTransferExecutor(accounts),
    createCexDepositObserveExecutor(accounts),
  ];
}
