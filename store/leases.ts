/** Leases of loops that one process runs for all processes; see activities/relays/leases.ts. */
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';

/**
 * Takes the free leases among these names and renews those of this holder, for `seconds` by the
 * database's clock. Returns the names that the holder has now.
 */
export async function takeLeases(
  db: Database,
  {
    names,
    holder,
    seconds,
  }: { readonly names: readonly string[]; readonly holder: string; readonly seconds: number },
): Promise<readonly string[]> {
  const rows = await run(
    () => db.sql<{ name: string }>`
      WITH clock AS MATERIALIZED (SELECT svc_now() AS at)
      INSERT INTO leases AS l (name, holder, ends_at)
        SELECT name, ${holder}, at + make_interval(secs => ${seconds}::integer)
        FROM jsonb_array_elements_text(${JSON.stringify(names)}::jsonb) name, clock ORDER BY name
      ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, ends_at = excluded.ends_at
        WHERE l.holder = excluded.holder
          OR l.ends_at <= excluded.ends_at - make_interval(secs => ${seconds}::integer)
      RETURNING name`,
  );
  return rows.map(({ name }) => name);
}

/** Returns these leases of the holder, so that other processes can take them immediately. */
export async function returnLeases(
  db: Database,
  { names, holder }: { readonly names: readonly string[]; readonly holder: string },
): Promise<void> {
  await run(
    () => db.sql`
      DELETE FROM leases WHERE holder = ${holder}
        AND name IN (SELECT jsonb_array_elements_text(${JSON.stringify(names)}::jsonb))`,
  );
}
