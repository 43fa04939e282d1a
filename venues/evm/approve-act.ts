/** An allowance as an act: one `approve` of the token, and the event that it told of it. */
import {
  encodeFunctionData,
  erc20Abi,
  isAddressEqual,
  parseEventLogs,
  type Address,
  type TransactionReceipt,
} from 'viem';
import { ExecutorFault, type ExecutionContext } from '../../domain/executor.ts';
import { fromBaseUnits, isDecimal } from '../../domain/money.ts';
import { issuesLine } from '../../platform/issues.ts';
import type { ActOn, ChainAct, Did } from './act.ts';
import type { EvmCall } from './call.ts';
import { approveConfigSchema } from './config.ts';
import { baseUnits } from './plan.ts';
import { verifyCall } from './verify-call.ts';

/**
 * Addresses are checksummed; `amount` is a decimal string in units of the asset, and 0 takes the
 * allowance back.
 */
export interface ApprovePlan {
  readonly chain_id: number;
  readonly token_address: Address;
  readonly spender: Address;
  readonly amount: string;
}

/** Throws the `rejected` fault `CONFIG_INVALID`, which names the place. */
export function readApprovePlan({
  config,
  amount,
}: Pick<ExecutionContext, 'config' | 'amount'>): ApprovePlan {
  const parsed = approveConfigSchema.safeParse(config);
  if (!parsed.success) throw invalid(issuesLine(parsed.error, { under: 'config' }));
  if (!isDecimal(amount)) throw invalid('the amount is no decimal');
  return { ...parsed.data, amount };
}

function invalid(message: string): ExecutorFault {
  return new ExecutorFault('rejected', 'CONFIG_INVALID', message);
}

export function approveOn(plan: ApprovePlan): ActOn {
  return async (connection) => approveAct(plan, await connection.decimals(plan.token_address));
}

export function approveCall({ token_address, spender }: ApprovePlan, units: bigint): EvmCall {
  const data = encodeFunctionData({
    abi: erc20Abi,
    functionName: 'approve',
    args: [spender, units],
  });
  return { to: token_address, value: 0n, data };
}

function approveAct(plan: ApprovePlan, decimals: number): ChainAct {
  const units = baseUnits(plan, decimals);
  const call = approveCall(plan, units);
  return {
    chain_id: plan.chain_id,
    call,
    verify: (unsigned) => verifyCall(unsigned, plan.chain_id, call, 'allowance'),
    did: (from, receipt) => did(plan, units, decimals, from, receipt),
  };
}

/** `ALLOWANCE_NOT_SEEN` where the token tells of no such allowance. */
function did(
  plan: ApprovePlan,
  units: bigint,
  decimals: number,
  from: Address,
  receipt: TransactionReceipt,
): Did {
  const seen = parseEventLogs({ abi: erc20Abi, eventName: 'Approval', logs: receipt.logs }).some(
    (log) =>
      isAddressEqual(log.address, plan.token_address) &&
      isAddressEqual(log.args.owner, from) &&
      isAddressEqual(log.args.spender, plan.spender) &&
      log.args.value === units,
  );
  if (!seen)
    return {
      ok: false,
      error_code: 'ALLOWANCE_NOT_SEEN',
      error_message:
        'the transaction succeeded, but the token reports no such allowance; look at what it allows',
    };
  return {
    ok: true,
    output: { allowed_amount: fromBaseUnits(units, decimals), spender: plan.spender },
  };
}
