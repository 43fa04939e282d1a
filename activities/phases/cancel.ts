/**
 * cancel: requests that the executor end a node in flight. The executor's answer decides nothing;
 * the outcome of the node is still observed.
 */
import { ExecutorFault, type ExecutionContext } from '../../domain/executor.ts';
import type { PhaseArgs } from '../../domain/messages.ts';
import { IN_FLIGHT_NODE_STATES } from '../../domain/states/node.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { repeatable } from '../leaving.ts';
import { amountOf } from './amount.ts';
import { executorOf } from './bound-executor.ts';
import { contextOf, type PhaseDependencies } from './context.ts';
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
  try {
    const open = await cancellable(deps, args);
    if (open === null) return;
    const { row, context } = open;
    await repeatable(deps, (options) => executorOf(deps, row).cancel(context, options));
  } catch (error) {
    if (!(error instanceof ExecutorFault)) throw error;
    deps.log.warn(
      { err: error, movement_id: args.movement_id, node_key: args.node_key },
      'the cancel request did not reach the executor',
    );
    return;
  }
  await noteCancelRequested(deps, args);
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
