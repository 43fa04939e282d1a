/** Reads one movement with all that a caller may see of it. */
import type { CompiledPlan } from '../domain/plan/types.ts';
import type { Database } from '../prisma/client.ts';
import type { Standing } from './approvals.ts';
import { run } from './faults.ts';
import { iso, isoOf, isoOfOrNull } from './json.ts';
import type { ArtifactRecord, MovementDetail, NodeRecord } from './movement-reads.ts';
import { createPlanParser } from './parsed-plans.ts';
import type { RegisteredStatuses } from './registry-rows.ts';
import { shared } from './shared-reads.ts';
import { standings, type RuleStanding } from './standing.ts';

/** What the approver of a waiting movement reads besides the movement. */
export interface WaitingApproval {
  /** The plan that the movement was created with: equal plans are the same object while kept. */
  readonly plan: CompiledPlan;
  readonly standing: Standing;
  /** Of every executor and signer that is not active; one that is absent is active. */
  readonly statuses: RegisteredStatuses;
}

export interface MovementForApproval {
  readonly movement: MovementDetail;
  /** Null if the movement does not wait for an approval. */
  readonly waiting: WaitingApproval | null;
}

interface Wanted {
  readonly movementId: string;
  /** Who looks, as authenticated; null: the movement alone is read. */
  readonly approver: { readonly identity: string | null } | null;
}

/** A row of the statement below; dates inside JSON aggregates are text. */
type DetailRow = Omit<
  MovementDetail,
  DatedColumns | 'callbacks' | 'nodes' | 'artifacts' | 'attention_reason' | 'cancellable'
> & {
  readonly [name in DatedColumns]: Date;
} & {
  readonly callbacks: Readonly<Record<string, number>> | null;
  readonly nodes: readonly (NodeRecord & {
    readonly position: number;
    readonly on_cancel_target: boolean;
  })[];
  readonly artifacts: readonly ArtifactRecord[] | null;
  /** JSON: most reads need no parse. Null unless an approver wants it and the movement waits. */
  readonly waiting_plan: string | null;
  readonly rules: readonly RuleStanding[] | null;
  /** The person of each approver's identity; null without identities. */
  readonly people: Readonly<Record<string, string | null>> | null;
  /** By key; null if all are active, or unless the movement waits and is read for an approver. */
  readonly inactive_executors: Readonly<Record<string, string>> | null;
  readonly inactive_signers: Readonly<Record<string, string>> | null;
};
type DatedColumns = 'created_at' | 'updated_at' | 'expires_at';

const read = shared(readMovements);
const parsePlan = createPlanParser();

/**
 * Returns all that a caller may read about one movement except its plan, at one moment after the
 * call; null for an unknown movement. This is the most frequent read, so concurrent reads share a
 * statement.
 */
export async function readMovement(
  db: Database,
  movementId: string,
): Promise<MovementDetail | null> {
  return (await read(db, { movementId, approver: null }))?.movement ?? null;
}

/**
 * Returns the movement as {@link readMovement}, and in the same statement what an approver with
 * this identity needs of one that waits.
 */
export function readForApproval(
  db: Database,
  movementId: string,
  identity: string | null,
): Promise<MovementForApproval | null> {
  return read(db, { movementId, approver: { identity } });
}

