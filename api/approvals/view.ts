/**
 * Builds the views of the approvals of movements and change requests: what is missing, who
 * approved, and what you may.
 */
import type { z } from 'zod';
import type { Evidence } from '../../domain/approval/evidence.ts';
import { countGroups } from '../../domain/approval/quorum.ts';
import type { WhyNot } from '../../domain/approval/rule.ts';
import { mayDecide, type Caller } from '../../domain/roles.ts';
import type { Standing } from '../../store/approvals.ts';
import type { MemberStanding, RuleStanding } from '../../store/standing.ts';
import type { ApprovalsView, approversResponse } from './schema.ts';

/** Who looks at the approvals of a movement or change request, and whether it waits for some. */
export interface Looking {
  readonly caller: Caller;
  readonly waits: boolean;
}

/** Returns what the rules ask and have; null where no rule holds. */
export function approvalsOf(
  { rules, person }: Standing,
  { caller, waits }: Looking,
): ApprovalsView | null {
  if (rules.length === 0) return null;
  const why_not = mayNot({ rules, person }, { caller, waits });
  return {
    rules: [...new Set(rules.map(({ name }) => name))],
    required: rules.flatMap(({ name, rule, people }) =>
      countGroups(
        rule.require,
        people.filter(({ counts }) => counts),
      ).map((counted) => ({ rule: name, ...counted })),
    ),
    decisions: decisionsOf(rules),
    you: {
      may: why_not === null,
      why_not,
      evidence: evidenceOf(rules, person),
      approved: waits && hasApproved(rules, person),
    },
  };
}

/** Returns whether this person has approved, and not withdrawn it. */
function hasApproved(rules: readonly RuleStanding[], person: string | null): boolean {
  return rules.some(({ people }) =>
    people.some((each) => each.person === person && each.decided_at !== null),
  );
}

function mayNot({ rules, person }: Standing, { caller, waits }: Looking): WhyNot | null {
  if (!waits) return 'not_waiting';
  return mayDecide(caller) ? whyNot(rules, person) : 'role';
}

/** Returns why an approval of this person would count under no rule; null if it would. */
function whyNot(rules: readonly RuleStanding[], person: string | null): WhyNot | null {
  if (person === null) return 'no_person';
  const own = rules.flatMap(({ people }) => people.filter((each) => each.person === person));
  if (own.some(({ excluded }) => excluded === null)) return null;
  return own[0]?.excluded ?? 'not_in_group';
}

/** Returns what an approval of this person needs: a rule that counts it may ask a passkey. */
function evidenceOf(rules: readonly RuleStanding[], person: string | null): Evidence {
  const asks = rules.some(
    ({ rule, people }) =>
      rule.evidence === 'passkey' &&
      people.some((each) => each.person === person && each.excluded === null),
  );
  return asks ? 'passkey' : 'any';
}

/** Returns each person's latest approval once; it counts if it does so under a rule. */
function decisionsOf(rules: readonly RuleStanding[]): ApprovalsView['decisions'] {
  const found = new Map<string, ApprovalsView['decisions'][number]>();
  for (const { person, name, decided_at, reason, evidence, counts } of rules.flatMap(
    ({ people }) => people,
  ))
    if (decided_at !== null)
      found.set(person, {
        person,
        name,
        decision: 'approve',
        at: decided_at,
        reason,
        evidence: evidence ?? 'shared_secret',
        counts: counts || found.get(person)?.counts === true,
      });
  return [...found.values()].sort((a, b) => (a.at < b.at ? -1 : 1));
}

/** Returns every member of the rules' groups, and whether the member may approve. */
export function approversOf(
  rules: readonly RuleStanding[],
): z.input<typeof approversResponse>['approvers'] {
  return rules.flatMap(({ name: rule, people }) =>
    people.map(({ person, name, groups, excluded, decided_at, counts }: MemberStanding) => ({
      rule,
      person,
      name,
      groups,
      may: excluded === null,
      why_not: excluded,
      decided_at,
      counts,
    })),
  );
}
