/**
 * Whether enough people have approved. Pure; the SQL function `quorum_met`
 * (prisma/functions/approval-rules.sql) decides the same under the lock, and one property compares
 * them.
 */

/** How many members of a group must approve. */
export interface Threshold {
  readonly group: string;
  readonly threshold: number;
}

/** A person who approved, with the groups of the rule that the person is in. */
export interface Approver {
  readonly person: string;
  readonly groups: readonly string[];
}

export interface GroupCount extends Threshold {
  /** Approvals that count for this group; each person counts for one group. */
  readonly received: number;
  readonly missing: number;
}

/**
 * Counts each person for one group so that as few approvals as possible are missing: a largest
 * matching of people to open places, built along augmenting paths.
 */
export function countGroups(
  required: readonly Threshold[],
  approvers: readonly Approver[],
): readonly GroupCount[] {
  const places = new Map(required.map(({ group }) => [group, [] as Approver[]]));
  const needed = new Map(required.map(({ group, threshold }) => [group, threshold]));
  const place = (approver: Approver, tried: Set<string>): boolean => {
    for (const group of approver.groups) {
      const held = places.get(group);
      if (held === undefined || tried.has(group)) continue;
      tried.add(group);
      if (held.length < (needed.get(group) ?? 0)) {
        held.push(approver);
        return true;
      }
      // The group is full: somebody in it may count for another group instead.
      const leaves = held.find((other) => place(other, tried));
      if (leaves === undefined) continue;
      held.splice(held.indexOf(leaves), 1, approver);
      return true;
    }
    return false;
  };
  for (const approver of approvers) place(approver, new Set());
  return required.map(({ group, threshold }) => {
    const received = places.get(group)?.length ?? 0;
    return { group, threshold, received, missing: threshold - received };
  });
}

/** Returns whether the people are enough for every group of one rule. */
export function isMet(required: readonly Threshold[], approvers: readonly Approver[]): boolean {
  return countGroups(required, approvers).every(({ missing }) => missing === 0);
}
