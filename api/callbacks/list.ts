/** GET /callbacks */
import type { z } from 'zod';
import { listCallbacks } from '../../store/callbacks.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { fetchPage, splitPage } from '../http/paging.ts';
import type { Reply } from '../http/route.ts';
import { viewOf, type listQuery, type listResponse } from './schema.ts';

/** Returns a page of callbacks, newest first. */
export async function list(
  input: { readonly query: z.output<typeof listQuery> },
  { db }: Pick<ApiDependencies, 'db'>,
): Promise<Reply<z.input<typeof listResponse>>> {
  const [pageQuery, filter] = splitPage(input.query);
  const page = await fetchPage(
    pageQuery,
    (at) => listCallbacks(db, filter, at),
    (row) => ({ created_at: row.created_at, id: row.event_id }),
  );
  return {
    status: 200,
    body: { callbacks: page.items.map(viewOf), next_cursor: page.next_cursor },
  };
}
