/** The only writer of a state column: applies a transition in one statement, or refuses it. */
import { CALLBACK_EVENTS } from '../domain/events.ts';
import { MOVEMENT_TABLE } from '../domain/states/movement.ts';
import { NODE_TABLE } from '../domain/states/node.ts';
import { assertMove, allows } from '../domain/states/table.ts';
import type { AssertionProblem } from '../domain/approval/evidence.ts';
import type { WhyNot } from '../domain/approval/rule.ts';
import type { ClaimHolder } from '../domain/claims.ts';
import type {
  BudgetProblem,
  ClaimedTransaction,
  MovementHead,
  NodeChange,
  Refusal,
  SendObstacle,
  Transition,
  TransitionOutcome,
  UncoveredHold,
  BindingProblem,
} from '../domain/transition.ts';
import type { NodeState } from '../domain/states/node.ts';
import type { LoadedMovement, PhaseArgs } from '../domain/messages.ts';
import { newId } from '../platform/ids.ts';
import type { Database } from '../prisma/client.ts';
import { proveApproval } from './decisions.ts';
import { auditRows, withEventIds } from './event-ids.ts';
import {
  APPROVALS_MISSING,
  BUDGET_REFUSED,
  NOT_COVERED,
  run,
  SNAPSHOT_STALE,
  sqlState,
  readKept,
  writeOrFind,
} from './faults.ts';
import type { NodeAndView, PhaseRow } from './phases.ts';

/** What `apply_transition` returns. */
export interface Answer extends MovementHead {
  readonly ok: boolean;
  readonly reason?: Refusal;
  readonly problems?: readonly BindingProblem[] | null;
  readonly send?: SendObstacle | null;
  readonly holder?: ClaimHolder | null;
  readonly why?: WhyNot | AssertionProblem | null;
  readonly node?: { node_key: string; state: NodeState; attempt: number; epoch: number } | null;
  readonly transaction?: ClaimedTransaction | null;
}

/**
 * Applies `transition` as compare-and-set. A refusal is a result, not an exception, and means that
 * nothing was written. A send is written only with proof of the approvals that a rule wants signed:
 * see {@link proveApproval}. Throws {@link IllegalMove} for a move that is in no table (a defect),
 * `dependency_unavailable` when the database is unreachable and nothing was written, and
 * `outcome_unknown` when the answer was lost and the command is not found (yet).
 */
export function applyTransition(db: Database, transition: Transition): Promise<TransitionOutcome> {
  return applyBy(db, transition, async (doc) => {
    const rows = await db.sql<{ answer: Answer }>`SELECT apply_transition(${doc}::jsonb) AS answer`;
    return rows[0]?.answer;
  });
}

/**
 * Like {@link applyTransition}; the same statement then reads another node of the movement, as the
 * transition has left it. `found` is null when the transition was refused or there is no such node.
 * `view`: whether to read the movement's view too; else the view is null.
 */
export async function applyAndRead(
  db: Database,
  transition: Transition,
  { node_key, view }: { readonly node_key: string; readonly view: boolean },
): Promise<{ readonly outcome: TransitionOutcome; readonly found: NodeAndView | null }> {
  const { movement_id } = transition;
  let found: NodeAndView | null = null;
  const outcome = await applyBy(db, transition, async (doc) => {
    // OFFSET makes Postgres apply the transition once, before it reads. Both functions that read
    // are VOLATILE, so they see what the same statement has written.
    const rows = await db.sql<{
      answer: Answer;
      row: PhaseRow | null;
      view: LoadedMovement | null;
    }>`
      SELECT w.answer,
        CASE WHEN w.answer -> 'ok' = 'true'
          THEN read_phase(${movement_id}::uuid, ${node_key}) END AS row,
        CASE WHEN w.answer -> 'ok' = 'true' AND ${view}::boolean
          THEN movement_view(${movement_id}::uuid, svc_now()) END AS view
      FROM (SELECT apply_transition(${doc}::jsonb) AS answer OFFSET 0) w`;
    const [read] = rows;
    found = read === undefined || read.row === null ? null : { row: read.row, view: read.view };
    return read?.answer;
  });
  return { outcome, found };
}

/** Applies the transition by `write`, which gets the input of the SQL function as JSON. */
async function applyBy(
  db: Database,
  transition: Transition,
  write: (doc: string) => Promise<Answer | undefined>,
): Promise<TransitionOutcome> {
  if (begins(transition) && !db.mayBegin()) return LEAVING;
  const commandId = transition.command === undefined ? null : newId();
  const document = transitionDocument(db, transition, commandId);
  const writeOf = (doc: string) => async (): Promise<Answer> => {
    const answer = await write(doc);
    if (answer === undefined) throw new Error('the SQL function apply_transition returned no row');
    return answer;
  };
  const outcome = await applied(db, commandId, writeOf(JSON.stringify(document)));
  if (outcome.ok || outcome.reason !== 'approval_not_proven') return outcome;
  const proven = await proveApproval(db, transition.movement_id);
  return proven === null
    ? outcome
    : applied(db, commandId, writeOf(JSON.stringify({ ...document, proven })));
}

