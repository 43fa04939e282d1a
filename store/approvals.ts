/**
 * People, groups and rules of approval, and the decisions of people. The service reads; `fundadmin`
 * writes as the owner of the tables. Counts are made in prisma/functions/approval-rules.sql.
 */
import type { Evidence } from '../domain/approval/evidence.ts';
import type { ApprovalRule } from '../domain/approval/rule.ts';
import type { AuditEntry, Transition, TransitionOutcome } from '../domain/transition.ts';
import { newId } from '../platform/ids.ts';
import type { StoredAssertion } from '../platform/passkeys.ts';
import type { Database } from '../prisma/client.ts';
import { decisionEntry } from './decisions.ts';
import { auditRows } from './event-ids.ts';
import { run, sqlState } from './faults.ts';
import { isoOf } from './json.ts';
import { standings, type RuleStanding } from './standing.ts';
import { applied, transitionDocument, type Answer } from './transition.ts';

export interface Person {
  readonly person: string;
  readonly name: string;
  /** Ids of API clients, and `dashboard:<operator>`. */
  readonly identities: readonly string[];
  readonly groups: readonly string[];
  /** Whether a passkey of the person is in force. */
  readonly has_passkey: boolean;
}

export interface ApproverGroup {
  readonly name: string;
  readonly members: readonly string[];
}

export interface StoredRule extends ApprovalRule {
  readonly evidence: Evidence;
  readonly name: string;
  readonly revision: number;
  readonly created_at: string;
  readonly updated_at: string;
}

/** Returns every person who has an identity or is in a group, by key. */
export function listPeople(db: Database): Promise<readonly Person[]> {
  return run(
    () => db.sql<Person>`
      SELECT p.person, p.name,
        ARRAY(SELECT identity FROM person_identities i WHERE i.person = p.person ORDER BY 1)
          AS identities,
        ARRAY(SELECT group_name FROM approver_group_members g WHERE g.person = p.person ORDER BY 1)
          AS groups,
        EXISTS (SELECT FROM passkeys k WHERE k.person = p.person AND k.revoked_at IS NULL)
          AS has_passkey
      FROM people p
      WHERE EXISTS (SELECT FROM person_identities i WHERE i.person = p.person)
        OR EXISTS (SELECT FROM approver_group_members g WHERE g.person = p.person)
      ORDER BY p.person`,
  );
}

/** Returns the person of an identity, or null. */
export async function readPersonOf(db: Database, identity: string | null): Promise<string | null> {
  const rows = await run(
    () => db.sql<{ person: string | null }>`SELECT person_of(${identity}) AS person`,
  );
  return rows[0]?.person ?? null;
}

/** Returns every group, by name. */
export function listGroups(db: Database): Promise<readonly ApproverGroup[]> {
  return run(
    () => db.sql<ApproverGroup>`
      SELECT g.name, ARRAY(SELECT m.person FROM approver_group_members m
        WHERE m.group_name = g.name ORDER BY 1) AS members
      FROM approver_groups g ORDER BY g.name`,
  );
}

/** Returns every rule in force, by name. */
export async function listRules(db: Database): Promise<readonly StoredRule[]> {
  const rows = await run(
    () => db.sql<Omit<StoredRule, keyof ApprovalRule> & { readonly rule: ApprovalRule }>`
      SELECT name, rule, revision, to_json(created_at) #>> '{}' AS created_at,
        to_json(updated_at) #>> '{}' AS updated_at
      FROM approval_rules ORDER BY name`,
  );
  return rows.map(({ rule, created_at, updated_at, ...row }) => ({
    evidence: 'any',
    ...rule,
    ...row,
    created_at: isoOf(created_at),
    updated_at: isoOf(updated_at),
  }));
}

/** A movement that a rule would have held for, and who approved it. */
export interface TriedMovement {
  readonly movement_id: string;
  readonly template_key: string;
  readonly asset: string;
  /** A decimal. */
  readonly amount: string;
  readonly created_at: string;
  readonly state: string;
  /** `key`: people; else what approved it by itself. Null: it was not approved. */
  readonly approved_by: string | null;
  readonly people: readonly string[];
  /** Whether these people would have been enough. */
  readonly enough: boolean;
}

/**
 * Returns each movement created in that time (ISO 8601, `before` exclusive) that the rule would
 * have held for, in force or not. Groups, and the ages of payees, are those of now.
 */
export async function tryRule(
  db: Database,
  rule: ApprovalRule,
  { since, before }: { readonly since: string; readonly before: string },
): Promise<readonly TriedMovement[]> {
  const rows = await run(
    () => db.sql<TriedMovement>`
      SELECT movement_id::text, template_key, asset, trim_scale(amount)::text AS amount,
        to_json(created_at) #>> '{}' AS created_at, state, approved_by, people, enough
      FROM try_rule(${JSON.stringify(rule)}::jsonb, ${since}::timestamptz, ${before}::timestamptz)`,
  );
  return rows.map((row) => ({ ...row, created_at: isoOf(row.created_at) }));
}

/** Every rule that holds for a movement, and the person who the caller is, if any. */
export interface Standing {
  readonly rules: readonly RuleStanding[];
  readonly person: string | null;
}

