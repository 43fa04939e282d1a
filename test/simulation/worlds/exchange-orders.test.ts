/** Whose a withdrawal of an exchange's books is. */
import { expect, test } from '@jest/globals';
import { madeWithdrawal } from '../../venues/cex/support/made.ts';
import type { Act } from '../acts.ts';
import { ordersAt } from './exchange-orders.ts';

const ID = '00000000-0000-7000-8000-000000000001';
const fence = (nr: number, at: number, subject = ID): Act => ({
  ...{ nr, at, subject },
  kind: 'movement_nodes',
  node_key: 'one',
  attempt: nr,
  value: 'SUBMITTING',
});
const nodes = [{ movement_id: ID, node_key: 'one' }];
const withdrawal = madeWithdrawal({ id: 'w', net_amount: '99.75', fee: '0.25', status: 'pending' });

test('it is of the movement that requested it, and of its attempt that was sent last', () => {
  const acts = [fence(1, 100), fence(2, 200), fence(3, 301), fence(9, 250, 'another')];
  expect(ordersAt([{ withdrawal, movement_id: ID, at: 300 }], nodes, acts)).toMatchObject([
    { key: `${ID}:one:2`, movement_id: ID, id: 'w', amount: '100', state: 'taken' },
  ]);
});

test('without a movement or a fence it is of none', () => {
  const sent = [
    { withdrawal, movement_id: null, at: 300 },
    { withdrawal, movement_id: ID, at: 300 },
  ];
  expect(ordersAt(sent, nodes, []).map(({ key }) => key)).toEqual([
    'no movement:no node:none',
    `${ID}:one:none`,
  ]);
});
