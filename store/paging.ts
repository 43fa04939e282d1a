/** The position at which a page of a list continues. Lists are sorted newest first, then by id. */

/** The position of the last row of a page. */
export interface PagePosition {
  readonly created_at: string;
  readonly id: string;
}

/**
 * Returns a filter for rows older than the position, for a list ordered by `at` and then by `id`,
 * both descending.
 */
export function olderThan<Id extends string, At extends string = 'created_at'>(
  after: PagePosition,
  id: Id,
  at: At = 'created_at' as At,
) {
  const moment = new Date(after.created_at);
  type Older = Record<At, { readonly lt: Date }>;
  type Same = Record<Id, { readonly lt: string }>;
  type UpTo = Record<At, { readonly lte: Date }>;
  // `at <= moment` is redundant, but an index scan can start from it.
  return {
    AND: [
      { [at]: { lte: moment } } as UpTo,
      { OR: [{ [at]: { lt: moment } } as Older, { [id]: { lt: after.id } } as Same] },
    ],
  };
}

/**
 * Returns the values for the condition `(created_at, id) < (at, id)`; without a position, values
 * that every row satisfies. Since the condition is always there, every query plan can start an
 * index scan from it.
 */
export function beforePosition(after: PagePosition | null): {
  readonly at: string;
  readonly id: string;
} {
  return {
    at: after?.created_at ?? 'infinity',
    id: after?.id ?? 'ffffffff-ffff-ffff-ffff-ffffffffffff',
  };
}
