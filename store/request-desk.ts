/** The request desk of all processes that use this database. */
import { randomUUID } from 'node:crypto';
import type { RequestDesk } from '../domain/request-desk.ts';
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';

/**
 * Returns the desk. If the answer to a statement is lost, its reservation or turn is lost with it:
 * the budget grows back, and the turn ends with its time.
 */
export function createRequestDesk(db: Database): RequestDesk {
  return {
    async take(key, cost, { capacity, units_per_second }, withinMs) {
      const rows = await run(
        () => db.sql<{ wait: number | null }>`
          SELECT take_request_budget(${key}, ${cost}::double precision,
            ${capacity}::double precision, ${units_per_second}::double precision,
            ${withinMs}::double precision) AS wait`,
      );
      return rows[0]?.wait ?? null;
    },
    async stoppedFor(key) {
      const rows = await run(
        () => db.sql<{ wait: number }>`SELECT requests_stopped_for(${key}) AS wait`,
      );
      const [row] = rows;
      // No answer must not look like "it may be sent now".
      if (row === undefined)
        throw new Error('the SQL function requests_stopped_for returned no row');
      return Math.ceil(row.wait);
    },
    async stop(key, milliseconds) {
      await run(() => db.sql`SELECT stop_requests(${key}, ${milliseconds}::double precision)`);
    },
    async takeTurn(key, milliseconds) {
      const holder = randomUUID();
      const rows = await run(
        () => db.sql<{ nonce: string | null }>`
          SELECT take_request_turn(${key}, ${holder}::uuid, ${milliseconds}::double precision)::text
            AS nonce`,
      );
      const nonce = rows[0]?.nonce ?? null;
      if (nonce === null) return null;
      return {
        nonce,
        async release() {
          await run(() => db.sql`SELECT release_request_turn(${key}, ${holder}::uuid)`);
        },
      };
    },
  };
}
