/** GET /movements */
import type { z } from 'zod';
import type { Requester } from '../../domain/commands/context.ts';
import { namespaceOf } from '../../domain/roles.ts';
import { listMovements } from '../../store/movement-reads.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { fetchPage, splitPage } from '../http/paging.ts';
import { shownNaming } from '../redact.ts';
import type { Reply } from '../http/route.ts';
import type { listResponse } from './responses.ts';
import type { listQuery } from './schema.ts';

/** Returns a page of movements, newest first. */
export async function list(
  input: { readonly query: z.output<typeof listQuery>; readonly requester: Requester },
  deps: ApiDependencies,
): Promise<Reply<z.input<typeof listResponse>>> {
  const [pageQuery, filter] = splitPage(input.query);
  const namespace = namespaceOf(input.requester.caller);
  const page = await fetchPage(
    pageQuery,
    (at) => listMovements(deps.db, { ...filter, namespace }, at),
    (row) => ({ created_at: row.created_at, id: row.movement_id }),
  );
  return {
    status: 200,
    body: {
      movements: page.items.map((row) => ({ ...row, ...shownNaming(row, deps.redact) })),
      next_cursor: page.next_cursor,
    },
  };
}
