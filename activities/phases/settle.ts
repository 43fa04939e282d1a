/** Ends a node: completed, failed, or unknown until a person or a proof decides. */
import { advance } from '../../domain/commands/advance.ts';
import { settle, type Settlement } from '../../domain/commands/conditions.ts';
import type { ConditionNode } from '../../domain/conditions/scope.ts';
import { DELIVERY_LATE, LANE_STUCK, SEND_UNDER_WAY } from '../../domain/attention-reasons.ts';
import type { TimelineEventType } from '../../domain/events.ts';
import { ExecutorFault, type ExecutionResult } from '../../domain/executor.ts';
import { followsCompletion, isAlone } from '../../domain/decision.ts';
import type { Advance, DecideArgs, PhaseResult } from '../../domain/messages.ts';
import { hasCompared, saysAtVenue, VENUE_ENTRY_CHANGED } from '../../domain/send/at-venue.ts';
import { sendKey } from '../../domain/send/key.ts';
import type { NodeState } from '../../domain/states/node.ts';
import { storable } from '../../domain/text.ts';
import { NOW, type NodeFields } from '../../domain/transition.ts';
import { OWN_CODES } from '../../executors/protocol.ts';
import { readConditionScope } from '../../store/conditions.ts';
import { readMovementView, type PhaseRow } from '../../store/phases.ts';
import { hasStartedSubmit } from '../../store/questions.ts';
import { amountOf } from './amount.ts';
import { claimsWith } from './claims.ts';
import type { PhaseDependencies } from './context.ts';
import { result } from './results.ts';
import { writeAndReadAhead } from './row.ts';
import { mustWrite, notWritten, transitionOf, type NodeWrite } from './write.ts';

/**
 * Returns whether a person requested a look at the unknown outcome of a send that was never
 * accepted. Recovery then calls the executor; if nothing is found, the node is unknown again.
 */
export function isLookedFor(row: PhaseRow): boolean {
  return row.state === 'OBSERVING' && row.resumed && row.submitted_ms === null && !onlyLooks(row);
}

/** Returns whether the node sends nothing and only looks. */
export function onlyLooks({ node }: PhaseRow): boolean {
  return node.node_kind === 'observe';
}

/** Returns whether the node was sent, or only looks, and is not OBSERVING yet. */
export function isBeforeObserving(row: PhaseRow): boolean {
  return row.state === 'SUBMITTED' || (row.state === 'READY' && onlyLooks(row));
}

/** Returns the moves to the end state, through the states that the transition table requires. */
export function movesTo(row: PhaseRow, end: NodeState): readonly NodeState[] {
  return isBeforeObserving(row) ? ['OBSERVING', end] : [end];
}

/**
 * Settles the node as FAILED. The caller has proof that nothing landed, or that the venue ended the
 * send. `answer`: what the executor reported of it, such as the transaction that moved nothing and
 * what it cost.
 */
export async function failNode(
  deps: PhaseDependencies,
  row: PhaseRow,
  code: string,
  message: string,
  moves: readonly NodeState[],
  answer: ExecutionResult = { next_state: 'FAILED' },
): Promise<PhaseResult> {
  // A stop caused the cancellation, since no person requested one; failure edges of the plan then
  // do not fire.
  const ended_by_stop = code === 'TRANSACTION_CANCELLED' && !row.cancel_asked;
  const conditions = await settlement(deps, row, {
    state: 'FAILED',
    error_code: code,
    ended_by_stop,
  });
  await mustWrite(deps, row, {
    moves,
    ...(conditions === null ? {} : { conditions }),
    set: {
      ...reported(withEarlier(row, answer)),
      error_code: code,
      error_message: storable(message, 1_000),
      completed_at: NOW,
      recover_first: false,
      unanswered: 0,
    },
    event: 'node_failed',
    message: `Failed: ${code}`,
    data: { error_code: code, error_message: storable(message, 500) },
  });
  return {
    ...result('FAILED', 'settled', code),
    ...(ended_by_stop ? { ended_by_stop: true } : {}),
    ...(conditions === null ? {} : { conditions: conditions.results }),
  };
}

/** Returns the answer with what the node's output has beside it. */
function withEarlier({ output: earlier }: PhaseRow, answer: ExecutionResult): ExecutionResult {
  const { output } = answer;
  return output === undefined ? answer : { ...answer, output: { ...earlier, ...output } };
}

