/** Where a source shows another value than a person states. */
import { differingFields } from '../../domain/claim-reader.ts';
import { ACTION_NAMES } from '../../domain/actions/spec.ts';
import { specOf } from '../../domain/actions/built-in.ts';
import { claimPlaces } from '../../domain/claims.ts';
import type { JsonObject } from '../../domain/json.ts';

test.each<readonly [string, JsonObject, JsonObject, readonly string[]]>([
  ['nothing that is stated', {}, { received_amount: '5' }, []],
  ['the same amount, written otherwise', { amount: '5.0' }, { amount: '5' }, []],
  ['another amount', { amount: '5.1' }, { amount: '5' }, ['amount']],
  ['the same hash in capitals', { tx_hash: '0xAB' }, { tx_hash: '0xab' }, []],
  ['another hash', { tx_hash: '0xAC' }, { tx_hash: '0xab' }, ['tx_hash']],
  ['another number', { chain_id: 1 }, { chain_id: 2 }, ['chain_id']],
  ['a text for a number', { chain_id: '1' }, { chain_id: 1 }, ['chain_id']],
  ['nothing for null', { network: null }, { network: 'ETH' }, ['network']],
  ['lists alike', { payments: [{ a: '1' }] }, { payments: [{ a: '1.0' }] }, []],
  ['a longer list', { all: [{ a: '1' }] }, { all: [{ a: '1' }, { a: '1' }] }, ['all']],
  ['a field more', { packet: { guid: '1' } }, { packet: { guid: '1', nonce: '2' } }, ['packet']],
  ['a field less', { packet: { guid: '1', x: '2' } }, { packet: { guid: '1' } }, ['packet']],
])('%s', (_what, stated, shown, fields) => {
  expect(Object.keys(differingFields(stated, shown))).toEqual(fields);
});

test('every type that claims says where a person names its claim, and no other does', () => {
  for (const type of ACTION_NAMES)
    expect([type, claimPlaces(type).length > 0]).toEqual([type, specOf(type).claim !== null]);
});
