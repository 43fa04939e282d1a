/** `evm.approve`: allows another account to pull tokens from the signer, for a later burn. */
import { encodeFunctionData, erc20Abi, isAddressEqual, parseEventLogs, type Address } from 'viem';
import type { Executor } from '../../domain/executor.ts';
import { fromBaseUnits, isDecimal } from '../../domain/money.ts';
import { rejected, readConfig } from '../node-plan.ts';
import { createActExecutor } from './act-executor.ts';
import { actDescriptor, type Act } from './act.ts';
import type { EvmChains } from './client.ts';
import { approveConfigSchema } from './config.ts';
import { TRANSFER_ASSURANCES } from './landed.ts';

export const EVM_APPROVE_DESCRIPTOR = actDescriptor({
  executor_key: 'evm.approve',
  action_types: ['evm_erc20_approve'],
  provider: 'evm',
  completion_assurances: TRANSFER_ASSURANCES,
});

/**
 * A planned allowance. Addresses are checksummed; `amount` is a decimal string in units of the
 * asset, and 0 revokes the allowance.
 */
interface ApprovePlan {
  readonly chain_id: number;
  readonly token_address: Address;
  readonly spender: Address;
  readonly amount: string;
}

/** One `approve` of the token; `ALLOWANCE_NOT_SEEN` if the token emits no matching event. */
export const APPROVE: Act<ApprovePlan> = {
  descriptor: EVM_APPROVE_DESCRIPTOR,
  noun: 'allowance',
  read({ config, amount }) {
    const plan = readConfig(approveConfigSchema, { config });
    if (!isDecimal(amount)) throw rejected('CONFIG_INVALID', 'the amount is not a decimal');
    return { ...plan, amount };
  },
  move: ({ chain_id, token_address: token, spender, amount }) => ({
    chain_id,
    outflow: { token, amount, leaves_signer: false, pays_bridge: false },
    payee: { address: spender, field: 'spender', venue: null },
    terms: null,
    path: null,
  }),
  effect: ({ token_address, spender }, { units, decimals }) => ({
    call: () => ({
      to: token_address,
      value: 0n,
      data: encodeFunctionData({
        abi: erc20Abi,
        functionName: 'approve',
        args: [spender, units],
      }),
    }),
    did(from, { logs }) {
      const seen = parseEventLogs({ abi: erc20Abi, eventName: 'Approval', logs }).some(
        (log) =>
          isAddressEqual(log.address, token_address) &&
          isAddressEqual(log.args.owner, from) &&
          isAddressEqual(log.args.spender, spender) &&
          log.args.value === units,
      );
      return seen
        ? { ok: true, output: { allowed_amount: fromBaseUnits(units, decimals), spender } }
        : {
            ok: false,
            error_code: 'ALLOWANCE_NOT_SEEN',
            error_message:
              'the transaction succeeded, but the token logged no such allowance; check the allowance',
          };
    },
  }),
};

export function createEvmApproveExecutor(chains: EvmChains): Executor {
  return createActExecutor(chains, APPROVE, { facts: (plan) => plan });
}
