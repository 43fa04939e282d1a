/** The wire contract of the audit trail. */
import { z } from 'zod';
import { REGISTRY_ENTITIES } from '../../domain/audit.ts';
import { AUDIT_ACTIONS, AUDIT_OUTCOMES } from '../../domain/events.ts';
import { instant } from '../../platform/instant.ts';
import { cursorParameter, limitParameter, nextCursor } from '../http/paging.ts';
import { jsonObject, listOf, oneOf, text, timestamp, uuid } from '../http/schemas.ts';

const name = text(1, 256);

/** Filters that both lists have. */
const filters = {
  time_range_start: instant.optional().meta({ description: 'Inclusive.' }),
  time_range_end: instant.optional().meta({ description: 'Exclusive.' }),
  actor_client_id: name.optional(),
  actor_key_id: name.optional(),
  entity_key: name.optional(),
  action: z.enum(AUDIT_ACTIONS).optional(),
  request_id: text(1, 128)
    .optional()
    .meta({ description: '`X-Request-Id` of the request that left the records.' }),
  outcome: z.enum(AUDIT_OUTCOMES).optional(),
  namespace: name.optional(),
  limit: limitParameter(500, 100),
  cursor: cursorParameter,
} as const;

export const listQuery = z.strictObject({ ...filters, entity_type: name.optional() });
export const registryListQuery = z.strictObject({
  ...filters,
  entity_type: z.enum(REGISTRY_ENTITIES).optional(),
});

export const auditEventView = z
  .object({
    event_id: uuid,
    occurred_at: timestamp,
    actor_client_id: z.string().nullable().meta({
      description:
        'An API client, `dashboard:<operator>`, or `fundadmin:<person>`. Null for the service itself, for `fundadmin` without `--as`, and with authentication switched off.',
    }),
    actor_key_id: z.string().nullable(),
    actor_role: z.string().nullable(),
    namespace: z.string().nullable(),
    action: oneOf(AUDIT_ACTIONS),
    entity_type: z.string(),
    entity_key: z.string(),
    outcome: oneOf(AUDIT_OUTCOMES),
    request_id: z.string().nullable(),
    reason: z
      .string()
      .nullable()
      .meta({ description: 'What the caller gave as the reason, or why it was denied.' }),
    details: jsonObject,
  })
  .meta({ id: 'AuditEvent' });

export const sealResponse = z
  .object({
    sealed: z.int().min(0).meta({ description: 'Records with a seal.' }),
    chain_hash: z.string().nullable().meta({
      description: 'SHA-256 of the newest seal, in hexadecimal; it covers all before it.',
    }),
    sealed_at: timestamp.nullable(),
    overdue: z.boolean().meta({
      description: 'A record of more than a minute ago, of the newest 100, has no seal yet.',
    }),
  })
  .meta({ id: 'AuditSeal' });

export const listResponse = z
  .object({ events: listOf(auditEventView), next_cursor: nextCursor })
  .meta({ id: 'AuditEventList' });