async function readMovements(
  db: Database,
  wanted: readonly Wanted[],
): Promise<readonly (MovementForApproval | null)[]> {
  const approvers = wanted.filter(({ approver }) => approver !== null);
  const identities = new Set(approvers.flatMap(({ approver }) => approver?.identity ?? []));
  const rows = await run(
    () => db.sql<DetailRow>`
      SELECT m.movement_id, m.template_id, m.template_key, m.template_version, m.strategy_id,
        m.request_state, m.approval_status,
        m.reservation_status, m.intent, m.outflow, m.current_frontier, m.external_reference,
          m.metadata, m.error_code,
          m.error_message, p.compiled_plan_hash, p.input_params, p.labels,
        p.created_by, m.approver_id, m.approved_by, m.auto_approve_result, m.run_id,
          m.edge_conditions, attention_of(m, svc_now()) AS attention,
        m.created_at, m.updated_at, m.expires_at,
        (
          SELECT json_agg(n ORDER BY n.position) FROM (
            SELECT position, on_cancel_target, node_key, node_kind, action_type, state, attempt,
              resumed, executor_binding, signer_binding,
              nullif(own_plan -> 'signer_binding', 'null') AS original_signer_binding,
              node_plan(own_plan, p.input_params) -> 'config' AS config,
                own_plan ->> 'asset' AS asset, prepared_action,
              coalesce(trim_scale(amount)::text, CASE WHEN flow ->> 'from' IS NULL
                THEN flow ->> 'amount' END) AS amount, external_ref, output, error_code,
                error_message, fires_no_edge(movement_nodes) AS ended_by_stop, started_at,
                updated_at, completed_at
            FROM movement_nodes WHERE movement_id = m.movement_id
          ) n
        ) AS nodes,
        (
          SELECT json_agg(a ORDER BY a.created_at, a.artifact_id) FROM (
            SELECT artifact_id, node_key, attempt, kind, data, created_at FROM artifacts
              WHERE movement_id = m.movement_id
          ) a
        ) AS artifacts,
        (
          SELECT json_object_agg(c.status, c.count) FROM (
            SELECT status, count(*) AS count FROM callbacks WHERE movement_id = m.movement_id
              GROUP BY status
          ) c
        ) AS callbacks,
        CASE WHEN w.waits THEN compiled_plan_of(m.movement_id) END::text AS waiting_plan,
        CASE WHEN w.waits AND may_need_quorum(m.movement_id)
          THEN approvals_of(m, svc_now()) END AS rules,
        -- All of them, whatever the nodes are bound to: one that is absent counts as active.
        -- Postgres reads them once for the whole statement, and only if one of its movements waits.
        CASE WHEN w.waits THEN (
          SELECT json_object_agg(executor_key, status) FROM executors WHERE status <> 'active'
        ) END AS inactive_executors,
        CASE WHEN w.waits THEN (
          SELECT json_object_agg(signer_key, status) FROM signers WHERE status <> 'active'
        ) END AS inactive_signers,
        (
          SELECT json_object_agg(i, person_of(i))
          FROM jsonb_array_elements_text(${JSON.stringify([...identities])}::jsonb) i
        ) AS people
      FROM movements m JOIN movement_plans p USING (movement_id)
        CROSS JOIN LATERAL (SELECT m.request_state = 'PENDING_APPROVAL'
          AND m.movement_id = ANY ((SELECT ${uuids(approvers)}::uuid[])::uuid[]) AS waits) w
      -- The ids are in a subquery, so that Postgres does not plan again for each list of ids:
      -- planning takes twice as long as the read.
      WHERE m.movement_id = ANY ((SELECT ${uuids(wanted)}::uuid[])::uuid[])`,
  );
  const found = new Map(rows.map((row) => [row.movement_id, row]));
  return wanted.map(({ movementId, approver }) => {
    const row = found.get(movementId.toLowerCase());
    return row === undefined
      ? null
      : { movement: toDetail(row), waiting: approver === null ? null : toWaiting(row, approver) };
  });
}

/** Returns the ids as Postgres writes an array. */
function uuids(wanted: readonly Wanted[]): string {
  return `{${wanted.map(({ movementId }) => movementId).join(',')}}`;
}

function toWaiting(
  { waiting_plan: plan, rules, people, inactive_executors, inactive_signers }: DetailRow,
  { identity }: { readonly identity: string | null },
): WaitingApproval | null {
  if (plan === null) return null;
  const person = identity === null ? null : (people?.[identity] ?? null);
  return {
    plan: parsePlan(plan),
    standing: { rules: standings(rules ?? []), person },
    statuses: {
      executors: new Map(Object.entries(inactive_executors ?? {})),
      signers: new Map(Object.entries(inactive_signers ?? {})),
    },
  };
}

function toDetail({
  nodes,
  artifacts,
  callbacks,
  waiting_plan: _plan,
  rules: _rules,
  people: _people,
  inactive_executors: _executors,
  inactive_signers: _signers,
  created_at,
  updated_at,
  expires_at,
  ...row
}: DetailRow): MovementDetail {
  return {
    ...row,
    attention_reason: row.attention?.reason ?? null,
    created_at: iso(created_at),
    updated_at: iso(updated_at),
    expires_at: iso(expires_at),
    cancellable: nodes.some(({ on_cancel_target }) => on_cancel_target),
    nodes: nodes.map(({ position: _position, on_cancel_target: _target, ...node }) => ({
      ...node,
      started_at: isoOfOrNull(node.started_at),
      updated_at: isoOf(node.updated_at),
      completed_at: isoOfOrNull(node.completed_at),
    })),
    artifacts: (artifacts ?? []).map((artifact) => ({
      ...artifact,
      created_at: isoOf(artifact.created_at),
    })),
    callbacks: {
      pending: callbacks?.['pending'] ?? 0,
      delivered: callbacks?.['delivered'] ?? 0,
      dead_letter: callbacks?.['dead_letter'] ?? 0,
    },
  };
}
