import type { Database } from '../prisma/client.ts';

/** Answers when the database does; throws whatever keeps it from answering. */
export async function ping(db: Database): Promise<void> {
  await db.sql`SELECT 1 AS one`;
}
