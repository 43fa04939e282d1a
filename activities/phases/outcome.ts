/** How a phase's outcome becomes durable: one guarded write with its timeline entry. */
import type { Artifact, ExecutionResult } from '../../domain/executor.ts';
import type { ExecutorFault } from '../../domain/executor.ts';
import { settle, type Settlement } from '../../domain/actions/conditions.ts';
import type { ConditionNode } from '../../domain/conditions/scope.ts';
import type { TimelineEventType } from '../../domain/events.ts';
import type { ConditionResults, PhaseResult } from '../../domain/messages.ts';
import type { Actor } from '../../domain/roles.ts';
import type { NodeState } from '../../domain/states/node.ts';
import { storable } from '../../domain/text.ts';
import { NOW, type NodeChange, type NodeFields, type TimelineEntry, type TransitionOutcome } from '../../domain/transition.ts';
import { readConditionScope, type PhaseRow } from '../../store/phases.ts';
import { applyTransition } from '../../store/transition.ts';
import { backoffSeconds, lookPauseSeconds, maxAttempts, Overtaken, tryAgain } from '../failures.ts';
import { amountOf, type PhaseDependencies } from './context.ts';
import { result } from './results.ts';

export interface NodeWrite {
  readonly moves: readonly NodeState[];
  readonly set?: NodeFields;
  readonly artifacts?: readonly Artifact[];
  readonly event: TimelineEventType;
  readonly message: string;
  readonly data?: Readonly<Record<string, string | number | boolean | null>>;
  /** What settling the node settles beside it. */
  readonly conditions?: Settlement;
}

/** The executor's key as the timeline shows it. */
export function executorActor(row: PhaseRow): Actor {
  return { type: 'executor', label: row.node.executor_binding.executor_key };
}

/** The node sends nothing: it is there to look. */
export function onlyLooks({ node }: PhaseRow): boolean {
  return node.node_kind === 'observe';
}

/** Sent, or there to look, and not shown as OBSERVING yet. */
export function isBeforeObserving(row: PhaseRow): boolean {
  return row.state === 'SUBMITTED' || (row.state === 'READY' && onlyLooks(row));
}

/** The moves to an end through the states that the table asks for. */
export function movesTo(row: PhaseRow, end: NodeState): readonly NodeState[] {
  return isBeforeObserving(row) ? ['OBSERVING', end] : [end];
}

/** Writes changes of the node as it was read, in one transaction and this order; the caller looks at `ok`. */
export function writeNode(deps: PhaseDependencies, row: PhaseRow, ...writes: readonly NodeWrite[]): Promise<TransitionOutcome> {
  const change: NodeChange = {
    node_key: row.node_key,
    from: row.state,
    moves: writes.flatMap(({ moves }) => moves),
    attempt: row.attempt,
    epoch: row.epoch,
    set: writes.reduce<NodeFields>((all, { set }) => ({ ...all, ...set }), {}),
    artifacts: writes.flatMap(({ artifacts }) => artifacts ?? []),
  };
  const conditions = writes.flatMap((write) => write.conditions ?? []);
  return applyTransition(deps.db, {
    movement_id: row.movement_id,
    nodes: [change],
    ...(conditions.length === 0
      ? {}
      : { conditions: conditions.reduce<ConditionResults>((all, { results }) => ({ ...all, ...results }), {}) }),
    timeline: [...writes.map((write) => entryOf(row, write)), ...conditions.flatMap(({ timeline }) => timeline)],
  });
}

function entryOf(row: PhaseRow, write: NodeWrite): TimelineEntry {
  const last = write.moves.at(-1);
  return {
    event_type: write.event,
    message: write.message,
    actor: executorActor(row),
    node_key: row.node_key,
    attempt: row.attempt,
    ...(last === undefined ? {} : { from_state: row.state, to_state: last }),
    ...(write.data === undefined ? {} : { data: write.data }),
  };
}

/** As {@link writeNode}, for writes that nothing but an operator or a recovery can overtake. */
export async function mustWrite(deps: PhaseDependencies, row: PhaseRow, ...writes: readonly NodeWrite[]): Promise<void> {
  const outcome = await writeNode(deps, row, ...writes);
  if (!outcome.ok) throw new Overtaken(`${row.node_key} changed while it was worked on (${outcome.reason}); it is read again`);
}

/** Settles the node as FAILED: proven that nothing landed, or that the venue ended it. */
export async function failNode(
  deps: PhaseDependencies,
  row: PhaseRow,
  code: string,
  message: string,
  moves: readonly NodeState[],
): Promise<PhaseResult> {
  const conditions = await settlement(deps, row, { state: 'FAILED', error_code: code });
  await mustWrite(deps, row, {
    moves,
    ...(conditions === null ? {} : { conditions }),
    set: { error_code: code, error_message: storable(message, 1_000), completed_at: NOW, recover_first: false, unanswered: 0 },
    event: 'node_failed',
    message: `Failed: ${code}`,
    data: { error_code: code, error_message: storable(message, 500) },
  });
  return { ...result('FAILED', 'settled', code), ...(conditions === null ? {} : { conditions: conditions.results }) };
}

export const INCONCLUSIVE = 'RECOVERY_INCONCLUSIVE';

