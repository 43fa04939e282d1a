/** Each thing that may not add up after a run across the bridges is seen in made-up books. */
import type { Hex } from 'viem';
import { fastFee } from '../support/bridge-books.ts';
import { storyOf, type FinalView } from './bridge-story.ts';
import {
  omniContradictions,
  type OmniBothBooks,
  type OmniKnown,
  type OmniSide,
} from './omni-sums.ts';
import { dice } from './random.ts';
import { usdbContradictions, type UsdbBooks, type UsdbSide } from './usdb-sums.ts';
import { planCrossings, type OmniLife, type UsdbLife, type Way } from './ways.ts';

const SIGNER: Hex = `0x${'a1'.repeat(20)}`;
const PAYEE: Hex = `0x${'b2'.repeat(20)}`;
const STRANGER: Hex = `0x${'c3'.repeat(20)}`;
const word = (of: string): Hex => `0x${of.repeat(32)}`;

const crossing = (key: string, way: Way, amount: string) => ({
  key,
  way,
  amount,
  movement_id: key,
  approve_ms: 0,
  complaints: [],
});

test('the lanes take turns, and no two movements share an amount', () => {
  const lives = planCrossings(dice(1, 'crossings'), 40, 1);
  expect(lives.filter(({ lane }) => lane === 'bridge_c')).toHaveLength(20);
  expect(new Set(lives.map(({ amount }) => amount)).size).toBe(40);
  expect(new Set(lives.map(({ lane, way }) => `${lane} ${way}`)).size).toBe(4);
  expect(planCrossings(dice(1, 'crossings'), 40, 1)).toEqual(lives);
});

describe('the story of a movement', () => {
  const known = { key: 'a', movement_id: 'a' };
  const ended = (request_state: string): FinalView => ({
    movement: {
      movement_id: 'a',
      request_state,
      error_code: null,
      current_frontier: [],
      nodes: [],
      reservation_status: 'released',
    },
    timeline: [],
  });

  test('is missed, is not COMPLETED, or is not what its timeline tells', () => {
    expect(storyOf(known, new Map())).toEqual(['a: there is no movement']);
    expect(storyOf({ key: 'a', movement_id: null }, new Map())).toHaveLength(1);
    expect(storyOf(known, new Map([['a', ended('FAILED')]]))[0]).toMatch(/^a: it is FAILED/);
    expect(storyOf(known, new Map([['a', ended('COMPLETED')]]))).toEqual([
      expect.stringMatching(/^a: Error: movement a is not consistent/),
    ]);
  });
});

describe('the omnichain token', () => {
  const UNIT = 10n ** 18n;
  const lives: readonly OmniLife[] = [
    { ...crossing('out', 'out', '3'), lane: 'bridge_c' },
    { ...crossing('home', 'home', '2'), lane: 'bridge_c' },
  ];
  const arrived = (guid: Hex, tx_hash: Hex): FinalView => ({
    movement: {
      movement_id: '',
      request_state: 'COMPLETED',
      error_code: null,
      current_frontier: [],
      reservation_status: 'released',
      nodes: [
        {
          node_key: 'arrive',
          state: 'COMPLETED',
          attempt: 1,
          error_code: null,
          completed_at: '2026-01-01T00:00:00Z',
          output: { guid, tx_hash },
        },
      ],
    },
    timeline: [],
  });
  const views = new Map([
    ['out', arrived(word('01'), word('02'))],
    ['home', arrived(word('03'), word('04'))],
  ]);
  const known: OmniKnown = { lives, views, accounts: { signer: SIGNER, payee: PAYEE } };
  const start: OmniSide = { supply: 100n * UNIT, got: 0n, sent: [], received: [] };
  const before: OmniBothBooks = { near: start, far: start };
  const sent = { guid: word('01'), by: SIGNER, amount: 3n * UNIT, tx: word('05') };
  const received = { guid: word('01'), to: PAYEE, amount: 3n * UNIT, tx: word('02') };
  const near: OmniSide = {
    supply: 99n * UNIT,
    got: 2n * UNIT,
    sent: [sent],
    received: [{ guid: word('03'), to: PAYEE, amount: 2n * UNIT, tx: word('04') }],
  };
  const far: OmniSide = {
    supply: 101n * UNIT,
    got: 3n * UNIT,
    received: [received],
    sent: [{ guid: word('03'), by: SIGNER, amount: 2n * UNIT, tx: word('06') }],
  };
  const found = (change: { near?: Partial<OmniSide>; far?: Partial<OmniSide> }) =>
    omniContradictions(known, before, {
      near: { ...near, ...change.near },
      far: { ...far, ...change.far },
    });

  test('adds up', () => {
    expect(found({})).toEqual([]);
    // What there was before the run is none of its own.
    const old = { near: { ...start, sent: [sent] }, far: { ...start, received: [received] } };
    const more = {
      near: { ...near, sent: [sent, sent] },
      far: { ...far, received: [received, received] },
    };
    expect(omniContradictions(known, old, more)).toEqual([]);
  });

  const again = { ...sent, guid: word('07') };
  const WRONG: readonly (readonly [
    string,
    { near?: Partial<OmniSide>; far?: Partial<OmniSide> },
    readonly (string | RegExp)[],
  ])[] = [
    [
      'nothing was sent',
      { near: { sent: [] } },
      ['out: 0 sends of 3', 'out: 0 receipts of 3', /^out: arrive/, 'OMNI out: 0 sends'],
    ],
    [
      'one was sent twice',
      { near: { sent: [sent, again] } },
      ['out: 2 sends of 3', 'OMNI out: 2 sends'],
    ],
    [
      'a stranger sent it',
      { near: { sent: [{ ...sent, by: STRANGER }] } },
      ['out: 0 sends of 3', 'out: 0 receipts of 3', /^out: arrive/],
    ],
    [
      'nothing was received, whatever arrive reports',
      { far: { received: [] } },
      ['out: 0 receipts of 3', /^out: arrive/, 'OMNI out: 0 receipts'],
    ],
    [
      'another send was received in its place',
      { far: { received: [{ ...received, guid: word('08') }] } },
      ['out: 0 receipts of 3', /^out: arrive/],
    ],
    [
      'a stranger received it',
      { far: { received: [{ ...received, to: STRANGER }] } },
      ['out: 0 receipts of 3', /^out: arrive/],
    ],
    [
      'less was received',
      { far: { received: [{ ...received, amount: 1n }] } },
      ['out: 0 receipts of 3', /^out: arrive/],
    ],
    [
      'it was received twice',
      { far: { received: [received, received] } },
      ['out: 2 receipts of 3', 'OMNI out: 2 receipts'],
    ],
    [
      'it was received elsewhere than arrive reports',
      { far: { received: [{ ...received, tx: word('09') }] } },
      [/^out: arrive reports 0x0101.* in 0x0202/],
    ],
    [
      'a supply is not what was sent and received',
      { far: { supply: 104n * UNIT } },
      [
        'OMNI: the supply of both sides is 203, and not 200',
        'OMNI: the far supply grew by 4, and not 1',
      ],
    ],
    [
      'both supplies are off, and their sum is not',
      { near: { supply: 98n * UNIT }, far: { supply: 102n * UNIT } },
      ['OMNI: the near supply grew by -2, and not -1', 'OMNI: the far supply grew by 2, and not 1'],
    ],
    [
      'the payee got more on one side and less on the other',
      { near: { got: 3n * UNIT }, far: { got: 2n * UNIT } },
      ['OMNI: the payee got, near, 3, and not 2', 'OMNI: the payee got, far, 2, and not 3'],
    ],
  ];

  test.each(WRONG)('does not when %s', (_what, change, says) => {
    expect(found(change)).toEqual(
      says.map((each) => (typeof each === 'string' ? each : expect.stringMatching(each))),
    );
  });

  test('does not when arrive was completed without a look', () => {
    const blind = { ...known, views: new Map() };
    expect(omniContradictions(blind, before, { near, far })).toEqual([
      'out: arrive reports undefined in undefined',
      'home: arrive reports undefined in undefined',
    ]);
  });
});

