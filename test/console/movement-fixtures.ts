/** Answers of the API as the console's page reads them, written by hand. */
import type { Graph, ListedRow, Movement } from '../../console/pages/movement/model/answers.ts';
import type { CompiledNode, CompiledPlan } from '../../domain/plan/types.ts';

export const ID = '01920000-0000-7000-8000-000000000001';
export const TREASURY = '0x52908400098527886e0f7030069857d2e4169ee7';

export function planNode(over: Partial<CompiledNode> = {}): CompiledNode {
  return {
    node_key: 'pay',
    node_kind: 'action',
    action_type: 'evm_erc20_transfer',
    config: { chain_id: 1, token_address: `0x${'8'.repeat(40)}`, destination_address: TREASURY },
    asset: 'USDC',
    sends: true,
    has_side_effect: true,
    executor_binding: { executor_key: 'evm' },
    signer_binding: { signer_key: 'desk' },
    ...over,
  } as CompiledNode;
}

export function plan(over: Partial<CompiledPlan> = {}): CompiledPlan {
  return {
    template: { template_id: ID, template_key: 'starter/pay', version: 1 },
    nodes: [planNode()],
    edges: [],
    risk_controls: {},
    completion_policy: { completion_assurance: 'mined' },
    outflow: [{ asset: 'USDC', amount: '250.5' }],
    intent: { asset: 'USDC', amount: '250.5' },
    input_params: {},
    ...over,
  } as CompiledPlan;
}

type Node = Movement['nodes'][number];

export function node(over: Partial<Node> = {}): Node {
  return {
    node_key: 'pay',
    node_kind: 'action',
    action_type: 'evm_erc20_transfer',
    state: 'BLOCKED',
    attempt: 1,
    executor_binding: { executor_key: 'evm' },
    signer_binding: { signer_key: 'desk' },
    asset: 'USDC',
    amount: '250.5',
    description: null,
    idempotency_key: `${ID}:pay:1`,
    destination: TREASURY,
    external_ref: null,
    output: null,
    error_code: null,
    error_message: null,
    started_at: null,
    updated_at: '2026-11-26T10:00:00.000Z',
    completed_at: null,
    ...over,
  };
}

export function movement(over: Partial<Movement> = {}): Movement {
  return {
    movement_id: ID,
    template_key: 'starter/pay',
    template_version: 1,
    strategy_id: null,
    external_reference: null,
    metadata: {},
    request_state: 'PENDING_APPROVAL',
    approval_status: 'pending',
    reservation_status: 'none',
    intent: { asset: 'USDC', amount: '250.5' },
    outflow: [{ asset: 'USDC', amount: '250.5' }],
    current_frontier: [],
    error_code: null,
    attention_reason: null,
    created_at: '2026-11-26T10:00:00.000Z',
    updated_at: '2026-11-26T10:00:00.000Z',
    expires_at: '2026-11-26T11:00:00.000Z',
    template: { template_id: ID, template_key: 'starter/pay', version: 1 },
    compiled_plan_hash: 'f'.repeat(64),
    input_params: {},
    labels: {},
    created_by: {},
    approver_id: null,
    approved_by: null,
    auto_approve_result: null,
    error_message: null,
    nodes: [node()],
    artifacts: [],
    attention: null,
    callbacks: { pending: 0, delivered: 0, dead_letter: 0 },
    workflow: {
      namespace: 'default',
      workflow_id: `movement/${ID}`,
      run_id: null,
      ui_url: 'http://t',
    },
    ...over,
  } as Movement;
}

type Offer = NonNullable<Movement['attention']>['actions'][number];

export function attention(
  actions: readonly Offer[],
  over: Partial<NonNullable<Movement['attention']>> = {},
): NonNullable<Movement['attention']> {
  return {
    reason: 'approval',
    message: 'It waits for an approval until 11:00.',
    node_key: null,
    description: null,
    idempotency_key: null,
    last_answer: null,
    attempt: null,
    max_attempts: null,
    errors: null,
    next_look_at: null,
    actions: [...actions],
    ...over,
  };
}

export function row(over: Partial<ListedRow> = {}): ListedRow {
  return {
    chain_family: 'evm',
    address: TREASURY,
    chain_id: 1,
    label: 'treasury',
    active: true,
    usable_after: null,
    created_by: 'ada',
    created_at: '2026-11-01T10:00:00.000Z',
    ...over,
  };
}

export function graph(nodes: Graph['nodes'], edges: Graph['edges']): Graph {
  return {
    movement_id: ID,
    request_state: 'EXECUTING',
    template_key: 'starter/pay',
    template_version: 1,
    nodes,
    edges,
  };
}

export function graphNode(over: Partial<Graph['nodes'][number]>): Graph['nodes'][number] {
  return {
    node_key: 'pay',
    node_kind: 'action',
    action_type: 'evm_erc20_transfer',
    state: 'BLOCKED',
    attempt: 1,
    error_code: null,
    executor_key: 'evm',
    signer_key: null,
    ...over,
  };
}

export function graphEdge(over: Partial<Graph['edges'][number]>): Graph['edges'][number] {
  return {
    from: 'a',
    to: 'b',
    edge_type: 'on_success',
    condition_expr: null,
    priority: 0,
    join_key: null,
    status: 'pending',
    ...over,
  };
}
