/** Used nonces: each is taken once per key, over every process that asks. */
import type { Role } from '../domain/roles.ts';
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';

export interface AskedNonce {
  readonly key_id: string;
  readonly nonce: string;
}

/** What became of one asked pair; null where its key is not active at this moment. */
export type TakenNonce = {
  readonly client_id: string;
  readonly role: Role;
  readonly authority_key: string | null;
  readonly fresh: boolean;
  /** Only of {@link takeCountedNonces}, and of a nonce that was new. */
  readonly window?: RateWindow | null;
} | null;

/** A request among those of its key in the same minute, over every process that counts. */
export interface RateWindow {
  /** From 1 on. */
  readonly place: number;
  readonly ends_in_seconds: number;
}

/**
 * Takes nonces in one statement, which also reads whether their keys are active, so that a revoke
 * holds from its commit on. Pairs must differ from each other. They are inserted in one order, so
 * that processes that ask at the same time cannot block each other. Answers in the order of
 * `asked`.
 */
export async function takeNonces(
  db: Database,
  asked: readonly AskedNonce[],
): Promise<readonly TakenNonce[]> {
  const doc = JSON.stringify(asked.map(({ key_id, nonce }) => [key_id, nonce]));
  const rows = await run(
    () => db.sql<NonNullable<TakenNonce> & { readonly position: number }>`
      WITH known AS (
        SELECT a.position::integer AS position, a.value ->> 0 AS key_id, a.value ->> 1 AS nonce,
          k.client_id::text, k.role, k.authority_key
        FROM jsonb_array_elements(${doc}::jsonb) WITH ORDINALITY AS a (value, position)
        JOIN api_client_keys k ON k.key_id = a.value ->> 0 AND k.status = 'active'
        JOIN api_clients c ON c.client_id = k.client_id AND c.status = 'active'
      ), taken AS (
        INSERT INTO nonce_registry (key_id, nonce, used_at) SELECT key_id, nonce, svc_now()
          FROM known ORDER BY key_id, nonce
        ON CONFLICT DO NOTHING RETURNING key_id, nonce
      )
      SELECT k.position, k.client_id, k.role, k.authority_key, t.key_id IS NOT NULL AS fresh
        FROM known k LEFT JOIN taken t USING (key_id, nonce)`,
  );
  const found = new Map(rows.map(({ position, ...taken }) => [position, taken]));
  return asked.map((_, index) => found.get(index + 1) ?? null);
}

/**
 * The same, and counts each request whose nonce was new for the rate limit of its key. A window is
 * a minute from its first request on, by the database's clock. Windows are written once all nonces
 * of the statement are, and in one order, so that counting blocks nobody for good either. A
 * statement of its own, so that an API that counts alone pays nothing for it.
 */
export async function takeCountedNonces(
  db: Database,
  asked: readonly AskedNonce[],
): Promise<readonly TakenNonce[]> {
  const doc = JSON.stringify(asked.map(({ key_id, nonce }) => [key_id, nonce]));
  const rows = await run(
    () => db.sql<
      Omit<NonNullable<TakenNonce>, 'window'> & {
        readonly position: number;
        readonly place: number | null;
        readonly ends_in_seconds: number | null;
      }
    >`
      WITH known AS (
        SELECT a.position::integer AS position, a.value ->> 0 AS key_id, a.value ->> 1 AS nonce,
          k.client_id::text, k.role, k.authority_key
        FROM jsonb_array_elements(${doc}::jsonb) WITH ORDINALITY AS a (value, position)
        JOIN api_client_keys k ON k.key_id = a.value ->> 0 AND k.status = 'active'
        JOIN api_clients c ON c.client_id = k.client_id AND c.status = 'active'
      ), taken AS (
        INSERT INTO nonce_registry (key_id, nonce, used_at) SELECT key_id, nonce, svc_now()
          FROM known ORDER BY key_id, nonce
        ON CONFLICT DO NOTHING RETURNING key_id, nonce
      ), clock AS MATERIALIZED (SELECT svc_now() AS at), counted AS (
        INSERT INTO rate_windows AS w (key_id, ends_at, used)
          SELECT key_id, at + interval '1 minute', count(*) FROM taken, clock
          GROUP BY key_id, at ORDER BY key_id
        -- Both by the one time that the statement read: read twice, a window could end in between.
        ON CONFLICT (key_id) DO UPDATE SET
          used = excluded.used + CASE WHEN w.ends_at <= excluded.ends_at - interval '1 minute'
            THEN 0 ELSE w.used END,
          ends_at = CASE WHEN w.ends_at <= excluded.ends_at - interval '1 minute'
            THEN excluded.ends_at ELSE w.ends_at END
        RETURNING key_id, used, ends_at
      )
      SELECT k.position, k.client_id, k.role, k.authority_key, t.key_id IS NOT NULL AS fresh,
        CASE WHEN t.key_id IS NOT NULL THEN c.used - (count(t.key_id) OVER (PARTITION BY k.key_id)
          - row_number() OVER (PARTITION BY k.key_id, t.key_id ORDER BY k.position)) END::integer
          AS place,
        extract(epoch FROM c.ends_at - clock.at)::double precision AS ends_in_seconds
      FROM clock, known k LEFT JOIN taken t USING (key_id, nonce) LEFT JOIN counted c ON c.key_id = k.key_id`,
  );
  const found = new Map(
    rows.map(({ position, place, ends_in_seconds, ...taken }) => [
      position,
      {
        ...taken,
        window: place === null || ends_in_seconds === null ? null : { place, ends_in_seconds },
      },
    ]),
  );
  return asked.map((_, index) => found.get(index + 1) ?? null);
}

/** Takes one nonce of somebody whose key is not in the database; false when it was taken before. */
export async function takeNonce(db: Database, { key_id, nonce }: AskedNonce): Promise<boolean> {
  const rows = await run(
    () => db.sql`
      INSERT INTO nonce_registry (key_id, nonce, used_at) VALUES (${key_id}, ${nonce}, svc_now())
        ON CONFLICT DO NOTHING RETURNING 1`,
  );
  return rows.length > 0;
}

/**
 * Removes up to `atMost` nonces that were used longer ago than any request with them could be in
 * time; answers how many.
 */
export async function dropOldNonces(
  db: Database,
  options: { readonly keepSeconds: number; readonly atMost: number },
): Promise<number> {
  const rows = await run(
    () => db.sql<{ dropped: number }>`
      WITH old AS (
        SELECT ctid FROM nonce_registry
          WHERE used_at < (SELECT svc_now()) - make_interval(secs => ${options.keepSeconds}::integer)
        LIMIT ${options.atMost}::integer
      ), gone AS (DELETE FROM nonce_registry WHERE ctid = ANY (ARRAY(SELECT ctid FROM old))
        RETURNING 1)
      SELECT count(*)::integer AS dropped FROM gone`,
  );
  return rows[0]?.dropped ?? 0;
}
