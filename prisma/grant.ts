/**
 * Lets a role of the database be the service's: it may do what the service needs, and owns nothing.
 */
import { connectOnce } from './servers.ts';

/**
 * To be called as the owner of the tables, after every migration. Safe to repeat; takes back what
 * is no longer needed.
 */
export async function grantService(ownerUrl: string, role: string): Promise<void> {
  const client = await connectOnce(ownerUrl);
  try {
    await client.query('SELECT grant_service($1)', [role]);
  } finally {
    await client.end();
  }
}
