/** Creates the executors that move and watch funds at bound exchanges. */
import type { Executor } from '../../domain/executor.ts';
import type { CexAccounts } from './accounts.ts';
import { createCexDepositObserveExecutor } from './deposit-observe.ts';
import { createCexInternalTransferExecutor } from './internal-transfer.ts';
import { forwarding } from './served/forward.ts';
import { createCexWithdrawalExecutor } from './withdrawal.ts';

/** Returns the executors; none without a binding, since such executors could serve no node. */
export function createCexExecutors(accounts: CexAccounts): readonly Executor[] {
  if (accounts.list().length === 0) return [];
  return [
    createCexWithdrawalExecutor(accounts),
    createCexInternalTransferExecutor(accounts),
    createCexDepositObserveExecutor(accounts),
  ].map((local) => forwarding(local, accounts));
}
