/** Lists in pages: newest first, stable under inserts, continued with an opaque cursor. */
import { z } from 'zod';
import { isId } from '../../platform/ids.ts';
import { integerInQuery } from './schemas.ts';

/** Where a page ended. */
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

/** The opaque text of a position. */
export function encodeCursor(position: Position): string {
  return Buffer.from(JSON.stringify({ created_at: position.created_at, id: position.id })).toString(
    'base64url',
  );
}

/** The position of a cursor, or null when this service never gave such a text. */
export function decodeCursor(cursor: string): Position | null {
  if (!CURSOR_FORM.test(cursor)) return null;
  try {
    const parsed = positionSchema.safeParse(
      JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')),
    );
    if (!parsed.success || Number.isNaN(Date.parse(parsed.data.created_at))) return null;
    return parsed.data;
  } catch {
    return null;
  }
}

/** The `cursor` query parameter, decoded. */
export const cursorParameter = z
  .string()
  .transform((cursor, context): Position => {
    const position = decodeCursor(cursor);
    if (position !== null) return position;
    context.addIssue({
      code: 'custom',
      message: 'is not a cursor of this list; begin again without one',
    });
    return z.NEVER;
  })
  .optional()
  .meta({
    description: '`next_cursor` of the page before; nothing else is taken.',
    pattern: CURSOR_FORM.source,
  });

/** The `limit` query parameter with its bounds. */
export function limitParameter(max = 200, otherwise = 50) {
  return integerInQuery(1, max)
    .default(otherwise)
    .meta({ description: `Items a page, 1 to ${String(max)}; ${String(otherwise)} when absent.` });
}

/** Spread into a list route's strict query object. */
export const pageParameters = { limit: limitParameter(), cursor: cursorParameter } as const;

/** A page as list routes answer it, under the plural of what it lists. */
export const nextCursor = z
  .string()
  .nullable()
  .meta({ description: 'Give it as `cursor` for the next page; null on the last.' });

/** Fetches one row more than asked for, to tell whether there is a next page. */
export async function fetchPage<T>(
  query: { readonly limit: number; readonly cursor?: Position | undefined },
  fetch: (page: {
    readonly limit: number;
    readonly after: Position | null;
  }) => Promise<readonly T[]>,
  positionOf: (row: T) => Position,
): Promise<{ readonly items: readonly T[]; readonly next_cursor: string | null }> {
  const rows = await fetch({ limit: query.limit + 1, after: query.cursor ?? null });
  const items = rows.slice(0, query.limit);
  const last = items.at(-1);
  return {
    items,
    next_cursor:
      rows.length > items.length && last !== undefined ? encodeCursor(positionOf(last)) : null,
  };
}