export const INCONCLUSIVE = 'RECOVERY_INCONCLUSIVE';

/**
 * Returns the code of an UNKNOWN node: the executor's, or {@link INCONCLUSIVE} without one and in
 * place of a code that only the service may set. {@link VENUE_ENTRY_CHANGED} comes as a fault, and
 * an executor that reports it in an answer would keep the node from being called failed.
 */
export function doubtCode({ error_code = INCONCLUSIVE }: ExecutionResult): string {
  return [...OWN_CODES, VENUE_ENTRY_CHANGED].includes(error_code) ? INCONCLUSIVE : error_code;
}

/** An answer that is not believed: it counts as silence, and is shown beside what stays. */
export class NotBelieved extends ExecutorFault {
  constructor(why: string) {
    super('protocol', INCONCLUSIVE, why);
  }
}

/**
 * Returns whether a code is shown at once, whatever the node shows: it says what the venue has, or
 * that a nonce lane is stuck.
 */
export function isShownAtOnce(error_code: string | undefined): error_code is string {
  return error_code === LANE_STUCK || saysAtVenue(error_code);
}

/**
 * Returns what the node shows after a look without an answer. What the venue was found to have
 * stays, unless the fault's own code is shown at once; of an UNKNOWN node everything that its
 * executor reported stays. {@link VENUE_ENTRY_CHANGED} of an UNKNOWN node replaces such a report,
 * unless that is of a stuck nonce lane. Of any node it stays only until another look has compared
 * the entries.
 */
export function afterSilence(
  { state, error_code, error_message }: PhaseRow,
  fault: ExecutorFault,
): ExecutorFault {
  const { kind, code, message, retryAfterSeconds } = fault;
  const isUnknown = state === 'UNKNOWN';
  const isShown = isShownAtOnce(error_code ?? undefined);
  const isUnseen = isUnknown && code === VENUE_ENTRY_CHANGED && !isShown;
  if (isUnseen || isShownAtOnce(code)) return fault;
  const isReported =
    saysAtVenue(error_code) || (error_code !== null && outlasts(error_code, { isUnknown }, fault));
  if (isReported && error_message !== null)
    return new ExecutorFault(kind, error_code, besides(error_message, fault), {
      cause: fault,
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    });
  return isUnknown ? new ExecutorFault(kind, INCONCLUSIVE, message) : fault;
}

/** Returns whether a code that says nothing of the venue's records stays after this fault. */
function outlasts(
  error_code: string,
  { isUnknown }: { readonly isUnknown: boolean },
  fault: ExecutorFault,
): boolean {
  if (error_code === VENUE_ENTRY_CHANGED)
    return !hasCompared(fault) || fault instanceof NotBelieved;
  return isUnknown && error_code !== INCONCLUSIVE;
}

function besides(shows: string, fault: ExecutorFault): string {
  const said = storable(fault.message, 1_000);
  return fault instanceof NotBelieved && !shows.includes(said) ? `${shows}; ${said}` : shows;
}

/** Returns why an answer leaves the outcome unknown. */
export function doubtText({ error_message }: ExecutionResult): string {
  return error_message ?? 'the executor cannot tell';
}

/** Makes the node UNKNOWN: a person decides, and nothing is sent again automatically. */
export function unknownNode(
  deps: PhaseDependencies,
  row: PhaseRow,
  why: string,
  moves: readonly NodeState[],
): Promise<PhaseResult> {
  return unknownByAnswer(deps, row, { next_state: 'UNKNOWN', error_message: why }, moves);
}

/**
 * As {@link unknownNode}, where no answer counts: none came, or it is doubtful. What the venue was
 * found to have stays ({@link afterSilence}).
 */
export function unknownBySilence(
  deps: PhaseDependencies,
  row: PhaseRow,
  fault: ExecutorFault,
): Promise<PhaseResult> {
  const isUnseen = row.error_code === VENUE_ENTRY_CHANGED && !hasCompared(fault);
  const isKept = isUnseen || isShownAtOnce(fault.code) || fault instanceof NotBelieved;
  const { code: error_code, message: error_message } = afterSilence(
    row,
    isKept ? fault : new ExecutorFault('timeout', INCONCLUSIVE, fault.message),
  );
  const answer = { next_state: 'UNKNOWN', error_code, error_message } as const;
  return unknownAs(deps, row, answer, movesTo(row, 'UNKNOWN'));
}

