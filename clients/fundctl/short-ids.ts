/** Finds a movement by the beginning of its id, for commands that only read. */
import { CommandError, EXIT, usageError } from '../command-line/exit.ts';
import type { Session } from '../command-line/session.ts';
import type { RowOf } from '../http/operations.ts';

/** Argument of commands that take the beginning of an id. */
export const MOVEMENT_OR_BEGINNING = {
  movementId: 'id of the movement, or its first 8 characters or more',
};

const BEGINNING = /^(?=.{8,35}$)[0-9a-f]{8}(-[0-9a-f-]*)?$/;
/** Allowed difference between the database clock and the clocks of the processes that make ids. */
const SKEW_MS = 600_000;
/** Maximum number of movements that are searched; for older movements give the whole id. */
const MOST = 5_000;
const PAGE = 200;

/**
 * Returns the whole id and prints a note with that id. An id begins with its creation time, so the
 * list is read from the newest movement back to that time: all ids with this beginning are there.
 */
export async function wholeId(session: Session, text: string): Promise<string> {
  const beginning = text.toLowerCase();
  // A whole id is returned unchanged, as is any other text, which the service will refuse.
  if (!BEGINNING.test(beginning)) return text;
  const client = await session.client();
  const since = timeOf(beginning) - SKEW_MS;
  const found: RowOf<'listMovements'>[] = [];
  let looked = 0;
  for await (const row of client.pages('listMovements', { query: { limit: PAGE } })) {
    if (row.movement_id.startsWith(beginning)) found.push(row);
    if (Date.parse(row.created_at) < since) break;
    looked += 1;
    if (looked === MOST)
      throw usageError(
        `More than ${String(MOST)} movements are newer than ${text}. Give the whole id.`,
      );
  }
  const [first, ...others] = found;
  if (first === undefined)
    throw new CommandError(EXIT.refused, `There is no movement whose id begins with ${text}.`);
  if (others.length > 0) {
    const some = found.slice(0, 10).map((row) => `${row.movement_id} (${row.request_state})`);
    throw usageError(
      `${String(found.length)} movements begin with ${text}: ${some.join(', ')}. Give more of the id.`,
    );
  }
  session.note(`Movement ${first.movement_id}`);
  return first.movement_id;
}

/** Returns the earliest creation time of an id with this beginning, in ms since 1970. */
function timeOf(beginning: string): number {
  return Number.parseInt(beginning.replaceAll('-', '').slice(0, 12).padEnd(12, '0'), 16);
}
