/** Where a page of a list continues: newest first, by id among rows of one moment. */

/** Where a page ended. */
export interface PagePosition {
  readonly created_at: string;
  readonly id: string;
}

/**
 * What is older than the position, for a list ordered by `at` and then by `id`, both descending.
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
  // `at <= moment` is redundant, but an index can start from it.
  return {
    AND: [
      { [at]: { lte: moment } } as UpTo,
      { OR: [{ [at]: { lt: moment } } as Older, { [id]: { lt: after.id } } as Same] },
    ],
  };
}

/**
 * A position for `(created_at, id) < (at, id)`; where there is none, every row is before it. Said
 * so, and not as a condition that may be absent, an index can begin from it however it is planned.
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
