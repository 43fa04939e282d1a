/**
 * Webhooks of the whole service. Only the owner of the tables may call this: the service's role
 * does not read their addresses. The messages are callbacks (store/callbacks.ts).
 */
import type { WebhookEvent } from '../domain/callbacks/webhook.ts';
import type { AuditEntry } from '../domain/transition.ts';
import type { Database } from '../prisma/client.ts';
import { auditRows } from './event-ids.ts';
import { run } from './faults.ts';
import { isoOf } from './json.ts';

export interface WebhookFields {
  /** Lower case letters, digits and hyphens. */
  readonly name: string;
  readonly url: string;
  /** Null: all, also those that come with later releases. */
  readonly event_types: readonly WebhookEvent[] | null;
  /** Scheme, host and port at which people open the console; messages link to it. */
  readonly console_origin: string;
}

export interface Webhook extends WebhookFields {
  readonly created_at: string;
  readonly updated_at: string;
}

/** Returns every webhook, by name. */
export async function listWebhooks(db: Database): Promise<readonly Webhook[]> {
  const rows = await run(
    () => db.sql<{ webhook: Webhook }>`
      SELECT to_jsonb(w) AS webhook FROM webhooks w ORDER BY name`,
  );
  return rows.map(({ webhook }) => toWebhook(webhook));
}

/** Creates a webhook, or replaces the one of this name, with its audit row. */
export async function setWebhook(
  db: Database,
  fields: WebhookFields,
  audit: AuditEntry,
): Promise<Webhook> {
  const doc = JSON.stringify({ ...fields, audit: auditRows(db, [audit]) });
  const rows = await run(
    () => db.sql<{ webhook: Webhook }>`SELECT set_webhook(${doc}::jsonb) AS webhook`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the SQL function set_webhook returned no row');
  return toWebhook(row.webhook);
}

/** Removes a webhook with what it has not received; false for an unknown name. */
export async function removeWebhook(
  db: Database,
  name: string,
  audit: AuditEntry,
): Promise<boolean> {
  const doc = JSON.stringify({ name, audit: auditRows(db, [audit]) });
  const rows = await run(
    () => db.sql<{ removed: boolean }>`SELECT remove_webhook(${doc}::jsonb) AS removed`,
  );
  return rows[0]?.removed === true;
}

/** Queues a test message and returns its id; null for an unknown name. */
export async function testWebhook(
  db: Database,
  name: string,
  audit: AuditEntry,
): Promise<string | null> {
  const doc = JSON.stringify({ name, audit: auditRows(db, [audit]) });
  const rows = await run(
    () => db.sql<{ event_id: string | null }>`
      SELECT test_webhook(${doc}::jsonb)::text AS event_id`,
  );
  return rows[0]?.event_id ?? null;
}

function toWebhook(row: Webhook): Webhook {
  return { ...row, created_at: isoOf(row.created_at), updated_at: isoOf(row.updated_at) };
}
