/**
 * Whether approval rules work with the people and groups that there are. Pure; `fundadmin` refuses
 * a change after which they do not.
 */
import { countGroups, type Approver, type GroupCount } from './quorum.ts';
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
  'applies_to' | 'when' | 'require' | 'evidence' | 'initiator_may_approve'
> {
  readonly name: string;
}

/** Everything that rules depend on. */
export interface Standing {
  readonly people: readonly StandingPerson[];
  readonly groups: readonly StandingGroup[];
  readonly rules: readonly StandingRule[];
}

interface Fault {
  readonly text: string;
  /** Null: a fault of all rules together. */
  readonly rule: StandingRule | null;
  /** How many people the rule lacks. */
  readonly missing: number;
}

/**
 * Returns what is wrong with people, groups and rules, a sentence each with what to do:
 * `rule_unsatisfiable` for every rule that the members of its groups cannot meet, `rule_avoidable`
 * if a caller can avoid every rule, and `rules_unguarded` without rules for changes of rules and
 * keys. Empty: nothing is wrong. What was as wrong `before` is left out, so that it does not
 * stop other changes; a rule that the change itself sets is never left out.
 */
export function faultsAfter(
  people: readonly StandingPerson[],
  groups: readonly StandingGroup[],
  rules: readonly StandingRule[],
  before: Standing = { people: [], groups: [], rules: [] },
): readonly string[] {
  const known = faultsOf(before);
  const isKnown = (fault: Fault): boolean =>
    known.some(
      ({ rule, text, missing }) =>
        rule === fault.rule && (rule === null ? text === fault.text : missing >= fault.missing),
    );
  return faultsOf({ people, groups, rules }).flatMap((fault) => (isKnown(fault) ? [] : fault.text));
}

function faultsOf({ people, groups, rules }: Standing): readonly Fault[] {
  // Only these can approve.
  const able = people
    .filter(({ identities }) => identities.length > 0)
    .map(({ person, has_passkey }) => ({
      person,
      has_passkey,
      groups: groups.filter(({ members }) => members.includes(person)).map(({ name }) => name),
    }));
  const faults = rules.flatMap((rule) => {
    const short = lacksOf(
      rule,
      needsPasskeys(rule) ? able.filter(({ has_passkey }) => has_passkey) : able,
    );
    const missing = missingIn(short);
    return missing === 0 ? [] : [{ text: unsatisfiable(rule, short), rule, missing }];
  });
  const ofAll = [
    ...(isAvoidable(rules) ? [AVOIDED] : []),
    ...(areUnguarded(rules) ? [UNGUARDED] : []),
  ];
  return [...faults, ...ofAll.map((text) => ({ text, rule: null, missing: 0 }))];
}

/**
 * Returns the groups in which people are missing although all of these approve who may; the most
 * that can be missing.
 */
function lacksOf(rule: StandingRule, counted: readonly Approver[]): readonly GroupCount[] {
  const { require } = rule;
  const others = leavesOut(rule)
    ? counted.map((author) => counted.filter((each) => each !== author))
    : [];
  return [counted, ...others]
    .map((approvers) => countGroups(require, approvers).filter(({ missing }) => missing > 0))
    .reduce((most, short) => (missingIn(short) > missingIn(most) ? short : most));
}

/**
 * Returns whether the rule must also be met without any one person: whoever requests a change may
 * be one of its people. Of movements that is no fault of the rule: most are created by a program,
 * and `approval_unsatisfiable` shows one whose authors are too many of its people.
 */
function leavesOut({ applies_to, initiator_may_approve }: StandingRule): boolean {
  return applies_to !== 'movement' && !initiator_may_approve;
}

function needsPasskeys({ evidence = 'any' }: StandingRule): boolean {
  return evidence !== 'any';
}

function missingIn(short: readonly GroupCount[]): number {
  return short.reduce((sum, { missing }) => sum + missing, 0);
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

function unsatisfiable(rule: StandingRule, short: readonly GroupCount[]): string {
  const lacks = short.map(({ group, missing }) => `${String(missing)} more in ${group}`).join(', ');
  const besides = leavesOut(rule) ? ', since whoever requests a change may not approve it' : '';
  return `rule_unsatisfiable: The rule ${rule.name} cannot be met: it needs ${lacks}${besides}. First add people who have an identity${needsPasskeys(rule) ? ' and a passkey' : ''} to these groups, or lower the thresholds of the rule.`;
}
