/** What a person may decide about a node while the run of its movement cannot go on. */
import { offersFor, type AttentionFacts } from '../../domain/attention.ts';
import type { CompiledNode, CompiledPlan } from '../../domain/plan/types.ts';
import { newSnapshot, type MovementSnapshot, type NodeSnapshot } from '../../domain/snapshot.ts';

const caller = { client_id: null, key_id: null, role: 'operator' as const };
const requester = { caller, request_id: 'a-request' };
const STUCK: AttentionFacts = { reason: 'run_stuck', error_message: 'a bug' };

const planned = (node_key: string, action_type: string): CompiledNode => ({
  ...{ node_key, action_type, node_kind: 'action', config: {}, asset: 'USDC' },
  ...{ has_side_effect: true, sends: true },
  ...{ executor_binding: { executor_key: 'x' }, signer_binding: null },
});
const PLAN = {
  nodes: [planned('pay', 'evm_erc20_transfer'), planned('out', 'cex_withdrawal')],
  edges: [],
  template: { template_id: 'a-template', template_key: 'key', version: 1 },
  intent: { asset: 'USDC', amount: '1' },
} as unknown as CompiledPlan;

/** A movement under way; `nodes` says what is set of `pay` and of `out`. */
function movement(...nodes: readonly Partial<NodeSnapshot>[]): MovementSnapshot {
  const fresh = newSnapshot('a-movement', PLAN);
  return {
    ...fresh,
    state: 'EXECUTING',
    nodes: fresh.nodes.map((node, at) => ({ ...node, ...nodes[at] })),
  };
}

/** Which node each offer of these actions names. */
function offered(facts: AttentionFacts, ...nodes: readonly Partial<NodeSnapshot>[]) {
  const wanted = ['resolve', 'cancel_transaction'];
  return offersFor(facts, movement(...nodes), { requester, open: [] })
    .filter(({ action }) => wanted.includes(action))
    .map(({ action, node_key, attempt, state }) => ({ action, node_key, attempt, state }));
}

const at = (second: number): string => `2026-01-01T00:00:0${String(second)}.000Z`;

test('a node whose outcome is unknown is offered as without the stuck run', () => {
  const nodes = [
    { state: 'UNKNOWN', attempt: 2 },
    { state: 'OBSERVING', resolvable: true, updated_at: at(1) },
  ] as const;
  const pay = { node_key: 'pay', attempt: 2, state: 'UNKNOWN' };
  const both = [
    { action: 'resolve', ...pay },
    { action: 'cancel_transaction', ...pay },
  ];
  expect(offered(STUCK, ...nodes)).toEqual(both);
  const alone = { reason: 'unknown_outcome', node_key: 'pay' } as const;
  expect(offered(alone, ...nodes)).toEqual(both);
  // Outcomes are stated of a resolve alone.
  const offers = offersFor(alone, movement(...nodes), { requester, open: [] });
  const stating = offers.filter((offer) => 'outcomes' in offer || 'claim_places' in offer);
  expect(stating.map(({ action }) => action)).toEqual(['resolve']);
});

test('of several, the one that changed the longest time ago is first, as for a retry', () => {
  const pay = { state: 'UNKNOWN', updated_at: at(2) } as const;
  const [first] = offered(STUCK, pay, { state: 'UNKNOWN', updated_at: at(1) });
  expect(first).toMatchObject({ action: 'resolve', node_key: 'out' });
});

test('so is a node that is observed for longer than usual', () => {
  expect(offered(STUCK, { state: 'COMPLETED' }, { state: 'OBSERVING', resolvable: true })).toEqual([
    { action: 'resolve', node_key: 'out', attempt: 1, state: 'OBSERVING' },
  ]);
});

test('of what may be stated, only what is possible now is offered', () => {
  const meant = (node: Partial<NodeSnapshot>) => {
    const facts = { reason: 'observed_long', node_key: 'out' } as const;
    const seen = movement({ state: 'COMPLETED' }, node);
    const offers = offersFor(facts, seen, { requester, open: [] });
    const resolve = offers.find(({ action }) => action === 'resolve');
    const said = resolve?.consequence ?? '';
    const words = ['Completed', 'Failed', 'Abandoned'].filter((outcome) =>
      said.includes(`${outcome}:`),
    );
    // The same stands as data.
    expect(resolve?.outcomes ?? []).toEqual(words.map((word) => word.toLowerCase()));
    return words;
  };
  expect(meant({ state: 'UNKNOWN' })).toEqual(['Completed', 'Failed', 'Abandoned']);
  const underWay = { state: 'UNKNOWN', error_code: 'SEND_UNDER_WAY' } as const;
  expect(meant(underWay)).toEqual(['Abandoned']);
  expect(meant({ ...underWay, resolvable: true })).toEqual(['Completed', 'Abandoned']);
  expect(meant({ state: 'UNKNOWN', error_code: 'WITHDRAWAL_FEE_ABOVE_LIMIT' })).toEqual([
    'Completed',
    'Abandoned',
  ]);
  expect(meant({ state: 'OBSERVING', overdue: true })).toEqual(['Abandoned']);
  expect(meant({ state: 'OBSERVING', overdue: true, resolvable: true })).toEqual([
    'Completed',
    'Abandoned',
  ]);
  expect(meant({ state: 'OBSERVING', resolvable: true })).toEqual(['Completed']);
  expect(meant({ state: 'OBSERVING' })).toEqual([]);
});

