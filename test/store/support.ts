/** A database of the tests' own, with a template and movements made straight through the store. */
import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../domain/json.ts';
import { rootNodes } from '../../domain/graph/shape.ts';
import { compilePlan } from '../../domain/plan/compile.ts';
import { NO_CHAINS, type ChainEntry } from '../../domain/plan/tokens.ts';
import type { CompiledPlan, PlanTemplate, TemplateNode } from '../../domain/plan/types.ts';
import type { Transition } from '../../domain/transition.ts';
import { connectDatabase, type Database } from '../../prisma/client.ts';
import { createMovement, type CreateOutcome, type NewMovement } from '../../store/movements.ts';
import { startOwnDatabase } from '../support/own-database.ts';
import { started } from '../support/started.ts';

export interface StoreBench {
  readonly url: string;
  readonly db: Database;
  /** A new movement of one node `pay` that sends, in PENDING_APPROVAL. */
  movement(more?: DraftOptions): Promise<CreateOutcome>;
  /** What such a movement is made of. */
  draft(more?: DraftOptions): Omit<NewMovement, 'auto_approve_result'>;
  /** Writes the row that an approval leaves, for a movement that a test puts under way itself. */
  approve(movementId: string): Promise<void>;
  sql<T>(text: string, ...values: unknown[]): Promise<T[]>;
  close(): Promise<void>;
}

export interface DraftOptions {
  readonly idempotency_key?: string;
  readonly amount?: string;
  readonly strategy_id?: string;
  /** Gives the node no venue, so that it meets others in no pool. */
  readonly unheld?: boolean;
  /** Other nodes and edges than the one node `pay`. */
  readonly shape?: Pick<PlanTemplate, 'nodes' | 'edges'>;
  readonly input_params?: JsonObject;
  /** What the registry says of the executor when the plan is compiled; it sends when absent. */
  readonly executor_sends?: boolean;
}

/**
 * A template's node that sends: its action type is a team's own, whose executor says nothing else.
 */
export function paying(
  node_key: string,
  config: JsonObject,
  node_kind: TemplateNode['node_kind'] = 'action',
): TemplateNode {
  return { node_key, node_kind, action_type: 'acme_payout', has_side_effect: true, config };
}

export const TEMPLATE: PlanTemplate = {
  template_id: randomUUID(),
  template_key: 'test/store',
  version: 1,
  nodes: [paying('pay', { venue: 'v', asset: 'USDC' })],
  edges: [],
  risk_controls: {},
  completion_policy: { completion_assurance: 'provider_completed' },
};

export const BURNER = '0x00000000000000000000000000000000000000AA';
/** A chain on which a contract pulls what is burnt for another one. */
export const BURNING: ChainEntry = {
  venue_key: 'burning',
  chain_id: 1,
  native_asset: 'ETH',
  tokens: [],
  finality: {
    read: 'finalized_tag',
    confirmations: null,
    typical_age_seconds: null,
    override_reason: null,
  },
  bridges: {
    burn_and_mint: { endpoint_identity: null, carriers: [{ asset: 'USDC', address: BURNER }] },
  },
  deposit_venues: [],
};

/** Compiled as the API would; who runs its nodes is of no interest here. */
export function planOf(
  shape: Pick<PlanTemplate, 'nodes' | 'edges'> & Partial<Pick<PlanTemplate, 'risk_controls'>>,
  amount: string,
  inputParams: JsonObject = {},
  executor_sends = true,
): CompiledPlan {
  const binding = {
    executor_binding: { executor_key: 'acme.payouts' },
    signer_binding: null,
    executor_sends,
  };
  return compilePlan(
    { ...TEMPLATE, ...shape },
    { intent: { asset: 'USDC', amount }, input_params: inputParams },
    new Map(shape.nodes.map(({ node_key }) => [node_key, binding])),
    [BURNING],
  );
}

/** What refuses, in the database, to run what was not approved or to change a plan. */
const GUARDS: readonly (readonly [table: string, trigger: string])[] = [
  ['movements', 'movements_need_approval'],
  ['movements', 'movements_plan_immutable'],
  ['movement_nodes', 'movement_nodes_need_approval'],
  ['movement_nodes', 'movement_nodes_plan_immutable'],
  ['movement_nodes', 'movement_nodes_flow_immutable'],
  ['movement_nodes', 'movement_nodes_none_later'],
];

/** Of every plan of {@link StoreBench.draft}. */
const PLAN_HASH = 'a'.repeat(64);