/** As {@link unknownNode}, with the code and the reference that the executor reported. */
export function unknownByAnswer(
  deps: PhaseDependencies,
  row: PhaseRow,
  { output: _unproven, ...answer }: ExecutionResult,
  moves: readonly NodeState[],
): Promise<PhaseResult> {
  return unknownAs(deps, row, { ...answer, error_code: doubtCode(answer) }, moves);
}

/** As {@link unknownNode}, with what the executor reported and a code that the caller chose. */
export async function unknownAs(
  deps: PhaseDependencies,
  row: PhaseRow,
  answer: ExecutionResult & { readonly error_code: string },
  moves: readonly NodeState[],
): Promise<PhaseResult> {
  const { error_code, external_ref } = answer;
  const why = doubtText(answer);
  const reference = external_ref === undefined ? {} : { external_ref };
  await mustWrite(deps, row, {
    moves,
    set: {
      ...reported(answer),
      error_code,
      error_message: storable(why, 1_000),
      recover_first: false,
    },
    event: 'node_unknown',
    message: storable(`Unknown: ${why}`, 500),
    data: { error_code, ...reference, idempotency_key: sendKey(row.movement_id, row) },
  });
  return result('UNKNOWN', 'settled', error_code);
}

/**
 * Code of a refused send: another node of the movement may have been sent before a restore. Only
 * the venue of that other node can prove whether it was.
 */
export const RESTORED_NODE_UNASKED = 'RESTORED_NODE_UNASKED';

/**
 * Stops the node before the send. The node fails, since nothing landed. A node that was accepted
 * once becomes UNKNOWN instead: its earlier send may have landed even if it cannot be found.
 */
export function stopBeforeSend(
  deps: PhaseDependencies,
  row: PhaseRow,
  code: string,
  message: string,
): Promise<PhaseResult> {
  if (code === RESTORED_NODE_UNASKED) return unknownNode(deps, row, message, ['UNKNOWN']);
  if (row.submitted_ms === null) return stopUnaccepted(deps, row, code, message);
  return unknownNode(
    deps,
    row,
    `an earlier send was accepted, and the node cannot be sent again (${code}): ${message}`,
    ['UNKNOWN'],
  );
}

/**
 * Stops a node that was never accepted. If a team's worker had started a submit, only a message
 * through Temporal says that nothing landed, and anyone with access to Temporal can forge one. That
 * is enough to submit again under the same key, but not to fail the node: a retry would pay under
 * another key.
 */
async function stopUnaccepted(
  deps: PhaseDependencies,
  row: PhaseRow,
  code: string,
  message: string,
): Promise<PhaseResult> {
  const { kind } = deps.executors.describe(row.node.executor_binding.executor_key) ?? {};
  if (kind !== 'task_queue' || !(await hasStartedSubmit(deps.db, row)))
    return failNode(deps, row, code, message, ['FAILED']);
  const why = `a submit of the team's worker started, and only an unproven message through Temporal says that nothing landed; the node cannot be sent again (${code}): ${message}`;
  return unknownNode(deps, row, why, ['UNKNOWN']);
}

/** Settles the node as COMPLETED with the result that the executor reported. */
export async function completeNode(
  deps: PhaseDependencies,
  row: PhaseRow,
  answer: ExecutionResult,
  moves: readonly NodeState[],
  event: TimelineEventType = 'node_completed',
): Promise<PhaseResult> {
  const conditions = await settlement(deps, row, {
    state: 'COMPLETED',
    output: answer.output ?? row.output,
  });
  const write: NodeWrite = {
    moves,
    ...(conditions === null ? {} : { conditions }),
    set: {
      ...reported(answer),
      ...sentAmount(row),
      ...ANSWERED,
      completed_at: NOW,
      recover_first: false,
      error_count: 0,
    },
    artifacts: answer.artifacts ?? [],
    claims: claimsWith(row, answer),
    event,
    message: event === 'node_completed' ? 'Completed' : 'Recovered: completed',
    ...(answer.external_ref === undefined ? {} : { data: { external_ref: answer.external_ref } }),
  };
  const advance = row.conditional ? null : await completeAndDecide(deps, row, write);
  if (advance !== null) return { ...result('COMPLETED', 'settled'), advance };
  await mustWrite(deps, row, write);
  return {
    ...result('COMPLETED', 'settled'),
    ...(conditions === null ? {} : { conditions: conditions.results }),
  };
}

