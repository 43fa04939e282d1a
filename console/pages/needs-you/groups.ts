/** Groups movements by who must act, and orders change requests by who may approve them. */

/**
 * Group of a movement; the same for every operator, since the service checks at the decision who
 * may decide.
 */
export type Group = 'you' | 'others' | 'broken';

const GROUPS: Readonly<Record<string, Group>> = {
  approval: 'you',
  approval_expires_soon: 'you',
  manual_gate: 'you',
  unknown_outcome: 'broken',
  landed_late: 'broken',
  failed: 'broken',
  lane_stuck: 'broken',
  clock_difference: 'broken',
  lane_blocked: 'others',
  delivery_late: 'others',
  executor_unavailable: 'others',
  venue_suspended: 'others',
  withdrawal_quota_exhausted: 'others',
  observed_long: 'others',
  run_stuck: 'broken',
};

/**
 * Returns the group for an attention reason. An unknown reason counts as broken, so that a person
 * looks at the movement.
 */
export function groupOf(reason: string | null): Group {
  return GROUPS[reason ?? ''] ?? 'broken';
}

/** What a list of movements shows of one that needs a person. */
interface Needing {
  readonly attention_reason: string | null;
  readonly request_state: string;
}

/**
 * Returns the group of a movement. A gate waits for the operator, too, where the reason is about
 * another branch that waits for others.
 */
export function groupOfMovement({ attention_reason, request_state }: Needing): Group {
  const group = groupOf(attention_reason);
  return group === 'others' && request_state === 'WAITING_MANUAL_ACTION' ? 'you' : group;
}

/** A change request, or another thing with approvals. */
interface Approvable {
  readonly approvals: { readonly you: { readonly may: boolean; readonly approved: boolean } };
}

/** Returns whether an approval of this operator is missing and would count. */
export function mayApprove({ approvals: { you } }: Approvable): boolean {
  return you.may && !you.approved;
}

/** Returns the rows with those first that this operator may approve, each part in its order. */
export function approvableFirst<Row extends Approvable>(rows: readonly Row[]): readonly Row[] {
  return [...rows.filter(mayApprove), ...rows.filter((row) => !mayApprove(row))];
}
