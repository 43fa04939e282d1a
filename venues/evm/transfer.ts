/** The local executor of native and ERC-20 transfers. */
import type { ExecutionContext, Executor, ExecutorDescriptor } from '../../domain/executor.ts';
import { ACT_EXECUTOR } from './act-executor.ts';
import type { EvmChains } from './client.ts';
import { checkChains } from './health.ts';
import { TRANSFER_ASSURANCES } from './landed.ts';
import { readSigner, readTransferPlan, TRANSFER_ACTIONS } from './plan.ts';
import { preflightTransfer, prepareTransfer } from './prepare.ts';
import { sendSigned, stillUnderWay } from './send-signed.ts';
import { settleAct, type Settlement } from './settle.ts';
import { transferOn } from './transfer-act.ts';

export const EVM_TRANSFER_DESCRIPTOR: ExecutorDescriptor = {
  ...ACT_EXECUTOR,
  executor_key: 'evm.transfer',
  action_types: TRANSFER_ACTIONS,
  provider: 'evm',
  completion_assurances: TRANSFER_ASSURANCES,
};

/**
 * `evm.transfer` over the configured chains. It holds no state of its own: the journal and the
 * chain do.
 */
export function createEvmTransferExecutor(chains: EvmChains): Executor {
  return {
    descriptor: EVM_TRANSFER_DESCRIPTOR,
    preflight: (context, call) => preflightTransfer(chains, context, call),
    prepare: (context, call) => prepareTransfer(chains, context, call),
    submit: (input, call) => {
      const plan = readTransferPlan(input.context);
      return sendSigned(chains, { chain_id: plan.chain_id, act: transferOn(plan) }, input, call);
    },
    observe: (context, call, journal) =>
      settleAct(chains, { ...settlementOf(context), call, journal, phase: 'observe' }),
    recover: (context, call, journal) =>
      settleAct(chains, { ...settlementOf(context), call, journal, phase: 'recover' }),
    cancel: (context) => Promise.resolve(stillUnderWay(context.prior?.external_ref)),
    health: (call) => checkChains(chains, call),
  };
}

function settlementOf(
  context: ExecutionContext,
): Pick<Settlement, 'chain_id' | 'act' | 'from' | 'assurance'> {
  const plan = readTransferPlan(context);
  return {
    chain_id: plan.chain_id,
    act: transferOn(plan),
    from: readSigner(context),
    assurance: context.completion_assurance,
  };
}