/** Runs a write that applies a transition, and returns its outcome; see {@link applyTransition}. */
export async function applied(
  db: Database,
  commandId: string | null,
  write: () => Promise<Answer>,
): Promise<TransitionOutcome> {
  let answer: Answer;
  try {
    answer = commandId === null ? await run(write) : await writeOnce(db, write, commandId);
  } catch (error) {
    return notCovered(error);
  }
  return answer.ok ? doneOf(answer, commandId) : refusedOf(answer);
}

/** Returns whether this transition lets a send start, or stores another version of a send. */
function begins({ nodes = [] }: Transition): boolean {
  return nodes.some(({ moves, version }) => moves.includes('SUBMITTING') || version !== undefined);
}

type Done = Extract<TransitionOutcome, { ok: true }>;
type Refused = Extract<TransitionOutcome, { ok: false }>;

const LEAVING: Refused = {
  ok: false,
  reason: 'leaving',
  head: null,
  problems: [],
  budget: null,
  uncovered: null,
  send: null,
  node: null,
};

function doneOf(answer: Answer, commandId: string | null): Done {
  return {
    ok: true,
    head: headOf(answer),
    transaction: answer.transaction ?? null,
    command_id: commandId,
  };
}

function refusedOf(answer: Answer): Refused {
  return {
    ok: false,
    reason: answer.reason ?? 'version',
    head: answer.reason === 'movement_not_found' ? null : headOf(answer),
    problems: answer.problems ?? [],
    budget: null,
    uncovered: null,
    send: answer.send ?? null,
    holder: answer.holder ?? null,
    why: answer.why ?? null,
    node: answer.node ?? null,
  };
}

/**
 * Returns the refusal of a write that failed on a hold, a budget, or a rule that began to match
 * after it was counted (then the decision is made again); rethrows other errors.
 */
function notCovered(error: unknown): Refused {
  if (sqlState(error) === APPROVALS_MISSING) return { ...LEAVING, reason: 'version' };
  const [uncovered, budget] = [uncoveredHold(error), budgetProblem(error)];
  if (uncovered === null && budget === null) throw error;
  const reason = uncovered === null ? 'budget' : 'withdrawable';
  return {
    ok: false,
    reason,
    head: null,
    problems: [],
    budget,
    uncovered,
    send: null,
    node: null,
  };
}

/**
 * Results of both writes of a reassignment, or why both were refused; see
 * domain/commands/reassign.ts.
 */
export type ReassignOutcome =
  { readonly ok: true; readonly released: Done; readonly taken: Done } | Refused;

/** Like {@link applyTransition}, for two movements: either both are changed, or neither is. */
export async function applyReassignment(
  db: Database,
  { released, taken }: { readonly released: Transition; readonly taken: Transition },
): Promise<ReassignOutcome> {
  const ids = [newId(), newId()] as const;
  const documentOf = (each: Transition, commandId: string): string =>
    JSON.stringify(transitionDocument(db, each, commandId));
  const docs = [documentOf(released, ids[0]), documentOf(taken, ids[1])] as const;
  const write = async (): Promise<ReassignAnswer> => {
    const [row] = await db.sql<{ answer: ReassignAnswer }>`
      SELECT reassign_claims(${docs[0]}::jsonb, ${docs[1]}::jsonb) AS answer`;
    if (row === undefined) throw new Error('the SQL function reassign_claims returned no row');
    return row.answer;
  };
  let answer: ReassignAnswer;
  try {
    answer = await writeOnce(db, write, ids[1]);
  } catch (error) {
    return notCovered(error);
  }
  if (!answer.ok) return refusedOf(answer.refused);
  return {
    ok: true,
    released: doneOf(answer.released, ids[0]),
    taken: doneOf(answer.taken, ids[1]),
  };
}

type ReassignAnswer =
  | { readonly ok: true; readonly released: Answer; readonly taken: Answer }
  | { readonly ok: false; readonly refused: Answer };

/**
 * Reads a node that signs nothing and passes its send fence, in one statement. If the fence is not
 * passed, nothing was written, and the caller must find out why. `pays_nobody`: the executor's
 * action types that have no payee chosen by the plan.
 */
export async function tryFence(
  db: Database,
  args: PhaseArgs & {
    readonly executor_key: string;
    /** Id of the fence's timeline event; {@link findFence} finds the fence by this id. */
    readonly event_id: string;
    readonly window_seconds: number;
    readonly pays_nobody: readonly string[];
  },
): Promise<{ readonly passed: boolean; readonly row: PhaseRow | null }> {
  const { movement_id, node_key, attempt, executor_key, event_id } = args;
  const { window_seconds, pays_nobody } = args;
  assertMove(NODE_TABLE, 'READY', 'SUBMITTING');
  if (!db.mayBegin()) return { passed: false, row: null };
  const rows = await run(
    () => db.sql<{ answer: { passed: boolean; row: PhaseRow | null } }>`
      SELECT try_fence(${movement_id}::uuid, ${node_key}, ${attempt}::integer, ${executor_key},
        ${window_seconds}::double precision,
                       ${event_id}, ${JSON.stringify(pays_nobody)}::jsonb) AS answer`,
  );
  return rows[0]?.answer ?? { passed: false, row: null };
}

