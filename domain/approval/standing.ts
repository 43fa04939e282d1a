/**
 * Whether approval rules work with the people and groups that there are. Pure; `fundadmin` refuses
 * a change after which they do not.
 */
import type { Evidence } from './evidence.ts';
import { countGroups, type GroupCount } from './quorum.ts';
import { AVOIDABLE, isAvoidable, type ApprovalRule } from './rule.ts';

/** A person who can approve only with an identity. */
export interface StandingPerson {
  readonly person: string;
  readonly identities: readonly string[];
  /** Whether a passkey of the person is in force. */
  readonly has_passkey: boolean;
}

export interface StandingGroup {
  readonly name: string;
  readonly members: readonly string[];
}

export interface StandingRule extends Pick<
  ApprovalRule,
  'applies_to' | 'when' | 'require' | 'evidence'
> {
  readonly name: string;
}

/**
 * Returns what is wrong with people, groups and rules, a sentence each with what to do:
 * `rule_unsatisfiable` for every rule that all members of its groups together cannot meet,
 * `rule_avoidable` if a caller can avoid every rule, and `rules_unguarded` without rules for
 * changes of rules and keys. Empty: nothing is wrong.
 */
export function faultsAfter(
  people: readonly StandingPerson[],
  groups: readonly StandingGroup[],
  rules: readonly StandingRule[],
): readonly string[] {
  // Only these can approve.
  const able = people
    .filter(({ identities }) => identities.length > 0)
    .map(({ person, has_passkey }) => ({
      person,
      has_passkey,
      groups: groups.filter(({ members }) => members.includes(person)).map(({ name }) => name),
    }));
  const faults = rules.flatMap(({ name, require, evidence = 'any' }) => {
    const counted = evidence === 'any' ? able : able.filter(({ has_passkey }) => has_passkey);
    const short = countGroups(require, counted).filter(({ missing }) => missing > 0);
    return short.length === 0 ? [] : [unsatisfiable(name, evidence, short)];
  });
  return [
    ...faults,
    ...(isAvoidable(rules) ? [AVOIDED] : []),
    ...(areUnguarded(rules) ? [UNGUARDED] : []),
  ];
}

/** The kinds whose rules guard all others: they come first, and go last. */
const GUARDING: readonly ApprovalRule['applies_to'][] = ['approval_rules', 'keys'];

/** Returns whether one person could change the rules, or make a key of somebody who decides. */
function areUnguarded(rules: readonly StandingRule[]): boolean {
  const kinds = new Set(rules.map(({ applies_to }) => applies_to));
  return (
    [...kinds].some((kind) => !GUARDING.includes(kind)) &&
    !GUARDING.every((kind) => kinds.has(kind))
  );
}

const UNGUARDED = `rules_unguarded: One person could still change the rules, or make keys. First set rules that apply to ${GUARDING.join(' and ')}; remove these last.`;

const AVOIDED = `rule_avoidable: Every rule for movements names one of ${AVOIDABLE.join(', ')}, which a caller chooses, so a movement can avoid them all. First set a rule that names none of these.`;

function unsatisfiable(rule: string, evidence: Evidence, short: readonly GroupCount[]): string {
  const lacks = short.map(({ group, missing }) => `${String(missing)} more in ${group}`).join(', ');
  return `rule_unsatisfiable: The rule ${rule} cannot be met: it needs ${lacks}. First add people who have an identity${evidence === 'any' ? '' : ' and a passkey'} to these groups, or lower the thresholds of the rule.`;
}
