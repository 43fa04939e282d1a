/** Lists: a page of them, or all. */
import { OPERATIONS, type PagedId, type QueryOf, type RowOf } from '../http/operations.ts';
import { flag, text, whole } from './options.ts';
import type { Session } from './session.ts';
import type { Columns } from './table.ts';

/** Options of every list that has pages. */
export const PAGE = {
  limit: whole('n', 'at most so many at once'),
  cursor: text('cursor', 'go on where an earlier page ended'),
  all: flag('every page'),
};

interface PageOptions {
  readonly limit: number | undefined;
  readonly cursor: string | undefined;
  readonly all: boolean;
}

interface List<Id extends PagedId> {
  readonly query: QueryOf<Id>;
  readonly page: PageOptions;
  readonly columns: Columns<RowOf<Id>>;
}

/** Prints a page, or all pages as if they were one. */
export async function printList<Id extends PagedId>(
  session: Session,
  id: Id,
  { query, page, columns }: List<Id>,
): Promise<void> {
  const field = OPERATIONS[id].paged;
  const given = defined({ ...(query as object), limit: page.limit, cursor: page.cursor });
  const body = page.all ? await everyPage(session, id, given) : await onePage(session, id, given);
  const rows = body[field] as readonly RowOf<Id>[];
  await session.print(body, () => session.table(rows, columns));
  if (typeof body['next_cursor'] === 'string')
    session.note(`There are more: --cursor ${body['next_cursor']}, or --all.`);
}

type Body = Readonly<Record<string, unknown>>;

async function onePage(session: Session, id: PagedId, query: object): Promise<Body> {
  const client: Loose = await session.client();
  return (await client.call(id, { query })) as Body;
}

async function everyPage(session: Session, id: PagedId, query: object): Promise<Body> {
  const client: Loose = await session.client();
  const rows: unknown[] = [];
  for await (const row of client.pages(id, { query })) rows.push(row);
  return { [OPERATIONS[id].paged]: rows, next_cursor: null };
}

/** The client without the types that an id would bring. */
interface Loose {
  call(id: PagedId, input: object): Promise<unknown>;
  pages(id: PagedId, input: object): AsyncIterable<unknown>;
}

/** Without what was not given: the API takes no empty parameters. */
export function defined<T extends object>(given: T): Defined<T> {
  return Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined),
  ) as Defined<T>;
}

/** The same fields, each there or not, and never `undefined`. */
export type Defined<T> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K];
} & { [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined> };
