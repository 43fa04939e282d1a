/**
 * Shows approvals of movements and change requests under approval rules: what is missing, who
 * approved, and whether you may.
 */
import { mayApproveSentence } from '../../domain/approval/why-not.ts';
import { printable } from '../command-line/printable.ts';
import type { Styled } from '../command-line/table.ts';
import type { View } from '../command-line/view.ts';
import type { ResultOf } from '../http/operations.ts';

type Approvals = NonNullable<ResultOf<'getMovement'>['approvals']>;
type Approver = ResultOf<'listMovementApprovers'>['approvers'][number];

/** Returns what each rule lacks, who approved, and whether the caller may approve. */
export async function approvalsText(
  view: View,
  { required, decisions, you }: Approvals,
): Promise<string> {
  return [
    view.heading('Approvals'),
    await view.table(required, {
      RULE: 'rule',
      GROUP: 'group',
      APPROVED: { right: (row) => `${String(row.received)} of ${String(row.threshold)}` },
      MISSING: {
        right: ({ missing }): Styled => ({
          text: String(missing),
          tone: missing === 0 ? undefined : 'waiting',
        }),
      },
    }),
    ...(decisions.length === 0 ? [] : [view.heading('Who has approved')]),
    await view.table(decisions, {
      NAME: 'name',
      PERSON: 'person',
      TIME: { when: 'at' },
      COUNTS: countsCell,
      REASON: 'reason',
    }),
    `\n${youText(view, you)}\n`,
  ].join('');
}

/** Returns each member of the rules' groups, and whether the member may approve. */
export function approversText(view: View, approvers: readonly Approver[]): Promise<string> {
  return view.table(approvers, {
    RULE: 'rule',
    NAME: 'name',
    PERSON: 'person',
    GROUPS: ({ groups }) => groups.join(', '),
    MAY: ({ may, why_not }): Styled =>
      may ? { text: 'yes' } : { text: `no: ${why_not ?? 'not said'}`, tone: 'bad' },
    APPROVED: { when: 'decided_at' },
    COUNTS: (row) => (row.decided_at === null ? null : countsCell(row)),
  });
}

function youText(view: View, { why_not }: Approvals['you']): string {
  const sentence = mayApproveSentence(why_not);
  return why_not === null ? sentence : view.paint('bad', printable(`${sentence} (${why_not})`));
}

function countsCell({ counts }: { readonly counts: boolean }): Styled {
  return counts ? { text: 'yes' } : { text: 'no longer', tone: 'bad' };
}
