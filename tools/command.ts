/** Commands of `fundadmin`: each declares its power where it is made. */
import { InvalidArgumentError, type Command } from 'commander';
import type { Power } from '../domain/approval/power.ts';
import { dayOrInstant } from '../platform/instant.ts';

const POWERS = new WeakMap<Command, Power>();
const RECORDS_WHO = new WeakSet<Command>();

/**
 * Adds a command to `parent`, as `parent.command` does, and stores its power. One that writes takes
 * who acts (tools/acting.ts); one that widens also the options of changes that wait for people
 * (tools/waits.ts). `recordsWho` is false for what keeps the installation running: no rule and no
 * audit row depends on who does that.
 */
export function command(
  parent: Command,
  nameAndArgs: string,
  power: Power,
  { recordsWho = power !== 'reads' }: { readonly recordsWho?: boolean } = {},
): Command {
  const made = parent.command(nameAndArgs);
  POWERS.set(made, power);
  if (recordsWho) {
    RECORDS_WHO.add(made);
    made.option('--as <person>', 'who you are; required once an approval rule is in force');
  }
  if (typeof power !== 'string')
    made.option('--break-glass', 'make the change alone; needs --reason, and everybody sees it');
  return made;
}

/** Returns whether records must name who runs a command. */
export function mustNameWho(made: Command): boolean {
  return RECORDS_WHO.has(made);
}

/** Returns the name of a command as it is typed after the program. */
export function nameOf(made: Command): string {
  const { parent } = made;
  return parent?.parent == null ? made.name() : `${nameOf(parent)} ${made.name()}`;
}

/** Returns the power of a command; undefined for a group, or a command made otherwise. */
export function powerOf(made: Command): Power | undefined {
  return POWERS.get(made);
}

/** Returns every command that is no group, by its name as it is typed after `fundadmin`. */
export function leavesOf(group: Command): ReadonlyMap<string, Command> {
  return new Map(
    group.commands.flatMap((each): [string, Command][] =>
      each.commands.length === 0
        ? [[each.name(), each]]
        : [...leavesOf(each)].map(([name, leaf]) => [`${each.name()} ${name}`, leaf]),
    ),
  );
}

/** Parses an option's time: an ISO 8601 date, or a time with its offset. */
export function time(text: string): Date {
  if (!dayOrInstant.safeParse(text).success)
    throw new InvalidArgumentError(
      'It must be an ISO 8601 date, or a time with seconds and its offset, of a day that exists, of the years 1 to 9999.',
    );
  return new Date(text);
}
