/** `evm.approve`: lets somebody pull tokens from the signer, for a burn that follows. */
import type { Address } from 'viem';
import type {
  CallOptions,
  ExecutionContext,
  ExecutionResult,
  Executor,
  ExecutorDescriptor,
} from '../../domain/executor.ts';
import { ACT_EXECUTOR } from './act-executor.ts';
import { approveCall, approveOn, readApprovePlan, type ApprovePlan } from './approve-act.ts';
import type { EvmCall } from './call.ts';
import { readBalance, type EvmChains } from './client.ts';
import { requireCode, requireGas, unsignedOf } from './draft.ts';
import { failWhenRejected } from './errors.ts';
import { quoteGas, type GasQuote } from './fees.ts';
import { checkChains } from './health.ts';
import { TRANSFER_ASSURANCES } from './landed.ts';
import { baseUnits, readSigner } from './plan.ts';
import { sendSigned, stillUnderWay } from './send-signed.ts';
import { settleAct, type Settlement } from './settle.ts';

export const EVM_APPROVE_DESCRIPTOR: ExecutorDescriptor = {
  ...ACT_EXECUTOR,
  executor_key: 'evm.approve',
  action_types: ['evm_erc20_approve'],
  provider: 'evm',
  completion_assurances: TRANSFER_ASSURANCES,
};

/** It holds no state of its own: the journal and the chain do. */
export function createEvmApproveExecutor(chains: EvmChains): Executor {
  const settlementOf = (
    context: ExecutionContext,
  ): Pick<Settlement, 'chain_id' | 'act' | 'from' | 'assurance'> => {
    const plan = readApprovePlan(context);
    return {
      chain_id: plan.chain_id,
      act: approveOn(plan),
      from: readSigner(context),
      assurance: context.completion_assurance,
    };
  };
  return {
    descriptor: EVM_APPROVE_DESCRIPTOR,
    preflight: (context, call) =>
      failWhenRejected(async () => {
        await draft(chains, context, call);
        return null;
      }),
    prepare: (context, call) => failWhenRejected(() => prepare(chains, context, call)),
    submit: (input, call) => {
      const plan = readApprovePlan(input.context);
      return sendSigned(chains, { chain_id: plan.chain_id, act: approveOn(plan) }, input, call);
    },
    observe: (context, call, journal) =>
      settleAct(chains, { ...settlementOf(context), call, journal, phase: 'observe' }),
    recover: (context, call, journal) =>
      settleAct(chains, { ...settlementOf(context), call, journal, phase: 'recover' }),
    cancel: (context) => Promise.resolve(stillUnderWay(context.prior?.external_ref)),
    health: (call) => checkChains(chains, call),
  };
}

interface Draft {
  readonly plan: ApprovePlan;
  readonly from: Address;
  readonly units: bigint;
  readonly decimals: number;
  readonly call: EvmCall;
  readonly quote: GasQuote;
}

/**
 * @throws ExecutorFault `rejected` `CONFIG_INVALID`, `SIGNER_MISSING`, `CHAIN_NOT_CONFIGURED`,
 *   `TOKEN_MISSING`, `AMOUNT_PRECISION`, `TRANSACTION_WOULD_REVERT`, `INSUFFICIENT_FUNDS`.
 */
async function draft(
  chains: EvmChains,
  context: ExecutionContext,
  options: CallOptions,
): Promise<Draft> {
  const plan = readApprovePlan(context);
  const from = readSigner(context);
  const connection = await chains.open(plan.chain_id, options);
  await requireCode(connection, plan.token_address);
  const decimals = await connection.decimals(plan.token_address);
  const units = baseUnits(plan, decimals);
  const call = approveCall(plan, units);
  const quote = await quoteGas(connection, from, call);
  const holds = await readBalance(connection, { owner: from, token: null });
  requireGas(connection, { call, quote, holds });
  return { plan, from, units, decimals, call, quote };
}

async function prepare(
  chains: EvmChains,
  context: ExecutionContext,
  options: CallOptions,
): Promise<ExecutionResult> {
  const { plan, from, units, decimals, call, quote } = await draft(chains, context, options);
  return {
    next_state: 'SUBMITTING',
    prepared_action: {
      ...plan,
      asset: context.asset,
      from_address: from,
      decimals,
      base_units: units.toString(),
    },
    sign_request: { kind: 'evm_transaction', payload: unsignedOf(plan.chain_id, call, quote) },
  };
}
