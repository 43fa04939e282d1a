/**
 * cancel: the executor of a node in flight is asked to end it. What becomes of it is observed, not
 * believed.
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
 * The context to ask with, or null when the node no longer is in flight in a cancelled movement.
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

/**
 * Asks once; an executor that cannot be asked changes nothing, since the node is observed to its
 * end anyway.
 */
export async function cancel(deps: PhaseDependencies, args: PhaseArgs): Promise<void> {
  try {
    const asked = await cancellable(deps, args);
    if (asked === null) return;
    const { row, context } = asked;
    await repeatable(deps, (options) => executorOf(deps, row).cancel(context, options));
  } catch (error) {
    if (!(error instanceof ExecutorFault)) throw error;
    deps.log.warn(
      { err: error, movement_id: args.movement_id, node_key: args.node_key },
      'an executor could not be asked to cancel',
    );
    return;
  }
  await noteAsked(deps, args);
}

/** The timeline tells that the executor was asked. */
export async function noteAsked(deps: PhaseDependencies, args: PhaseArgs): Promise<void> {
  const row = await phaseRow(deps, args);
  if (!IN_FLIGHT_NODE_STATES.includes(row.state)) return;
  // A race with the end of the node is harmless: the note is left out then.
  await writeNode(deps, row, {
    moves: [],
    event: 'node_observing',
    message: 'Its executor was asked to cancel',
  });
}
