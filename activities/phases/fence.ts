/**
 * The fence: the last look at everything that could forbid a send, in the same transaction that
 * declares it. Behind it stand a new epoch, the idempotency key, the nonce and `send_not_after`.
 */
import type { ExecutionContext, Executor } from '../../domain/executor.ts';
import { ExecutorFault } from '../../domain/executor.ts';
import type { PhaseResult } from '../../domain/messages.ts';
import { exceedsMax, maxAmount } from '../../domain/plan/amount.ts';
import { SYSTEM_ACTOR } from '../../domain/roles.ts';
import type { MovementState } from '../../domain/states/movement.ts';
import type { ClaimedTransaction, NodeChange } from '../../domain/transition.ts';
import { readUnsignedTransaction } from '../../signers/unsigned-transaction.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { applyTransition } from '../../store/transition.ts';
import { callOptions } from './call.ts';
import { alreadyBeyond, amountOf, contextOf, executorOf, phaseRow, result, type PhaseDependencies } from './context.ts';
import { failNode } from './outcome.ts';
import { preSendFault } from './preflight.ts';

/** A node behind its fence: `row` as the fence left it. */
export interface Fenced {
  readonly row: PhaseRow;
  readonly executor: Executor;
  readonly context: ExecutionContext;
  readonly transaction: ClaimedTransaction | null;
  /** On this process's monotonic clock: nothing is sent after it. Not later than `send_not_after`. */
  readonly deadline: number;
}

/** Passes the fence, or says what the node does instead. */
export async function passFence(deps: PhaseDependencies, row: PhaseRow): Promise<Fenced | PhaseResult> {
  const amount = amountOf(row);
  if (amount === null) return failNode(deps, row, 'AMOUNT_UNRESOLVED', 'the amount refers to an output that holds none', ['FAILED']);
  const limit = maxAmount(row.plan.risk_controls, row.node.risk_patch);
  if (exceedsMax(amount, limit))
    return failNode(deps, row, 'MAX_AMOUNT_EXCEEDED', `${amount} is more than max_amount ${limit ?? ''}`, ['FAILED']);
  let executor: Executor;
  let context: ExecutionContext;
  let claim: NodeChange['nonce'] | undefined;
  try {
    executor = executorOf(deps, row);
    context = await contextOf(deps, row, amount);
    const difference = row.sign_request === null ? null : await deps.checkSignRequest(row, amount, callOptions());
    if (difference !== null) return await failNode(deps, row, 'SIGN_REQUEST_MISMATCH', difference, ['FAILED']);
    claim = await nonceClaim(row, executor, context);
  } catch (error) {
    return preSendFault(deps, row, error);
  }
  return declare(deps, { row, executor, context, claim });
}

async function nonceClaim(row: PhaseRow, executor: Executor, context: ExecutionContext): Promise<NodeChange['nonce'] | undefined> {
  if (row.sign_request === null || row.sign_request.kind !== 'evm_transaction') return undefined;
  const reading = readUnsignedTransaction(row.sign_request.payload);
  if (!reading.ok) throw new ExecutorFault('rejected', 'SIGN_REQUEST_MISMATCH', reading.problem);
  const { unsigned } = reading;
  const address = context.signer?.address;
  if (address === undefined || address === '' || executor.chainNonce === undefined) {
    throw new ExecutorFault('rejected', 'SIGNER_MISSING', 'a transaction is to be signed, but no signer with an address is bound');
  }
  const chain_nonce = await executor.chainNonce(unsigned.chain_id, address, callOptions());
  return { chain_id: unsigned.chain_id, address: address.toLowerCase(), chain_nonce, unsigned };
}

interface Declaration {
  readonly row: PhaseRow;
  readonly executor: Executor;
  readonly context: ExecutionContext;
  readonly claim: NodeChange['nonce'] | undefined;
}

async function declare(deps: PhaseDependencies, { row, executor, context, claim }: Declaration): Promise<Fenced | PhaseResult> {
  const window = executor.descriptor.timeout_seconds;
  // Taken before the write, so this process's deadline is never later than the database's.
  const deadline = performance.now() + window * 1000;
  const epoch = row.epoch + 1;
  const signer = row.node.signer_binding;
  const outcome = await applyTransition(deps.db, {
    movement_id: row.movement_id,
    from: openLane(row),
    require: {
      executors: [executor.descriptor.executor_key],
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
      executor,
      context,
      transaction: outcome.transaction,
      deadline,
    };
  }
  if (outcome.reason === 'movement_state') return closedLane(outcome.head?.request_state);
  if (outcome.reason !== 'binding') return overtaken(deps, row);
  const [problem] = outcome.problems;
  const code =
    problem?.reason === 'identity_mismatch'
      ? 'SIGNER_IDENTITY_MISMATCH'
      : problem?.binding === 'signer'
        ? 'SIGNER_DISABLED'
        : 'EXECUTOR_DISABLED';
  return failNode(deps, row, code, `${problem?.binding ?? 'binding'} ${problem?.key ?? ''} is ${problem?.reason ?? 'not available'}`, [
    'FAILED',
  ]);
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
