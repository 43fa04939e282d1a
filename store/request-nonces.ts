/** Stores used nonces of signed requests: each API key uses a nonce once, in all processes. */
import type { Role } from '../domain/roles.ts';
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';

export interface KeyNonce {
  readonly key_id: string;
  readonly nonce: string;
}

/** The result for one pair; null when the API key is not active at this moment. */
export type TakenNonce = {
  readonly client_id: string;
  readonly role: Role;
  readonly authority_key: string | null;
  readonly fresh: boolean;
  /** When the key was found active, by the database's clock. */
  readonly checked_at: string;
  /** Only from {@link takeCountedNonces}, and for a nonce that was new. */
  readonly window?: RateWindow | null;
} | null;

/**
 * A request's position among the requests of its API key in the same minute, across all processes
 * that count in the database.
 */
export interface RateWindow {
  /** Starts at 1. */
  readonly place: number;
  readonly ends_in_seconds: number;
}

/**
 * Takes nonces in one statement that also reads whether their API keys are active, so that a
 * revoked key is refused from the commit of its revocation on. Pairs must differ. Nonces are
 * inserted in a fixed order, so that concurrent processes cannot deadlock. Returns results in the
 * order of `pairs`.
 */
export async function takeNonces(
  db: Database,
  pairs: readonly KeyNonce[],
): Promise<readonly TakenNonce[]> {
  const doc = JSON.stringify(pairs.map(({ key_id, nonce }) => [key_id, nonce]));
  const rows = await run(
    () => db.sql<NonNullable<TakenNonce> & { readonly position: number }>`
      WITH clock AS MATERIALIZED (SELECT svc_now() AS at), known AS (
        SELECT a.position::integer AS position, a.value ->> 0 AS key_id, a.value ->> 1 AS nonce,
          k.client_id::text, k.role, k.authority_key
        FROM jsonb_array_elements(${doc}::jsonb) WITH ORDINALITY AS a (value, position)
        JOIN api_client_keys k ON k.key_id = a.value ->> 0 AND k.status = 'active'
        JOIN api_clients c ON c.client_id = k.client_id AND c.status = 'active'
      ), taken AS (
        INSERT INTO nonce_registry (key_id, nonce, used_at) SELECT key_id, nonce, at
          FROM known, clock ORDER BY key_id, nonce
        ON CONFLICT DO NOTHING RETURNING key_id, nonce
      )
      SELECT k.position, k.client_id, k.role, k.authority_key, t.key_id IS NOT NULL AS fresh,
        c.at::text AS checked_at
        FROM clock c, known k LEFT JOIN taken t USING (key_id, nonce)`,
  );
  const found = new Map(rows.map(({ position, ...taken }) => [position, taken]));
  return pairs.map((_, index) => found.get(index + 1) ?? null);
}

/**
 * As {@link takeNonces}, and counts each request with a new nonce for the rate limit of its API
 * key. A window is one minute from its first request, by the database's clock. Windows are written
 * after all nonces of the statement and in a fixed order, so that counting cannot deadlock either.
 * This is a separate statement so that API processes that count in memory do not pay for it.
 */
export async function takeCountedNonces(
  db: Database,
  pairs: readonly KeyNonce[],
): Promise<readonly TakenNonce[]> {
  const doc = JSON.stringify(pairs.map(({ key_id, nonce }) => [key_id, nonce]));
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
        -- Both cases compare with the same reading of the clock; with two readings, a window could
        -- end between them.
        ON CONFLICT (key_id) DO UPDATE SET
          used = excluded.used + CASE WHEN w.ends_at <= excluded.ends_at - interval '1 minute'
            THEN 0 ELSE w.used END,
          ends_at = CASE WHEN w.ends_at <= excluded.ends_at - interval '1 minute'
            THEN excluded.ends_at ELSE w.ends_at END
        RETURNING key_id, used, ends_at
      )
      SELECT k.position, k.client_id, k.role, k.authority_key, t.key_id IS NOT NULL AS fresh,
        clock.at::text AS checked_at,
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
  return pairs.map((_, index) => found.get(index + 1) ?? null);
}

/**
 * Takes a nonce for a caller whose key is not in the database. Returns the time by the database's
 * clock; null if the nonce was taken before.
 */
export async function takeNonce(db: Database, { key_id, nonce }: KeyNonce): Promise<string | null> {
  const rows = await run(
    () => db.sql<{ readonly at: string }>`
      INSERT INTO nonce_registry (key_id, nonce, used_at) VALUES (${key_id}, ${nonce}, svc_now())
        ON CONFLICT DO NOTHING RETURNING used_at::text AS at`,
  );
  return rows[0]?.at ?? null;
}

/** Removes up to `atMost` nonces older than any valid request; returns their number. */
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
