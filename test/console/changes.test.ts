/** Which reads an event of the stream makes old. */
import { mayBeOld } from '../../console/data/changes.ts';

const movement = (movement_id: string) => ({ kind: 'movement', ids: { movement_id } });

test('an event makes old what it may change: its own thing and the lists', () => {
  const detail = ['getMovement', { params: { movement_id: 'm-1' } }];
  expect(mayBeOld(detail, movement('m-1'))).toBe(true);
  expect(mayBeOld(detail, movement('m-2'))).toBe(false);
  expect(mayBeOld(['listMovements', { query: {} }], movement('m-2'))).toBe(true);
  expect(mayBeOld(['listBalances', {}], movement('m-1'))).toBe(false);
  expect(mayBeOld(['getCutoverMode', {}], { kind: 'cutover', ids: {} })).toBe(true);
});

test('a reset, and an event that this page does not know, make everything old', () => {
  for (const kind of ['reset', 'of a later release'])
    expect(mayBeOld(['getMovement', {}], { kind, ids: {} })).toBe(true);
});
