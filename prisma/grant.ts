/** Gives a database role the rights that the service needs. The role owns nothing. */
import type pg from 'pg';
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

/**
 * Grants the rights in the transaction of `client`, with what its migrations have made so far; does
 * nothing before they have made `grant_service`.
 */
export async function grantWithin(client: pg.Client, role: string): Promise<void> {
  const { rows } = await client.query<{ there: boolean }>(
    `SELECT to_regprocedure('grant_service(text)') IS NOT NULL AS there`,
  );
  if (rows[0]?.there === true) await client.query('SELECT grant_service($1)', [role]);
}
