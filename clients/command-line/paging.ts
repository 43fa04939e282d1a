/** Commands that print one page of a list, or all pages. */
import { OPERATIONS, type PagedId, type QueryOf, type RowOf } from '../http/operations.ts';
import {
  answerOf,
  command,
  type Call,
  type CommandSpec,
  type Leaf,
  type OptionSpecs,
} from './command.ts';
import type { NoArguments, NoOptions } from './operation.ts';
import { flag, text, whole } from './options.ts';
import type { Session, Sparse } from './session.ts';
import type { Columns } from './columns.ts';

/** Options of every command that prints a paged list. */
export const PAGE = {
  limit: whole('n', 'at most so many at once'),
  cursor: text('cursor', 'go on where an earlier page ended'),
  all: flag('every page'),
};

interface Listing<Id extends PagedId, O extends OptionSpecs> extends Omit<
  CommandSpec<NoArguments, O>,
  'args' | 'answer' | 'run'
> {
  readonly query?: (options: Call<NoArguments, O>['options']) => Sparse<QueryOf<Id>>;
  readonly columns: Columns<RowOf<Id>>;
}

/** Returns a command that prints one page of a list, or all pages as one list. */
export function listing<Id extends PagedId, const O extends OptionSpecs = NoOptions>(
  id: Id,
  { query, columns, ...spec }: Listing<Id, O>,
): Leaf {
  return command<NoArguments, O & typeof PAGE>({
    ...spec,
    options: { ...(spec.options ?? ({} as O)), ...PAGE },
    answer: answerOf(id),
    run: async ({ session, options }) => {
      // `query` gets only the command's own options; the paging options are added here.
      const { limit, cursor, all, ...own } = options as Call<NoArguments, typeof PAGE>['options'];
      const filters = query?.(own as Call<NoArguments, O>['options']);
      const sent = defined({ ...filters, limit, cursor });
      const body = all ? await everyPage(session, id, sent) : await onePage(session, id, sent);
      const rows = body[OPERATIONS[id].paged] as readonly RowOf<Id>[];
      await session.print(body, () => session.table(rows, columns));
      if (typeof body['next_cursor'] === 'string')
        session.note(`There are more: --cursor ${body['next_cursor']}, or --all.`);
    },
  });
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

/** The client without the types of a specific operation. */
interface Loose {
  call(id: PagedId, input: object): Promise<unknown>;
  pages(id: PagedId, input: object): AsyncIterable<unknown>;
}

/** Returns the fields that are not undefined, so that a merge overwrites nothing with undefined. */
export function defined<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Defined<T>;
}

/** The same fields; a field that could be `undefined` is optional instead. */
export type Defined<T> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K];
} & { [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined> };
