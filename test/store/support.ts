/** A database of the tests' own, with a template and movements made straight through the store. */
import { randomUUID } from 'node:crypto';
import { compilePlan } from '../../domain/plan/compile.ts';
import type { PlanTemplate } from '../../domain/plan/types.ts';
import { connectDatabase, type Database } from '../../prisma/client.ts';
import { createMovement, type CreateOutcome, type NewMovement } from '../../store/movements.ts';
import { startOwnDatabase } from '../support/own-stack.ts';

export interface StoreBench {
  readonly url: string;
  readonly db: Database;
  /** A new movement of one node `pay`, in PENDING_APPROVAL. */
  movement(more?: { idempotency_key?: string }): Promise<CreateOutcome>;
  /** What such a movement is made of; `unheld` gives its node no venue, so that it meets others in no pool. */
  draft(more?: {
    idempotency_key?: string;
    amount?: string;
    strategy_id?: string;
    unheld?: boolean;
  }): Omit<NewMovement, 'auto_approve_result'>;
  sql<T>(text: string, ...values: unknown[]): Promise<T[]>;
  close(): Promise<void>;
}

const TEMPLATE: PlanTemplate = {
  template_id: randomUUID(),
  template_key: 'test/store',
  version: 1,
  nodes: [{ node_key: 'pay', node_kind: 'action', action_type: 'noop', has_side_effect: true, config: { venue: 'v', asset: 'USDC' } }],
  edges: [],
  risk_controls: {},
  completion_policy: { completion_assurance: 'provider_completed' },
};

export async function startStoreBench(): Promise<StoreBench> {
  const own = await startOwnDatabase();
  const db = connectDatabase({ url: own.url, poolSize: 20 });
  await db.sql`INSERT INTO plan_templates (template_key, created_at, updated_at) VALUES (${TEMPLATE.template_key}, now(), now())`;
  await db.sql`
    INSERT INTO plan_template_versions (template_id, template_key, version, name, graph_shape, approval_policy, risk_controls, completion_assurance, created_at)
    VALUES (${TEMPLATE.template_id}::uuid, ${TEMPLATE.template_key}, 1, 'store', 'linear', '{}', '{}', 'provider_completed', now())`;
  const draft: StoreBench['draft'] = ({ idempotency_key = null, amount = '3', strategy_id = null, unheld = false } = {}) => ({
    plan: compilePlan(
      unheld ? { ...TEMPLATE, nodes: TEMPLATE.nodes.map((node) => ({ ...node, config: {} })) } : TEMPLATE,
      { intent: { asset: 'USDC', amount }, input_params: {} },
      new Map([['pay', { executor_binding: { executor_key: 'builtin.noop' }, signer_binding: null }]]),
    ),
    compiled_plan_hash: 'a'.repeat(64),
    strategy_id,
    labels: {},
    frontier: ['pay'],
    approval_ttl_seconds: 600,
    callback_url: null,
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
    sql: (text, ...values) => db.$queryRawUnsafe(text, ...values),
    close: async () => {
      await db.$disconnect();
      await own.close();
    },
  };
}
