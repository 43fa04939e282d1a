/** Handles an executor's error: counts it or shows it on the node, and repeats the phase. */
import type { ExecutorFault } from '../../domain/executor.ts';
import type { PhaseResult } from '../../domain/messages.ts';
import { storable } from '../../domain/text.ts';
import type { NodeFields } from '../../domain/transition.ts';
import { noteNextLook, type PhaseRow } from '../../store/phases.ts';
import { applyTransition } from '../../store/transition.ts';
import { backoffSeconds, lookPauseSeconds, maxAttempts, Overtaken, tryAgain } from '../failures.ts';
import type { PhaseDependencies } from './context.ts';

/**
 * Counts an executor error on the node and repeats the phase later. Calls `exhausted` once no
 * attempt of the node is left. Faults of our database or of Temporal are not counted.
 */
export async function countFault(
  deps: PhaseDependencies,
  row: PhaseRow,
  fault: ExecutorFault,
  exhausted: () => Promise<PhaseResult>,
): Promise<PhaseResult> {
  const policy = row.node.retry_policy;
  const count = row.error_count + 1;
  if (count >= maxAttempts(policy)) return exhausted();
  await note(deps, row, { error_count: count }, 'worked on');
  // The executor's message goes to the log, not to Temporal's history, which cannot be cleaned.
  deps.log.warn(
    { err: fault, movement_id: row.movement_id, node_key: row.node_key },
    'a call of an executor failed and is repeated',
  );
  throw tryAgain(
    fault.code,
    `${row.node_key}: error ${count} of at most ${maxAttempts(policy)}`,
    fault.retryAfterSeconds ?? backoffSeconds(policy, count),
  );
}

/** Default of {@link PhaseDependencies.unansweredSeconds}. */
const UNANSWERED_SECONDS = 900;

/**
 * Handles a call without a usable result, be it silence or an answer that only says to wait: shows
 * the fault on the node and repeats the call, since that proves nothing. After `unansweredSeconds`
 * (with `impatient`: already after the policy's attempts) calls `person`, which hands the node to a
 * person. Without `person` the calls go on.
 */
export async function unanswered(
  deps: PhaseDependencies,
  row: PhaseRow,
  fault: ExecutorFault,
  options: { readonly impatient?: boolean; readonly person?: () => Promise<PhaseResult> } = {},
): Promise<PhaseResult> {
  const policy = row.node.retry_policy;
  const count = row.unanswered + 1;
  const since = row.unanswered_ms ?? row.now_ms;
  const isLong = row.now_ms - since >= (deps.unansweredSeconds ?? UNANSWERED_SECONDS) * 1000;
  if (
    options.person !== undefined &&
    (isLong || (options.impatient === true && count >= maxAttempts(policy)))
  )
    return options.person();
  await noteUnanswered(deps, row, fault, count);
  const pause = fault.retryAfterSeconds ?? lookPauseSeconds(policy, count);
  await noteNextLook(deps.db, row, pause);
  throw tryAgain(fault.code, `${row.node_key}: look ${count} brought no result`, pause);
}

/** Shows the fault on the node. Its message goes to row and log, never to Temporal's history. */
export async function noteUnanswered(
  deps: PhaseDependencies,
  row: PhaseRow,
  fault: ExecutorFault,
  count: number,
): Promise<void> {
  const set = {
    unanswered: count,
    error_code: fault.code,
    error_message: storable(fault.message, 1_000),
  };
  await note(deps, row, set, 'looked at');
  deps.log.warn(
    { err: fault, movement_id: row.movement_id, node_key: row.node_key },
    'the outcome of a node is unknown; its executor is called again',
  );
}

/** Sets fields of the node if it has not changed since it was read; no timeline entry. */
async function note(
  deps: PhaseDependencies,
  row: PhaseRow,
  set: NodeFields,
  doing: string,
): Promise<void> {
  const outcome = await applyTransition(deps.db, {
    movement_id: row.movement_id,
    nodes: [
      {
        node_key: row.node_key,
        from: row.state,
        moves: [],
        attempt: row.attempt,
        epoch: row.epoch,
        set,
      },
    ],
    timeline: [],
  });
  if (!outcome.ok) throw new Overtaken(`${row.node_key} changed while it was ${doing}`);
}
