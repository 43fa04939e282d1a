/**
 * The fence: the last look at everything that could forbid a send, in the same transaction that
 * declares it. Behind it stand a new epoch, the idempotency key, the nonce and `send_not_after`.
 */
import type { AskedAddress } from '../../domain/allowlist/match.ts';
import { ExecutorFault, type ExecutionContext, type ExecutorDescriptor } from '../../domain/executor.ts';
import type { PhaseResult } from '../../domain/messages.ts';
import { SYSTEM_ACTOR } from '../../domain/roles.ts';
import { fenced } from '../../domain/send/epoch.ts';
import { nodeWindow } from '../../domain/send/node.ts';
import { deadlineOf } from '../../domain/send/window.ts';
import type { MovementState } from '../../domain/states/movement.ts';
import type { BindingProblem, ClaimedTransaction, NodeChange } from '../../domain/transition.ts';
import { readUnsignedTransaction } from '../../signers/unsigned-transaction.ts';
import { isSending } from '../../domain/plan/actions.ts';
import { tokenMismatch } from '../../domain/plan/tokens.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { applyTransition } from '../../store/transition.ts';
import { askedBy, codeOf, sentenceOf } from './allowlist.ts';
import { callOptions } from '../call.ts';
import { preSendFault } from './before-send.ts';
import { allowedAmount, contextOf, descriptorOf, executorOf, phaseRow, type PhaseDependencies } from './context.ts';
import { alreadyBeyond, result } from './results.ts';
import { stopBeforeSend } from './outcome.ts';

/** A node behind its fence: `row` as the fence left it. */
export interface Fenced {
  readonly row: PhaseRow;
  readonly context: ExecutionContext;
  readonly transaction: ClaimedTransaction | null;
  /** On this process's monotonic clock: nothing is sent after it. Not later than `send_not_after`. */
  readonly deadline: number;
}

/** Passes the fence of a node that may need more than the database knows, or says what the node does instead. */
export async function passFence(deps: PhaseDependencies, row: PhaseRow): Promise<Fenced | PhaseResult> {
  const amount = allowedAmount(row);
  if (!amount.ok) return stopBeforeSend(deps, row, amount.code, amount.message);
  const mismatch = tokenMismatch(row.node, deps.chains);
  if (mismatch !== null) {
    const { asset, token_asset, token_address, chain_id } = mismatch;
    const token = token_address ?? 'the native coin';
    return stopBeforeSend(
      deps,
      row,
      'TOKEN_ASSET_MISMATCH',
      `${token} of chain ${chain_id ?? ''} is ${token_asset ?? 'not listed'}, not ${asset}`,
    );
  }
  const by = await askedBy(deps, row);
  if (!by.ok) return stopBeforeSend(deps, row, by.code, by.message);
  let context: ExecutionContext;
  let claim: NodeChange['nonce'] | undefined;
  let window: number;
  try {
    const descriptor = descriptorOf(deps, row);
    if (countsAsUnsent(row, descriptor)) {
      const message = 'its executor is declared to move funds now, and the approved plan says that this node moves none';
      return await stopBeforeSend(deps, row, 'APPROVED_OUTFLOW_EXCEEDED', message);
    }
    window = nodeWindow(descriptor);
    context = await contextOf(deps, row, amount.amount);
    const difference = row.sign_request === null ? null : await deps.checkSignRequest(row, amount.amount, callOptions());
    if (difference !== null) return await stopBeforeSend(deps, row, 'SIGN_REQUEST_MISMATCH', difference);
    claim = await nonceClaim(deps, row, context);
  } catch (error) {
    if (error instanceof ExecutorFault) return preSendFault(deps, row, error);
    throw error;
  }
  return declare(deps, { row, context, window, claim, addresses: by.asked });
}

/** The plan was compiled when the executor's entry said `sends: false`: whatever the node moves now, nobody has approved. */
function countsAsUnsent({ node }: PhaseRow, { sends }: ExecutorDescriptor): boolean {
  return isSending(node, sends) && node.sends === false;
}

async function nonceClaim(deps: PhaseDependencies, row: PhaseRow, context: ExecutionContext): Promise<NodeChange['nonce'] | undefined> {
  if (row.sign_request === null || row.sign_request.kind !== 'evm_transaction') return undefined;
  const reading = readUnsignedTransaction(row.sign_request.payload);
  if (!reading.ok) throw new ExecutorFault('rejected', 'SIGN_REQUEST_MISMATCH', reading.problem);
  const { unsigned } = reading;
  const address = context.signer?.address;
  const executor = executorOf(deps, row);
  if (address === undefined || address === '') {
    throw new ExecutorFault('rejected', 'SIGNER_MISSING', 'a transaction is to be signed, but no signer with an address is bound');
  }
  if (executor.chainNonce === undefined) {
    throw new ExecutorFault(
      'rejected',
      'SIGN_REQUEST_UNSUPPORTED',
      `${row.node.executor_binding.executor_key} cannot follow a nonce to its end, so no transaction is signed for it`,
    );
  }
  const chain_nonce = await executor.chainNonce(unsigned.chain_id, address, callOptions());
  return { chain_id: unsigned.chain_id, address: address.toLowerCase(), chain_nonce, unsigned };
}

