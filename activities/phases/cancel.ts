/**
 * cancel: requests that the executor end a node in flight. The executor's answer decides nothing;
 * the outcome of the node is still observed.
 */
import { ExecutorFault, type ExecutionContext } from '../../domain/executor.ts';
import type { PhaseArgs } from '../../domain/messages.ts';
import { IN_FLIGHT_NODE_STATES } from '../../domain/states/node.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { amountOf } from './amount.ts';
import { executorOf } from './bound-executor.ts';
import { contextOf, type PhaseDependencies } from './context.ts';
import { repeatableCall } from './phase.ts';
import { phaseRow } from './row.ts';
import { writeNode } from './write.ts';

/**
 * Returns the row and the execution context for the cancel request; null when the node is not in
 * flight in a cancelled movement.
 */
export async function cancellable(
  deps: PhaseDependencies,
  args: PhaseArgs,
): Promise<{ readonly row: PhaseRow; readonly context: ExecutionContext } | null> {
  const row = await phaseRow(deps, args);
  const open = row.attempt === args.attempt && IN_FLIGHT_NODE_STATES.includes(row.state);
  if (!open || row.movement_state !== 'CANCELLED') return null;
  return { row, context: await contextOf(deps, row, amountOf(row) ?? '0', 'look') };
}

/** Sends one cancel request. If it is lost, nothing changes: the node is observed anyway. */
export async function cancel(deps: PhaseDependencies, args: PhaseArgs): Promise<void> {
  const answer = await nullIfLost(deps, args, async () => {
    const open = await cancellable(deps, args);
    if (open === null) return null;
    const { row, context } = open;
    const executor = executorOf(deps, row);
    return repeatableCall(deps, row, (options) => executor.cancel(context, options));
  });
  if (answer !== null) await noteCancelRequested(deps, args);
}

/** Returns the result of `work`; null, and logs why, when an {@link ExecutorFault} ends it. */
export async function nullIfLost<T>(
  deps: PhaseDependencies,
  { movement_id, node_key }: PhaseArgs,
  work: () => Promise<T>,
): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ExecutorFault)) throw error;
    deps.log.warn(
      { err: error, movement_id, node_key },
      'the cancel request did not reach the executor',
    );
    return null;
  }
}

/** Writes the cancel request on the movement's timeline. */
export async function noteCancelRequested(deps: PhaseDependencies, args: PhaseArgs): Promise<void> {
  const row = await phaseRow(deps, args);
  if (!IN_FLIGHT_NODE_STATES.includes(row.state)) return;
  // If the node ends first, the timeline lacks this entry, which is harmless.
  await writeNode(deps, row, {
    moves: [],
    event: 'node_observing',
    message: 'Cancel requested from its executor',
  });
}
