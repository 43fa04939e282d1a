/** Reads the audit trail, newest first. */
import type { AuditRecord } from '../domain/audit.ts';
import type { AuditAction, AuditOutcome } from '../domain/events.ts';
import type { Database } from '../prisma/client.ts';
import type { Prisma } from '../prisma/generated/client.ts';
import { run } from './faults.ts';
import { iso, object } from './json.ts';
import { olderThan, type PagePosition } from './paging.ts';

/** The filter of a list of audit records; an absent field matches every record. */
export interface AuditFilter {
  /** ISO 8601; inclusive. */
  readonly time_range_start?: string | undefined;
  /** ISO 8601; exclusive. */
  readonly time_range_end?: string | undefined;
  readonly actor_client_id?: string | undefined;
  readonly actor_key_id?: string | undefined;
  readonly entity_type?: string | undefined;
  /** Only records about entries of the registries. */
  readonly registry?: true | undefined;
  readonly entity_key?: string | undefined;
  readonly action?: AuditAction | undefined;
  readonly request_id?: string | undefined;
  readonly outcome?: AuditOutcome | undefined;
  readonly namespace?: string | undefined;
}

const SHOWN = {
  event_id: true,
  occurred_at: true,
  actor_client_id: true,
  actor_key_id: true,
  actor_role: true,
  namespace: true,
  action: true,
  entity_type: true,
  entity_key: true,
  outcome: true,
  request_id: true,
  reason: true,
  details: true,
} as const satisfies Record<keyof AuditRecord, true>;

/**
 * Returns up to `limit` records after `page.after`. Times are whole milliseconds and ids are
 * unique, so no two records share a position. A row that commits late appears at its own time, and
 * shifts no other row.
 */
export async function listAuditEvents(
  db: Database,
  filter: AuditFilter,
  page: { readonly limit: number; readonly after: PagePosition | null },
): Promise<readonly AuditRecord[]> {
  const rows = await run(() =>
    db.auditEvent.findMany({
      select: SHOWN,
      where: {
        AND: [
          conditions(filter),
          page.after === null ? {} : olderThan(page.after, 'event_id', 'occurred_at'),
        ],
      },
      orderBy: [{ occurred_at: 'desc' }, { event_id: 'desc' }],
      take: page.limit,
    }),
  );
  return rows.map((row) => ({
    ...row,
    occurred_at: iso(row.occurred_at),
    details: object(row.details),
  }));
}

function conditions({
  time_range_start,
  time_range_end,
  ...equal
}: AuditFilter): Prisma.AuditEventWhereInput {
  return {
    ...Object.fromEntries(Object.entries(equal).filter(([, value]) => value !== undefined)),
    occurred_at: {
      ...(time_range_start === undefined ? {} : { gte: new Date(time_range_start) }),
      ...(time_range_end === undefined ? {} : { lt: new Date(time_range_end) }),
    },
  };
}
