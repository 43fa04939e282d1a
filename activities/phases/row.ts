/** Gets the row of the node that a phase works on: by a read, or with the write before it. */
import type { DecideArgs, PhaseArgs } from '../../domain/messages.ts';
import type { Transition, TransitionOutcome } from '../../domain/transition.ts';
import {
  readPhase,
  readPhaseAndView,
  type NodeAndView,
  type PhaseRow,
} from '../../store/phases.ts';
import { applyAndRead, applyTransition } from '../../store/transition.ts';
import type { PhaseDependencies } from './context.ts';

/** Reads the node. Throws when there is none: a phase always has an existing node. */
export async function phaseRow(deps: PhaseDependencies, args: PhaseArgs): Promise<PhaseRow> {
  const found = await readNode(deps, args);
  if (found === null) throw new Error(`movement ${args.movement_id} has no node ${args.node_key}`);
  return withCourse(args, found);
}

async function readNode({ db }: PhaseDependencies, args: PhaseArgs): Promise<NodeAndView | null> {
  const { movement_id, node_key } = args;
  if (readsView(args)) return readPhaseAndView(db, movement_id, node_key);
  const row = await readPhase(db, movement_id, node_key);
  return row === null ? null : { row, view: null };
}

/**
 * Writes the completion of a node with the decision that follows. If the decision makes the chain's
 * next node ready and the chain has time for it, the same statement reads that node.
 */
export async function writeAndReadAhead(
  { db, ahead }: PhaseDependencies,
  transition: Transition,
  decision: DecideArgs,
): Promise<TransitionOutcome> {
  if (ahead === undefined || !ahead.soon() || !makesReady(decision, ahead.args))
    return applyTransition(db, transition);
  const { args } = ahead;
  const { node_key } = args;
  const view = readsView(args);
  const { outcome, found } = await applyAndRead(db, transition, { node_key, view });
  ahead.row = found === null ? null : withCourse(args, found);
  return outcome;
}

/** Returns whether the decision makes this attempt of the node ready. */
export function makesReady(
  { ready }: Pick<DecideArgs, 'ready'>,
  { node_key, attempt }: PhaseArgs,
): boolean {
  return ready.some((each) => each.node_key === node_key && each.attempt === attempt);
}

/**
 * Returns whether the movement is read with the node. The run only hints that a decision follows,
 * so the decision is computed again.
 */
function readsView({ decides, then }: PhaseArgs): boolean {
  return decides === true && then !== undefined;
}

/** Adds to the row what the phase's arguments say of the decision behind the node. */
export function withCourse({ decides }: PhaseArgs, { row, view }: NodeAndView): PhaseRow {
  return decides === true ? { ...row, course: { view } } : row;
}
