/**
 * Each invariant of the fault run finds nothing in sound evidence, and its own contradiction in
 * doctored evidence.
 */
import type { Evidence, MovementEvidence } from './evidence.ts';
import { contradictions, INVARIANTS } from './invariants.ts';
import { COMPLETED_ID, SIGNER, soundEvidence, WAITING_ID } from './sound-evidence.ts';

const sound = soundEvidence();

/** The evidence with one movement changed. */
function changed(
  id: string,
  change: (movement: MovementEvidence) => Partial<MovementEvidence>,
): Evidence {
  return {
    ...sound,
    movements: sound.movements.map((each) =>
      each.movement_id === id ? { ...each, ...change(each) } : each,
    ),
  };
}

const without = <T>(items: readonly T[], unwanted: (item: T) => boolean): readonly T[] =>
  items.filter((item) => !unwanted(item));
const [firstLife, secondLife] = sound.lives;
const [firstEntry] = sound.ledger;
const [signed] = sound.signed;
const [callback] = sound.callbacks;
if (!firstLife || !secondLife || !firstEntry || !signed || !callback)
  throw new Error('the sound evidence lacks something');
const withEntry = (change: Partial<typeof firstEntry>): Evidence => ({
  ...sound,
  ledger: [{ ...firstEntry, ...change }, ...sound.ledger.slice(1)],
});
const withCallback = (change: Partial<typeof callback>): Evidence => ({
  ...sound,
  callbacks: [{ ...callback, ...change }, ...sound.callbacks.slice(1)],
});

const [capital] = sound.capital;
if (!capital) throw new Error('the sound evidence lacks a capital transfer');
const withCapital = (change: Partial<typeof capital>): Evidence => ({
  ...sound,
  capital: [{ ...capital, ...change }],
});

const [order] = sound.orders;
if (!order) throw new Error('the sound evidence lacks an order');
const withOrder = (change: Partial<typeof order>): Evidence => ({
  ...sound,
  orders: [{ ...order, ...change }],
});
const withHolding = (at: number, change: Partial<Evidence['holdings'][number]>): Evidence => ({
  ...sound,
  holdings: sound.holdings.map((each, index) => (index === at ? { ...each, ...change } : each)),
});

