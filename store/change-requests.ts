/**
 * Change requests: changes that wait for people, and the decisions about them. The database lets a
 * change pass only with a decided request for it: see prisma/functions/change-requests.sql.
 */
import { createHash } from 'node:crypto';
import {
  changeDocument,
  type ChangeAuthor,
  type ChangeCall,
  type ChangeEffect,
  type ChangeState,
} from '../domain/approval/change.ts';
import type { RequestKind } from '../domain/approval/power.ts';
import type { AuditAction } from '../domain/events.ts';
import type { JsonValue } from '../domain/json.ts';
import type { AuditEntry } from '../domain/transition.ts';
import { newId } from '../platform/ids.ts';
import type { Database } from '../prisma/client.ts';
import type { AssertionProblem } from '../domain/approval/evidence.ts';
import { decisionEntry, type NewDecision } from './decisions.ts';
import { auditRows } from './event-ids.ts';
import { run } from './faults.ts';
import { isoOf, isoOfOrNull } from './json.ts';
import type { PagePosition } from './paging.ts';
import { standings, type RuleStanding } from './standing.ts';

export interface ChangeRequest {
  readonly request_id: string;
  readonly kinds: readonly RequestKind[];
  readonly author: ChangeAuthor;
  readonly method: string;
  readonly path: string;
  readonly body: JsonValue;
  readonly idempotency_key: string | null;
  readonly subject: string;
  readonly row_before: JsonValue;
  readonly row_after: JsonValue;
  readonly document: string;
  readonly hash: string;
  readonly break_glass: boolean;
  readonly reason: string | null;
  readonly state: ChangeState;
  /** Why it failed. */
  readonly code: string | null;
  readonly created_at: string;
  readonly expires_at: string;
  readonly ended_at: string | null;
  readonly ended_by: string | null;
  readonly rules: readonly RuleStanding[];
}

type StoredRequest = Omit<ChangeRequest, 'rules'> & {
  readonly standing: readonly RuleStanding[] | null;
};

function toRequest({ standing, ...row }: StoredRequest): ChangeRequest {
  return {
    ...row,
    created_at: isoOf(row.created_at),
    expires_at: isoOf(row.expires_at),
    ended_at: isoOfOrNull(row.ended_at),
    rules: standings(standing ?? []),
  };
}

export interface NewChange {
  readonly author: ChangeAuthor;
  readonly call: ChangeCall;
  readonly effect: ChangeEffect;
  /** Only for `fundadmin`: the author's person. */
  readonly person?: string | null;
  /** Only for the owner of the database, who changes it alone. */
  readonly breakGlass?: { readonly reason: string };
  /** Builds the audit row of the request with this id. */
  readonly audit: (id: string) => AuditEntry;
}

/**
 * Makes a request for a change that was refused with `ChangeWaits`, or returns the open one of the
 * same call. Null: no rule holds now, so the call may be made again.
 */
export async function createChange(
  db: Database,
  { author, call, effect, person, breakGlass, audit }: NewChange,
): Promise<ChangeRequest | null> {
  const request_id = newId();
  const document = changeDocument(request_id, author, call, effect);
  const request = {
    request_id,
    author,
    ...call,
    person: person ?? null,
    kinds: effect.kinds,
    subject: effect.subject,
    row_before: effect.before,
    row_after: effect.after,
    document,
    hash: createHash('sha256').update(document).digest('hex'),
    break_glass: breakGlass !== undefined,
    reason: breakGlass?.reason ?? null,
  };
  const doc = JSON.stringify({ request, audit: auditRows(db, [audit(request_id)]) });
  const rows = await run(
    () => db.sql<{ answer: { readonly ok: boolean; readonly request?: StoredRequest } }>`
      SELECT create_change(${doc}::jsonb) AS answer`,
  );
  const found = rows[0]?.answer.request;
  return found === undefined ? null : toRequest(found);
}

export interface ChangeFilter {
  readonly state?: ChangeState | undefined;
  readonly kind?: RequestKind | undefined;
  readonly break_glass?: boolean | undefined;
}

/** Returns up to `limit` requests after a position, newest first. */
export async function listChanges(
  db: Database,
  { state = null as never, kind = null as never, break_glass = null as never }: ChangeFilter,
  page: { readonly limit: number; readonly after: PagePosition | null },
): Promise<readonly ChangeRequest[]> {
  const [at, id] = [page.after?.created_at ?? null, page.after?.id ?? null];
  const rows = await run(
    () => db.sqlPlanned<{ view: StoredRequest }>`
      SELECT change_view(c, svc_now()) AS view FROM change_requests c
      WHERE (${state}::text IS NULL OR ${state} = CASE
          WHEN c.state = 'open' AND NOT change_is_open(c, svc_now()) THEN 'expired' ELSE c.state END)
        AND (${kind}::text IS NULL OR ${kind} = ANY (c.kinds))
        AND (${break_glass}::boolean IS NULL OR c.break_glass = ${break_glass})
        AND (${at}::timestamptz IS NULL OR (c.created_at, c.request_id) < (${at}, ${id}::uuid))
      ORDER BY c.created_at DESC, c.request_id DESC LIMIT ${page.limit}::integer`,
  );
  return rows.map(({ view }) => toRequest(view));
}

