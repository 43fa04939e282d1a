/**
 * Writes decisions about movements. Anyone with access to Temporal can schedule an activity with
 * any arguments, so each decision is computed again from the stored movement; the argument only
 * says which decision the run expects.
 */
import { isDeepStrictEqual } from 'node:util';
import { advance } from '../domain/commands/advance.ts';
import { attemptOf, decide, nextOf } from '../domain/decision.ts';
import { onCancelTargets } from '../domain/graph/edges.ts';
import type { DecideArgs, DecideResult, LoadedMovement } from '../domain/messages.ts';
import type { TransitionOutcome } from '../domain/transition.ts';
import type { Database } from '../prisma/client.ts';
import { readEnd, readMovementView } from '../store/phases.ts';
import { applyTransition } from '../store/transition.ts';

/**
 * Writes the decision if the stored movement leads to the same decision. Returns `applied: false`
 * when another decision or a change of a node came first; the run then loads the movement again.
 */
export async function writeIfItFollows(db: Database, handed: DecideArgs): Promise<DecideResult> {
  const view = await readMovementView(db, handed.movement_id);
  if (view === null) return { applied: false, version: handed.version };
  const decision = decisionFor(view, handed);
  if (decision === null) return { applied: false, version: view.version };
  const outcome = await writeDecision(db, decision);
  return { applied: outcome.ok, version: outcome.head?.version ?? view.version };
}

/** Writes a decision computed from the stored movement, if the movement has not changed. */
export async function writeDecision(
  db: Database,
  decision: DecideArgs,
): Promise<TransitionOutcome> {
  const end = decision.ended
    ? await readEnd(db, decision.movement_id)
    : { reservation: 'none' as const, spent: false };
  return applyTransition(db, advance(decision, end.reservation, end.spent));
}

/**
 * Returns the decision that follows from the view if it equals `handed`, else null. Only the run
 * knows which nodes a cancel stopped in time, so these are taken from `handed`: a READY node that
 * was not sent may be stopped, unless the plan lets it run after a cancel.
 */
function decisionFor(view: LoadedMovement, handed: DecideArgs): DecideArgs | null {
  const lasting = onCancelTargets(view.edges);
  const named = new Set(handed.stop.map(attemptOf));
  const stopped = view.nodes
    .filter((node) => !node.recover_first && (node.brings ?? null) === null)
    .filter((node) => !lasting.has(node.node_key) && named.has(attemptOf(node)));
  const decision = decide(view, nextOf(view), new Set(stopped.map(attemptOf)));
  const { begin: _, ...expected } = handed;
  return isDeepStrictEqual(decision, expected) ? decision : null;
}
