/**
 * Decisions as they were stored, with what each person signed: for the fence and for
 * `fundadmin audit verify`, which verify them again.
 */
import { isMet } from '../domain/approval/quorum.ts';
import { decisionDocument, type DecisionKind } from '../domain/approval/decision.ts';
import type { AssertionProblem, Decided } from '../domain/approval/evidence.ts';
import { canonicalPlan } from '../domain/plan/compile.ts';
import type { CompiledPlan } from '../domain/plan/types.ts';
import type { AuditEntry } from '../domain/transition.ts';
import { sha256Hex } from '../platform/hash.ts';
import { newId } from '../platform/ids.ts';
import { verifyAssertion, type StoredAssertion } from '../platform/passkeys.ts';
import type { Database } from '../prisma/client.ts';
import { auditRows } from './event-ids.ts';
import { run } from './faults.ts';
import { isoOf, isoOfOrNull } from './json.ts';
import type { EnrolledPasskey } from './passkeys.ts';
import type { RuleStanding } from './standing.ts';

export interface StoredDecision {
  readonly decision_id: string;
  readonly subject_id: string;
  readonly person: string;
  readonly identity: string;
  readonly key_id: string | null;
  readonly hash: string;
  readonly decision: DecisionKind;
  readonly reason: string | null;
  readonly at: string;
  readonly evidence: StoredAssertion | null;
}

/** What is known of a decision before the database stores it. */
export interface NewDecision {
  /** Absent: an approval. */
  readonly decision?: DecisionKind;
  readonly key_id: string | null;
  readonly reason: string | null;
  readonly evidence: StoredAssertion | null;
}

/**
 * Returns a new decision as the SQL functions `record_decision` and `record_withdrawal` take it.
 * The audit's row of it holds its hash, so that a decision that is altered, removed or invented
 * later does not fit the audit.
 */
export function decisionEntry(
  db: Database,
  about: { readonly subject_id: string; readonly identity: string | null; readonly hash: string },
  { decision = 'approve', key_id, reason, evidence }: NewDecision,
  requestId: string | null,
): Record<string, unknown> {
  const decision_id = newId();
  const entry: AuditEntry = {
    action: 'approval_decision.record',
    entity_type: 'approval_decision',
    entity_key: decision_id,
    outcome: 'success',
    actor_client_id: about.identity,
    actor_key_id: key_id,
    request_id: requestId,
    details: {
      subject_id: about.subject_id,
      decision,
      evidence: evidence === null ? 'shared_secret' : 'passkey',
      decision_sha256: decisionHash({ decision_id, ...about, decision, key_id, reason, evidence }),
    },
  };
  return { decision_id, key_id, reason, evidence, audit: auditRows(db, [entry]) };
}

/** Returns the SHA-256 of what is stored of a decision, in hex. */
export function decisionHash(decision: Parameters<typeof decisionDocument>[0]): string {
  return sha256Hex(decisionDocument(decision));
}

/** A decision with the passkey that its assertion names, and what its statement is about. */
export interface SignedDecision extends StoredDecision {
  readonly kind: Decided['kind'] | null;
  readonly passkey: EnrolledPasskey | null;
  /** The installation that there was when it was made; null: none. */
  readonly deployment: string | null;
  /** Whether its identity was the person's once. */
  readonly is_persons: boolean;
  /** Whether its key or passkey is known to have been in the wrong hands then. */
  readonly compromised: boolean;
  /** What the audit keeps of it: one row with its hash and its time. */
  readonly audited: {
    readonly rows: number;
    readonly hash: string | null;
    readonly same_time: boolean | null;
  };
}

/**
 * Reads up to `limit` decisions after `after` in the order of their ids, or those with these ids.
 */
export async function readDecisions(
  db: Database,
  which: ReadDecisions,
): Promise<readonly SignedDecision[]> {
  const rows = await run(() =>
    'ids' in which
      ? db.sql<{ row: SignedDecision }>`
          SELECT signed_decision(d) AS row FROM approval_decisions d
          WHERE d.decision_id = ANY(ARRAY(SELECT value::uuid
            FROM jsonb_array_elements_text(${JSON.stringify(which.ids)}::jsonb)))`
      : db.sql<{ row: SignedDecision }>`
          SELECT signed_decision(d) AS row FROM approval_decisions d
          WHERE ${which.after}::text IS NULL OR d.decision_id > ${which.after}::uuid
          ORDER BY d.decision_id LIMIT ${which.limit}::integer`,
  );
  return rows.map(({ row }) => ({
    ...row,
    at: isoOf(row.at),
    passkey:
      row.passkey === null
        ? null
        : {
            ...row.passkey,
            enrolled_at: isoOf(row.passkey.enrolled_at),
            revoked_at: isoOfOrNull(row.passkey.revoked_at),
          },
  }));
}