/** Returns a request and the person who the caller is, if any; null for an unknown id. */
export async function readChange(
  db: Database,
  id: string,
  identity: string | null,
): Promise<{ readonly request: ChangeRequest; readonly person: string | null } | null> {
  const rows = await run(
    () => db.sql<{ view: StoredRequest; person: string | null }>`
      SELECT change_view(c, svc_now()) AS view, person_of(${identity}) AS person
      FROM change_requests c WHERE c.request_id = ${id}::uuid`,
  );
  const [row] = rows;
  return row === undefined ? null : { request: toRequest(row.view), person: row.person };
}

export type ChangeRefusal =
  | { readonly reason: 'approver_excluded'; readonly why: string }
  | { readonly reason: 'assertion_refused'; readonly why: AssertionProblem }
  | {
      readonly reason:
        | 'reason_required'
        | 'passkey_required'
        | 'change_hash_mismatch'
        | 'no_approval'
        | 'not_the_author';
    }
  | { readonly reason: 'change_request_ended'; readonly state: ChangeState };

export type ChangeOutcome =
  | {
      readonly ok: true;
      readonly request: ChangeRequest;
      /** Enough people approved, and the caller is to make the call. */
      readonly performs: boolean;
      /** That call would not make the change that was approved. */
      readonly outdated: boolean;
    }
  | ({ readonly ok: false } & ChangeRefusal);

type ChangeAnswer =
  | {
      readonly ok: true;
      readonly request: StoredRequest;
      readonly performs?: boolean;
      readonly outdated?: boolean;
    }
  | {
      readonly ok: false;
      readonly reason: ChangeRefusal['reason'];
      readonly why?: string;
      readonly request?: StoredRequest;
    };

function toOutcome(answer: ChangeAnswer | null | undefined): ChangeOutcome | null {
  if (answer === null || answer === undefined) return null;
  if (answer.ok) {
    const { performs = false, outdated = false, request } = answer;
    return { ok: true, request: toRequest(request), performs, outdated };
  }
  switch (answer.reason) {
    case 'approver_excluded':
      return { ok: false, reason: answer.reason, why: answer.why ?? '' };
    case 'assertion_refused':
      return { ok: false, reason: answer.reason, why: answer.why as AssertionProblem };
    case 'change_request_ended':
      return { ok: false, reason: answer.reason, state: answer.request?.state ?? 'expired' };
    default:
      return { ok: false, reason: answer.reason };
  }
}

export interface ChangeDecision extends NewDecision {
  /** Of the change request. */
  readonly request_id: string;
  readonly hash: string;
  /** Who decides, as authenticated; null with authentication off, which is no person. */
  readonly identity: string | null;
  readonly audit: AuditEntry;
}

/** Records an approval; null for an unknown id. */
export async function decideChange(
  db: Database,
  { audit, request_id, identity, hash, ...decision }: ChangeDecision,
): Promise<ChangeOutcome | null> {
  const about = { subject_id: request_id, identity, hash };
  const doc = JSON.stringify({
    request_id,
    hash,
    identity,
    decision: decisionEntry(db, about, decision, audit.request_id ?? null),
    audit: auditRows(db, [audit]),
  });
  const rows = await run(
    () => db.sql<{ answer: ChangeAnswer | null }>`SELECT decide_change(${doc}::jsonb) AS answer`,
  );
  return toOutcome(rows[0]?.answer);
}

/** Withdraws the person's approval of an open request; null for an unknown id. */
export async function withdrawChangeApproval(
  db: Database,
  {
    request_id,
    hash,
    identity,
    key_id,
    audit,
  }: Omit<ChangeDecision, 'decision' | 'reason' | 'evidence'>,
): Promise<ChangeOutcome | null> {
  const about = { subject_id: request_id, identity, hash };
  const decision = { decision: 'withdraw', key_id, reason: null, evidence: null } as const;
  const doc = JSON.stringify({
    request_id,
    hash,
    identity,
    decision: decisionEntry(db, about, decision, audit.request_id ?? null),
    audit: auditRows(db, [audit]),
  });
  const rows = await run(
    () =>
      db.sql<{
        answer: ChangeAnswer | null;
      }>`SELECT withdraw_change_approval(${doc}::jsonb) AS answer`,
  );
  return toOutcome(rows[0]?.answer);
}

/** Lets another approval make the call, after this one has failed to. */
export async function releaseChange(db: Database, id: string): Promise<void> {
  await run(() => db.sql`SELECT release_change(${id}::uuid)`);
}

export interface ChangeEnd {
  readonly request_id: string;
  readonly state: Exclude<ChangeState, 'open' | 'applied' | 'expired'>;
  readonly code?: string;
  readonly by: string | null;
  /** Refuses anybody but the author. */
  readonly only_author?: boolean;
  readonly audit: AuditEntry;
}

/** Ends an open request; a repeat returns it as it is. Null for an unknown id. */
export async function endChange(db: Database, end: ChangeEnd): Promise<ChangeOutcome | null> {
  const doc = JSON.stringify({ ...end, audit: auditRows(db, [end.audit]) });
  const rows = await run(
    () => db.sql<{ answer: ChangeAnswer | null }>`SELECT end_change(${doc}::jsonb) AS answer`,
  );
  return toOutcome(rows[0]?.answer);
}

/** The actions of the audit about change requests. */
export const CHANGE_ACTION = {
  rejected: 'change_request.reject',
  withdrawn: 'change_request.withdraw',
  failed: 'change_request.fail',
  outdated: 'change_request.fail',
} as const satisfies Record<ChangeEnd['state'], AuditAction>;
