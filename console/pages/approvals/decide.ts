/**
 * Decisions over several movements: each is one signed request of its own, over the plan that this
 * page has read and hashed.
 */
import { ClientUsageError } from '../../../clients/http/errors.ts';
import type { ResultOf } from '../../../clients/http/operations.ts';
import { plannedSends } from '../../../domain/plan/planned-sends.ts';
import { afterFailure } from '../../data/after-failure.ts';
import { theClient } from '../../data/session.ts';
import type { ListedRow } from '../movement/model/answers.ts';
import { outflowOf, type AssetAmount } from '../movement/model/outflow.ts';
import { payeesOf, type PayeeView } from '../movement/model/payees.ts';
import { readPlan } from '../movement/model/plan.ts';

export type Detail = ResultOf<'getMovement'>;

export interface Candidate {
  readonly movement_id: string;
  readonly detail: Detail | null;
  /** By the bytes of the plan; null where they say nothing, or cannot be believed. */
  readonly outflow: readonly AssetAmount[] | null;
  readonly payees: readonly PayeeView[];
  /** Why it cannot be decided here; null when it can. */
  readonly refused: string | null;
}

export type Verb = 'approve' | 'reject';

/** Reads what a movement's decision is about; never throws. `rows`: null where none can be read. */
export async function candidateOf(
  movement_id: string,
  verb: Verb,
  rows: readonly ListedRow[] | null,
): Promise<Candidate> {
  const params = { movement_id };
  const nothing = { movement_id, outflow: null, payees: [] };
  try {
    const detail = await theClient().call('getMovement', { params });
    const { text } = await theClient().request('getMovementPlan', { params });
    const reading = await readPlan(text, detail.compiled_plan_hash);
    if (reading.status !== 'agrees') return { ...nothing, detail, refused: reading.problem };
    const sends = plannedSends(reading.plan);
    const payees = payeesOf({ sends, movement: detail, rows, now: Date.now() });
    const about = { outflow: outflowOf(reading.plan), payees };
    return { movement_id, detail, ...about, refused: refusalOf(verb, detail, about) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { ...nothing, detail: null, refused: `It could not be read. ${why}` };
  }
}

/** What a person has to look at singly is not approved among others. */
function refusalOf(
  verb: Verb,
  detail: Detail,
  { outflow, payees }: Pick<Candidate, 'outflow' | 'payees'>,
): string | null {
  if (detail.request_state !== 'PENDING_APPROVAL')
    return `It was decided meanwhile: it is ${detail.request_state}.`;
  if (verb === 'reject') return null;
  if (outflow === null || outflow.some(({ amount }) => amount === null))
    return 'What it can move is not bounded: decide it on its own page.';
  const over = detail.review?.limits.filter(({ ok }) => ok === false) ?? [];
  if (over.length > 0)
    return `It is over ${over.map(({ control }) => control).join(', ')}: decide it on its own page.`;
  const [warning] = payees.flatMap(({ warnings }) => warnings);
  if (warning !== undefined)
    return `A payee has a warning (${warning.text}): decide it on its own page.`;
  const failing = detail.review?.would_fail.find(({ at }) => at === 'approve');
  return failing === undefined
    ? null
    : `Its approval would be refused now (${failing.message}): decide it on its own page.`;
}

export interface Outcome {
  readonly movement_id: string;
  /** False where nothing has left this browser. */
  readonly isSent: boolean;
  readonly isDone: boolean;
  readonly says: string;
}

export interface Decision {
  readonly verb: Verb;
  readonly operator: string;
  readonly reason: string;
}

/** Sends one decision, once. After a lost answer it says what the movement is now. */
export async function decide(
  { movement_id, compiled_plan_hash }: Detail,
  { verb, operator: approver_id, reason }: Decision,
): Promise<Outcome> {
  const params = { movement_id };
  try {
    const { request_state } =
      verb === 'approve'
        ? await theClient().call('approveMovement', {
            params,
            body: { compiled_plan_hash, approver_id },
          })
        : await theClient().call('rejectMovement', {
            params,
            body: { compiled_plan_hash, approver_id, reason },
          });
    return { movement_id, isSent: true, isDone: true, says: `It is ${request_state}.` };
  } catch (error) {
    if (afterFailure(error).kind === 'look_first') return lookedUp(movement_id, verb);
    const says = error instanceof Error ? error.message : String(error);
    return { movement_id, isSent: !(error instanceof ClientUsageError), isDone: false, says };
  }
}

/** What shows that nothing was decided so, whoever has decided otherwise. */
const NOT_SO: Readonly<Record<Verb, (state: Detail['request_state']) => boolean>> = {
  approve: (state) => ['PENDING_APPROVAL', 'REJECTED', 'EXPIRED', 'CANCELLED'].includes(state),
  reject: (state) => state !== 'REJECTED',
};

async function lookedUp(movement_id: string, verb: Verb): Promise<Outcome> {
  try {
    const { request_state, approver_id } = await theClient().call('getMovement', {
      params: { movement_id },
    });
    const by = approver_id === null ? '' : `, decided as ${approver_id}`;
    return {
      movement_id,
      isSent: true,
      isDone: !NOT_SO[verb](request_state),
      says: `No answer came; it is ${request_state}${by}.`,
    };
  } catch {
    return {
      movement_id,
      isSent: true,
      isDone: false,
      says: 'No answer came, and it could not be looked up: look before you decide again.',
    };
  }
}
