/**
 * Changes people, approver groups and approval rules for commands. A change that makes a rule one
 * that cannot be met, or after which every rule could be avoided, is refused and writes nothing.
 */
import type { ApprovalRule } from '../../domain/approval/rule.ts';
import { faultsAfter } from '../../domain/approval/standing.ts';
import type { JsonObject } from '../../domain/json.ts';
import { dashboardId } from '../../domain/roles.ts';
import type { AuditEntry } from '../../domain/transition.ts';
import { APPROVAL_NAME } from '../../platform/approval-rule.ts';
import { OPERATOR_NAME } from '../../platform/dashboard-keys.ts';
import { isId } from '../../platform/ids.ts';
import type { Database } from '../../prisma/client.ts';
import {
  changeApprovers,
  listGroups,
  listPeople,
  listRules,
  readApproversMark,
  type ApproverGroup,
  type ApproversChange,
  type Person,
} from '../../store/approvals.ts';
import { readClientId } from '../../store/keys.ts';
import { warnUnvouched, withDatabase, type DatabaseOption } from '../database.ts';
import { ToolError, type ToolIo } from '../io.ts';
import { requestChange } from '../waits.ts';
import { ruleOf } from './try.ts';

export interface ChangeOptions extends DatabaseOption {
  readonly reason: string;
  readonly breakGlass?: boolean;
}

export interface PersonOptions extends ChangeOptions {
  readonly person: string;
}

export interface SetPersonOptions extends PersonOptions {
  readonly name: string;
  /** Ids of API clients, or names of active ones. */
  readonly client?: readonly string[];
  readonly operator?: readonly string[];
}

export interface NameOptions extends ChangeOptions {
  readonly name: string;
}

export interface SetGroupOptions extends NameOptions {
  readonly member: readonly string[];
}

export interface SetRuleOptions extends NameOptions {
  /** A path to JSON; `-`: standard input. */
  readonly file: string;
}

/** What a change replaced, as the audit has it. Null: there was none, or there is none now. */
export interface Changed {
  readonly before: JsonObject | null;
  readonly after: JsonObject | null;
  /** Set if one person changed it alone although rules were in force. */
  readonly break_glass?: true;
}

const LONGEST_NAME = 128;
const LONGEST_REASON = 1_000;

/** Creates or replaces a person, with all identities. */
export function setPerson(options: SetPersonOptions, io: ToolIo): Promise<Changed> {
  const { person, name, client: clients = [], operator: operators = [] } = options;
  checkName('--person', person);
  if (name.trim() === '' || name.length > LONGEST_NAME || name.includes('\0'))
    throw new ToolError('--name must have 1 to 128 characters.', { exitCode: 2 });
  if (clients.length + operators.length === 0)
    throw new ToolError('Name at least one --client or --operator of the person.', { exitCode: 2 });
  for (const operator of operators)
    if (!OPERATOR_NAME.test(operator))
      throw new ToolError(`--operator does not fit ${OPERATOR_NAME.source}.`, { exitCode: 2 });
  return change(options, io, async (now, db) => {
    const ids = await Promise.all(clients.map((client) => clientId(db, client)));
    const identities = distinct([...ids, ...operators.map(dashboardId)]);
    for (const other of now.people) {
      const taken = other.identities.find((each) => identities.includes(each));
      if (taken !== undefined && other.person !== person)
        throw new ToolError(
          `${taken} belongs to ${other.person} (${other.name}). An identity has one person: set ${other.person} without it first.`,
        );
    }
    const found = now.people.find((each) => each.person === person);
    const { groups = [], has_passkey = false } = found ?? {};
    const next = { person, name, identities, groups, has_passkey };
    return {
      change: { people: [{ person, name, identities }] },
      result: { ...now, people: replaced(now.people, found, next) },
      entity: ['person', person],
      before: found === undefined ? null : personView(found),
      after: personView(next),
    };
  });
}

