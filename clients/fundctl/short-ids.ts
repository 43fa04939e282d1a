/** A movement by the beginning of its id: for commands that only look. */
import { CommandError, EXIT, usageError } from '../command-line/exit.ts';
import type { Session } from '../command-line/session.ts';
import type { RowOf } from '../http/operations.ts';

/** The argument of commands that take a beginning. */
export const MOVEMENT_OR_BEGINNING = {
  movementId: 'id of the movement, or its first 8 characters or more',
};

const BEGINNING = /^(?=.{8,35}$)[0-9a-f]{8}(-[0-9a-f-]*)?$/;
/** How far the clocks of the processes that make ids and that of the database may differ. */
const SKEW_MS = 600_000;
/** Newest movements that are looked through; with more of them since, the whole id is needed. */
const MOST = 5_000;
const PAGE = 200;

/**
 * The whole id, which is said. An id begins with the time at which it was made, so the list is read
 * from the newest movement back to that time, and whatever begins alike is among what was read.
 */
export async function wholeId(session: Session, text: string): Promise<string> {
  const beginning = text.toLowerCase();
  // What is neither is for the service to refuse.
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

/** The earliest time of an id that begins so, in milliseconds since 1970. */
function timeOf(beginning: string): number {
  return Number.parseInt(beginning.replaceAll('-', '').slice(0, 12).padEnd(12, '0'), 16);
}
