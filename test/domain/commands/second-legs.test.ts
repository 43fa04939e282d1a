/** What people's actions do to a bridge's second leg. */
import { cancel } from '../../../domain/commands/cancel.ts';
import { missingRecord } from '../../../domain/commands/resolve.ts';
import { retry } from '../../../domain/commands/retry.ts';
import { newSnapshot, type MovementSnapshot } from '../../../domain/snapshot.ts';
import type { CompiledNode, CompiledPlan } from '../../../domain/plan/types.ts';
import type { NodeState } from '../../../domain/states/node.ts';

const requester = {
  caller: { client_id: null, key_id: null, role: 'operator' as const },
  request_id: 'a-request',
};
const planned = (node_key: string, action_type: string, config = {}): CompiledNode => ({
  node_key,
  action_type,
  config,
  has_side_effect: true,
  sends: true,
  asset: 'USDB',
  node_kind: action_type === 'manual_gate' ? 'manual_gate' : 'action',
  executor_binding: { executor_key: 'x' },
  signer_binding: null,
});
const edge = (from: string, to: string, edge_type: CompiledPlan['edges'][number]['edge_type']) => ({
  from,
  to,
  edge_type,
  priority: 0,
  join_key: null,
  condition_expr: null,
});
const BURN = planned('burn', 'cctp_burn');
const PLAN = {
  nodes: [
    BURN,
    planned('wait', 'manual_gate'),
    planned('mint', 'cctp_mint', { burn_from: 'burn' }),
    planned('ask', 'manual_gate'),
  ],
  edges: [
    edge('burn', 'wait', 'on_success'),
    edge('wait', 'mint', 'on_manual_resume'),
    edge('mint', 'ask', 'on_failure'),
    edge('burn', 'ask', 'on_cancel'),
  ],
  intent: { asset: 'USDB', amount: '1' },
} as unknown as CompiledPlan;

/** A movement whose nodes are in these states; `burn` may have more. */
function snapshot(
  state: MovementSnapshot['state'],
  states: Readonly<Record<string, NodeState>>,
  burn: object = {},
): MovementSnapshot {
  const fresh = newSnapshot('a-movement', PLAN);
  return {
    ...fresh,
    state,
    nodes: fresh.nodes.map((node) => ({
      ...node,
      state: states[node.node_key] ?? 'BLOCKED',
      ...(node.node_key === 'burn' ? burn : {}),
    })),
  };
}
const changes = (transition: ReturnType<typeof retry>): Record<string, readonly string[]> =>
  Object.fromEntries((transition?.nodes ?? []).map(({ node_key, moves }) => [node_key, moves]));

describe('a cancel', () => {
  test.each([
    ['COMPLETED', {}, ['wait']],
    ['OBSERVING', {}, ['wait']],
    ['UNKNOWN', {}, ['wait']],
    ['READY', { recover_first: true }, ['wait']],
    ['READY', {}, ['burn', 'wait', 'mint']],
    ['FAILED', {}, ['wait', 'mint']],
  ] as const)('beside a burn that is %s %j stops %j', (burn, more, stopped) => {
    const at = snapshot('EXECUTING', { burn }, more);
    const moved = changes(cancel(at, requester));
    const ended = Object.keys(moved).filter((key) => moved[key]?.includes('CANCELLED') === true);
    expect(ended).toEqual(stopped);
  });

  test('leaves a mint alone whose preparation has started', () => {
    const at = snapshot('EXECUTING', { burn: 'COMPLETED', wait: 'COMPLETED', mint: 'READY' });
    expect(Object.keys(changes(cancel(at, requester)))).toEqual([]);
  });
});

test('a retry closes the gate that waits for what to do instead', () => {
  const at = snapshot('WAITING_MANUAL_ACTION', {
    burn: 'COMPLETED',
    wait: 'COMPLETED',
    mint: 'FAILED',
    ask: 'READY',
  });
  expect(changes(retry(at, requester))).toEqual({ mint: ['READY'], ask: ['BLOCKED'] });
});

describe('to resolve a burn as completed', () => {
  const output = {
    message: '0x01',
    attested_message: '0x02',
    attestation: '0x03',
    submitted_amount: '1',
    source_chain_id: 1,
    destination_chain_id: 2,
    mint_recipient: '0x04',
  };
  const at = snapshot('MANUAL_INTERVENTION', { burn: 'UNKNOWN' }, { output });
  const claim = { node_key: 'burn', outcome: 'completed' } as const;
  const unrecorded = snapshot('MANUAL_INTERVENTION', { burn: 'UNKNOWN' });

  test('takes the message that its mint goes by, recorded or said', () => {
    expect(missingRecord(at, claim)).toBeNull();
    expect(missingRecord(unrecorded, { ...claim, output })).toBeNull();
    expect(missingRecord(unrecorded, claim)).toBe('message');
    expect(missingRecord(at, { ...claim, output: { tx_hash: '0x02' } })).toBe('message');
  });

  test('takes each field of it, whether recorded or said', () => {
    for (const field of Object.keys(output)) {
      const left = Object.fromEntries(Object.entries(output).filter(([name]) => name !== field));
      const without = snapshot('MANUAL_INTERVENTION', { burn: 'UNKNOWN' }, { output: left });
      expect(missingRecord(without, claim)).toBe(field);
      expect(missingRecord(at, { ...claim, output: left })).toBe(field);
    }
  });

  test('takes none where it failed, or where nothing goes by it', () => {
    expect(missingRecord(unrecorded, { ...claim, outcome: 'failed' })).toBeNull();
    const alone = { ...unrecorded, plan: { ...PLAN, nodes: [BURN] } };
    expect(missingRecord(alone, claim)).toBeNull();
  });
});