/** The approval of a movement that was made of such a draft, as the API writes it. */
export function approvalOf(movement_id: string): Transition {
  return {
    movement_id,
    from: ['PENDING_APPROVAL'],
    to: 'APPROVED',
    plan_hash: PLAN_HASH,
    approval: { by: 'auth_off' },
    nodes: [{ node_key: 'pay', from: 'BLOCKED', moves: ['READY'] }],
    timeline: [],
  };
}

/** Its tests run movements and change plans by hand; `guarded` is as it is outside. */
export async function startStoreBench({ guarded = false } = {}): Promise<StoreBench> {
  const own = await startOwnDatabase();
  // Hundreds of creates at once wait for each other here, for longer than a caller would.
  const db = connectDatabase({ url: own.url, poolSize: 20, connectTimeoutMs: 60_000 });
  for (const [table, trigger] of guarded ? [] : GUARDS)
    await db.$executeRawUnsafe(`ALTER TABLE ${table} DISABLE TRIGGER ${trigger}`);
  await db.sql`INSERT INTO plan_templates (template_key, created_at, updated_at)
    VALUES (${TEMPLATE.template_key}, now(), now())`;
  await db.sql`
    INSERT INTO plan_template_versions (template_id, template_key, version, name, graph_shape,
      approval_policy, risk_controls, completion_assurance, created_at)
    VALUES (${TEMPLATE.template_id}::uuid, ${TEMPLATE.template_key}, 1, 'store', 'linear', '{}',
      '{}', 'provider_completed', now())`;
  const draft: StoreBench['draft'] = ({
    idempotency_key = null,
    amount = '3',
    strategy_id = null,
    unheld = false,
    shape,
    input_params,
    executor_sends,
  } = {}) => ({
    plan: planOf(
      shape ?? (unheld ? { nodes: [paying('pay', {})], edges: [] } : TEMPLATE),
      amount,
      input_params,
      executor_sends,
    ),
    compiled_plan_hash: PLAN_HASH,
    strategy_id,
    labels: {},
    frontier: rootNodes(shape ?? TEMPLATE),
    approval_ttl_seconds: 600,
    callback_url: null,
    chains: NO_CHAINS,
    client_scope: 'tests',
    idempotency_key,
    request: {},
    created_by: {},
    timeline: [{ event_type: 'movement_created', message: 'Created', actor: { type: 'system' } }],
    audit: () => [],
  });
  return {
    url: own.url,
    db,
    draft,
    movement: (more) => createMovement(db, { ...draft(more), auto_approve_result: null }),
    approve: async (movementId) => {
      await db.sql`
        INSERT INTO movement_approvals (movement_id, plan_hash, approved_by, at)
        SELECT movement_id, compiled_plan_hash, 'auth_off', svc_now() FROM movement_plans
        WHERE movement_id = ${movementId}::uuid`;
    },
    sql: (text, ...values) => db.$queryRawUnsafe(text, ...values),
    close: async () => {
      await db.$disconnect();
      await own.close();
    },
  };
}

/** Such a bench for all tests of a file. */
export const storeBench = (options?: { readonly guarded: boolean }): StoreBench =>
  started(() => startStoreBench(options));

/** Stores an API key that was issued an hour ago; returns its id. */
export async function issuedKey(bench: StoreBench): Promise<string> {
  const key_id = `key-${randomUUID()}`;
  await bench.sql(
    `WITH client AS (INSERT INTO api_clients (client_id, client_name, created_at)
       VALUES (gen_random_uuid(), $1::text, now()) RETURNING client_id)
     INSERT INTO api_client_keys (key_id, client_id, role, secret, created_at)
     SELECT $1::text, client_id, 'operator', '\\x00'::bytea, now() - interval '1 hour'
     FROM client`,
    key_id,
  );
  return key_id;
}

/** Returns once so many statements of the database wait for a lock; fails after 20 seconds. */
export async function waitForLocks(bench: StoreBench, count: number): Promise<void> {
  for (const deadline = Date.now() + 20_000; Date.now() < deadline;) {
    const [row] = await bench.sql<{ waiting: number }>(
      `SELECT count(*)::integer AS waiting FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    if ((row?.waiting ?? 0) >= count) return;
  }
  throw new Error(`${String(count)} statements should wait for a lock, and do not`);
}

/** What of a compiled plan a create has to agree with, beside the plan itself. */
export function agreedPlan(movement: {
  readonly template_id: string;
  readonly template_key: string;
  readonly template_version: number;
  readonly asset: string;
  readonly amount: string;
  readonly outflow: readonly unknown[];
}): object {
  const { template_id, template_key, template_version: version, asset, amount, outflow } = movement;
  return { template: { template_id, template_key, version }, intent: { asset, amount }, outflow };
}