interface Declaration {
  readonly row: PhaseRow;
  readonly context: ExecutionContext;
  readonly window: number;
  readonly claim: NodeChange['nonce'] | undefined;
  readonly addresses: readonly AskedAddress[];
}

async function declare(deps: PhaseDependencies, { row, context, window, claim, addresses }: Declaration): Promise<Fenced | PhaseResult> {
  const deadline = deadlineOf(performance.now(), window);
  const { epoch, send_not_after } = fenced(row.epoch, window);
  const signer = row.node.signer_binding;
  const outcome = await applyTransition(deps.db, {
    movement_id: row.movement_id,
    from: openLane(row),
    require: {
      executors: [row.node.executor_binding.executor_key],
      addresses,
      flow: { node_key: row.node_key, amount: context.amount },
      signers:
        signer === null
          ? []
          : [{ signer_key: signer.signer_key, ...(context.signer === undefined ? {} : { address: context.signer.address }) }],
    },
    nodes: [
      {
        node_key: row.node_key,
        from: 'READY',
        moves: ['SUBMITTING'],
        attempt: row.attempt,
        epoch: row.epoch,
        set: { submit_epoch: epoch, send_not_after, amount: context.amount },
        ...(claim === undefined ? {} : { nonce: claim }),
      },
    ],
    timeline: [
      {
        event_type: 'node_submitting',
        message: 'Submitting',
        actor: SYSTEM_ACTOR,
        node_key: row.node_key,
        attempt: row.attempt,
        from_state: 'READY',
        to_state: 'SUBMITTING',
        data: { idempotency_key: context.idempotency_key, amount: context.amount, asset: context.asset },
      },
    ],
  });
  if (outcome.ok) {
    return {
      row: { ...row, state: 'SUBMITTING', epoch, amount: context.amount },
      context,
      transaction: outcome.transaction,
      deadline,
    };
  }
  if (outcome.reason === 'movement_state') return closedLane(deps, row, outcome.head?.request_state);
  if (outcome.reason !== 'binding') return overtaken(deps, row);
  const { code, message } = refusalOf(outcome.problems[0]);
  return stopBeforeSend(deps, row, code, message);
}

function refusalOf(problem: BindingProblem | undefined): { readonly code: string; readonly message: string } {
  const { binding = 'executor', key = '', reason = 'not available' } = problem ?? {};
  if (binding === 'flow') {
    const { limit = '0', used = '0' } = problem ?? {};
    return { code: 'APPROVED_OUTFLOW_EXCEEDED', message: `of ${key} ${limit} may move in all, and ${used} has moved or may have` };
  }
  if (binding === 'address') return { code: codeOf(reason), message: sentenceOf(codeOf(reason), key) };
  const disabled = binding === 'signer' ? 'SIGNER_DISABLED' : 'EXECUTOR_DISABLED';
  return { code: reason === 'identity_mismatch' ? 'SIGNER_IDENTITY_MISMATCH' : disabled, message: `${binding} ${key} is ${reason}` };
}

/** Somebody else passed the fence or began a recovery meanwhile: the run follows what they wrote, and waits for nobody. */
async function overtaken(deps: PhaseDependencies, row: PhaseRow): Promise<PhaseResult> {
  return alreadyBeyond(await phaseRow(deps, row), row) ?? result('READY', 'submit');
}

/** The movement states in which a node of this lane may be sent. */
function openLane(row: PhaseRow): readonly MovementState[] {
  return row.on_cancel_target ? ['CANCELLED', 'EXECUTING', 'WAITING_MANUAL_ACTION'] : ['EXECUTING', 'WAITING_MANUAL_ACTION'];
}

async function closedLane(deps: PhaseDependencies, row: PhaseRow, state: MovementState | undefined): Promise<PhaseResult> {
  if (state === 'MANUAL_INTERVENTION' || state === 'APPROVED') return result('READY', 'wait');
  // Who is stopped here counts as never sent.
  return row.submitted_ms === null ? result('READY', 'stop') : stopBeforeSend(deps, row, 'MOVEMENT_ENDED', 'its movement was cancelled');
}
