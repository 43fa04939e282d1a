/** What rules ask of a movement or change request, and who approved: as standing_of in SQL says. */
import type { ApprovalRule, NotCounted } from '../domain/approval/rule.ts';
import { isoOfOrNull } from './json.ts';

/** A member of a rule's groups, as far as one movement is concerned. */
export interface MemberStanding {
  readonly person: string;
  readonly name: string;
  /** The groups of the rule that the person is in. */
  readonly groups: readonly string[];
  readonly excluded: NotCounted | null;
  /** When the person approved; null: has not. */
  readonly decided_at: string | null;
  readonly reason: string | null;
  /** What shows the approval; null: has not approved. */
  readonly evidence: 'shared_secret' | 'passkey' | null;
  readonly decision_id: string | null;
  /** Whether the approval counts now. */
  readonly counts: boolean;
}

/** What one rule asks of a movement, and who approved. */
export interface RuleStanding {
  readonly name: string;
  readonly rule: ApprovalRule;
  readonly people: readonly MemberStanding[];
  readonly met: boolean;
  /** Whether all who may approve would be enough. */
  readonly possible: boolean;
}

/** Returns standings as the database has them with times as ISO 8601 text. */
export function standings(rules: readonly RuleStanding[]): readonly RuleStanding[] {
  return rules.map((rule) => ({
    ...rule,
    people: rule.people.map((each) => ({ ...each, decided_at: isoOfOrNull(each.decided_at) })),
  }));
}
