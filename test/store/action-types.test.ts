/**
 * What the database reads of an action type: of every built-in one, and of a type of a team that
 * nothing is known of, as their nodes are made.
 */
import { specOf } from '../../domain/actions/built-in.ts';
import { ACTION_NAMES, type ActionName } from '../../domain/actions/spec.ts';
import { claimsOf } from '../../domain/claims.ts';
import type { JsonObject } from '../../domain/json.ts';
import { nodeFacts, type NodeFacts } from '../../domain/plan/node-facts.ts';
import { storeBench } from './support.ts';

const TEAMS = 'made_up';
const TYPES = [...ACTION_NAMES, TEAMS];
const bench = storeBench();

/** A value that SQL computes of the row of a node of this type, as its create has left it. */
async function ofNode<T>(action_type: string, what: string, ...values: unknown[]): Promise<T> {
  const config = { burn_from: 'pay', match_from: 'pay' };
  const { movement_id } = await bench.movement({
    shape: {
      nodes: [{ node_key: 'pay', node_kind: 'action', action_type, has_side_effect: true, config }],
      edges: [],
    },
  });
  const [row] = await bench.sql<{ value: T }>(
    `SELECT ${what} AS value FROM movement_nodes n WHERE movement_id = $1::uuid`,
    movement_id,
    ...values,
  );
  if (row === undefined) throw new Error('the movement has no node');
  return row.value;
}

/** Written by hand: a type that the specs have wrong is not right for both sides. */
const FACTS: Readonly<Record<ActionName, readonly [...string[], boolean]>> = {
  cex_withdrawal: ['exchange', 'never', 'submitted_amount', 'nothing', true],
  cex_internal_transfer: ['nobody', 'never', 'submitted_amount', 'nothing', true],
  cex_deposit_observe: ['nobody', 'output.payments', 'submitted_amount', 'nothing', true],
  evm_native_transfer: ['chain', 'never', 'submitted_amount', 'nothing', true],
  evm_erc20_transfer: ['chain', 'never', 'submitted_amount', 'nothing', true],
  evm_erc20_approve: ['spender', 'never', 'submitted_amount', 'nothing', true],
  evm_balance_observe: ['nobody', 'always', 'submitted_amount', 'nothing', true],
  cctp_burn: ['chain', 'output.attested_message', 'submitted_amount', 'allowance', true],
  cctp_mint: ['chain', 'always', 'received_amount', 'nothing', true],
  bridge_c_send: ['chain', 'output.packet', 'submitted_amount', 'allowance', true],
  bridge_c_observe: ['nobody', 'always', 'submitted_amount', 'nothing', true],
  perp_deposit: ['chain', 'always', 'submitted_amount', 'perp_master', true],
  perp_withdraw: ['chain', 'never', 'submitted_amount', 'perp_master', true],
  agent_wallet_top_up: ['chain', 'never', 'submitted_amount', 'perp_master', true],
  manual_gate: ['nobody', 'never', 'submitted_amount', 'nothing', false],
  noop: ['nobody', 'never', 'submitted_amount', 'nothing', false],
};

test.each(ACTION_NAMES)('what the database knows of %s', (action_type) => {
  const { pays, claims_when, sent_field, tied_by, may_send } = nodeFacts({
    node_kind: 'action',
    action_type,
  });
  expect([pays, claims_when, sent_field, tied_by, may_send]).toEqual(FACTS[action_type]);
});

describe.each(TYPES)('of %s', (action_type) => {
  test('the row of a node says what the pure rule says', async () => {
    const names: readonly (keyof NodeFacts)[] = [
      ...(['pays', 'claims_when', 'sent_field', 'tied_by', 'may_send'] as const),
    ];
    const parts = names.map((name) => `'${name}', n.${name}`).join(', ');
    expect(await ofNode(action_type, `jsonb_build_object(${parts})`)).toEqual(
      nodeFacts({ node_kind: 'action', action_type }),
    );
  });

  test('a node that was not sent stays with a replaced signer where its facts say so', async () => {
    const tie = `signer_tie(NULL, '{}', jsonb_populate_record(n, '{"state": "READY"}'), ARRAY[]::text[], false)`;
    expect(await ofNode(action_type, tie)).toBe(specOf(action_type).signerTie);
  });

  test('the short fence reads only payees that it surely knows', async () => {
    const { payees } = specOf(action_type);
    const plainly =
      payees === 'none'
        ? []
        : payees === 'exchange'
          ? [{ chain_family: 'cex', address: 'bank' }]
          : null;
    const plain = (declared: boolean): string =>
      `plain_addresses(n.pays, '{"destination_address": "bank"}', '{}', '{}', NULL, NULL, ${String(declared)})`;
    expect(await ofNode(action_type, plain(false))).toEqual(plainly);
    // Only a team's own type may declare that it has no payee.
    expect(await ofNode(action_type, plain(true))).toEqual(action_type === TEAMS ? [] : plainly);
  });

  test('a completion is refused without a claim where it could say one, and nowhere else', async () => {
    const needsClaim = (output: JsonObject | null): Promise<boolean> =>
      ofNode(action_type, 'needs_claim(n.claims_when, $2::jsonb)', JSON.stringify(output));
    const claims = claimsOf({ action_type, output: ALL, matched: ALL, external_ref: 'x' });
    expect(await needsClaim(ALL)).toBe(claims.length > 0);
    const always = specOf(action_type).claim?.required === 'always';
    for (const nothing of [{}, null]) expect(await needsClaim(nothing)).toBe(always);
  });

  test('what it sent is read from the field that tells it', async () => {
    const { sent } = specOf(action_type);
    const done = { state: 'COMPLETED', amount: '5', output: { [sent]: '3' } };
    expect(
      await ofNode(
        action_type,
        'trim_scale(sent_amount(jsonb_populate_record(n, $2::jsonb)))::text',
        JSON.stringify(done),
      ),
    ).toBe('3');
  });
});

/** What any type could be completed with. */
const ALL: JsonObject = {
  attested_message: `0x${'00'.repeat(44)}`,
  packet: { guid: '0x01' },
  payments: [{ source: 'cex:main', reference: 'r1', amount: '5', total: '5' }],
  ledger_account: '0xaa',
  ledger_hash: '0x02',
};

test('what looks and what waits for a person sends nothing, whatever its type', () => {
  for (const action_type of TYPES)
    for (const node_kind of ['observe', 'manual_gate'] as const)
      expect(nodeFacts({ node_kind, action_type }).may_send).toBe(false);
  for (const action_type of TYPES)
    expect(nodeFacts({ node_kind: 'action', action_type }).may_send).toBe(
      !['noop', 'manual_gate'].includes(action_type),
    );
});
