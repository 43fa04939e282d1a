/** Sees every statement that goes to Postgres over a connection. */
import type pg from 'pg';
import { connectDatabase, type Database } from '../../prisma/client.ts';

/**
 * For `onConnect`: calls `seen` before each statement; BEGIN and COMMIT count like everything else.
 */
export function onEveryStatement(seen: () => void): (connection: pg.PoolClient) => void {
  return (connection) => {
    const query: unknown = connection.query;
    if (typeof query !== 'function') throw new TypeError('a connection without query');
    connection.query = (...args: unknown[]) => {
      seen();
      return Reflect.apply(query, connection, args);
    };
  };
}

/** A client, and how many statements it has sent so far. */
export function countStatements(databaseUrl: string): {
  readonly db: Database;
  readonly sent: () => number;
} {
  let count = 0;
  const onConnect = onEveryStatement(() => {
    count += 1;
  });
  return { db: connectDatabase({ url: databaseUrl, poolSize: 4, onConnect }), sent: () => count };
}