/**
 * Returns the node whose fence was written although the database's answer was lost; null when there
 * is none or the node has changed since. The synchronous standby has the returned row too, so a
 * failover cannot lose the fence of a send.
 */
export function findFence(db: Database, eventId: string): Promise<PhaseRow | null> {
  return run(() =>
    readKept(db, async () => {
      const rows = await db.sql<{ row: PhaseRow }>`
        SELECT read_phase(n.movement_id, n.node_key) AS row
        FROM timeline_events e JOIN movement_nodes n USING (movement_id, node_key)
        WHERE e.event_id = ${eventId}::uuid AND n.state = 'SUBMITTING'
          AND n.updated_at = e.occurred_at`;
      return rows[0]?.row ?? null;
    }),
  );
}

/**
 * Runs a write with a command. If the answer is lost, looks up the command by its id before a
 * repeat; for a repeated command id the SQL function returns the present movement.
 */
function writeOnce<T>(db: Database, write: () => Promise<T>, commandId: string): Promise<T> {
  return writeOrFind(db, write, async () => {
    const known = await db.command.findUnique({ where: { command_id: commandId } });
    return known === null ? null : write();
  });
}

/** Returns the uncovered hold that failed the write (nothing was written); else null. */
export function uncoveredHold(error: unknown): UncoveredHold | null {
  const state = sqlState(error);
  if (
    !(error instanceof Error) ||
    (state !== SNAPSHOT_STALE && !(state === BUDGET_REFUSED && error.message === NOT_COVERED))
  )
    return null;
  const detail = JSON.parse(String(Reflect.get(error, 'detail'))) as Omit<
    UncoveredHold,
    'effective_withdrawable'
  > &
    Partial<UncoveredHold>;
  return { ...detail, effective_withdrawable: detail.effective_withdrawable ?? null };
}

/** Returns the budget over which the write failed; null for other errors. */
function budgetProblem(error: unknown): BudgetProblem | null {
  if (
    sqlState(error) !== BUDGET_REFUSED ||
    !(error instanceof Error) ||
    error.message === NOT_COVERED
  )
    return null;
  const policy: unknown = Reflect.get(error, 'detail');
  return { reason: error.message, policy_id: typeof policy === 'string' ? policy : '' };
}

function headOf(answer: Answer): MovementHead {
  return {
    version: answer.version,
    request_state: answer.request_state,
    approval_status: answer.approval_status,
    reservation_status: answer.reservation_status,
    current_frontier: answer.current_frontier,
  };
}

function assertMoves(transition: Transition): void {
  const { from, to } = transition;
  if (to !== undefined) {
    if (from === undefined)
      throw new Error('a transition that sets `to` must also name the states in `from`');
    const legal = from.filter((state) => state === to || allows(MOVEMENT_TABLE, state, to));
    const [first] = from;
    if (legal.length === 0 && first !== undefined) assertMove(MOVEMENT_TABLE, first, to);
  }
  for (const change of transition.nodes ?? []) {
    let at = change.from;
    for (const next of change.moves) {
      assertMove(NODE_TABLE, at, next);
      at = next;
    }
  }
}

/**
 * Returns the input of the SQL function. Ids are set here, so that a repeat writes the same rows.
 * Throws {@link IllegalMove} for a move that is in no table.
 */
export function transitionDocument(
  db: Database,
  transition: Transition,
  commandId: string | null,
): Record<string, unknown> {
  assertMoves(transition);
  const { from, to, set, nodes, timeline, audit, command, ...rest } = transition;
  return {
    ...rest,
    ...(from === undefined
      ? {}
      : {
          states:
            to === undefined
              ? from
              : from.filter((state) => state === to || allows(MOVEMENT_TABLE, state, to)),
        }),
    set: { ...set, ...(to === undefined ? {} : { request_state: to }) },
    nodes: (nodes ?? []).map(nodeDocument),
    timeline: withEventIds(timeline),
    callback_types: CALLBACK_EVENTS,
    audit: auditRows(db, audit ?? []),
    ...(commandId === null ? {} : { command_id: commandId, command_kind: command }),
  };
}

function nodeDocument(change: NodeChange): Record<string, unknown> {
  const { from, moves, set, artifacts, nonce, ...rest } = change;
  const last = moves.at(-1);
  return {
    ...rest,
    states: [from],
    set: { ...set, ...(last === undefined ? {} : { state: last }) },
    artifacts: (artifacts ?? []).map((artifact) => ({ ...artifact, artifact_id: newId() })),
    ...(nonce === undefined ? {} : { nonce: { ...nonce, transaction_id: newId() } }),
  };
}
