/** What plans of the perps venue draw on, move and pay, read from their configs. */
import { destinationsOf } from '../../../domain/allowlist/destinations.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { paysDepositAddress } from '../../../domain/perps/deposit-address.ts';
import { poolOf } from '../../../domain/plan/pools.ts';
import { tokenMismatch, type ChainEntry } from '../../../domain/plan/tokens.ts';
import { BURNING } from '../../store/support.ts';

const [TOKEN, DEPOSITS, PAID] = ['a', 'b', 'c'].map((digit) => `0x${digit.repeat(40)}`) as [
  string,
  string,
  string,
];
const CHAIN: ChainEntry = {
  ...BURNING,
  venue_key: 'near',
  chain_id: 7,
  tokens: [
    { asset: 'USDC', address: TOKEN },
    { asset: 'OTHER', address: PAID },
  ],
  deposit_venues: [{ venue_key: 'perp', asset: 'USDC', deposit_address: DEPOSITS }],
};
const CHAINS = [BURNING, CHAIN];
const signer_binding = { signer_key: 'master' };

const deposit = { venue: 'perp', chain_id: 7, token_address: TOKEN, destination_address: DEPOSITS };
const withdraw = { venue: 'perp', chain_id: 7, destination_address: PAID };

test('withdrawals and top-ups draw on the venue, deposits on the chain', () => {
  const pool = (action_type: string, config: JsonObject) =>
    poolOf({ action_type, config, signer_binding }, CHAINS);
  const held = { venue_key: 'perp', account_type: 'PERP' };
  expect(pool('perp_withdraw', withdraw)).toEqual(held);
  expect(pool('perp_withdraw', { ...withdraw, account_type: 'SPOT' })).toEqual(held);
  expect(pool('agent_wallet_top_up', { venue: 'perp' })).toEqual(held);
  expect(pool('perp_deposit', deposit)).toEqual({
    venue_key: 'near:master',
    account_type: 'SPOT',
  });
  for (const venue of ['other', null, 7]) expect(pool('perp_withdraw', { venue })).toBeNull();
});

test('a node moves the asset of the venue', () => {
  const mismatch = (action_type: string, config: JsonObject, asset = 'USDC') =>
    tokenMismatch({ node_key: 'n', action_type, config, asset }, CHAINS)?.token_asset;
  expect(mismatch('perp_withdraw', withdraw)).toBeUndefined();
  expect(mismatch('perp_withdraw', withdraw, 'OTHER')).toBe('USDC');
  expect(mismatch('perp_withdraw', { ...withdraw, venue: 'other' })).toBeNull();
  expect(mismatch('agent_wallet_top_up', { venue: 'perp' })).toBeUndefined();
  expect(mismatch('agent_wallet_top_up', {})).toBeNull();
  expect(mismatch('perp_deposit', deposit)).toBeUndefined();
  expect(mismatch('perp_deposit', { ...deposit, token_address: PAID })).toBe('OTHER');
  expect(mismatch('perp_deposit', { ...deposit, chain_id: 8 })).toBeNull();
});

describe('whom a node pays', () => {
  const paid = (action_type: string, config: JsonObject, more: object = {}) =>
    destinationsOf({
      node: { node_key: 'n', node_kind: 'action', action_type, config },
      executor: undefined,
      intent: { asset: 'USDC', amount: '7' },
      input_params: {},
      ...more,
    }).map(({ address, chain_id, strict }) => [address, chain_id, strict]);

  test('a withdrawal pays on its chain, which a row has to name', () => {
    expect(paid('perp_withdraw', withdraw)).toEqual([[PAID, 7, true]]);
    const message = { destination: DEPOSITS, amount: '7' };
    const signed = { sign_request: { kind: 'evm_typed_data', payload: { message } } };
    expect(paid('perp_withdraw', withdraw, signed)).toContainEqual([DEPOSITS, 7, true]);
    const prepared = { prepared_action: { action: { destination: DEPOSITS } } };
    expect(paid('perp_withdraw', withdraw, prepared)).toContainEqual([DEPOSITS, 7, true]);
  });

  test('a deposit pays where deposits go to', () => {
    expect(paid('perp_deposit', deposit)).toEqual([[DEPOSITS, 7, false]]);
  });

  test('a top-up pays no one whom a plan can choose', () => {
    expect(paid('agent_wallet_top_up', { venue: 'perp', sub_account_address: PAID })).toEqual([]);
  });
});

test('nothing but a deposit pays where deposits go to, in whatever form it is written', () => {
  const code = (action: string, address: string) =>
    paysDepositAddress(action, [{ address }], CHAINS)?.code ?? null;
  const padded = `0x${'0'.repeat(24)}${DEPOSITS.slice(2)}`;
  for (const address of [DEPOSITS, DEPOSITS.toUpperCase().replace('0X', '0x'), padded]) {
    expect(code('evm_erc20_transfer', address)).toBe('USE_PERP_DEPOSIT');
    expect(code('acme_payout', address)).toBe('USE_PERP_DEPOSIT');
    expect(code('perp_withdraw', address)).toBe('USE_PERP_DEPOSIT');
    expect(code('perp_deposit', address)).toBeNull();
  }
  expect(code('evm_erc20_transfer', PAID)).toBeNull();
});