/** Takes all identities and groups from a person; what the person decided stays. */
export function removePerson(options: PersonOptions, io: ToolIo): Promise<Changed> {
  const { person } = options;
  checkName('--person', person);
  return change(options, io, (now) => {
    const found = now.people.find((each) => each.person === person);
    if (found === undefined) throw new ToolError(`There is no person ${person}; see people list.`);
    return {
      change: { people: [{ person, remove: true }] },
      result: { ...now, people: replaced(now.people, found) },
      entity: ['person', person],
      before: personView(found),
      after: null,
    };
  });
}

/** Creates or replaces a group, with all members. */
export function setGroup(options: SetGroupOptions, io: ToolIo): Promise<Changed> {
  const { name } = options;
  checkName('--name', name);
  const members = distinct(options.member);
  return change(options, io, (now) => {
    const unknown = members.filter((each) => now.people.every(({ person }) => person !== each));
    if (unknown.length > 0)
      throw new ToolError(
        `There is no person ${unknown.join(', ')}; fundadmin people set creates one.`,
      );
    const found = now.groups.find((each) => each.name === name);
    const next = { name, members };
    return {
      change: { groups: [next] },
      result: { ...now, groups: replaced(now.groups, found, next) },
      entity: ['approver_group', name],
      before: found === undefined ? null : { ...found },
      after: { ...next },
    };
  });
}

/** Removes a group that no rule in force names. */
export function removeGroup(options: NameOptions, io: ToolIo): Promise<Changed> {
  const { name } = options;
  checkName('--name', name);
  return change(options, io, (now) => {
    const found = now.groups.find((each) => each.name === name);
    if (found === undefined)
      throw new ToolError(`There is no group ${name}; see approver-groups list.`);
    const rules = now.rules.filter((rule) => rule.require.some(({ group }) => group === name));
    if (rules.length > 0)
      throw new ToolError(
        `Approval rules name the group ${name}: ${rules.map((rule) => rule.name).join(', ')}. First set them without it, or remove them.`,
      );
    return {
      change: { groups: [{ name, remove: true }] },
      result: { ...now, groups: replaced(now.groups, found) },
      entity: ['approver_group', name],
      before: { ...found },
      after: null,
    };
  });
}

/** Puts a rule in force, in place of the one of that name. */
export function setRule(options: SetRuleOptions, io: ToolIo): Promise<Changed> {
  const { name } = options;
  checkName('--name', name);
  const rule = ruleOf(options.file);
  return change(options, io, (now) => {
    const found = now.rules.find((each) => each.name === name);
    return {
      change: { rules: [{ name, rule }] },
      result: { ...now, rules: replaced(now.rules, found, { ...rule, name }) },
      entity: ['approval_rule', name],
      before: found === undefined ? null : ruleView(found),
      after: ruleView(rule),
    };
  });
}

/** Takes a rule out of force. Movements that it matched when they were created still need it. */
export function removeRule(options: NameOptions, io: ToolIo): Promise<Changed> {
  const { name } = options;
  checkName('--name', name);
  return change(options, io, (now) => {
    const found = now.rules.find((each) => each.name === name);
    if (found === undefined)
      throw new ToolError(`There is no rule ${name}; see approval-rules list.`);
    return {
      change: { rules: [{ name, remove: true }] },
      result: { ...now, rules: replaced(now.rules, found) },
      entity: ['approval_rule', name],
      before: ruleView(found),
      after: null,
    };
  });
}

type NamedRule = ApprovalRule & { readonly name: string };

/** Everything that rules depend on, before or after a change. */
interface Approvers {
  readonly people: readonly Person[];
  readonly groups: readonly ApproverGroup[];
  readonly rules: readonly NamedRule[];
}

interface Planned {
  readonly change: ApproversChange;
  /** What there is after the change. */
  readonly result: Approvers;
  readonly entity: readonly ['person' | 'approver_group' | 'approval_rule', string];
  readonly before: JsonObject | null;
  /** Null: the change removes it. */
  readonly after: JsonObject | null;
}

