/**
 * The paper venue's actions in movements: what a node tells of amounts and fees, and what the next
 * one makes of it.
 */
import { VENUE_DEPOSIT_ADDRESSES } from '../../dev/simulators/chain/accounts.ts';
import type { DepositView } from '../../dev/simulators/paper-venue/views.ts';
import { assertConsistent } from '../support/evidence.ts';
import {
  alone,
  create,
  approve,
  detail,
  ledgerOf,
  reaches,
  registered,
  run,
  shared,
  timeline,
  transfer,
  waitFor,
  withdrawal,
  type DetailView,
  type NodeBody,
} from '../support/http.ts';

const outputOf = (movement: DetailView, key: string) =>
  movement.nodes.find(({ node_key }) => node_key === key)?.output;
const received = (key: string) => ({ amount_ref: `nodes.${key}.output.received_amount` });
const deposits = async (): Promise<readonly DepositView[]> => {
  const answer = (await (await fetch(`${shared.paperVenueUrl}/deposits`)).json()) as {
    entries: readonly DepositView[];
  };
  return answer.entries;
};
alone('USDT of the paper venue');

/** USDT leaves the paper venue with a fee of 1. */
const payOut = (node_key: string): NodeBody =>
  withdrawal(node_key, {
    config: {
      venue: 'paper-sub-a',
      asset: 'USDT',
      network: 'local',
      destination_address: shared.wallet,
    },
  });
const payIn = (node_key: string, from: string): NodeBody =>
  transfer(node_key, {
    config: {
      asset: 'USDT',
      chain_id: shared.chain.chainId,
      token_address: shared.chain.tokens.USDT.address,
      destination_address: VENUE_DEPOSIT_ADDRESSES['paper-main'],
      ...received(from),
    },
  });
const arrival = (node_key: string, from: string, config: object = {}): NodeBody => ({
  node_key,
  node_kind: 'observe',
  action_type: 'cex_deposit_observe',
  executor_selector: { action_type: 'cex_deposit_observe', provider: 'paper' },
  has_side_effect: false,
  config: { venue: 'paper-main', asset: 'USDT', match_from: from, ...config },
});
const internal = (node_key: string, config: object): NodeBody => ({
  node_key,
  node_kind: 'action',
  action_type: 'cex_internal_transfer',
  executor_selector: { action_type: 'cex_internal_transfer', provider: 'paper' },
  has_side_effect: true,
  config: { venue: 'paper-main', destination_venue: 'paper-sub-a', asset: 'USDT', ...config },
});
const usdt = (amount: string) => ({ intent: { asset: 'USDT', amount } });

test('each node moves what really arrived, through fee, chain, deposit and internal transfer', async () => {
  const nodes = [
    payOut('out'),
    payIn('back', 'out'),
    arrival('arrive', 'back', received('back')),
    internal('spread', { destination_account_type: 'USDT_FUTURE', ...received('arrive') }),
  ];
  const ended = await run(await registered(nodes), 'COMPLETED', usdt('10.25'));
  const common = { fee_amount: '0', fee_asset: 'USDT' };
  expect(outputOf(ended, 'out')).toMatchObject({
    requested_amount: '10.25',
    submitted_amount: '10.25',
    fee_amount: '1',
    fee_asset: 'USDT',
    received_amount: '9.25',
  });
  const moved = { requested_amount: '9.25', submitted_amount: '9.25', received_amount: '9.25' };
  expect(outputOf(ended, 'back')).toMatchObject({
    ...moved,
    fee_asset: 'ETH',
    fee_amount: expect.stringMatching(/^0\.0000\d+$/),
  });
  expect(outputOf(ended, 'arrive')).toMatchObject({
    ...moved,
    ...common,
    tx_hash: outputOf(ended, 'back')?.['tx_hash'],
  });
  expect(outputOf(ended, 'spread')).toEqual({ ...moved, ...common });
  expect(ended.nodes.map((node) => node['amount'])).toEqual(['10.25', '9.25', '9.25', '9.25']);

  const hash = outputOf(ended, 'back')?.['tx_hash'];
  expect((await deposits()).filter(({ tx_hash }) => tx_hash === hash)).toMatchObject([
    { account: 'paper-main', amount: '9.25' },
  ]);
  const entries = await ledgerOf(ended.movement_id);
  expect(entries.map(({ node_key, amount, effects }) => [node_key, amount, effects])).toEqual([
    ['out', '10.25', 1],
    ['spread', '9.25', 1],
  ]);
  assertConsistent(await detail(ended.movement_id), await timeline(ended.movement_id));
});

test('a deposit is waited for until its transaction brings it, and a withdrawal straight to the venue is one', async () => {
  const direct = withdrawal('out', {
    config: {
      venue: 'paper-sub-a',
      asset: 'USDT',
      network: 'local',
      destination_address: VENUE_DEPOSIT_ADDRESSES['paper-main'],
    },
  });
  const ended = await run(
    await registered([direct, arrival('arrive', 'out')]),
    'COMPLETED',
    usdt('5'),
  );
  expect(outputOf(ended, 'arrive')).toMatchObject({ requested_amount: '5', received_amount: '4' });
});

test('a transaction that brings the account nothing ends the observation, and the movement says why', async () => {
  const movement = await create(
    await registered([payOut('out'), arrival('arrive', 'out')]),
    usdt('3'),
  );
  await approve(movement);
  const ended = await reaches(movement.movement_id, 'FAILED', 30_000);
  expect(ended).toMatchObject({ error_code: 'DEPOSIT_NOT_IN_TRANSACTION' });
  expect(ended.nodes).toMatchObject([
    { state: 'COMPLETED' },
    { state: 'FAILED', error_code: 'DEPOSIT_NOT_IN_TRANSACTION' },
  ]);
});

test('an internal transfer that the topology forbids fails before anything is sent', async () => {
  const ended = await run(
    await registered([
      internal('spread', { venue: 'paper-sub-b', destination_venue: 'paper-sub-a' }),
    ]),
    'FAILED',
    usdt('1'),
  );
  expect(ended).toMatchObject({
    error_code: 'TOPOLOGY_NOT_SUPPORTED',
    nodes: [{ state: 'FAILED' }],
  });
  expect(await ledgerOf(ended.movement_id)).toEqual([]);
});

test('balances show both pools of each account', async () => {
  const { balances } = await waitFor(async () => {
    const answer = (await (await fetch(`${shared.paperVenueUrl}/balances`)).json()) as {
      balances: { account_type: string }[];
    };
    return answer.balances.length > 0 && answer;
  });
  expect(new Set(balances.map(({ account_type }) => account_type))).toEqual(
    new Set(['SPOT', 'USDT_FUTURE']),
  );
});
