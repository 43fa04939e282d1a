/** Gives a database role the rights that the service needs. The role owns nothing. */
import { connectOnce } from './servers.ts';

/**
 * Grants the rights. Call it as the owner of the tables after every migration. Safe to repeat; also
 * revokes rights that are no longer needed.
 */
export async function grantService(ownerUrl: string, role: string): Promise<void> {
  const client = await connectOnce(ownerUrl);
  try {
    await client.query('SELECT grant_service($1)', [role]);
  } finally {
    await client.end();
  }
}
