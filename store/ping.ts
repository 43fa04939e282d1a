import type { Database } from '../prisma/client.ts';

/** Returns once the database has answered; throws when it does not answer. */
export async function ping(db: Database): Promise<void> {
  await db.sql`SELECT 1 AS one`;
}
