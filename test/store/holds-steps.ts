/** What may happen to movements, pools and their balances, in any order. */
import fc from 'fast-check';
import { SHAPES, type Happening, type ShapeName, type Verb } from './holds-world.ts';

const AMOUNTS = ['1', '2.5', '4.000000000000000001', '0.1'] as const;
const BALANCES = ['0', '3.999999999999999999', '6.5', '11', null] as const;
export const amount: fc.Arbitrary<string> = fc.constantFrom(...AMOUNTS);
export const balance: fc.Arbitrary<string | null> = fc.constantFrom(...BALANCES);
const create = fc.tuple(
  fc.constant('create' as const),
  fc.constantFrom(...SHAPES),
  amount,
  fc.boolean(),
);
export const act = fc.tuple(
  fc.constantFrom<Verb[]>('approve', 'approve', 'reject', 'cancel', 'retry', 'retry', 'resume'),
  fc.nat(20),
);
export const happen = fc.tuple(
  fc.constantFrom<Happening[]>(
    'fence',
    'COMPLETED',
    'COMPLETED',
    'PART',
    'FAILED',
    'FAILED',
    'TIMEOUT',
    'UNKNOWN',
  ),
  fc.nat(20),
);
const fetched = fc.tuple(fc.constant('refresh' as const), fc.nat(1), fc.tuple(balance, balance));
const time = fc.tuple(fc.constantFrom('hour' as const, 'age' as const), fc.nat(1));
export type Step =
  | readonly ['create', ShapeName, string, boolean]
  | readonly [Verb | Happening, number]
  | readonly ['refresh', number, readonly [string | null, string | null]]
  | readonly ['hour' | 'age', number];
export const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: create },
  { weight: 8, arbitrary: act },
  { weight: 8, arbitrary: happen },
  { weight: 2, arbitrary: fetched },
  { weight: 1, arbitrary: time },
);

/** What chance alone would bring about too seldom. */
export const RARE: Step[] = [
  ['create', 'one', '4.000000000000000001', true],
  ['FAILED', 0],
  ...Array.from({ length: 3 }, (): Step => ['create', 'one', '1', true]),
  ['retry', 0],
  ['refresh', 0, ['0', null]],
  ['retry', 0],
  ['create', 'one', '1', false],
  ['approve', 4],
  ['reject', 4],
  ['create', 'one', '1', true],
  ['fence', 2],
  ['UNKNOWN', 2],
  ['COMPLETED', 1],
  ['refresh', 0, ['11', '11']],
  ['hour', 0],
  ['hour', 0],
  ['hour', 0],
  ['retry', 0],
  ['create', 'two pools', '1', false],
  ['approve', 5],
  ['COMPLETED', 6],
  ['cancel', 6],
  ['cancel', 3],
  ['age', 0],
  ['create', 'one', '1', true],
];
/**
 * What no chance may leave out: a cancel while a send is looked up, a retry behind what has
 * completed, two nodes in one pool.
 */
export const DIRECT: Step[] = [
  ['create', 'compensated', '1', false],
  ['approve', 0],
  ['fence', 0],
  ['UNKNOWN', 0],
  ['retry', 0],
  ['cancel', 0],
  ['create', 'gated', '1', false],
  ['approve', 1],
  ['COMPLETED', 1],
  ['resume', 1],
  ['FAILED', 1],
  ['retry', 1],
  ['create', 'twice', '1', false],
  ['approve', 2],
  // A compensation that fails behind a cancel, and is retried.
  ['create', 'compensated', '1', false],
  ['approve', 3],
  ['TIMEOUT', 3],
  ['fence', 3],
  ['cancel', 3],
  ['FAILED', 3],
  ['retry', 3],
];
/**
 * What was sent since the fetch is not there to be promised again; the next fetch shows what is.
 */
export const SENT: Step[] = [
  ['create', 'one', '4.000000000000000001', false],
  ['approve', 0],
  ['COMPLETED', 0],
  ['create', 'one', '4.000000000000000001', false],
  ['approve', 1],
  ['refresh', 0, ['6.5', '6.5']],
  ['approve', 1],
];
/** For one payment of `SENT`, and not for two. */
export const ONCE: [[string, string], [string, string]] = [
  ['6.5', '6.5'],
  ['6.5', '6.5'],
];
export const ENOUGH: [[string, string], [string, string]] = [
  ['11', '11'],
  ['11', '11'],
];
