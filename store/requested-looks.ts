/**
 * A look is a read of a signer's address, a venue's balances, or a claim at a venue. An API process
 * has neither signers nor credentials of venues, so it requests the look from a worker. Rows are
 * few and short-lived, so they need no index.
 */
import type { NamedClaim, ReadClaim } from '../domain/claim-reader.ts';
import { newId } from '../platform/ids.ts';
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';

export type Look = {
  /** The key of the signer or of the venue. */
  readonly subject: string;
} & (
  | { readonly kind: 'signer_identity' | 'balances'; readonly question?: null }
  | { readonly kind: 'claim'; readonly question: NamedClaim }
);

export type TakenLook = Look & { readonly look_id: string };

export type LookAnswer =
  /** `address` is null for a signer without an identity, and for balances, which are stored. */
  | { readonly ok: true; readonly address: string | null; readonly claim?: ReadClaim }
  /** `invalid`: the signer answered, but the answer is no address. */
  | { readonly ok: false; readonly fault: 'invalid' | 'failed'; readonly message: string };

/** Seconds that a request is kept: longer than any caller waits. */
const KEPT_SECONDS = 60;

/** Requests a look; returns the request's id. */
export async function requestLook(
  db: Database,
  { kind, subject, question }: Look,
): Promise<string> {
  const id = newId();
  const asJson = question == null ? null : JSON.stringify(question);
  await run(
    () => db.sql`
      INSERT INTO requested_looks (look_id, kind, subject, question, requested_at, taken_until)
      SELECT ${id}::uuid, ${kind}, ${subject}, ${asJson}::jsonb, at, at FROM svc_now() at`,
  );
  return id;
}

/** Returns the answer; null while no worker has answered. */
export async function readLookAnswer(db: Database, lookId: string): Promise<LookAnswer | null> {
  const rows = await run(
    () => db.sql<{ answer: LookAnswer | null }>`
      SELECT answer FROM requested_looks WHERE look_id = ${lookId}::uuid`,
  );
  return rows[0]?.answer ?? null;
}

export async function forgetLook(db: Database, lookId: string): Promise<void> {
  await run(() => db.sql`DELETE FROM requested_looks WHERE look_id = ${lookId}::uuid`);
}

/** The signers and venues that a worker can look at. */
export interface Known {
  readonly signers: readonly string[];
  readonly venues: readonly string[];
  /** The venues whose records the worker can read; none when left out. */
  readonly claims?: readonly string[];
}

/**
 * Takes for `seconds` the requests that this worker can answer and no other worker has taken.
 * Deletes requests whose callers no longer wait. If two workers look at the same subject, the first
 * answer is kept.
 */
export async function takeLooks(
  db: Database,
  {
    known,
    atMost,
    seconds,
  }: { readonly known: Known; readonly atMost: number; readonly seconds: number },
): Promise<readonly TakenLook[]> {
  const subjects = JSON.stringify({
    signer_identity: known.signers,
    balances: known.venues,
    claim: known.claims ?? [],
  });
  return run(
    () => db.sql<TakenLook>`
      WITH clock AS (SELECT svc_now() AS at), gone AS (
        DELETE FROM requested_looks USING clock
          WHERE requested_at < clock.at - make_interval(secs => ${KEPT_SECONDS}::integer)
      )
      UPDATE requested_looks l
      SET taken_until = clock.at + make_interval(secs => ${seconds}::integer)
      FROM clock WHERE look_id IN (SELECT look_id FROM requested_looks, clock
          WHERE answer IS NULL AND taken_until <= clock.at
            AND ${subjects}::jsonb -> kind ? subject
            AND requested_at >= clock.at - make_interval(secs => ${KEPT_SECONDS}::integer)
          ORDER BY requested_at LIMIT ${atMost}::integer FOR UPDATE OF requested_looks SKIP LOCKED)
      RETURNING l.look_id::text, l.kind, l.subject, l.question`,
  );
}

/** Stores an answer for these looks; an earlier answer is kept. */
export async function answerLooks(
  db: Database,
  lookIds: readonly string[],
  answer: LookAnswer,
): Promise<void> {
  const ids = JSON.stringify(lookIds);
  await run(
    () => db.sql`
      UPDATE requested_looks SET answer = ${JSON.stringify(answer)}::jsonb
      WHERE look_id IN (SELECT jsonb_array_elements_text(${ids}::jsonb)::uuid) AND answer IS NULL`,
  );
}