describe('burn and mint', () => {
  const UNIT = 1_000_000n;
  const fee = fastFee(3n * UNIT);
  const lives: readonly UsdbLife[] = [
    { ...crossing('out', 'out', '3'), lane: 'burn-mint', finality: 'fast' },
    { ...crossing('home', 'home', '2'), lane: 'burn-mint', finality: 'standard' },
  ];
  const start: UsdbSide = {
    supply: 100n * UNIT,
    collected: 0n,
    burns: [],
    mints: [],
    received: 0n,
    left: 50n * UNIT,
  };
  const burn = { amount: 3n * UNIT, by: SIGNER };
  const mint = { amount: 3n * UNIT - fee, fee, to: PAYEE };
  const near: UsdbSide = {
    supply: 99n * UNIT,
    collected: 0n,
    received: 2n * UNIT,
    left: 47n * UNIT,
    burns: [burn],
    mints: [{ amount: 2n * UNIT, fee: 0n, to: PAYEE }],
  };
  const far: UsdbSide = {
    supply: 101n * UNIT,
    collected: fee,
    received: mint.amount,
    left: 48n * UNIT,
    burns: [{ amount: 2n * UNIT, by: SIGNER }],
    mints: [mint],
  };
  const found = (change: { near?: Partial<UsdbSide>; far?: Partial<UsdbSide> }) => {
    const after: UsdbBooks = { near: { ...near, ...change.near }, far: { ...far, ...change.far } };
    return usdbContradictions(lives, { near: start, far: start }, after);
  };

  test('adds up', () => expect(found({})).toEqual([]));

  test.each([
    ['nothing was burnt', { near: { burns: [] } }, ['out: 0 burns of 3', 'USDB out: 0 burns']],
    [
      'one was burnt twice',
      { near: { burns: [burn, burn] } },
      ['out: 2 burns of 3', 'USDB out: 2 burns'],
    ],
    ['nothing was minted', { far: { mints: [] } }, ['out: 0 mints of 3', 'USDB out: 0 mints']],
    [
      'it was minted for another fee',
      { far: { mints: [{ ...mint, amount: 3n * UNIT, fee: 0n }] } },
      ['out: 0 mints of 3'],
    ],
    [
      'a supply is not what it was',
      { far: { supply: 104n * UNIT } },
      ['USDB: a supply of 200.000000 became 203.000000'],
    ],
    [
      'the payee got less',
      { far: { received: 0n } },
      ['USDB out: the payee got 0.000000, and not 2.999700'],
    ],
    [
      'the fee went elsewhere',
      { far: { collected: 0n } },
      ['USDB out: the fee collector got 0.000000, and not 0.000300'],
    ],
    [
      'more was drawn of the allowance',
      { near: { left: 46n * UNIT } },
      ['USDB out: of the allowance were drawn 4.000000, and not 3.000000'],
    ],
  ])('does not when %s', (_what, change, says) => expect(found(change)).toEqual(says));
});
