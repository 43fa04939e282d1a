/** What may be done about a change request, and what its state means. Pure. */
import type { ResultOf } from '../../../clients/http/operations.ts';
import type { WhyNot } from '../../../domain/approval/rule.ts';
import { mayApproveSentence } from '../../../domain/approval/why-not.ts';

export type Change = ResultOf<'getChangeRequest'>;

/** Sentences that differ from those about movements. */
const SENTENCES: Readonly<Partial<Record<WhyNot, string>>> = {
  initiator: 'You may not approve: you made this change request.',
  not_waiting: 'The change request does not wait for an approval.',
};

/** Returns whether the caller may approve a change request, and else why not, as a sentence. */
export function mayApproveChange(why: WhyNot | null): string {
  return (why === null ? undefined : SENTENCES[why]) ?? mayApproveSentence(why);
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