/** Invariant, what is wrong, the doctored evidence, and what the contradiction says. */
const DOCTORED: readonly (readonly [
  invariant: string,
  wrong: string,
  evidence: Evidence,
  says: RegExp,
])[] = [
  [
    'endsOrWaits',
    'a movement still executes',
    changed(COMPLETED_ID, () => ({ request_state: 'EXECUTING' })),
    /is still EXECUTING/,
  ],
  [
    'agreesWithTimeline',
    'an event is missing',
    changed(COMPLETED_ID, ({ timeline }) => ({ timeline: timeline.slice(0, -1) })),
    /ends in EXECUTING/,
  ],
  [
    'agreesWithTimeline',
    'a node is elsewhere',
    changed(WAITING_ID, ({ nodes }) => ({ nodes: nodes.map((n) => ({ ...n, state: 'READY' })) })),
    /withdraw COMPLETED, it is READY/,
  ],
  [
    'createsAreOnce',
    'a create was lost',
    { ...sound, movements: sound.movements.slice(1) },
    /key-0 made 0 movements/,
  ],
  [
    'createsAreOnce',
    'a create was done twice',
    { ...sound, movements: [...sound.movements, ...sound.movements.slice(0, 1)] },
    /key-0 made 2 movements/,
  ],
  [
    'createsAreOnce',
    'the caller knows another id',
    { ...sound, lives: [{ ...firstLife, movement_id: 'other' }, secondLife] },
    /not other/,
  ],
  [
    'createsAreOnce',
    'another amount',
    changed(COMPLETED_ID, () => ({ amount: '12' })),
    /moves 12, not 10.000001/,
  ],
  [
    'createsAreOnce',
    'a movement that no caller created',
    { ...sound, lives: [firstLife] },
    /no caller requested waiting-movement/,
  ],
  [
    'acceptedIsDone',
    'an accepted action left no event',
    {
      ...sound,
      lives: [
        firstLife,
        { ...secondLife, accepted: [...secondLife.accepted, { action: 'resume', doubts: 1 }] },
      ],
    },
    /resume was accepted 1 times \(at most 2\), its timeline has 0/,
  ],
  [
    'acceptedIsDone',
    'an action was applied twice',
    {
      ...sound,
      lives: [firstLife, secondLife],
      movements: changed(COMPLETED_ID, ({ timeline }) => ({
        timeline: [...timeline, ...timeline.slice(1, 2)],
      })).movements,
    },
    /approve was accepted 1 times \(at most 1\), its timeline has 2/,
  ],
  [
    'callersHeardTheTruth',
    'an answer contradicts an earlier one',
    { ...sound, lives: [{ ...firstLife, complaints: ['two ids'] }] },
    /two ids/,
  ],
  [
    'commandsAreApplied',
    'a command is left',
    { ...sound, unappliedCommands: [{ movement_id: WAITING_ID, kind: 'resume', wakes: 3 }] },
    /resume was never applied/,
  ],
  [
    'auditAgrees',
    'an accepted action is not audited',
    { ...sound, audit: without(sound.audit, ({ action }) => action === 'movement.complete') },
    /request_completed happened 1 times, the audit has 0/,
  ],
  [
    'auditAgrees',
    'the audit has what did not happen',
    {
      ...sound,
      audit: [
        ...sound.audit,
        { action: 'movement.cancel', entity_key: WAITING_ID, outcome: 'success' },
      ],
    },
    /request_cancelled happened 0 times/,
  ],
  [
    'callbacksArrive',
    'an event has no callback',
    { ...sound, callbacks: sound.callbacks.slice(1) },
    /request_approved \(2\) has no callback/,
  ],
  [
    'callbacksArrive',
    'so also where nothing is delivered',
    { ...sound, delivers: false, callbacks: sound.callbacks.slice(1) },
    /has no callback/,
  ],
  [
    'callbacksArrive',
    'a callback has no event',
    { ...sound, callbacks: [...sound.callbacks, { ...callback, event_id: 'x' }] },
    /callback x is of no event/,
  ],
  [
    'callbacksArrive',
    'a callback is not delivered',
    withCallback({ status: 'pending' }),
    /request_approved is pending/,
  ],
  [
    'callbacksArrive',
    'a dead letter has no reason',
    withCallback({ status: 'dead_letter' }),
    /dead_letter \(no reason\)/,
  ],
  [
    'callbacksArrive',
    'a delivered one was not received',
    { ...sound, received: without(sound.received, (each) => each.event_id === callback.event_id) },
    /was not received/,
  ],
  [
    'callbacksArrive',
    'the receiver refused it',
    { ...sound, received: sound.received.map((each) => ({ ...each, answered: 500 as const })) },
    /was not received/,
  ],
  [
    'callbacksArrive',
    'something else was received',
    {
      ...sound,
      received: [...sound.received, { ...callback, sequence: 99, answered: 200 as const }],
    },
    /request_approved \(99\) was received/,
  ],
  [
    'runsAreWhereNeeded',
    'an open movement has no run',
    changed(WAITING_ID, () => ({ run_status: null })),
    /its run is missing/,
  ],
  [
    'runsAreWhereNeeded',
    'an ended movement keeps its run',
    changed(COMPLETED_ID, () => ({ run_status: 'RUNNING' })),
    /its run has not/,
  ],
  [
    'ledgerIsExact',
    'a key was paid twice',
    withEntry({ effects: 2 }),
    /completed-movement:withdraw:1 was paid 2 times/,
  ],
  [
    'ledgerIsExact',
    'a completed withdrawal was not paid',
    withEntry({ effects: 0 }),
    /the ledger has no payment/,
  ],
  [
    'ledgerIsExact',
    'a payment is under a strange key',
    withEntry({ idempotency_key: `${COMPLETED_ID}:withdraw:2` }),
    /is the key of no attempt/,
  ],
  [
    'ledgerIsExact',
    'a failed node was paid',
    changed(COMPLETED_ID, ({ nodes }) => ({
      nodes: nodes.map((n) => ({ ...n, state: 'FAILED' })),
    })),
    /was paid, its node is FAILED/,
  ],
  [
    'ledgerIsExact',
    'an attempt that was over was paid',
    changed(COMPLETED_ID, ({ nodes }) => ({ nodes: nodes.map((n) => ({ ...n, attempt: 2 })) })),
    /was paid, its node is COMPLETED in attempt 2/,
  ],
  [
    'chainIsExact',
    'a completed transfer is not on the chain',
    { ...sound, transfers: sound.transfers.slice(0, -1) },
    /withdraw is completed, 0x3+ is not on the chain once/,
  ],
  [
    'chainIsExact',
    'a transfer happened twice',
    {
      ...sound,
      transfers: [...sound.transfers, { ...sound.transfers[2]!, tx_hash: `0x${'7'.repeat(64)}` }],
    },
    /3 transfers of 10.000001 for 2 completed nodes/,
  ],
  [
    'chainIsExact',
    'a transfer belongs to no movement',
    { ...sound, transfers: [...sound.transfers, { ...sound.transfers[2]!, amount: '5' }] },
    /moved 5 for no movement/,
  ],
  [
    'chainIsExact',
    'two nodes share a transfer',
    changed(COMPLETED_ID, ({ nodes }) => ({
      nodes: nodes.map((n) => ({ ...n, output: nodes[0]!.output })),
    })),
    /shares its transfer/,
  ],
  [
    'holdsAddUp',
    'a pool holds too much',
    { ...sound, pools: [{ pool: 'paper-main/SPOT/USDC', held: '12' }] },
    /holds 12, its holds are 11.000011/,
  ],
  ['holdsAddUp', 'a hold is in no pool', { ...sound, pools: [] }, /which is no pool/],
  [
    'teamPaysOnce',
    'an order was taken down twice',
    withOrder({ taken: 2 }),
    /pay:1 was taken down 2 times/,
  ],
  [
    'teamPaysOnce',
    'a completed order is not in the books',
    withOrder({ withdrawn: true }),
    /the desk has no order of it/,
  ],
  [
    'teamPaysOnce',
    'another amount was paid',
    withOrder({ amount: '11' }),
    /sent 11.000011, the desk paid 11/,
  ],
  [
    'teamPaysOnce',
    'an order of an attempt that was over',
    withOrder({ key: `${WAITING_ID}:pay:2` }),
    /pay:2 was paid, its node says/,
  ],
  [
    'teamPaysOnce',
    'a failed order was paid',
    changed(WAITING_ID, ({ nodes }) => ({ nodes: nodes.map((n) => ({ ...n, state: 'FAILED' })) })),
    /pay:1 was paid, its node says otherwise/,
  ],
  [
    'outflowsAreKept',
    'another outflow was approved',
    changed(COMPLETED_ID, () => ({ outflow: [] })),
    /has the outflow \[\], its plan/,
  ],
  [
    'outflowsAreKept',
    'more left than was approved',
    withEntry({ amount: '10.000002' }),
    /10.000002 USDC left, 10.000001 was approved/,
  ],
  ['outflowsAreKept', 'it was paid twice', withEntry({ effects: 2 }), /20.000002 USDC left/],
  [
    'outflowsAreKept',
    'another asset left',
    withEntry({ asset: 'USDT' }),
    /10.000001 USDT left, 0 was approved/,
  ],
  [
    'outflowsAreKept',
    'the desk paid more',
    withOrder({ amount: '22.000023' }),
    /33.000034 USDC left, 33.000033 was approved/,
  ],
  [
    'outflowsAreKept',
    'more was passed on than had come',
    {
      ...sound,
      transfers: [...sound.transfers, { ...sound.transfers[2]!, tx_hash: `0x${'7'.repeat(64)}` }],
    },
    /20.000002 was passed on of withdraw, which sent 10.000001/,
  ],
  [
    'holdingsFollowStates',
    'a movement holds nothing of what it may send',
    withHolding(1, { holds: [] }),
    /holds nothing, it should be/,
  ],
  [
    'holdingsFollowStates',
    'an ended movement holds',
    withHolding(0, { holds: [{ pool: 'paper-main SPOT USDC', amount: '1' }] }),
    /holds 1 of paper-main SPOT USDC, it should be nothing/,
  ],
  [
    'holdingsFollowStates',
    'it shows that it holds',
    changed(COMPLETED_ID, () => ({ reservation_status: 'held' })),
    /shows held, it should be consumed/,
  ],
  [
    'holdingsFollowStates',
    'its budget was restored',
    withHolding(0, { budget: [] }),
    /uses up 0 of its budget, it should be 10.000001/,
  ],
  [
    'holdingsFollowStates',
    'its budget is still reserved',
    withHolding(0, { budget: [{ amount: '10.000001', status: 'reserved' }] }),
    /has 10.000001 reserved of its budget/,
  ],
  [
    'budgetIsExact',
    'the policy says less',
    { ...sound, usage: { ...sound.usage, consumed_amount: '10' } },
    /the budget says .*, it is 0 and 10.000001 of 1/,
  ],
  [
    'budgetIsExact',
    'less is used up than left',
    {
      ...withHolding(0, { budget: [{ amount: '1', status: 'consumed' }] }),
      usage: { ...sound.usage, consumed_amount: '1' },
    },
    /uses up less of its budget than it drew: 10.000001 USDC left, 1 was approved/,
  ],
  [
    'nothingIsLeft',
    'a movement goes on',
    { ...sound, over: true },
    /waiting-movement is still WAITING_MANUAL_ACTION/,
  ],
  [
    'nothingIsLeft',
    'a pool holds',
    { ...sound, over: true },
    /paper-main\/SPOT\/USDC still holds 11.000011/,
  ],
  [
    'nothingIsLeft',
    'a movement holds',
    { ...sound, over: true },
    /waiting-movement still holds 11.000011/,
  ],
  [
    'nothingIsLeft',
    'something is about to leave',
    { ...sound, over: true, pending: [{ pool: 'paper-main SPOT USDC', amount: '1' }] },
    /1 is still to leave paper-main SPOT USDC/,
  ],
  [
    'nonceLanesAreWhole',
    'another transaction used the nonce',
    { ...sound, signed: [{ ...signed, mined: false }] },
    /was used by another transaction/,
  ],
  [
    'nonceLanesAreWhole',
    'another attempt used the nonce',
    {
      ...sound,
      signed: [
        { ...signed, mined: false },
        { ...signed, attempt: 2 },
      ],
    },
    /was used by another transaction/,
  ],
  [
    'nonceLanesAreWhole',
    'a signed transaction was never mined',
    {
      ...sound,
      signed: [{ ...signed, mined: false }],
      lanes: [{ address: SIGNER, next_nonce: 1, mined_nonces: 0 }],
    },
    /was never mined/,
  ],
  [
    'nonceLanesAreWhole',
    'an attempt was mined twice',
    {
      ...sound,
      signed: [signed, { ...signed, nonce: 1 }],
      lanes: [{ address: SIGNER, next_nonce: 2, mined_nonces: 2 }],
    },
    /was mined twice/,
  ],
  [
    'nonceLanesAreWhole',
    'a nonce belongs to no node',
    { ...sound, lanes: [{ address: SIGNER, next_nonce: 2, mined_nonces: 1 }] },
    /belongs to no node/,
  ],
  [
    'transfersAreOnce',
    'a transfer was lost',
    { ...sound, capital: [] },
    /is nowhere, not capital-transfer/,
  ],
  [
    'transfersAreOnce',
    'it was made twice',
    { ...sound, capital: [capital, { ...capital, transfer_id: 'other' }] },
    /capital-transfer, other/,
  ],
  ['transfersAreOnce', 'it is of another amount', withCapital({ amount: '6' }), /moves 6, not 5/],
  [
    'transfersAreOnce',
    'no caller requested it',
    { ...sound, capitalLives: [] },
    /no caller requested/,
  ],
  [
    'transfersAreOnce',
    'a refused one is there',
    {
      ...sound,
      capitalLives: sound.capitalLives.map((each) => ({ ...each, refused: 'invalid_state' })),
    },
    /was refused \(invalid_state\) and is there/,
  ],
  [
    'transfersEndAsRecorded',
    'it moves still',
    withCapital({ request_state: 'SUBMITTING' }),
    /is still SUBMITTING/,
  ],
  [
    'transfersEndAsRecorded',
    'it was moved twice',
    withCapital({ record: { effects: 2, submit_calls: 2, amount: '5' } }),
    /moved 2 times/,
  ],
  ['transfersEndAsRecorded', 'it was never moved', withCapital({ record: null }), /moved 0 times/],
  [
    'transfersEndAsRecorded',
    'it failed and was moved',
    withCapital({ request_state: 'FAILED', hold: 'released' }),
    /is FAILED and was moved/,
  ],
  ['transfersEndAsRecorded', 'its hold goes on', withCapital({ hold: 'held' }), /its hold is held/],
  [
    'transfersEndAsRecorded',
    'its run goes on',
    withCapital({ run_status: 'RUNNING' }),
    /its run has not/,
  ],
  [
    'transfersEndAsRecorded',
    'an event is missing',
    withCapital({ timeline: capital.timeline.slice(1) }),
    /gap/,
  ],
];

test('sound evidence holds no contradiction', () => {
  expect(contradictions(sound)).toEqual([]);
});

test.each(DOCTORED)('%s: %s', (invariant, _wrong, evidence, says) => {
  const found = INVARIANTS[invariant]?.(evidence) ?? [];
  expect(found.join('\n')).toMatch(says);
  expect(contradictions(evidence).some((each) => each.startsWith(`${invariant}: `))).toBe(true);
});

test('every invariant is doctored once at least', () => {
  expect([...new Set(DOCTORED.map(([invariant]) => invariant))].sort()).toEqual(
    Object.keys(INVARIANTS).sort(),
  );
});
