/**
 * The fence: the last look at everything that could forbid a send, in the same transaction that
 * declares it. Behind it stand a new epoch, the idempotency key, the nonce and `send_not_after`.
 */
import type { AskedAddress } from '../../domain/allowlist/match.ts';
import { ExecutorFault, type ExecutionContext, type ExecutorDescriptor } from '../../domain/executor.ts';
import { TAKE_SECONDS, type PhaseResult } from '../../domain/messages.ts';
import { SYSTEM_ACTOR } from '../../domain/roles.ts';
import type { MovementState } from '../../domain/states/movement.ts';
import type { BindingProblem, ClaimedTransaction, NodeChange } from '../../domain/transition.ts';
import { readUnsignedTransaction } from '../../signers/unsigned-transaction.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { applyTransition } from '../../store/transition.ts';
import { askedBy, codeOf, sentenceOf } from './allowlist.ts';
import { callOptions } from './call.ts';
import { allowedAmount, alreadyBeyond, contextOf, descriptorOf, executorOf, phaseRow, result, type PhaseDependencies } from './context.ts';
import { failNode } from './outcome.ts';
import { preSendFault } from './preflight.ts';

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
  if (!amount.ok) return failNode(deps, row, amount.code, amount.message, ['FAILED']);
  const by = askedBy(row);
  if (!by.ok) return failNode(deps, row, by.code, by.message, ['FAILED']);
  let context: ExecutionContext;
  let claim: NodeChange['nonce'] | undefined;
  let window: number;
  try {
    window = sendWindow(descriptorOf(deps, row));
    context = await contextOf(deps, row, amount.amount);
    const difference = row.sign_request === null ? null : await deps.checkSignRequest(row, amount.amount, callOptions());
    if (difference !== null) return await failNode(deps, row, 'SIGN_REQUEST_MISMATCH', difference, ['FAILED']);
    claim = await nonceClaim(deps, row, context);
  } catch (error) {
    if (error instanceof ExecutorFault) return preSendFault(deps, row, error);
    throw error;
  }
  return declare(deps, { row, context, window, claim, addresses: by.asked });
}

/** Seconds from the fence to `send_not_after`: a team's worker also needs time to take the call. */
export function sendWindow(descriptor: ExecutorDescriptor): number {
  return descriptor.timeout_seconds + (descriptor.kind === 'task_queue' ? TAKE_SECONDS : 0);
}

async function nonceClaim(deps: PhaseDependencies, row: PhaseRow, context: ExecutionContext): Promise<NodeChange['nonce'] | undefined> {
  if (row.sign_request === null || row.sign_request.kind !== 'evm_transaction') return undefined;
  const reading = readUnsignedTransaction(row.sign_request.payload);
  if (!reading.ok) throw new ExecutorFault('rejected', 'SIGN_REQUEST_MISMATCH', reading.problem);
  const { unsigned } = reading;
  const address = context.signer?.address;
  const executor = executorOf(deps, row);
  if (address === undefined || address === '' || executor.chainNonce === undefined) {
    throw new ExecutorFault('rejected', 'SIGNER_MISSING', 'a transaction is to be signed, but no signer with an address is bound');
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
  // Taken before the write, so this process's deadline is never later than the database's.
  const deadline = performance.now() + window * 1000;
  const epoch = row.epoch + 1;
  const signer = row.node.signer_binding;
  const outcome = await applyTransition(deps.db, {
    movement_id: row.movement_id,
    from: openLane(row),
    require: {
      executors: [row.node.executor_binding.executor_key],
      addresses,
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
        set: { submit_epoch: epoch, send_not_after: { '@after_seconds': window }, amount: context.amount },
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
  if (outcome.reason === 'movement_state') return closedLane(outcome.head?.request_state);
  if (outcome.reason !== 'binding') return overtaken(deps, row);
  const { code, message } = refusalOf(outcome.problems[0]);
  return failNode(deps, row, code, message, ['FAILED']);
}

function refusalOf(problem: BindingProblem | undefined): { readonly code: string; readonly message: string } {
  const { binding = 'executor', key = '', reason = 'not available' } = problem ?? {};
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

function closedLane(state: MovementState | undefined): PhaseResult {
  return result('READY', state === 'MANUAL_INTERVENTION' || state === 'APPROVED' ? 'wait' : 'stop');
}
