/** The local executor of native and ERC-20 transfers. */
import {
  ExecutorFault,
  type CallOptions,
  type ExecutionContext,
  type ExecutionResult,
  type Executor,
  type ExecutorDescriptor,
  type SubmitInput,
} from '../../domain/executor.ts';
import { broadcast } from './broadcast.ts';
import type { EvmChains } from './client.ts';
import { checkChains } from './health.ts';
import { TRANSFER_ASSURANCES } from './landed.ts';
import { readSigner, readTransferPlan, TRANSFER_ACTIONS } from './plan.ts';
import { preflightTransfer, prepareTransfer } from './prepare.ts';
import { settleTransfer, type Settlement } from './settle.ts';
import { readSignedTransfer } from './signed-transfer.ts';

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
    submit: (input, call) => submit(chains, input, call),
    observe: (context, call, journal) =>
      settleTransfer(chains, { ...planOf(context), call, journal, phase: 'observe' }),
    recover: (context, call, journal) =>
      settleTransfer(chains, { ...planOf(context), call, journal, phase: 'recover' }),
    cancel: (context) => Promise.resolve(stillUnderWay(context.prior?.external_ref)),
    health: (call) => checkChains(chains, call),
  };
}

function planOf(context: ExecutionContext): Pick<Settlement, 'plan' | 'from' | 'assurance'> {
  return {
    plan: readTransferPlan(context),
    from: readSigner(context),
    assurance: context.completion_assurance,
  };
}

/**
 * SUBMITTED with the hash as reference. Everything else is a fault, after which only recover knows:
 * even a refusal says nothing about the same bytes sent by an earlier, interrupted call.
 */
async function submit(
  chains: EvmChains,
  input: SubmitInput,
  call: CallOptions,
): Promise<ExecutionResult> {
  const { raw_tx, tx_hash } = input.sign_result ?? {};
  if (typeof raw_tx !== 'string' || typeof tx_hash !== 'string') {
    throw new ExecutorFault(
      'protocol',
      'SIGN_RESULT_MISSING',
      'an EVM transfer is submitted with raw_tx and tx_hash',
    );
  }
  const plan = readTransferPlan(input.context);
  const connection = await chains.open(plan.chain_id, call);
  const decimals = await connection.decimals(plan.token_address);
  const reading = await readSignedTransfer(
    { raw_tx, tx_hash, from: readSigner(input.context) },
    plan,
    decimals,
  );
  if (!reading.ok) throw new ExecutorFault('protocol', 'SIGNED_BYTES_MISMATCH', reading.problem);
  const outcome = await broadcast(connection, reading.signed);
  if (outcome.kind === 'refused')
    throw new ExecutorFault('server_error', 'BROADCAST_REFUSED', outcome.message);
  return { next_state: 'SUBMITTED', external_ref: reading.signed.tx_hash };
}

/**
 * Nothing that was sent can be recalled, so a cancel changes nothing: it is observed to its end.
 */
function stillUnderWay(externalRef: string | undefined): ExecutionResult {
  return externalRef === undefined
    ? { next_state: 'SUBMITTING' }
    : { next_state: 'OBSERVING', external_ref: externalRef };
}
