/**
 * A database put back to an earlier moment, as a restore or a failover with lost commits leaves it.
 */
import pg from 'pg';

export interface Saved {
  /** Puts every table back. The service must not run meanwhile. */
  restore(): Promise<void>;
}

const KEPT = 'saved_rows';

/** Remembers every row of every table as it is now. */
export async function saveDatabase(databaseUrl: string): Promise<Saved> {
  const within = async (work: (client: pg.Client) => Promise<void>): Promise<void> => {
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    try {
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
      await work(client);
      await client.query('COMMIT');
    } finally {
      await client.end();
    }
  };
  const tables = new Map<string, string>();
  await within(async (client) => {
    // Generated columns are made again by the database.
    const { rows } = await client.query<{ name: string; columns: string }>(
      `SELECT c.relname AS name,
        string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) AS columns
       FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
       WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0
         AND NOT a.attisdropped AND a.attgenerated = ''
         AND c.relname NOT LIKE '\\_prisma%'
       GROUP BY c.relname`,
    );
    await client.query(`CREATE SCHEMA ${KEPT}`);
    for (const { name, columns } of rows) {
      tables.set(name, columns);
      await client.query(`CREATE TABLE ${KEPT}.${name} AS SELECT ${columns} FROM public.${name}`);
    }
  });
  return {
    restore: () =>
      within(async (client) => {
        // Neither triggers nor foreign keys speak while rows are put back.
        await client.query('SET LOCAL session_replication_role = replica');
        await client.query(
          `TRUNCATE ${[...tables.keys()].map((name) => `public.${name}`).join(', ')}`,
        );
        for (const [name, columns] of tables)
          await client.query(
            `INSERT INTO public.${name} (${columns}) OVERRIDING SYSTEM VALUE SELECT ${columns}
              FROM ${KEPT}.${name}`,
          );
      }),
  };
}
