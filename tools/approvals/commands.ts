/**
 * `fundadmin people`, `approver-groups` and `approval-rules`: who may approve movements, and how
 * many of them must. Each command prints one JSON value.
 */
import type { Command } from 'commander';
import type { Database } from '../../prisma/client.ts';
import { listGroups, listPeople, listRules } from '../../store/approvals.ts';
import { command, time } from '../command.ts';
import { DATABASE_OPTION, withDatabase, type DatabaseOption } from '../database.ts';
import type { ToolIo } from '../io.ts';
import {
  removeGroup,
  removePerson,
  removeRule,
  setGroup,
  setPerson,
  setRule,
  type NameOptions,
  type PersonOptions,
  type SetGroupOptions,
  type SetPersonOptions,
  type SetRuleOptions,
} from './change.ts';
import { report, type TryOptions } from './try.ts';

const PERSON = ['--person <key>', 'the key of the person, such as ann'] as const;
const GROUP = ['--name <name>', 'the group'] as const;
const RULE = ['--name <name>', 'the rule'] as const;

/** Adds the groups `people`, `approver-groups` and `approval-rules` to the program. */
export function addApprovalCommands(program: Command, io: ToolIo): void {
  addPeopleCommands(program, io);
  addGroupCommands(program, io);
  addRuleCommands(program, io);
}

function addPeopleCommands(program: Command, io: ToolIo): void {
  const people = program
    .command('people')
    .description('People, and the API clients and console operators that act for each of them.');
  addList(people, 'Every person with identities and groups.', listPeople, io);
  addChange(people, 'set', 'Create a person, or replace the name and all identities of one.')
    .requiredOption(...PERSON)
    .requiredOption('--name <text>', 'the full name')
    .option('--client <client>', 'the id or name of an API client; may be repeated', repeated)
    .option('--operator <name>', 'an operator of the console; may be repeated', repeated)
    .action(async (options: SetPersonOptions) => {
      print(await setPerson(options, io), io);
    });
  addChange(
    people,
    'remove',
    'Take all identities and groups from a person. Approvals by the person no longer count.',
  )
    .requiredOption(...PERSON)
    .action(async (options: PersonOptions) => {
      print(await removePerson(options, io), io);
    });
}

function addGroupCommands(program: Command, io: ToolIo): void {
  const groups = program
    .command('approver-groups')
    .description('Groups of people, of which approval rules require some to approve.');
  addList(groups, 'Every group with its members.', listGroups, io);
  addChange(groups, 'set', 'Create a group, or replace all members of one.')
    .requiredOption(...GROUP)
    .requiredOption('--member <person>', 'the key of a person; may be repeated', repeated)
    .action(async (options: SetGroupOptions) => {
      print(await setGroup(options, io), io);
    });
  addChange(groups, 'remove', 'Remove a group that no rule names.')
    .requiredOption(...GROUP)
    .action(async (options: NameOptions) => {
      print(await removeGroup(options, io), io);
    });
}

function addRuleCommands(program: Command, io: ToolIo): void {
  const rules = program
    .command('approval-rules')
    .description('Rules that say who must approve a movement; all that match it hold together.');
  addList(rules, 'Every rule in force.', listRules, io);
  addTry(rules, io);
  addChange(
    rules,
    'set',
    'Put a rule in force, or replace one. A movement that an earlier form matched when it was created needs that form, too.',
  )
    .requiredOption(...RULE)
    .requiredOption('--file <file>', 'a file with the rule as JSON, - for standard input')
    .action(async (options: SetRuleOptions) => {
      print(await setRule(options, io), io);
    });
  addChange(
    rules,
    'remove',
    'Take a rule out of force. A movement that it matched when it was created still needs it.',
  )
    .requiredOption(...RULE)
    .action(async (options: NameOptions) => {
      print(await removeRule(options, io), io);
    });
}

function addTry(rules: Command, io: ToolIo): void {
  command(rules, 'try', 'reads')
    .description(
      'Report what a rule for movements would have let through or stopped in a time, without putting it in force. Groups are those of now.',
    )
    .requiredOption('--file <file>', 'a file with the rule as JSON, - for standard input')
    .requiredOption('--from <timestamp>', 'movements created from then on', time)
    .requiredOption('--to <timestamp>', 'and before this', time)
    .option(...DATABASE_OPTION)
    .action(async (options: TryOptions) => {
      print(await report(options, io), io);
    });
}

function addList(
  group: Command,
  description: string,
  list: (db: Database) => Promise<unknown>,
  io: ToolIo,
): void {
  command(group, 'list', 'reads')
    .description(description)
    .option(...DATABASE_OPTION)
    .action(async (options: DatabaseOption) => {
      print(await withDatabase(options, io, list), io);
    });
}

function addChange(group: Command, name: 'set' | 'remove', description: string): Command {
  // A change may lower how many must approve, so each counts as one that widens.
  return command(group, name, { widens: 'approval_rules' })
    .description(description)
    .requiredOption('--reason <text>', 'why; kept in the audit')
    .option(...DATABASE_OPTION);
}

/** Collects the values of an option that may be repeated. */
function repeated(value: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, value];
}

function print(value: unknown, io: ToolIo): void {
  io.out(`${JSON.stringify(value, null, 2)}\n`);
}
