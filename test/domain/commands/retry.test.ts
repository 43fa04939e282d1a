/** What an operator's retry changes and records. */
import { ABANDONED } from '../../../domain/attention-reasons.ts';
import { retry } from '../../../domain/commands/retry.ts';
import type { CompiledNode } from '../../../domain/plan/types.ts';
import type { MovementSnapshot, NodeSnapshot } from '../../../domain/snapshot.ts';

const requester = {
  caller: { client_id: null, key_id: null, role: 'operator' as const },
  request_id: 'a-request',
};

function planned(node_key: string): CompiledNode {
  const action = {
    node_key,
    node_kind: 'action',
    action_type: 'noop',
    has_side_effect: false,
  } as const;
  return {
    ...action,
    asset: 'USDC',
    sends: false,
    config: {},
    executor_binding: { executor_key: 'local.noop' },
    signer_binding: null,
  };
}

function node(node_key: string, state: NodeSnapshot['state']): NodeSnapshot {
  const settled = {
    error_code: state === 'FAILED' ? 'NODE_TIMED_OUT' : null,
    updated_at: '2026-01-01T00:00:00.000Z',
    settled_order: 1,
  };
  return {
    node_key,
    node_kind: 'action',
    state,
    attempt: 1,
    submit_epoch: 0,
    signer_key: null,
    recover_first: false,
    accepted: false,
    restored: false,
    resumed: false,
    amount: null,
    output: null,
    ...settled,
  };
}

const edge = {
  edge_type: 'on_success',
  priority: 0,
  join_key: null,
  condition_expr: null,
} as const;
const failed: MovementSnapshot = {
  movement_id: 'a-movement',
  state: 'FAILED',
  reservation_status: 'released',
  version: 7,
  plan: {
    template: { template_id: 'a-template', template_key: 'key', version: 1 },
    nodes: ['first', 'second', 'third'].map(planned),
    edges: [
      { ...edge, from: 'first', to: 'second' },
      { ...edge, from: 'second', to: 'third' },
    ],
    risk_controls: {},
    completion_policy: { completion_assurance: 'provider_completed' },
    outflow: [],
    intent: { asset: 'USDC', amount: '1' },
    input_params: {},
  },
  conditions: {},
  nodes: [node('first', 'FAILED'), node('second', 'SKIPPED'), node('third', 'SKIPPED')],
};

test('every node that a retry moves is moved on the timeline too', () => {
  const transition = retry(failed, requester);
  const moves = transition?.nodes?.map(({ node_key, from, moves: [to] }) => [node_key, from, to]);
  expect(moves).toEqual([
    ['first', 'FAILED', 'READY'],
    ['second', 'SKIPPED', 'BLOCKED'],
    ['third', 'SKIPPED', 'BLOCKED'],
  ]);
  const requeued = transition?.timeline.filter(({ event_type }) => event_type === 'node_requeued');
  expect(
    requeued?.map(({ node_key, from_state, to_state }) => [node_key, from_state, to_state]),
  ).toEqual(moves);
  expect(requeued?.map(({ attempt }) => attempt)).toEqual([2, 1, 1]);
});

test('a node that is within reach again loses its time of completion', () => {
  const reopened = retry(failed, requester)?.nodes?.filter(({ from }) => from === 'SKIPPED');
  expect(reopened?.map(({ set }) => set?.completed_at)).toEqual([null, null]);
});

test('what was made by a route of its own and has failed is requested there again', () => {
  expect(retry(failed, requester)).not.toBeNull();
  const { template } = failed.plan;
  const made = (state: MovementSnapshot['state']): MovementSnapshot => ({
    ...failed,
    state,
    plan: { ...failed.plan, template: { ...template, template_key: 'system/agent_wallet_top_up' } },
  });
  expect(retry(made('FAILED'), requester)).toBeNull();
});

test('a retry after a reset allows nothing for an abandoned node', () => {
  const allow = {
    ...planned('allow'),
    config: { chain_id: 1, token_address: '0xbb', spender: '0xcc' },
  };
  const burn = (key: string): CompiledNode => ({
    ...planned(key),
    config: { source_chain_id: 1, token_address: '0xbb', amount: '100' },
    pulled_by: '0xcc',
  });
  const pulling = (first: Partial<NodeSnapshot>): MovementSnapshot => ({
    ...failed,
    plan: {
      ...failed.plan,
      nodes: [allow, burn('first'), burn('second')],
      edges: ['first', 'second'].map((to) => ({ ...edge, from: 'allow', to })),
    },
    nodes: [
      { ...node('allow', 'COMPLETED'), amount: '200' },
      { ...node('first', 'FAILED'), updated_at: '2026-01-02T00:00:00.000Z', ...first },
      node('second', 'FAILED'),
    ],
  });
  const allowed = (first: Partial<NodeSnapshot>) =>
    retry(pulling(first), requester, new Map([['allow', '200']]))?.nodes?.find(
      ({ node_key }) => node_key === 'allow',
    )?.set?.amount;
  expect(allowed({})).toBe('200');
  expect(allowed({ error_code: ABANDONED })).toBe('100');
});
