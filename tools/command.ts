/** Commands of `fundadmin`: each declares its power where it is made. */
import { InvalidArgumentError, type Command } from 'commander';
import type { Power } from '../domain/approval/power.ts';

const POWERS = new WeakMap<Command, Power>();

/**
 * Adds a command to `parent`, as `parent.command` does, and stores its power. One that widens takes
 * the options of changes that wait for people; see tools/waits.ts.
 */
export function command(parent: Command, nameAndArgs: string, power: Power): Command {
  const made = parent.command(nameAndArgs);
  POWERS.set(made, power);
  return typeof power === 'string'
    ? made
    : made
        .option('--as <person>', 'who you are, where an approval rule makes this change wait')
        .option('--break-glass', 'make the change alone; needs --reason, and everybody sees it');
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
  const date = new Date(
    /^\d{4}-\d{2}-\d{2}(T[\d:.]+(Z|[+-]\d{2}:\d{2}))?$/.test(text) ? text : Number.NaN,
  );
  if (Number.isNaN(date.getTime()))
    throw new InvalidArgumentError('It must be an ISO 8601 date, or a time with its offset.');
  return date;
}
