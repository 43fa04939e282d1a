/**
 * `fundctl approvals`: who may approve movements and changes, and by which rules; `fundadmin`
 * changes them.
 */
import { EXCLUSIONS } from '../../../domain/approval/rule.ts';
import type { Group } from '../../command-line/command.ts';
import { operation } from '../../command-line/operation.ts';
import { duration } from '../../command-line/words.ts';
import type { ResultOf } from '../../http/operations.ts';

interface Limit {
  readonly asset: string;
  readonly amount: string;
  readonly within_seconds?: number;
}
type Rule = ResultOf<'listApprovalRules'>['rules'][number];

export const approvals: Group = {
  name: 'approvals',
  about: 'Who must approve movements and changes, and by which rules; fundadmin changes them',
  commands: [
    operation('listPeople', {
      name: 'people',
      about: 'List people, with their identities and groups',
      show: (session, { people }) =>
        session.table(people, {
          PERSON: 'person',
          NAME: 'name',
          GROUPS: ({ groups }) => groups.join(', '),
          IDENTITIES: ({ identities }) => identities.join(', '),
        }),
    }),
    operation('listApproverGroups', {
      name: 'groups',
      about: 'List groups of people who may approve',
      show: (session, { groups }) =>
        session.table(groups, {
          GROUP: 'name',
          MEMBERS: ({ members }) => members.join(', '),
        }),
    }),
    operation('listApprovalRules', {
      name: 'rules',
      about:
        'List rules: which movements or changes each holds for, and whose approvals it requires',
      details: 'All rules that match a movement or a change hold together.',
      show: (session, { rules }) =>
        session.table(rules, {
          RULE: 'name',
          REVISION: { right: 'revision' },
          'APPLIES TO': 'applies_to',
          WHEN: conditionsOf,
          REQUIRES: groupsOf,
          'NOT BY': (rule) =>
            EXCLUSIONS.filter((each) => !rule[`${each}_may_approve` as const]).join(', '),
          REASON: ({ reason_required }) => (reason_required ? 'required' : ''),
          'EXPIRES AFTER': ({ expires_after_seconds: seconds }) =>
            seconds === undefined ? '' : duration(seconds),
          CHANGED: { when: 'updated_at' },
        }),
    }),
  ],
};

function groupsOf({ require: groups }: Rule): string {
  return groups.map(({ group, threshold }) => `${String(threshold)} of ${group}`).join(' and ');
}

/** Returns the conditions of a rule as text; all of them must match. */
function conditionsOf({ applies_to: kind, when }: Rule): string {
  if (kind !== 'movement' && kind !== 'capital_transfer') return `every change: ${kind}`;
  const anyOf = (name: string, values: readonly string[] | undefined): readonly string[] =>
    values === undefined ? [] : [`${name} ${values.join(' or ')}`];
  const above: readonly Limit[] = [...(when.outflow_above ?? []), ...(when.amount_above ?? [])];
  const limits = above.map(({ asset, amount, within_seconds: seconds }) => {
    const limit = `${amount} ${asset === '*' ? 'of any asset' : asset}`;
    return seconds === undefined ? limit : `${limit} in ${duration(seconds)}`;
  });
  const { new_payee_within_seconds: newFor } = when;
  const conditions = [
    ...anyOf('template', when.template_keys),
    ...anyOf('strategy', when.strategy_ids),
    ...anyOf('origin', when.origins),
    ...anyOf('asset', when.assets),
    ...anyOf('venue', when.venues),
    ...(limits.length === 0 ? [] : [`above ${limits.join(' or ')}`]),
    ...(newFor === undefined ? [] : [`payee changed within ${duration(newFor)}`]),
  ];
  return conditions.length === 0 ? `every ${kind.replace('_', ' ')}` : conditions.join('; ');
}