/** A person decides: nothing is sent again by itself. */
export async function unknownNode(deps: PhaseDependencies, row: PhaseRow, why: string, moves: readonly NodeState[]): Promise<PhaseResult> {
  await mustWrite(deps, row, {
    moves,
    set: { error_code: INCONCLUSIVE, error_message: storable(why, 1_000), recover_first: false },
    event: 'node_unknown',
    message: storable(`Unknown: ${why}`, 500),
    data: { error_code: INCONCLUSIVE },
  });
  return result('UNKNOWN', 'settled', INCONCLUSIVE);
}

/**
 * What stops a node before it is sent fails it, since nothing has landed. Of what was accepted once nobody knows that, also
 * where a person had it sent again because it cannot be found.
 */
export function stopBeforeSend(deps: PhaseDependencies, row: PhaseRow, code: string, message: string): Promise<PhaseResult> {
  if (row.submitted_ms === null) return failNode(deps, row, code, message, ['FAILED']);
  return unknownNode(deps, row, `it was accepted once, and cannot be sent again (${code}): ${message}`, ['UNKNOWN']);
}

/** Settles the node as COMPLETED with what the executor reported. */
export async function completeNode(
  deps: PhaseDependencies,
  row: PhaseRow,
  answer: ExecutionResult,
  moves: readonly NodeState[],
  event: TimelineEventType = 'node_completed',
): Promise<PhaseResult> {
  const conditions = await settlement(deps, row, { state: 'COMPLETED', output: answer.output ?? row.output });
  await mustWrite(deps, row, {
    moves,
    ...(conditions === null ? {} : { conditions }),
    set: { ...reported(answer), ...sentAmount(row), ...ANSWERED, completed_at: NOW, recover_first: false, error_count: 0 },
    artifacts: answer.artifacts ?? [],
    event,
    message: event === 'node_completed' ? 'Completed' : 'Recovered: completed',
    ...(answer.external_ref === undefined ? {} : { data: { external_ref: answer.external_ref } }),
  });
  return { ...result('COMPLETED', 'settled'), ...(conditions === null ? {} : { conditions: conditions.results }) };
}

/** What the conditions behind the node come to once it is settled; null where no edge has one. */
async function settlement(
  deps: PhaseDependencies,
  row: PhaseRow,
  end: Partial<ConditionNode> & { state: NodeState },
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

/** What a send that the database had forgotten was of: no preflight has noted it. */
export function sentAmount(row: PhaseRow): NodeFields {
  return row.amount === null ? { amount: amountOf(row) } : {};
}

/** What a look that told something takes back of those before it. */
export const ANSWERED = { error_code: null, error_message: null, unanswered: 0 } as const;

/** The fields an executor's answer fills in. */
export function reported(answer: ExecutionResult): NodeFields {
  return {
    ...(answer.external_ref === undefined ? {} : { external_ref: answer.external_ref }),
    ...(answer.output === undefined ? {} : { output: answer.output }),
  };
}

/**
 * Counts an executor error on the node's row and repeats the phase later; `exhausted` says what to do
 * once the node's attempts are used up. Faults of our own database or of Temporal are never counted.
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
  const outcome = await applyTransition(deps.db, {
    movement_id: row.movement_id,
    nodes: [{ node_key: row.node_key, from: row.state, moves: [], attempt: row.attempt, epoch: row.epoch, set: { error_count: count } }],
    timeline: [],
  });
  if (!outcome.ok) throw new Overtaken(`${row.node_key} changed while it was worked on`);
  // The executor's words go to the log: in the history they would outlive every rule about what it may hold.
  deps.log.warn({ err: fault, movement_id: row.movement_id, node_key: row.node_key }, 'a call of an executor failed and is repeated');
  throw tryAgain(
    fault.code,
    `${row.node_key}: error ${count} of at most ${maxAttempts(policy)}`,
    fault.retryAfterSeconds ?? backoffSeconds(policy, count),
  );
}

/** How long a send may stay unanswered before a person is asked, where no setting says. */
const UNANSWERED_SECONDS = 900;

/**
 * A look at what became of the node that told nothing. That proves nothing, so it is shown on the node and looked
 * again for as long as it takes. After a while (at once where its time is over, `impatient`, or the executor itself
 * cannot tell) `person` says what a person is told; without it nobody is.
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
  if (options.person !== undefined && (isLong || (options.impatient === true && count >= maxAttempts(policy)))) return options.person();
  await noteUnanswered(deps, row, fault, count);
  throw tryAgain(fault.code, `${row.node_key}: look ${count} told nothing`, fault.retryAfterSeconds ?? lookPauseSeconds(policy, count));
}

/** Shows the last answer on the node. Its words go to the row and the log, never to the history. */
export async function noteUnanswered(deps: PhaseDependencies, row: PhaseRow, fault: ExecutorFault, count: number): Promise<void> {
  const set = { unanswered: count, error_code: fault.code, error_message: storable(fault.message, 1_000) };
  const outcome = await applyTransition(deps.db, {
    movement_id: row.movement_id,
    nodes: [{ node_key: row.node_key, from: row.state, moves: [], attempt: row.attempt, epoch: row.epoch, set }],
    timeline: [],
  });
  if (!outcome.ok) throw new Overtaken(`${row.node_key} changed while it was looked at`);
  deps.log.warn(
    { err: fault, movement_id: row.movement_id, node_key: row.node_key },
    'what became of a node cannot be seen; it is asked again',
  );
}
