/**
 * Decisions about several movements. Each decision is a separate signed request for the plan that
 * this page has read and hashed.
 */
import { ApiError, ClientUsageError } from '../../../clients/http/errors.ts';
import { mayRepeat } from '../../../clients/http/retry.ts';
import type { CompiledPlan } from '../../../domain/plan/types.ts';
import { plannedSends } from '../../../domain/send/planned-sends.ts';
import { afterFailure } from '../../data/after-failure.ts';
import { paced } from '../../data/pace.ts';
import { theClient } from '../../data/session.ts';
import type { ListedRow } from '../movement/model/answers.ts';
import { outflowOf, type AssetAmount } from '../movement/model/outflow.ts';
import { payeesOf, type PayeeView } from '../movement/model/payees.ts';
import { readPlan } from '../movement/model/plan.ts';
import { IS_NOT_SO, refusalOf, type Detail, type Verb } from './model.ts';

export interface Candidate {
  readonly movement_id: string;
  readonly detail: Detail | null;
  /** Outflow from the plan's bytes; null when the plan does not say, or does not match its hash. */
  readonly outflow: readonly AssetAmount[] | null;
  readonly payees: readonly PayeeView[];
  /** The plan, whose text has the hash that would be approved; null when it has not. */
  readonly plan: CompiledPlan | null;
  /** Why the movement cannot be decided here; null when it can. */
  readonly refused: string | null;
}

/**
 * Reads what a decision about a movement needs; never throws. `rows` is null when the allowlist
 * cannot be read.
 */
export async function candidateOf(
  movement_id: string,
  verb: Verb,
  rows: readonly ListedRow[] | null,
): Promise<Candidate> {
  const params = { movement_id };
  const nothing = { movement_id, outflow: null, payees: [], plan: null };
  try {
    await paced();
    const detail = await theClient().call('getMovement', { params });
    await paced();
    const { text } = await theClient().request('getMovementPlan', { params });
    const reading = await readPlan(text, detail.compiled_plan_hash);
    if (reading.status !== 'agrees') return { ...nothing, detail, refused: reading.problem };
    const sends = plannedSends(reading.plan);
    const payees = payeesOf({ sends, movement: detail, rows, now: Date.now() });
    const about = { outflow: outflowOf(reading.plan), payees };
    const refused = refusalOf(verb, detail, { ...about, sends, isListed: rows !== null });
    return { movement_id, detail, ...about, plan: reading.plan, refused };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { ...nothing, detail: null, refused: `It could not be read. ${why}` };
  }
}

export interface Outcome {
  readonly movement_id: string;
  /** False when no request was sent. */
  readonly isSent: boolean;
  /** True when the response was lost: the remaining decisions wait until a person has looked. */
  readonly isLost: boolean;
  readonly isDone: boolean;
  readonly says: string;
}

export interface Decision {
  readonly verb: Verb;
  readonly operator: string;
  readonly reason: string;
}

/** Sends one decision, once. After a lost response returns the movement's present state. */
export async function decide(
  { movement_id, compiled_plan_hash }: Detail,
  { verb, operator: approver_id, reason }: Decision,
): Promise<Outcome> {
  const params = { movement_id };
  try {
    await paced();
    const answer =
      verb === 'approve'
        ? await theClient().call('approveMovement', {
            params,
            body: { compiled_plan_hash, approver_id, ...(reason === '' ? {} : { reason }) },
          })
        : await theClient().call('rejectMovement', {
            params,
            body: { compiled_plan_hash, approver_id, reason },
          });
    const missing = missingOf(answer);
    const says =
      missing === 0
        ? `It is ${answer.request_state}.`
        : `Your approval is recorded; ${String(missing)} more missing.`;
    return { movement_id, isSent: true, isLost: false, isDone: true, says };
  } catch (error) {
    if (afterFailure(error).kind === 'look_first') return lookedUp(movement_id, verb);
    const says = error instanceof Error ? error.message : String(error);
    // The service accepted nothing, so the decision can be sent again.
    const isOpen =
      error instanceof ClientUsageError || lacksReason(error) || mayRepeat(error, false);
    return { movement_id, isSent: !isOpen, isLost: false, isDone: false, says };
  }
}

/** Returns how many approvals a rule still needs after this one. */
function missingOf({ approvals }: { readonly approvals?: Detail['approvals'] }): number {
  return (approvals?.required ?? []).reduce((sum, { missing }) => sum + missing, 0);
}

/** An approval rule requires a reason, which can be typed and sent. */
function lacksReason(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'reason_required';
}

async function lookedUp(movement_id: string, verb: Verb): Promise<Outcome> {
  const lost = { movement_id, isSent: true, isLost: true };
  try {
    const { request_state, approver_id } = await theClient().call('getMovement', {
      params: { movement_id },
    });
    const by = approver_id === null ? '' : `, decided as ${approver_id}`;
    const isDone = !IS_NOT_SO[verb](request_state);
    return { ...lost, isDone, says: `No answer came; it is ${request_state}${by}.` };
  } catch {
    const says = 'No answer came, and it could not be looked up: look before you decide again.';
    return { ...lost, isDone: false, says };
  }
}
