/** GET /movements */
import type { z } from 'zod';
import { listMovements } from '../../store/movements.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { fetchPage } from '../paging.ts';
import type { Reply } from '../route.ts';
import type { listResponse } from './responses.ts';
import type { listQuery } from './schema.ts';

/** A page of movements, newest first. */
export async function list(
  input: { readonly query: z.output<typeof listQuery> },
  deps: ApiDependencies,
): Promise<Reply<z.input<typeof listResponse>>> {
  const { state, strategy_id, ...query } = input.query;
  const page = await fetchPage(
    query,
    (at) => listMovements(deps.db, { state, strategy_id }, at),
    (row) => ({ created_at: row.created_at, id: row.movement_id }),
  );
  return { status: 200, body: { movements: page.items, next_cursor: page.next_cursor } };
}