describe('where a completion names what completed it', () => {
  const places = (action_type: string, node: Partial<NodeSnapshot>) => {
    const seen = movement({ state: 'COMPLETED' }, node);
    const [pay, out] = seen.plan.nodes;
    const plan = { ...seen.plan, nodes: [pay!, { ...out!, action_type }] };
    const facts = { reason: 'observed_long', node_key: 'out' } as const;
    const offers = offersFor(facts, { ...seen, plan }, { requester, open: [] });
    const resolve = offers.find(({ action }) => action === 'resolve');
    return resolve === undefined ? 'not offered' : resolve.claim_places;
  };

  test.each<readonly [string, readonly string[] | undefined]>([
    ['evm_balance_observe', ['output.payments']],
    ['cex_deposit_observe', ['output.payments']],
    ['cctp_burn', ['output.attested_message and output.attestation', 'mint_tx_hashes']],
    ['cctp_mint', ['mint_tx_hashes']],
    ['bridge_c_send', ['output.tx_hash']],
    ['bridge_c_observe', ['output.tx_hash']],
    ['perp_deposit', ['output.ledger_hash']],
    ['cex_withdrawal', undefined],
    ['evm_erc20_transfer', undefined],
  ])('of a %s: %j', (action_type, named) => {
    expect(places(action_type, { state: 'UNKNOWN' })).toEqual(named);
    expect(places(action_type, { state: 'OBSERVING', resolvable: true })).toEqual(named);
  });

  test('is not offered where it cannot be stated as completed', () => {
    const node = { state: 'OBSERVING', overdue: true } as const;
    expect(places('evm_balance_observe', node)).toBeUndefined();
    expect(places('evm_balance_observe', { state: 'OBSERVING' })).toBe('not offered');
  });
});

test('beside an approval with a compromised key, too', () => {
  const facts = { reason: 'approval_compromised', besides: 'run_stuck' } as const;
  expect(offered(facts, { state: 'UNKNOWN' })).toMatchObject([
    { action: 'resolve', node_key: 'pay' },
    { action: 'cancel_transaction', node_key: 'pay' },
  ]);
});

describe('an acknowledge is offered for each reason that it may deal with', () => {
  const landed = {
    ...{ node_key: 'out', attempt: 1, external_ref: 'tx-9' },
    is_failure: false,
  };
  const acknowledges = (
    facts: AttentionFacts,
    state: MovementSnapshot['state'],
    acknowledged = false,
  ) =>
    offersFor(facts, { ...movement(), state, acknowledged }, { requester, open: [] })
      .filter(({ action }) => action === 'acknowledge')
      .map(({ attention_reason, node_key }) => [attention_reason, node_key]);
  const failed: AttentionFacts = { reason: 'failed', node_key: 'pay' };
  const late: AttentionFacts = { reason: 'landed_late', node_key: 'out', landed };

  test('a failure, by the reason that is shown', () => {
    expect(acknowledges(failed, 'FAILED')).toEqual([['failed', 'pay']]);
    expect(acknowledges({ reason: 'failed' }, 'FAILED')).toEqual([['failed', undefined]]);
    const compromised = { ...failed, reason: 'approval_compromised', besides: 'failed' } as const;
    expect(acknowledges(compromised, 'FAILED')).toEqual([['approval_compromised', 'pay']]);
    expect(acknowledges(failed, 'FAILED', true)).toEqual([]);
    expect(acknowledges(failed, 'CANCELLED')).toEqual([]);
  });

  test('a landing, in whatever way the movement has ended', () => {
    for (const state of ['FAILED', 'CANCELLED', 'COMPLETED'] as const)
      expect(acknowledges(late, state)).toEqual([['landed_late', 'out']]);
    expect(acknowledges(late, 'EXECUTING')).toEqual([]);
    expect(acknowledges(late, 'FAILED', true)).toEqual([['landed_late', 'out']]);
  });

  test('both, what is shown first', () => {
    const both = [
      ['failed', 'pay'],
      ['landed_late', 'out'],
    ];
    expect(acknowledges({ ...failed, landed }, 'FAILED')).toEqual(both);
    expect(acknowledges({ ...failed, landed }, 'CANCELLED')).toEqual(both.slice(1));
    const hidden = { ...late, reason: 'approval_compromised', besides: 'landed_late' } as const;
    expect(acknowledges(hidden, 'FAILED')).toEqual([
      ['approval_compromised', 'out'],
      ['landed_late', 'out'],
    ]);
  });
});

test('a node within its usual time is not, nor is one of which nothing was sent', () => {
  expect(offered(STUCK, { state: 'OBSERVING', resolvable: false }, { state: 'READY' })).toEqual([]);
});
