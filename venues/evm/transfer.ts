/** The local executor of native and ERC-20 transfers. */
import type { ExecutionContext, Executor, ExecutorDescriptor } from '../../domain/executor.ts';
import type { EvmChains } from './client.ts';
import { checkChains } from './health.ts';
import { TRANSFER_ASSURANCES } from './landed.ts';
import { readSigner, readTransferPlan, TRANSFER_ACTIONS } from './plan.ts';
import { preflightTransfer, prepareTransfer } from './prepare.ts';
import { sendSigned, stillUnderWay } from './send-signed.ts';
import { settleAct, type Settlement } from './settle.ts';
import { transferOn } from './transfer-act.ts';

export const EVM_TRANSFER_DESCRIPTOR: ExecutorDescriptor = {
  executor_key: 'evm.transfer',
  kind: 'local',
  action_types: TRANSFER_ACTIONS,
  provider: 'evm',
  chain_family: 'evm',
  // Its bytes are stored before they are sent, and one nonce lands once.
  same_key_safe: true,
  // Recover never believes a "not found": it asks who used the nonce in a finalized block.
  settle_seconds: 0,
  timeout_seconds: 30,
  // The module is, but its endpoints are elsewhere and may take seconds.
  in_process: false,
  sends: true,
  not_payees: [],
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
