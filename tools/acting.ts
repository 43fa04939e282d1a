/**
 * Who acts with `fundadmin`. Once approval rules are in force, each command that changes something
 * needs --as: else its author could approve through the API what comes of it.
 */
import { fundadminId } from '../domain/roles.ts';
import type { Database } from '../prisma/client.ts';
import { listPeople, listRules } from '../store/approvals.ts';
import { ToolError, type ToolIo } from './io.ts';

/** Returns the id that records have of whoever acts; null where --as is left out. */
export function actorOf({ command }: Pick<ToolIo, 'command'>): string | null {
  const person = command?.options['as'];
  return typeof person === 'string' ? fundadminId(person) : null;
}

/** Returns the name for records that need one: who acts, else the tool. */
export function actorName(io: Pick<ToolIo, 'command'>): string {
  return actorOf(io) ?? 'fundadmin';
}

/** Throws a {@link ToolError} if the command must name who acts, and names no one or no person. */
export async function requireActor(db: Database, { command }: ToolIo): Promise<void> {
  if (command?.recordsWho !== true) return;
  const person = command.options['as'];
  if (typeof person !== 'string') {
    if ((await listRules(db)).length === 0) return;
    throw new ToolError(
      'Approval rules are in force, so every change names its author, who cannot approve what comes of it: say who you are with --as <person>; fundadmin people list has the people.',
    );
  }
  if ((await listPeople(db)).every((each) => each.person !== person))
    throw new ToolError(
      `There is no person ${person}; see fundadmin people list. A person who is there can add you: fundadmin people set.`,
    );
}
