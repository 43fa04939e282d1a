/**
 * What an API process without signers and venue credentials has a worker look at: the request, who
 * takes it, and its answer. Rows are few and young, so none of them needs an index of its own.
 */
import { newId } from '../platform/ids.ts';
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';

export type LookKind = 'signer_identity' | 'balances';

export interface Look {
  readonly kind: LookKind;
  /** The signer's key, or the venue's. */
  readonly subject: string;
}

export interface TakenLook extends Look {
  readonly look_id: string;
}

export type LookAnswer =
  /** Null for a signer without an identity, and for balances, which are stored. */
  | { readonly ok: true; readonly address: string | null }
  /** `invalid`: it answered, and what it answered is no address. */
  | { readonly ok: false; readonly fault: 'invalid' | 'failed'; readonly message: string };

/** How long a request is kept: longer than any caller waits. */
const KEPT_SECONDS = 60;

/** Answers the id of the request. */
export async function requestLook(db: Database, { kind, subject }: Look): Promise<string> {
  const id = newId();
  await run(
    () => db.sql`
      INSERT INTO requested_looks (look_id, kind, subject, requested_at, taken_until)
      SELECT ${id}::uuid, ${kind}, ${subject}, at, at FROM svc_now() at`,
  );
  return id;
}

/** Null while no worker has answered. */
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

/** What a worker can look at. */
export interface Known {
  readonly signers: readonly string[];
  readonly venues: readonly string[];
}

/**
 * Takes the requests that no worker has and that this worker can answer, for so long; the rest is
 * left to workers with another registry. Drops requests whose callers have gone. If two workers
 * look, the first answer is kept.
 */
export async function takeLooks(
  db: Database,
  {
    known,
    atMost,
    seconds,
  }: { readonly known: Known; readonly atMost: number; readonly seconds: number },
): Promise<readonly TakenLook[]> {
  const subjects = JSON.stringify({ signer_identity: known.signers, balances: known.venues });
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
      RETURNING l.look_id::text, l.kind, l.subject`,
  );
}

/** Stores an answer; the first one stays. */
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
