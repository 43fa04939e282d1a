/**
 * Decisions over several movements: each is one signed request of its own, over the plan that this
 * page has read and hashed.
 */
import { ClientUsageError } from '../../../clients/http/errors.ts';
import type { ResultOf } from '../../../clients/http/operations.ts';
import { planHash } from '../../../clients/http/plan.ts';
import { afterFailure } from '../../data/after-failure.ts';
import { theClient } from '../../data/session.ts';

export type Detail = ResultOf<'getMovement'>;

export interface Candidate {
  readonly movement_id: string;
  readonly detail: Detail | null;
  /** Why it cannot be decided here; null when it can. */
  readonly refused: string | null;
}

/** Reads what a movement's approval is about; never throws. */
export async function candidateOf(movement_id: string): Promise<Candidate> {
  const params = { movement_id };
  try {
    const detail = await theClient().call('getMovement', { params });
    const { text } = await theClient().request('getMovementPlan', { params });
    const isSame = (await planHash(text)) === detail.compiled_plan_hash;
    return { movement_id, detail, refused: refusalOf(detail, isSame) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { movement_id, detail: null, refused: `It could not be read. ${why}` };
  }
}

/** What a person has to look at singly is not decided among others. */
export function refusalOf(detail: Detail, isSame: boolean): string | null {
  if (detail.request_state !== 'PENDING_APPROVAL')
    return `It was decided meanwhile: it is ${detail.request_state}.`;
  if (!isSame) return 'The plan that was read is not the one that would be approved.';
  if (detail.outflow.some(({ amount }) => amount === null))
    return 'What it can move is not bounded: decide it on its own page.';
  const over = detail.review?.limits.filter(({ ok }) => ok === false) ?? [];
  if (over.length > 0)
    return `It is over ${over.map(({ control }) => control).join(', ')}: decide it on its own page.`;
  const payees = detail.review?.sends.flatMap((send) => send.payees) ?? [];
  const unpaid = payees.find(({ code, problem }) => code !== null || problem !== null);
  return unpaid === undefined
    ? null
    : `A payee may not be paid now (${unpaid.code ?? unpaid.problem ?? ''}): decide it on its own page.`;
}

export interface Outcome {
  readonly movement_id: string;
  /** False where nothing has left this browser. */
  readonly isSent: boolean;
  readonly isDone: boolean;
  readonly says: string;
}

export interface Decision {
  readonly verb: 'approve' | 'reject';
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
    if (afterFailure(error).kind === 'look_first') return lookedUp(movement_id);
    const says = error instanceof Error ? error.message : String(error);
    return { movement_id, isSent: !(error instanceof ClientUsageError), isDone: false, says };
  }
}

async function lookedUp(movement_id: string): Promise<Outcome> {
  try {
    const { request_state, approver_id } = await theClient().call('getMovement', {
      params: { movement_id },
    });
    const by = approver_id === null ? '' : `, decided as ${approver_id}`;
    return {
      movement_id,
      isSent: true,
      isDone: request_state !== 'PENDING_APPROVAL',
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
