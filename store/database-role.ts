/** What the database allows this process to do with the audit trail. */
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';

export interface DatabaseRole {
  readonly name: string;
  /**
   * Whether the role could change or remove audit rows, or disable the triggers that refuse that.
   * The owner and superusers can.
   */
  readonly may_rewrite_audit: boolean;
}

/** Returns the role of this process's connections. */
export async function readDatabaseRole(db: Database): Promise<DatabaseRole> {
  const rows = await run(
    () => db.sql<DatabaseRole>`
      SELECT current_user::text AS name,
             pg_has_role(relowner, 'MEMBER')
               OR has_table_privilege(oid, 'UPDATE, DELETE, TRUNCATE, TRIGGER') AS may_rewrite_audit
      FROM pg_class WHERE oid = to_regclass('audit_events')`,
  );
  return rows[0] ?? { name: 'unknown', may_rewrite_audit: false };
}

/**
 * Returns the session's role and these settings as the session has them, times in milliseconds; an
 * unknown setting is left out.
 */
export async function readSessionSettings(
  db: Database,
  names: readonly string[],
): Promise<{ readonly role: string; readonly settings: Readonly<Record<string, string>> }> {
  const rows = await run(
    () => db.sql<{ role: string; settings: Readonly<Record<string, string>> }>`
      SELECT current_user::text AS role, coalesce(jsonb_object_agg(name,
          coalesce(s.setting, current_setting(name, true))), '{}') AS settings
      FROM jsonb_array_elements_text(${JSON.stringify(names)}::jsonb) AS wanted (name)
      LEFT JOIN pg_settings s USING (name)`,
  );
  return rows[0] ?? { role: 'unknown', settings: {} };
}
