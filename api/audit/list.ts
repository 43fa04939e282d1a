/** GET /audit/events and GET /registry/audit */
import type { z } from 'zod';
import { listAuditEvents, type AuditFilter } from '../../store/audit-events.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { withoutSecrets } from '../redact.ts';
import { fetchPage } from '../http/paging.ts';
import type { Reply } from '../http/route.ts';
import type { listQuery, listResponse, registryListQuery } from './schema.ts';

type Page = Reply<z.input<typeof listResponse>>;
type Dependencies = Pick<ApiDependencies, 'db'>;

/** Returns a page of all audit records. */
export async function list(
  input: { readonly query: z.output<typeof listQuery> },
  deps: Dependencies,
): Promise<Page> {
  return pageOf(deps, input.query);
}

/** Returns a page of the audit records of changes to the registries. */
export async function listRegistry(
  input: { readonly query: z.output<typeof registryListQuery> },
  deps: Dependencies,
): Promise<Page> {
  return pageOf(deps, input.query, { registry: true });
}

async function pageOf(
  { db }: Dependencies,
  { limit, cursor, ...filter }: z.output<typeof listQuery>,
  within: Pick<AuditFilter, 'registry'> = {},
): Promise<Page> {
  const page = await fetchPage(
    { limit, cursor },
    (at) => listAuditEvents(db, { ...filter, ...within }, at),
    (record) => ({ created_at: record.occurred_at, id: record.event_id }),
  );
  return {
    status: 200,
    body: {
      events: page.items.map((event) => ({ ...event, details: withoutSecrets(event.details) })),
      next_cursor: page.next_cursor,
    },
  };
}