/**
 * Maximum number of tries to write a completion together with its decision, while other nodes
 * complete and decide too; after these tries the run decides.
 */
const MOST_LOOKS = 5;

/**
 * Writes the completion and the decision that follows. Returns null when nothing was written and
 * the run must decide.
 */
async function completeAndDecide(
  deps: PhaseDependencies,
  row: PhaseRow,
  write: NodeWrite,
): Promise<Advance | null> {
  if (row.course === undefined) return null;
  // If two nodes complete at the same time, the view of each lacks the completion of the other.
  const { view: before } = row.course;
  const alone =
    before !== null && isAlone(before, row) ? followsCompletion(before, row) : undefined;
  const known = alone === undefined ? null : await writeBoth(deps, row, write, alone);
  if (known !== null) return known;
  for (let looks = 0; looks < MOST_LOOKS; looks += 1) {
    const view = await readMovementView(deps.db, row.movement_id);
    const decision = view === null ? undefined : followsCompletion(view, row);
    if (decision === undefined) return null;
    const written = await writeBoth(deps, row, write, decision);
    if (written !== null) return written;
  }
  return null;
}

async function writeBoth(
  deps: PhaseDependencies,
  row: PhaseRow,
  write: NodeWrite,
  decision: DecideArgs,
): Promise<Advance | null> {
  const completion = transitionOf(row, [write]);
  // Only COMPLETED can follow from a completion, and it uses up the reservation, so the values
  // 'none' and false have no effect here.
  const next = advance(decision, 'none', false);
  const both = {
    ...next,
    nodes: [...(completion.nodes ?? []), ...(next.nodes ?? [])],
    timeline: [...completion.timeline, ...next.timeline],
  };
  const outcome = await writeAndReadAhead(deps, both, decision);
  if (outcome.ok) return { decision, version: outcome.head?.version ?? decision.version + 1 };
  if (outcome.reason === 'version') return null;
  throw notWritten(row, outcome.reason);
}

/** Returns the results of the settled node's conditional edges; null without such edges. */
async function settlement(
  deps: PhaseDependencies,
  row: PhaseRow,
  end: Partial<ConditionNode> & { state: NodeState; ended_by_stop?: boolean },
): Promise<Settlement | null> {
  if (!row.conditional) return null;
  const { nodes, ...plan } = await readConditionScope(deps.db, row.movement_id);
  return settle(plan, nodes, {
    node_key: row.node_key,
    attempt: row.attempt,
    resumed: row.resumed,
    output: null,
    error_code: null,
    ...end,
  });
}

/** Returns the amount of a send as a field to write, if a restore of the database has lost it. */
export function sentAmount(row: PhaseRow): NodeFields {
  return row.amount === null ? { amount: amountOf(row) } : {};
}

/** Fields that clear earlier looks without an answer. */
export const ANSWERED = { error_code: null, error_message: null, unanswered: 0 } as const;

/**
 * Returns what the node shows after an answer that its send has not ended: the executor's reason,
 * if it has one. `SEND_UNDER_WAY` stays, unless the answer's code is shown at once, or says that a
 * delivery is late. Clears earlier looks without an answer.
 */
export function shown(
  row: Pick<PhaseRow, 'error_code' | 'error_message'>,
  { error_code, error_message = 'no reason stated' }: ExecutionResult,
): Pick<PhaseRow, 'error_code' | 'error_message' | 'unanswered'> {
  const says = error_code === DELIVERY_LATE || isShownAtOnce(error_code);
  if (row.error_code === SEND_UNDER_WAY && !says)
    return { error_code: row.error_code, error_message: row.error_message, unanswered: 0 };
  return error_code === undefined
    ? ANSWERED
    : { error_code, error_message: storable(error_message, 1_000), unanswered: 0 };
}

/** Returns the fields of the node that an executor's answer sets. */
export function reported(answer: ExecutionResult): NodeFields {
  return {
    ...(answer.external_ref === undefined ? {} : { external_ref: answer.external_ref }),
    ...(answer.output === undefined ? {} : { output: answer.output }),
  };
}
