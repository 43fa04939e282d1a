/** Creates the executors that move and watch funds at bound exchanges. */
import type { Executor } from '../../domain/executor.ts';
import type { CexAccounts } from './accounts.ts';
import { createCexDepositObserveExecutor } from './deposit-observe.ts';
import { createCexInternalTransferExecutor } from './internal-transfer.ts';
import { forwarding } from './served/forward.ts';
import { requireSameAccount, requireSameEnds } from './venue-entry.ts';
import { createCexWithdrawalExecutor } from './withdrawal.ts';

/** Returns the executors; none without a binding, since such executors could serve no node. */
export function createCexExecutors(accounts: CexAccounts): readonly Executor[] {
  if (accounts.list().length === 0) return [];
  return [
    forwarding(createCexWithdrawalExecutor(accounts), accounts, requireSameAccount),
    forwarding(createCexInternalTransferExecutor(accounts), accounts, requireSameEnds),
    // It sends nothing, so no account is recorded for it.
    forwarding(createCexDepositObserveExecutor(accounts), accounts, () => undefined),
  ];
}
