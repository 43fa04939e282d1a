/** Pages of lists: newest first, stable under inserts, continued with an opaque cursor. */
import { z } from 'zod';
import { isId } from '../../platform/ids.ts';
import { instant, instantMs } from '../../platform/instant.ts';
import { integerInQuery } from './schemas.ts';

/** Position of the last row of a page. */
export interface Position {
  /** ISO 8601 UTC with milliseconds. */
  readonly created_at: string;
  readonly id: string;
}

const positionSchema = z.strictObject({
  created_at: z.string().regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/),
  id: z.string().refine(isId),
});

const CURSOR_FORM = /^[A-Za-z0-9_-]{1,200}$/;

/** Returns the opaque cursor of a position. */
export function encodeCursor(position: Position): string {
  return Buffer.from(JSON.stringify({ created_at: position.created_at, id: position.id })).toString(
    'base64url',
  );
}

/** Returns the position of a cursor, or null when this service did not issue the text. */
export function decodeCursor(cursor: string): Position | null {
  if (!CURSOR_FORM.test(cursor)) return null;
  try {
    const parsed = positionSchema.safeParse(
      JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')),
    );
    if (!parsed.success || !isWritten(parsed.data.created_at)) return null;
    return parsed.data;
  } catch {
    return null;
  }
}

/** Returns whether a list can have written the time: of a day that exists, and in its one form. */
function isWritten(time: string): boolean {
  return instant.safeParse(time).success && new Date(time).toISOString() === time;
}

/** The `cursor` query parameter, decoded. */
export const cursorParameter = z
  .string()
  .transform((cursor, context): Position => {
    const position = decodeCursor(cursor);
    if (position !== null) return position;
    context.addIssue({
      code: 'custom',
      message: 'is not a cursor of this list; send the request without a cursor',
    });
    return z.NEVER;
  })
  .optional()
  .meta({
    description: '`next_cursor` of the page before; nothing else is taken.',
    pattern: CURSOR_FORM.source,
  });

/** Returns the schema of the `limit` query parameter; `otherwise` is the default. */
export function limitParameter(max = 200, otherwise = 50) {
  return integerInQuery(1, max)
    .default(otherwise)
    .meta({ description: `Items a page, 1 to ${String(max)}; ${String(otherwise)} when absent.` });
}

/**
 * A time in a query, as ISO text, rounded up to a whole millisecond: rows have whole milliseconds,
 * so the bound stays the same.
 */
const bound = instant.transform((time) => new Date(instantMs(time)).toISOString()).optional();

/** Paging parameters, spread into a list route's strict query object. */
export const pageParameters = {
  created_from: bound.meta({ description: 'Only what was created at this time or later.' }),
  created_to: bound.meta({ description: 'Only what was created before this time.' }),
  limit: limitParameter(),
  cursor: cursorParameter,
} as const;

/** The paging part of a list's query. */
export interface PageQuery {
  readonly limit: number;
  readonly cursor?: Position | undefined;
  /** ISO 8601 UTC with milliseconds; inclusive. */
  readonly created_from?: string | undefined;
  /** ISO 8601 UTC with milliseconds; exclusive. */
  readonly created_to?: string | undefined;
}

/** Splits a list's query into paging parameters and filters. */
export function splitPage<T extends PageQuery>(
  query: T,
): readonly [PageQuery, Omit<T, keyof PageQuery>] {
  const { limit, cursor, created_from, created_to, ...filter } = query;
  return [{ limit, cursor, created_from, created_to }, filter];
}

/** An id that sorts before every other id. */
const NO_ID = '00000000-0000-0000-0000-000000000000';

/**
 * Returns the position after which a page begins: the cursor, or `created_to` when that is older;
 * null for the newest row.
 */
function beginning({ cursor, created_to }: PageQuery): Position | null {
  if (created_to === undefined || (cursor !== undefined && cursor.created_at < created_to))
    return cursor ?? null;
  return { created_at: created_to, id: NO_ID };
}

/** The `next_cursor` field of a list's reply, beside the field with the items. */
export const nextCursor = z
  .string()
  .nullable()
  .meta({ description: 'Send it as `cursor` for the next page; null on the last.' });

/**
 * Fetches one row more than the limit, to see whether there is a next page. Lists are newest first,
 * so the first row before `created_from` ends the list.
 */
export async function fetchPage<T>(
  query: PageQuery,
  fetch: (page: {
    readonly limit: number;
    readonly after: Position | null;
  }) => Promise<readonly T[]>,
  positionOf: (row: T) => Position,
): Promise<{ readonly items: readonly T[]; readonly next_cursor: string | null }> {
  const { limit, created_from } = query;
  const fetched = await fetch({ limit: limit + 1, after: beginning(query) });
  const rows =
    created_from === undefined
      ? fetched
      : fetched.filter((row) => positionOf(row).created_at >= created_from);
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return {
    items,
    next_cursor:
      rows.length > items.length && last !== undefined ? encodeCursor(positionOf(last)) : null,
  };
}
