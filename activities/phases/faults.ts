/**
 * What an executor's error costs: it is counted or noted on the node, and the phase is tried again.
 */
import type { ExecutorFault } from '../../domain/executor.ts';
import type { PhaseResult } from '../../domain/messages.ts';
import { storable } from '../../domain/text.ts';
import type { NodeFields } from '../../domain/transition.ts';
import { noteNextLook, type PhaseRow } from '../../store/phases.ts';
import { applyTransition } from '../../store/transition.ts';
import { backoffSeconds, lookPauseSeconds, maxAttempts, Overtaken, tryAgain } from '../failures.ts';
import type { PhaseDependencies } from './context.ts';

/**
 * Counts an executor error on the node's row and repeats the phase later; `exhausted` says what to
 * do once the node's attempts are used up. Faults of our own database or of Temporal are never
 * counted.
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
  // The executor's words go to the log: in the history they would outlive every rule about what it
  // may hold.
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

/** How long a send may stay unanswered before a person is asked, where no setting says. */
const UNANSWERED_SECONDS = 900;

/**
 * A look at what became of the node that told nothing. That proves nothing, so it is shown on the
 * node and looked again for as long as it takes. After a while (at once where its time is over,
 * `impatient`, or the executor itself cannot tell) `person` says what a person is told; without it
 * nobody is.
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
  throw tryAgain(fault.code, `${row.node_key}: look ${count} told nothing`, pause);
}

/** Shows the last answer on the node. Its words go to the row and the log, never to the history. */
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
    'what became of a node cannot be seen; it is asked again',
  );
}

/** Fields of the node as it was read, without a line on the timeline. */
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
