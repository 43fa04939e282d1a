/**
 * What a person decides about nodes whose outcome is unknown: a resolve that counts all as sent, a
 * cancel after a restore.
 */
import { cancel } from '../../../domain/commands/cancel.ts';
import { resolve, type Outcome } from '../../../domain/commands/resolve.ts';
import type { JsonObject } from '../../../domain/json.ts';
import type { EdgeType } from '../../../domain/graph/types.ts';
import { walk } from '../../../domain/graph/walk.ts';
import type { CompiledNode } from '../../../domain/plan/types.ts';
import { toWalk, type MovementSnapshot, type NodeSnapshot } from '../../../domain/snapshot.ts';

const requester = {
  caller: { client_id: null, key_id: null, role: 'operator' as const },
  request_id: 'a-request',
};

function planned(node_key: string, config: JsonObject = {}): CompiledNode {
  const action = {
    node_key,
    node_kind: 'action',
    action_type: 'acme_payout',
    has_side_effect: true,
  } as const;
  return {
    ...action,
    asset: 'USDC',
    sends: true,
    config,
    executor_binding: { executor_key: 'acme.payouts' },
    signer_binding: null,
  };
}

function node(
  node_key: string,
  state: NodeSnapshot['state'],
  more: Partial<NodeSnapshot> = {},
): NodeSnapshot {
  return {
    node_key,
    node_kind: 'action',
    state,
    attempt: 1,
    submit_epoch: 1,
    signer_key: null,
    recover_first: false,
    accepted: false,
    restored: false,
    resumed: false,
    amount: '100',
    output: null,
    error_code: null,
    updated_at: '2026-01-01T00:00:00.000Z',
    settled_order: 0,
    ...more,
  };
}

const edge = (from: string, to: string, edge_type: EdgeType = 'on_success') =>
  ({ from, to, edge_type, priority: 0, join_key: null, condition_expr: null }) as const;

function movement(
  plan: Pick<MovementSnapshot['plan'], 'nodes' | 'edges'>,
  nodes: readonly NodeSnapshot[],
): MovementSnapshot {
  return {
    movement_id: 'a-movement',
    state: 'MANUAL_INTERVENTION',
    reservation_status: 'held',
    version: 7,
    conditions: {},
    nodes,
    plan: {
      template: { template_id: 'a-template', template_key: 'key', version: 1 },
      ...plan,
      risk_controls: {},
      completion_policy: { completion_assurance: 'provider_completed' },
      outflow: [{ asset: 'USDC', amount: '100' }],
      intent: { asset: 'USDC', amount: '100' },
      input_params: {},
    },
  };
}

describe('a resolve as completed without an output', () => {
  const next = planned('next', { amount_ref: 'nodes.pay.output.arrived' });
  const plan = { nodes: [planned('pay'), next], edges: [edge('pay', 'next')] };
  const resolved = (pay: NodeSnapshot, output?: JsonObject) =>
    resolve(
      movement(plan, [pay, node('next', 'BLOCKED', { amount: null })]),
      {
        node_key: 'pay',
        outcome: 'completed',
        reason: 'seen',
        evidence: {},
        settle_seconds: 0,
        ahead_seconds: 0,
        ...(output === undefined ? {} : { output }),
      },
      requester,
    )?.nodes?.find(({ node_key }) => node_key === 'pay')?.set;

  test('counts the whole amount as sent, whatever the executor reported on its way', () => {
    const reported = {
      submitted_amount: '30',
      received_amount: '29',
      arrived: '5',
      note: 'first part',
    };
    expect(resolved(node('pay', 'UNKNOWN', { output: reported }))?.output).toEqual({
      submitted_amount: '100',
      received_amount: '100',
      arrived: '100',
      note: 'first part',
    });
  });

  test('invents no field without a reader', () => {
    expect(resolved(node('pay', 'UNKNOWN'))?.output).toEqual({ arrived: '100' });
  });

  test('believes the person who knows better', () => {
    expect(
      resolved(node('pay', 'UNKNOWN', { output: { submitted_amount: '100' } }), {
        submitted_amount: '30',
      })?.output,
    ).toEqual({
      submitted_amount: '30',
    });
  });

  test('says how much it was where a restored database has forgotten that', () => {
    expect(resolved(node('pay', 'UNKNOWN', { amount: null }))?.amount).toBe('100');
    expect(resolved(node('pay', 'UNKNOWN'))).not.toHaveProperty('amount');
  });
});

test('the condition behind an abandoned node is not evaluated, as that behind a failed one is', () => {
  const plan = {
    nodes: [planned('pay'), planned('instead')],
    edges: [{ ...edge('pay', 'instead', 'on_failure'), condition_expr: 'true' }],
  };
  const conditionsOf = (outcome: Outcome) =>
    resolve(
      movement(plan, [node('pay', 'UNKNOWN'), node('instead', 'BLOCKED')]),
      {
        node_key: 'pay',
        outcome,
        reason: 'seen',
        evidence: {},
        settle_seconds: 0,
        ahead_seconds: 0,
      },
      requester,
    )?.conditions;
  expect([conditionsOf('failed'), conditionsOf('abandoned')]).toEqual([{ 0: 'true' }, {}]);
});

describe('a cancel after a restore', () => {
  const plan = {
    nodes: [planned('a'), planned('b'), planned('undo')],
    edges: [edge('a', 'b'), edge('a', 'undo', 'on_cancel')],
  };
  const restored = { recover_first: true, restored: true };
  const nodes = [
    node('a', 'READY', restored),
    node('b', 'BLOCKED', restored),
    node('undo', 'BLOCKED', restored),
  ];

  test('asks about nodes whose send may be forgotten, and calls none of them off', () => {
    const transition = cancel({ ...movement(plan, nodes), state: 'EXECUTING' }, requester);
    expect(
      transition.nodes?.map(({ node_key, from, moves }) => [node_key, from, ...moves]),
    ).toEqual([['b', 'BLOCKED', 'READY']]);
    expect(transition.set).toMatchObject({
      current_frontier: ['a', 'b'],
      reservation_status: 'held',
    });
    const after = {
      ...movement(plan, [...nodes.slice(0, 1), node('b', 'READY', restored), ...nodes.slice(2)]),
      state: 'CANCELLED',
    } as const;
    expect(walk(toWalk(after))).toMatchObject({ run: ['a', 'b'], skip: [], ended: false });
  });

  test('without one cancels what has not started', () => {
    const plain = [node('a', 'READY'), node('b', 'BLOCKED'), node('undo', 'BLOCKED')];
    const transition = cancel({ ...movement(plan, plain), state: 'EXECUTING' }, requester);
    expect(transition.nodes?.map(({ node_key, moves }) => [node_key, ...moves])).toEqual([
      ['a', 'CANCELLED'],
      ['b', 'CANCELLED'],
    ]);
    expect(transition.set).toMatchObject({ reservation_status: 'released' });
  });
});
