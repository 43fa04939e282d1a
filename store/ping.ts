import type { Database } from '../prisma/client.ts';

/** Returns when the database has answered; throws the error if it does not answer. */
export async function ping(db: Database): Promise<void> {
  await db.sql`SELECT 1 AS one`;
}