/** Returns the ids of decisions that the audit knows and that are not stored. */
export async function readRemovedDecisions(db: Database): Promise<readonly string[]> {
  const rows = await run(
    () => db.sql<{ id: string }>`
      SELECT e.entity_key AS id FROM audit_events e
      WHERE e.entity_type = 'approval_decision' AND e.action = 'approval_decision.record'
        AND e.outcome = 'success' AND NOT EXISTS (
          SELECT FROM approval_decisions d WHERE d.decision_id::text = e.entity_key)
      ORDER BY e.entity_key`,
  );
  return rows.map(({ id }) => id);
}

type ReadDecisions =
  { readonly ids: readonly string[] } | { readonly after: string | null; readonly limit: number };

/**
 * Returns the assertion of a decision that this identity has made about a movement or change
 * request with this nonce, as it was stored; null: there is none.
 */
export async function readStoredAssertion(
  db: Database,
  subjectId: string,
  identity: string | null,
  nonce: string,
): Promise<StoredAssertion | null> {
  const rows = await run(
    () => db.sql<{ evidence: StoredAssertion }>`
      SELECT evidence FROM approval_decisions
      WHERE evidence ->> 'nonce' = ${nonce} AND subject_id = ${subjectId}::uuid
        AND identity = ${identity}`,
  );
  return rows[0]?.evidence ?? null;
}

/**
 * Verifies a decision's assertion again, against the passkey as it was enrolled then. Null: it
 * proves the decision to anybody.
 */
export async function assertionProblem(
  decision: SignedDecision,
): Promise<AssertionProblem | 'no_assertion' | null> {
  const { evidence, passkey, kind, subject_id, hash, person, at, deployment } = decision;
  if (evidence === null) return 'no_assertion';
  if (kind === null) return 'other_subject';
  if (passkey === null) return 'unknown_credential';
  const { enrolled_at, revoked_at, origin } = passkey;
  const inForce = enrolled_at <= at && (revoked_at === null || revoked_at > at);
  const verified = await verifyAssertion(evidence, {
    decided: { kind, id: subject_id, hash, decision: 'approve', person },
    deployment: deployment ?? '',
    nowMs: Date.parse(at),
    passkey: inForce ? passkey : null,
    origin,
  });
  if ('problem' in verified) return verified.problem;
  // The columns that keep it from being used twice say the same as what was signed.
  return verified.nonce === evidence.nonce && verified.counter === evidence.counter
    ? null
    : 'malformed';
}

/**
 * Returns the plan hash of a movement whose approval is proven: it is the hash of the plan that the
 * nodes follow, and under each rule that asks passkeys the assertions that were counted verify, and
 * are enough. Null: it is not.
 */
export async function proveApproval(db: Database, movementId: string): Promise<string | null> {
  const rows = await run(
    () => db.sql<{ standing: readonly RuleStanding[]; hash: string; plan: CompiledPlan }>`
      SELECT s.standing, p.compiled_plan_hash AS hash, compiled_plan_of(p.movement_id) AS plan
      FROM movement_approval_standings s JOIN movement_plans p USING (movement_id)
      WHERE s.movement_id = ${movementId}::uuid`,
  );
  const [row] = rows;
  if (row === undefined || sha256Hex(canonicalPlan(row.plan)) !== row.hash) return null;
  return (await isProven(db, movementId, row.hash, row.standing)) ? row.hash : null;
}

/**
 * Marks a request of `fundadmin` as proven for a minute, as the owner, if the assertions of its
 * approvals verify and are enough under each rule that asks passkeys. Returns whether they are.
 */
export async function proveChange(
  db: Database,
  request: {
    readonly request_id: string;
    readonly hash: string;
    readonly rules: readonly RuleStanding[];
  },
): Promise<boolean> {
  const { request_id, hash, rules } = request;
  if (rules.length === 0 || !(await isProven(db, request_id, hash, rules))) return false;
  await run(
    () => db.sql`
      UPDATE change_requests SET proven_until = svc_now() + interval '1 minute'
      WHERE request_id = ${request_id}::uuid AND state = 'open'`,
  );
  return true;
}

/** Returns whether the assertions that were counted verify and are enough. */
async function isProven(
  db: Database,
  subjectId: string,
  wanted: string,
  standing: readonly RuleStanding[],
): Promise<boolean> {
  const rules = standing.filter(({ rule }) => rule.evidence === 'passkey');
  const ids = rules.flatMap(({ people }) =>
    people.flatMap(({ counts, decision_id }) => (counts ? (decision_id ?? []) : [])),
  );
  const decisions = await readDecisions(db, { ids });
  const proven = new Set<string>();
  for (const decision of decisions) {
    const { subject_id, hash, decision_id } = decision;
    if (subject_id !== subjectId || hash !== wanted) continue;
    if ((await assertionProblem(decision)) === null)
      proven.add(`${decision_id} ${decision.person}`);
  }
  return rules.every(({ rule, people }) =>
    isMet(
      rule.require,
      people.filter(
        ({ counts, decision_id, person }) =>
          counts && decision_id !== null && proven.has(`${decision_id} ${person}`),
      ),
    ),
  );
}
