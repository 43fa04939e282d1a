/** Which reads an event of the stream makes old. */
import { changesUnsaid, mayBeOld } from '../../console/data/changes.ts';

const movement = (movement_id: string) => ({ kind: 'movement', ids: { movement_id } });

test('an event makes old what it may change: its own thing and the lists', () => {
  const detail = ['getMovement', { params: { movement_id: 'm-1' } }];
  expect(mayBeOld(detail, movement('m-1'))).toBe(true);
  expect(mayBeOld(detail, movement('m-2'))).toBe(false);
  expect(mayBeOld(['listMovements', { query: {} }], movement('m-2'))).toBe(true);
  expect(mayBeOld(['listBalances', {}], movement('m-1'))).toBe(false);
  expect(mayBeOld(['getCutoverMode', {}], { kind: 'cutover', ids: {} })).toBe(true);
  for (const operation of ['listChangeRequests', 'getChangeRequest'])
    expect(mayBeOld([operation, {}], { kind: 'change_request', ids: {} })).toBe(true);
});

test('a reset, and an event that this page does not know, make everything old', () => {
  for (const kind of ['reset', 'of a later release'])
    expect(mayBeOld(['getMovement', {}], { kind, ids: {} })).toBe(true);
});

test('what changes without an event is read again by time, and nothing else', () => {
  const unsaid = (operation: string): boolean => changesUnsaid([operation, {}]);
  for (const operation of [
    // Its review is of the allowlist, executors, limits and balances as they stand.
    'getMovement',
    'listExecutors',
    'listSigners',
    'listAutoApprovePolicies',
    'getBudget',
    // What is held changes without a word of the venue.
    'listBalances',
    'listPlanTemplates',
    // One expires without a word, and so does a person's approval of it.
    'listChangeRequests',
    'getChangeRequest',
    'allowlist',
    '/dashboard/allowed-addresses',
  ])
    expect([operation, unsaid(operation)]).toEqual([operation, true]);
  for (const operation of [
    'listMovements',
    'getMovementTimeline',
    'getMovementGraph',
    'getMovementPlan',
    'plan-reading',
    'document-reading',
    'listCapitalTransfers',
    'listCallbacks',
    'getCutoverMode',
    'whoami',
  ])
    expect([operation, unsaid(operation)]).toEqual([operation, false]);
});
