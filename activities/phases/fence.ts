/**
 * The fence: the last check of every fact that could forbid a send, in the database transaction
 * that records that the send starts. It gives the node a new epoch, its idempotency key, a nonce
 * and `send_not_after`. `fence-refused.ts` handles a node that may not pass.
 */
import { isSending } from '../../domain/actions/built-in.ts';
import { ExecutorFault, type ExecutionContext } from '../../domain/executor.ts';
import { behindSeconds } from '../../domain/send/clocks.ts';
import { nodeWindow } from '../../domain/send/node.ts';
import { deadlineOf, type Moment } from '../../domain/send/window.ts';
import type { ClaimedTransaction, TransitionOutcome } from '../../domain/transition.ts';
import { momentNow } from '../../platform/deadline.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { applyTransition } from '../../store/transition.ts';
import { callOptions } from '../call.ts';
import { requiredFor } from '../requirements/list.ts';
import { payeesOf } from './allowlist.ts';
import { amountToSend } from './amount.ts';
import { descriptorOf } from './bound-executor.ts';
import { clockStops } from './clock-wait.ts';
import { contextOf, type PhaseDependencies } from './context.ts';
import { fenceWrite } from './fence-write.ts';
import { isFollowed, signedNode } from './followed.ts';
import { claimFor } from './nonce-claim.ts';
import type { NodeWrite } from './write.ts';

/** A node that has passed its fence; `row` is as the fence wrote it. */
export interface Fenced {
  readonly row: PhaseRow;
  readonly context: ExecutionContext;
  readonly transaction: ClaimedTransaction | null;
  /** Last moment to send, by this host's clocks; not later than `send_not_after`. */
  readonly deadline: Moment;
}

/** Why a node did not pass its fence; in each case nothing was written. */
export type Unfenced =
  /** Clocks disagree; the text says which. */
  | { readonly apart: string }
  /** The node may not be sent as it was prepared, or a check failed. */
  | { readonly fault: ExecutorFault }
  /** The database refused the write. */
  | { readonly refused: TransitionOutcome & { readonly ok: false } };

/**
 * Passes the fence of a prepared node. `found` are writes of earlier phases that are not recorded
 * yet, though `row` includes them. The fence's write records them; if the fence is not passed, the
 * caller must.
 */
export async function passFence(
  deps: PhaseDependencies,
  row: PhaseRow,
  found: readonly NodeWrite[] = [],
): Promise<Fenced | { readonly unfenced: Unfenced }> {
  try {
    return await askFence(deps, row, found);
  } catch (error) {
    if (error instanceof ExecutorFault) return { unfenced: { fault: error } };
    throw error;
  }
}

/**
 * Checks the node and writes the fence.
 *
 * @throws ExecutorFault for the `fault` of {@link Unfenced}.
 */
async function askFence(
  deps: PhaseDependencies,
  row: PhaseRow,
  found: readonly NodeWrite[],
): Promise<Fenced | { readonly unfenced: Unfenced }> {
  const apart = clockStops(deps, row);
  if (apart !== null) return { unfenced: { apart } };
  const amount = amountToSend(row, deps.chains);
  if (!amount.ok) throw new ExecutorFault('rejected', amount.code, amount.message);
  const payees = await payeesOf(deps, row);
  if (!payees.ok) throw payees.fault;
  const descriptor = descriptorOf(deps, row);
  // When the plan was compiled, the executor's registry entry said `sends: false`. So the approval
  // does not cover funds that the node would move now.
  if (row.node.sends === false && isSending(row.node, descriptor.sends)) {
    const message =
      'the registry now declares that the executor moves funds, but the approved plan says that this node moves none';
    throw new ExecutorFault('rejected', 'APPROVED_OUTFLOW_EXCEEDED', message);
  }
  const context = await contextOf(deps, row, amount.amount, 'send');
  const { requirements, stops } = await requiredFor(deps, row, {
    way: 'send',
    first: context,
    signer: context.signer?.address ?? '',
    signs: row.sign_request?.payload ?? null,
  });
  if (stops[0] !== undefined) throw stops[0].fault;
  const difference =
    row.sign_request === null
      ? null
      : await deps.signing.check(
          signedNode(deps, row, context),
          {
            request: row.sign_request,
            from: context.signer?.address ?? '',
            foreign: isFollowed(deps, row),
            now_ms: row.now_ms,
          },
          callOptions(),
        );
  if (difference !== null) throw new ExecutorFault('rejected', 'SIGN_REQUEST_MISMATCH', difference);
  const { nonce, usable } = await claimFor(deps, row, context);
  const window = nodeWindow(descriptor);
  const deadline = deadlineOf(momentNow(), window);
  const { write, behind } = fenceWrite(row, {
    context,
    window: Math.max(window, usable) + behindSeconds(deps.clocks?.differences),
    claim: nonce,
    addresses: payees.addresses,
    requirements,
    found,
  });
  const outcome = await applyTransition(deps.db, write);
  return outcome.ok
    ? { row: behind, context, transaction: outcome.transaction, deadline }
    : { unfenced: { refused: outcome } };
}
