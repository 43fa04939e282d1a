/**
 * Stores automatic approval: policies, the use of their windows, the facts of a decision, and past
 * movements to try a policy on.
 */
import { NOTHING_USED, type BudgetUsage } from '../domain/auto-approve/budget.ts';
import type { TemplateCaps } from '../domain/auto-approve/free.ts';
import type { PastMovement } from '../domain/auto-approve/past.ts';
import type { AllowedTemplate, AutoApprovePolicy } from '../domain/auto-approve/policy.ts';
import { onlyObserves } from '../domain/plan/amount.ts';
import type { AuditEntry, Transition } from '../domain/transition.ts';
import { newId } from '../platform/ids.ts';
import type { Database } from '../prisma/client.ts';
import { auditRows } from './event-ids.ts';
import { run, writeOrFind } from './faults.ts';
import { iso, isoOf } from './json.ts';
import type { PagePosition } from './paging.ts';

export interface PolicyRecord extends AutoApprovePolicy {
  readonly created_by: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

/** The policy fields that a caller sets. */
export type PolicyFields = Omit<
  PolicyRecord,
  'policy_id' | 'revision' | 'created_by' | 'created_at' | 'updated_at'
>;

export type PolicyCreateOutcome =
  | { readonly ok: true; readonly policy: PolicyRecord }
  | { readonly ok: false; readonly policy_id: string };

/**
 * Creates a policy with its audit rows in one statement; refused when the client already has a
 * policy for the strategy.
 */
export async function createPolicy(
  db: Database,
  fields: PolicyFields & { readonly created_by: string | null },
  audit: (policyId: string) => readonly AuditEntry[],
): Promise<PolicyCreateOutcome> {
  const policyId = newId();
  const doc = JSON.stringify({
    policy: { ...fields, policy_id: policyId },
    audit: auditRows(db, audit(policyId)),
  });
  const write = async (): Promise<PolicyCreateOutcome> => {
    const rows = await db.sql<{
      answer: PolicyCreateOutcome;
    }>`SELECT create_policy(${doc}::jsonb) AS answer`;
    const [row] = rows;
    if (row === undefined) throw new Error('the SQL function create_policy returned no row');
    return row.answer.ok ? { ok: true, policy: toPolicy(row.answer.policy) } : row.answer;
  };
  return writeOrFind(db, write, async () => {
    const policy = await readPolicy(db, policyId);
    return policy === null ? null : { ok: true, policy };
  });
}

/** The fields to change; an absent field stays unchanged. */
export type PolicyPatch = {
  readonly [K in Exclude<keyof PolicyFields, 'client_id' | 'strategy_id'>]?: PolicyFields[K];
};

export type PolicyUpdateOutcome =
  { readonly ok: true; readonly policy: PolicyRecord } | { readonly ok: false };

/**
 * Changes a policy with its audit rows in one statement. Returns null for an unknown id; refused
 * when a cap would lack its window.
 */
export async function updatePolicy(
  db: Database,
  policyId: string,
  patch: PolicyPatch,
  audit: readonly AuditEntry[],
): Promise<PolicyUpdateOutcome | null> {
  const doc = JSON.stringify({ policy_id: policyId, patch, audit: auditRows(db, audit) });
  const rows = await run(
    () =>
      db.sql<{ answer: PolicyUpdateOutcome | null }>`SELECT update_policy(${doc}::jsonb) AS answer`,
  );
  const answer = rows[0]?.answer ?? null;
  return answer?.ok === true ? { ok: true, policy: toPolicy(answer.policy) } : answer;
}

interface PolicyRow {
  readonly policy: StoredPolicy;
}
type StoredPolicy = PolicyRecord & { readonly allowed_templates: readonly AllowedTemplate[] };

/** Returns every policy, newest first. */
export async function listPolicies(db: Database): Promise<readonly PolicyRecord[]> {
  const rows = await run(
    () =>
      db.sql<PolicyRow>`SELECT policy_view(p) AS policy FROM auto_approve_policies p
        ORDER BY created_at DESC, policy_id DESC`,
  );
  return rows.map(({ policy }) => toPolicy(policy));
}

/** Returns one policy, or null. */
export async function readPolicy(db: Database, policyId: string): Promise<PolicyRecord | null> {
  const rows = await run(
    () =>
      db.sql<PolicyRow>`SELECT policy_view(p) AS policy FROM auto_approve_policies p
        WHERE policy_id = ${policyId}::uuid`,
  );
  return rows[0] === undefined ? null : toPolicy(rows[0].policy);
}

function toPolicy(row: StoredPolicy): PolicyRecord {
  return { ...row, created_at: isoOf(row.created_at), updated_at: isoOf(row.updated_at) };
}

interface UsageRow {
  readonly reserved: string;
  readonly consumed: string;
  readonly in_window: number;
}

function toUsage(row: UsageRow | null): BudgetUsage {
  if (row === null) return NOTHING_USED;
  return {
    reserved_amount: row.reserved,
    consumed_amount: row.consumed,
    count_in_window: row.in_window,
  };
}

export interface PolicyBudget {
  readonly policy: PolicyRecord;
  readonly usage: BudgetUsage;
}

/**
 * Returns the use of the strategy's active policies that have a window cap, oldest policy first; of
 * one client, or of all clients for null.
 */
export async function readBudgets(
  db: Database,
  strategyId: string,
  clientId: string | null,
): Promise<readonly PolicyBudget[]> {
  const rows = await run(
    () => db.sql<PolicyRow & UsageRow>`
      SELECT policy_view(p) AS policy, trim_scale(u.reserved)::text AS reserved,
        trim_scale(u.consumed)::text AS consumed, u.in_window
      FROM auto_approve_policies p, budget_usage(p.policy_id, p.window_hours, svc_now()) u
      WHERE p.strategy_id = ${strategyId} AND p.is_active
        AND (p.max_amount_per_window IS NOT NULL OR p.max_count_per_window IS NOT NULL)
        AND (${clientId}::uuid IS NULL OR p.client_id = ${clientId}::uuid)
      ORDER BY p.created_at, p.policy_id`,
  );
  return rows.map((row) => ({ policy: toPolicy(row.policy), usage: toUsage(row) }));
}

export interface StoredPolicyFacts {
  readonly at: string;
  readonly policy: PolicyRecord | null;
  readonly usage: BudgetUsage;
  /** Keys of required executors and signers that operators have disabled. */
  readonly switched_off: readonly string[];
}

/** Returns all facts of a policy's decision, in one statement and without a lock. */
export async function readPolicyFacts(
  db: Database,
  pair: { readonly client_id: string | null; readonly strategy_id: string },
  required: NonNullable<Transition['require']>,
): Promise<StoredPolicyFacts> {
  const keys = JSON.stringify({
    executors: required.executors,
    signers: required.signers.map((each) => each.signer_key),
  });
  const rows = await run(
    () => db.sql<{
      at: Date;
      policy: StoredPolicy | null;
      usage: UsageRow | null;
      switched_off: string[] | null;
    }>`
      WITH clock AS (SELECT svc_now() AS at)
      SELECT clock.at, CASE WHEN p.policy_id IS NOT NULL THEN policy_view(p) END AS policy,
        (SELECT jsonb_build_object('reserved', trim_scale(u.reserved)::text,
          'consumed', trim_scale(u.consumed)::text, 'in_window', u.in_window)
         FROM budget_usage(p.policy_id, p.window_hours, clock.at) u) AS usage,
        (SELECT jsonb_agg(key) FROM (
           SELECT executor_key AS key FROM executors WHERE status <> 'active'
             AND ${keys}::jsonb -> 'executors' ? executor_key
           UNION ALL SELECT signer_key FROM signers WHERE status <> 'active'
             AND ${keys}::jsonb -> 'signers' ? signer_key) off) AS switched_off
      FROM clock LEFT JOIN auto_approve_policies p ON p.client_id = ${pair.client_id}::uuid
        AND p.strategy_id = ${pair.strategy_id}`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the query for the facts of a policy returned no row');
  return {
    at: row.at.toISOString(),
    policy: row.policy === null ? null : toPolicy(row.policy),
    usage: toUsage(row.usage),
    switched_off: row.switched_off ?? [],
  };
}

export interface StoredFreeFacts {
  readonly at: string;
  readonly template: TemplateCaps | null;
  readonly used: string;
}

/**
 * Returns all facts that the cap of a template key is checked against, in one statement and without
 * a lock.
 */
export async function readFreeFacts(db: Database, templateKey: string): Promise<StoredFreeFacts> {
  const rows = await run(
    () => db.sql<{ at: Date; template: TemplateCaps | null; used: string | null }>`
      WITH clock AS (SELECT svc_now() AS at)
      SELECT clock.at, CASE WHEN t.template_key IS NOT NULL
        THEN jsonb_build_object('auto_approve_enabled', t.auto_approve_enabled,
        'daily_cap_amount', trim_scale(t.daily_cap_amount)::text,
          'daily_cap_asset', t.daily_cap_asset) END AS template,
        trim_scale(daily_cap_used(t.template_key, t.daily_cap_asset, clock.at, NULL))::text AS used
      FROM clock LEFT JOIN plan_templates t ON t.template_key = ${templateKey}`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the query for the facts of a template returned no row');
  return { at: row.at.toISOString(), template: row.template, used: row.used ?? '0' };
}

/** The movements that a client created for a strategy in a time. */
export interface PastQuery {
  readonly client_id: string;
  readonly strategy_id: string;
  /** ISO 8601; inclusive. */
  readonly since: string;
  /** ISO 8601; exclusive. */
  readonly before: string;
}

interface PastRow extends Omit<PastMovement, 'created_at' | 'only_observes'> {
  readonly created_at: Date;
  /** The nodes of a plan that observes; else null. */
  readonly nodes: Parameters<typeof onlyObserves>[0] | null;
}

/** Returns up to `limit` of these movements after `page.after`, oldest first. */
export async function readPastMovements(
  db: Database,
  { client_id, strategy_id, since, before }: PastQuery,
  page: { readonly after: PagePosition | null; readonly limit: number },
): Promise<readonly PastMovement[]> {
  // No id is as low as this one, so the first page begins with `since` itself.
  const { created_at, id } = page.after ?? {
    created_at: since,
    id: '00000000-0000-0000-0000-000000000000',
  };
  const rows = await run(
    () => db.sql<PastRow>`
      SELECT m.movement_id::text, m.created_at, m.template_key, m.template_version, m.asset,
        trim_scale(m.amount)::text AS amount, m.outflow, m.request_state AS state,
        coalesce(p.created_by ->> 'role' = 'agent', false) AS by_agent,
        CASE WHEN a.approved_by IN ('policy', 'template_cap') THEN a.approved_by
          WHEN a.approved_by IS NOT NULL THEN 'person' END AS became,
        (SELECT jsonb_agg(node_plan(n.own_plan, p.input_params)) FROM movement_nodes n
          WHERE n.movement_id = m.movement_id HAVING bool_or(n.node_kind = 'observe')) AS nodes
      FROM movements m JOIN movement_plans p ON p.movement_id = m.movement_id
      LEFT JOIN movement_approvals a ON a.movement_id = m.movement_id
      WHERE m.strategy_id = ${strategy_id} AND p.created_by ->> 'client_id' = ${client_id}
        -- No policy decides about these: an operator, or the service itself, has.
        AND m.template_key NOT LIKE 'system/%'
        AND m.created_at < ${before}::timestamptz
        AND (m.created_at, m.movement_id) > (${created_at}::timestamptz, ${id}::uuid)
      ORDER BY m.created_at, m.movement_id LIMIT ${page.limit}::integer`,
  );
  return rows.map(({ movement_id, created_at: at, nodes, ...row }) => ({
    movement_id,
    created_at: iso(at),
    ...row,
    only_observes: nodes !== null && onlyObserves(nodes),
  }));
}