/** Applies what `plan` returns, or throws a {@link ToolError} and writes nothing. */
async function change(
  { reason, breakGlass = false, ...options }: ChangeOptions,
  io: ToolIo,
  plan: (now: Approvers, db: Database) => Planned | Promise<Planned>,
): Promise<Changed> {
  if (reason.trim() === '' || reason.length > LONGEST_REASON)
    throw new ToolError('--reason must say why, in up to 1000 characters.', { exitCode: 2 });
  warnUnvouched(io, 'change');
  return withDatabase(options, io, async (db) => {
    const mark = await readApproversMark(db);
    const now = {
      people: await listPeople(db),
      groups: await listGroups(db),
      rules: await listRules(db),
    };
    const inForce = now.rules.length > 0;
    // A rule for changes of rules makes the change wait for people; see tools/waits.ts.
    const guarded = now.rules.some(({ applies_to }) => applies_to === 'approval_rules');
    if (inForce && !guarded && !breakGlass)
      throw new ToolError(
        'Approval rules are in force and none applies to approval_rules, so a change by one person needs --break-glass. The audit records that it was used.',
      );
    const planned = await plan(now, db);
    const { result, before, after } = planned;
    const faults = faultsAfter(result.people, result.groups, result.rules, now);
    if (faults.length > 0) throw new ToolError(faults.join('\n'));
    const changed = {
      before,
      after,
      ...(inForce && breakGlass ? { break_glass: true as const } : {}),
    };
    const audit = [auditOf(planned, reason, changed)];
    const effect = {
      kinds: ['approval_rules' as const],
      subject: 'approvers',
      before: { mark },
      after: JSON.parse(JSON.stringify(planned.change)) as JsonObject,
    };
    // Without a rule for changes of rules nothing waits, but everybody sees what one changes alone.
    if (inForce && !guarded) await requestChange(db, effect, io);
    if (!(await changeApprovers(db, { ...planned.change, mark }, audit)))
      throw new ToolError(
        'Somebody else has changed people, groups or rules meanwhile, so nothing was written. Look again, and repeat it.',
      );
    return changed;
  });
}

function auditOf({ entity, after }: Planned, reason: string, changed: Changed): AuditEntry {
  const [entity_type, entity_key] = entity;
  const verb = after === null ? 'remove' : 'set';
  return {
    action: `${entity_type}.${verb}` as const,
    entity_type,
    entity_key,
    outcome: 'success',
    reason,
    details: { tool: 'fundadmin', ...changed },
  };
}

/** Returns the list without `found`, and with `next` if it is set. */
function replaced<T>(all: readonly T[], found: T | undefined, next?: T): readonly T[] {
  const others = all.filter((each) => each !== found);
  return next === undefined ? others : [...others, next];
}

async function clientId(db: Database, client: string): Promise<string> {
  const by = isId(client) ? { id: client.toLowerCase() } : { name: client };
  const id = await readClientId(db, by);
  if (id === null)
    throw new ToolError(
      `There is no API client ${client}; fundadmin keys list shows names and ids of clients.`,
    );
  return id;
}

function personView({ name, identities, groups }: Person): JsonObject {
  return { name, identities, groups };
}

/** Returns a rule as JSON, without what the database adds to it. */
function ruleView(rule: ApprovalRule): JsonObject {
  const added = {
    name: undefined,
    revision: undefined,
    created_at: undefined,
    updated_at: undefined,
  };
  return JSON.parse(JSON.stringify({ ...rule, ...added })) as JsonObject;
}

function distinct(all: readonly string[]): readonly string[] {
  return [...new Set(all)].sort();
}

function checkName(option: string, value: string): void {
  if (!APPROVAL_NAME.test(value))
    throw new ToolError(`${option} does not fit ${APPROVAL_NAME.source}.`, { exitCode: 2 });
}
