/** What may be done about a change request, and what its state means. Pure. */
import type { ResultOf } from '../../../clients/http/operations.ts';
import type { NamedMovement } from '../../../domain/approval/named-movements.ts';
import type { WhyNot } from '../../../domain/approval/rule.ts';
import { mayApproveSentence } from '../../../domain/approval/why-not.ts';
import type { ListedRow, Movement } from '../movement/model/answers.ts';
import type { PlanReading } from '../movement/model/plan.ts';
import type { DocumentReading } from './document.ts';

/** A change request. Its `kind` lists all kinds once it is read from the document. */
export type Change = Omit<ResultOf<'getChangeRequest'>, 'kind'> & { readonly kind: string };

/** The document of a change request, checked against the request's hash. */
export interface ReadDocument {
  /** Null while it is not read. */
  readonly reading: DocumentReading | null;
  /** Why it could not be read; null without an error. */
  readonly error: Error | null;
}

/** A movement that a change request acts on, with its plan checked against the request's hash. */
export interface NamedPlan extends NamedMovement {
  /** Null while it is not read. */
  readonly reading: PlanReading | null;
  /** Why the plan or the movement could not be read; null without an error. */
  readonly error: Error | null;
  /** The movement as it is now; null while it is not read. */
  readonly movement: Movement | null;
}

/** What the movements that a change request acts on move. */
export interface Moves {
  /** Null when this release cannot read which movements it acts on. */
  readonly plans: readonly NamedPlan[] | null;
  readonly rows: readonly ListedRow[] | null;
  /** Why the allowlist could not be read; null when it was read. */
  readonly rowsError: Error | null;
}

/** Sentences that differ from those about movements. */
const SENTENCES: Readonly<Partial<Record<WhyNot, string>>> = {
  initiator: 'You may not approve: you made this change request.',
  not_waiting: 'The change request does not wait for an approval.',
};

/** Returns whether the caller may approve a change request, and else why not, as a sentence. */
export function mayApproveChange(why: WhyNot | null): string {
  return (why === null ? undefined : SENTENCES[why]) ?? mayApproveSentence(why);
}

/** Returns why it is not known what a request changes; null when its document has its hash. */
export function documentProblem({ reading, error }: ReadDocument): string | null {
  if (reading === null)
    return error === null
      ? 'The document of the change request is being read.'
      : `The document of the change request could not be read: ${error.message}`;
  return reading.status === 'agrees' ? null : reading.problem;
}

/**
 * Returns why a request must not be approved, by the movements that it acts on; null when each is
 * read, its plan has the hash that the request names, and its payees can be checked.
 */
export function whyNotKnown({ plans, rows, rowsError }: Moves): string | null {
  if (plans === null)
    return 'This version of the console cannot read which movements the change request acts on. Reload the page, or use fundctl of the release that runs.';
  const problem = plans.map(planProblem).find((why) => why !== null) ?? null;
  if (problem !== null || plans.length === 0 || rows !== null) return problem;
  return rowsError === null
    ? 'The allowlist is being read.'
    : 'The allowlist could not be read, so the payees cannot be checked.';
}

/**
 * Returns why it is not known what a movement moves; null when it is read, and its plan agrees with
 * the request.
 */
export function planProblem(named: NamedPlan): string | null {
  const { movement_id, plan_hash, reading, error, movement } = named;
  if (reading === null || (reading.status === 'agrees' && movement === null)) {
    const what = reading === null ? 'The plan of movement' : 'Movement';
    return error === null
      ? `${what} ${movement_id} is being read.`
      : `${what} ${movement_id} could not be read: ${error.message}`;
  }
  if (reading.status === 'agrees') return null;
  return reading.status === 'differs'
    ? `The plan of movement ${movement_id} has the hash ${reading.hash}, but the change request names ${plan_hash}: approve nothing, and report it.`
    : reading.problem;
}

/** Returns how many approvals are missing. */
export function missingOf({ approvals }: Pick<Change, 'approvals'>): number {
  return approvals.required.reduce((sum, { missing }) => sum + missing, 0);
}

/** Returns what people must do although no approval is missing; null when some is, or it ended. */
export function remainsOf(change: Pick<Change, 'state' | 'author' | 'approvals'>): string | null {
  if (change.state !== 'open' || missingOf(change) > 0) return null;
  return isOfFundadmin(change)
    ? 'No approval is missing: the same fundadmin command makes the change when it is run again.'
    : 'No approval is missing, but the call was not made: approve it again to make it.';
}

/** Returns whether a fundadmin command makes the change, which the service cannot do itself. */
export function isOfFundadmin({ author }: Pick<Change, 'author'>): boolean {
  return author?.startsWith('fundadmin:') === true;
}

/**
 * Returns whether the caller made the change request. The service also compares people, so an
 * author may be known by the reason why the caller may not approve.
 */
export function isAuthor(
  { author, approvals }: Pick<Change, 'author' | 'approvals'>,
  client_id: string | null,
): boolean {
  return author === client_id || approvals.you.why_not === 'initiator';
}

/** Returns what became of a change request after a decision, as a sentence. */
export function outcomeOf(change: Pick<Change, 'state' | 'author' | 'approvals' | 'code'>): string {
  switch (change.state) {
    case 'open':
      return (
        remainsOf(change) ?? `Your approval is recorded; ${String(missingOf(change))} more missing.`
      );
    case 'applied':
      return 'The change was made.';
    case 'failed':
      return `The call was made and refused (${change.code ?? 'no code'}): nothing was changed.`;
    default:
      return `The change request is ${change.state}: nothing was changed.`;
  }
}
