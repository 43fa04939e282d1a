import { ACTION_NAMES } from '../../../domain/actions/spec.ts';
import type { NodeKind } from '../../../domain/graph/types.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { unreadFields } from '../../../domain/send/intent.ts';
import type { CompiledNode, Intent } from '../../../domain/plan/types.ts';

const A = `0x${'ab'.repeat(20)}`;
const LOCAL = new Set(['ours']);

function node(
  action_type: string,
  config: JsonObject,
  { sends = true, key = 'ours' }: { readonly sends?: boolean; readonly key?: string } = {},
): CompiledNode {
  const node_kind: NodeKind = sends ? 'action' : 'observe';
  return {
    node_key: action_type,
    ...{ node_kind, action_type, config, sends, has_side_effect: sends, asset: 'USDC' },
    executor_binding: { executor_key: key },
    signer_binding: null,
  };
}
const unread = (fields: Partial<Intent>, ...nodes: readonly CompiledNode[]) =>
  unreadFields({ nodes, intent: { asset: 'USDC', amount: '1', ...fields } }, LOCAL);
const pay = node('evm_native_transfer', { chain_id: 1, destination_address: A });

test.each<[string, CompiledNode]>([
  ['a transfer', pay],
  [
    'a burn, in 32 bytes',
    node('cctp_burn', { mint_recipient: `0x${'00'.repeat(12)}${A.slice(2)}` }),
  ],
  ['an allowance', node('evm_erc20_approve', { spender: A })],
  ['a top-up', node('agent_wallet_top_up', { sub_account_address: A })],
])('the payee of %s is compared as an address', (_what, payer) => {
  expect(unread({ destination_address: `0x${'AB'.repeat(20)}` }, payer)).toEqual([]);
  expect(unread({ destination_address: `0x${'cd'.repeat(20)}` }, payer)).toEqual([
    'destination_address',
  ]);
});

test('addresses that are no hexadecimal are others in another case', () => {
  const out = node('cex_withdrawal', { venue: 'v', destination_address: 'Bank-1' });
  expect(unread({ destination_address: 'Bank-1' }, out)).toEqual([]);
  expect(unread({ destination_address: 'bank-1' }, out)).toEqual(['destination_address']);
});

test('each node counts: what one observes, and each chain of a bridge', () => {
  const burn = node('cctp_burn', { source_chain_id: 1, destination_chain_id: 2 });
  const look = node('evm_balance_observe', { chain_id: 3, address: A }, { sends: false });
  for (const chain_id of [1, 2, 3]) expect(unread({ chain_id }, burn, look)).toEqual([]);
  expect(unread({ chain_id: 4 }, burn, look)).toEqual(['chain_id']);
  expect(unread({ destination_address: A }, burn, look)).toEqual([]);
});

test('a chain in the config of an exchange withdrawal, which reads none, is none of the plan', () => {
  const out = node('cex_withdrawal', { venue: 'v', chain_id: 9, destination_address: A });
  expect(unread({ chain_id: 9 }, out, pay)).toEqual(['chain_id']);
  expect(unread({ chain_id: 1 }, out, pay)).toEqual([]);
  expect(unread({ chain_id: 1 }, out)).toEqual([]);
});

test('a venue is the source of what leaves it, and the destination of what arrives', () => {
  const out = node('cex_withdrawal', { venue: 'from' });
  const arrive = node('cex_deposit_observe', { venue: 'to' }, { sends: false });
  expect(unread({ source_venue: 'from', destination_venue: 'to' }, out, arrive)).toEqual([]);
  expect(unread({ destination_venue: 'from' }, out, arrive)).toEqual(['destination_venue']);
  expect(unread({ source_venue: 'other' }, out, arrive)).toEqual(['source_venue']);
  const deposit = node('perp_deposit', { venue: 'perp' });
  expect(unread({ source_venue: 'wallet', destination_venue: 'perp' }, deposit)).toEqual([]);
  expect(unread({ destination_venue: 'wallet' }, deposit)).toEqual(['destination_venue']);
});

test('the venue at which a deposit arrives is no source, and a way station is neither', () => {
  const fund = node('evm_erc20_transfer', { chain_id: 1, destination_address: A });
  const arrive = node('cex_deposit_observe', { venue: 'to' }, { sends: false });
  expect(unread({ source_venue: 'treasury', destination_venue: 'to' }, fund, arrive)).toEqual([]);
  expect(unread({ destination_venue: 'treasury' }, fund, arrive)).toEqual(['destination_venue']);
  const move = node('cex_internal_transfer', { venue: 'sub', destination_venue: 'main' });
  const out = node('cex_withdrawal', { venue: 'main', destination_address: A });
  expect(unread({ source_venue: 'sub', destination_venue: 'elsewhere' }, move, out)).toEqual([]);
});

test('what a node that does nothing holds is no payee', () => {
  const idle = node('noop', { destination_address: A }, { sends: false });
  const out = node('cex_withdrawal', { venue: 'v', destination_address: 'x' });
  expect(unread({ destination_address: A }, out, idle)).toEqual(['destination_address']);
});

test("nothing is said of a plan that sends nothing, or by a team's executor", () => {
  const fields = { destination_address: 'other', chain_id: 9, source_venue: 'other' };
  expect(unread(fields, node('noop', {}, { sends: false }))).toEqual([]);
  expect(unread(fields, pay, node('acme_payout', {}))).toEqual([]);
  expect(unread(fields, pay)).toEqual(['destination_address', 'chain_id']);
});

test.each(ACTION_NAMES)('a payee that only the intent names is none of %s', (action_type) => {
  expect(unread({ destination_address: A }, node(action_type, {}))).toEqual([
    'destination_address',
  ]);
});

test("an executor that is not ours may read what its node's config leaves open, and nothing else", () => {
  const theirs = (config: JsonObject): CompiledNode =>
    node('cex_withdrawal', config, { key: 'theirs' });
  expect(unread({ destination_address: A }, theirs({ venue: 'v' }))).toEqual([]);
  expect(unread({ destination_address: A }, node('cex_withdrawal', { venue: 'v' }))).toEqual([
    'destination_address',
  ]);
  const other = { destination_address: 'other', source_venue: 'other' };
  expect(unread(other, theirs({ venue: 'v', destination_address: A }))).toEqual([
    'destination_address',
    'source_venue',
  ]);
});