/** Returns the standing of a movement for whoever has this identity. */
export async function readApprovals(
  db: Database,
  movementId: string,
  identity: string | null,
): Promise<Standing> {
  const rows = await run(
    () => db.sql<{ rules: readonly RuleStanding[] | null; person: string | null }>`
      SELECT CASE WHEN may_need_quorum(m.movement_id) THEN approvals_of(m, svc_now()) END AS rules,
        person_of(${identity}) AS person
      FROM movements m WHERE m.movement_id = ${movementId}::uuid`,
  );
  return { rules: standings(rows[0]?.rules ?? []), person: rows[0]?.person ?? null };
}

/** A person's approval of a movement. */
export interface Decision {
  /** Who decides, as authenticated; null with authentication off, which is no person. */
  readonly identity: string | null;
  readonly key_id: string | null;
  readonly reason: string | null;
  /** What the person signed with a passkey, verified; null: nothing. */
  readonly evidence: StoredAssertion | null;
  readonly request_id: string | null;
  /** Applied once each rule has enough approvals; at once where no rule holds. */
  readonly approve: Transition;
  /** Applied while approvals are missing. */
  readonly record: Transition;
}

export type DecisionOutcome = TransitionOutcome & {
  /** Set while the movement still waits. */
  readonly approvals?: Standing;
};

interface Missing {
  readonly approvals: readonly RuleStanding[];
  readonly person: string;
}

/**
 * Records the approval, and approves the movement if it is the last that is needed. Like
 * `applyTransition`: a refusal is a result and wrote nothing.
 */
export function decideApproval(db: Database, decision: Decision): Promise<DecisionOutcome> {
  const { identity, approve, record, request_id } = decision;
  const commandId = newId();
  const about = {
    subject_id: approve.movement_id,
    identity,
    hash: approve.plan_hash ?? '',
  };
  const doc = JSON.stringify({
    identity,
    decision: decisionEntry(db, about, decision, request_id),
    approve: transitionDocument(db, approve, commandId),
    record: transitionDocument(db, record, null),
  });
  return decided(
    db,
    commandId,
    () => db.sql<Decided>`SELECT decide_approval(${doc}::jsonb) AS answer`,
  );
}

/** A person's withdrawal of an approval of a movement. */
export interface Withdrawal extends Pick<Decision, 'identity' | 'key_id' | 'request_id'> {
  /** Names the plan's hash. */
  readonly record: Transition;
}

/** Withdraws the person's approval of a movement that waits; see {@link decideApproval}. */
export function withdrawApproval(
  db: Database,
  { identity, key_id, request_id, record }: Withdrawal,
): Promise<DecisionOutcome> {
  const about = { subject_id: record.movement_id, identity, hash: record.plan_hash ?? '' };
  const decision = { decision: 'withdraw', key_id, reason: null, evidence: null } as const;
  const doc = JSON.stringify({
    identity,
    decision: decisionEntry(db, about, decision, request_id),
    record: transitionDocument(db, record, null),
  });
  return decided(
    db,
    null,
    () => db.sql<Decided>`SELECT withdraw_approval(${doc}::jsonb) AS answer`,
  );
}

interface Decided {
  readonly answer: Answer & Partial<Missing>;
}

/** Runs a statement that decides, and returns its outcome with what is missing now. */
async function decided(
  db: Database,
  commandId: string | null,
  statement: () => Promise<readonly Decided[]>,
): Promise<DecisionOutcome> {
  let missing: Standing | undefined;
  const outcome = await applied(db, commandId, async () => {
    const [row] = await statement();
    if (row === undefined) throw new Error('the database returned no row for a decision');
    const { approvals, person = null } = row.answer;
    missing = approvals === undefined ? undefined : { rules: standings(approvals), person };
    return row.answer;
  });
  return missing === undefined ? outcome : { ...outcome, approvals: missing };
}

/** A change of people, groups and rules; what is named is replaced, or goes with `remove`. */
export interface ApproversChange {
  readonly people?: readonly (
    | Pick<Person, 'person' | 'name' | 'identities'>
    | { readonly person: string; readonly remove: true }
  )[];
  readonly groups?: readonly (ApproverGroup | { readonly name: string; readonly remove: true })[];
  readonly rules?: readonly (
    | { readonly name: string; readonly rule: ApprovalRule }
    | { readonly name: string; readonly remove: true }
  )[];
}

/** SQLSTATE raised by `change_approvers`: somebody else has changed something since the mark. */
const CHANGED_MEANWHILE = 'FM022';

/** Returns a mark of the present people, groups and rules; see {@link changeApprovers}. */
export async function readApproversMark(db: Database): Promise<string> {
  const rows = await run(() => db.sql<{ mark: string }>`SELECT approvers_mark() AS mark`);
  return rows[0]?.mark ?? '';
}

/**
 * Applies the change with the rights of the tables' owner, while no decision is under way. Returns
 * false, and writes nothing, if anything has changed since the mark was read.
 */
export async function changeApprovers(
  db: Database,
  change: ApproversChange & { readonly mark?: string },
  audit: readonly AuditEntry[],
): Promise<boolean> {
  const doc = JSON.stringify({ ...change, audit: auditRows(db, audit) });
  try {
    await run(() => db.sql`SELECT change_approvers(${doc}::jsonb)`);
    return true;
  } catch (error) {
    if (sqlState(error) === CHANGED_MEANWHILE) return false;
    throw error;
  }
}
