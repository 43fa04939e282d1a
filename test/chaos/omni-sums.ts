/** Whether sends, receipts and balances of the omnichain token add up. */
import { formatUnits, isAddressEqual, parseUnits, type Hex } from 'viem';
import type { BridgeSide, StackBridges } from '../../dev/stack/bridges.ts';
import { readOmniBooks, type OmniBooks } from '../support/omni-books.ts';
import { outputOf, type FinalViews } from './bridge-story.ts';
import { ENDS, WAYS, type OmniLife, type Way } from './ways.ts';

const DECIMALS = 18;

export interface OmniSide extends Omit<OmniBooks, 'held'> {
  /** What the payee holds. */
  readonly got: bigint;
}
/** Both chains at one time. */
export interface OmniBothBooks {
  readonly near: OmniSide;
  readonly far: OmniSide;
}
/** Who sends on every source, and who receives on every destination. */
export interface Accounts {
  readonly signer: Hex;
  readonly payee: Hex;
}

/** What the run knows, beside the books before and after it. */
export interface OmniKnown {
  readonly lives: readonly OmniLife[];
  readonly views: FinalViews;
  readonly accounts: Accounts;
}

export async function readOmni(
  { near, far }: StackBridges,
  { payee }: Accounts,
): Promise<OmniBothBooks> {
  const of = async (side: BridgeSide): Promise<OmniSide> => {
    const { held, ...books } = await readOmniBooks(side);
    return { ...books, got: await held(payee) };
  };
  return { near: await of(near), far: await of(far) };
}

/** Base units as a person reads them. */
export const omniOf = (units: bigint): string => formatUnits(units, DECIMALS);

/** Everything that does not add up, in words. */
export function omniContradictions(
  known: OmniKnown,
  before: OmniBothBooks,
  after: OmniBothBooks,
): readonly string[] {
  const found: string[] = [];
  const expect = (what: string, is: bigint, wanted: bigint): void => {
    if (is !== wanted) found.push(`OMNI: ${what} ${omniOf(is)}, and not ${omniOf(wanted)}`);
  };
  const sum = ({ near, far }: OmniBothBooks): bigint => near.supply + far.supply;
  expect('the supply of both sides is', sum(after), sum(before));
  const [out, home] = WAYS.map((way) => totalOf(known.lives, way)) as [bigint, bigint];
  // What is sent is destroyed on its side, and made on the other.
  expect('the near supply grew by', after.near.supply - before.near.supply, home - out);
  expect('the far supply grew by', after.far.supply - before.far.supply, out - home);
  expect('the payee got, near,', after.near.got - before.near.got, home);
  expect('the payee got, far,', after.far.got - before.far.got, out);
  return [...found, ...WAYS.flatMap((way) => wayAddsUp(way, known, before, after))];
}

/** One send and one receipt of it for each movement, as the service says, and nothing else. */
function wayAddsUp(
  way: Way,
  { lives: all, views, accounts }: OmniKnown,
  before: OmniBothBooks,
  after: OmniBothBooks,
): readonly string[] {
  const [source, destination] = ENDS[way];
  const lives = all.filter((life) => life.way === way);
  const sent = after[source].sent.slice(before[source].sent.length);
  const received = after[destination].received.slice(before[destination].received.length);
  const found: string[] = [];
  for (const life of lives) {
    const amount = unitsOf(life);
    const mine = sent.filter(
      (each) => each.amount === amount && isAddressEqual(each.by, accounts.signer),
    );
    if (mine.length !== 1) found.push(`${life.key}: ${mine.length} sends of ${life.amount}`);
    const guids = mine.map(({ guid }) => guid);
    const arrived = received.filter(
      (each) =>
        guids.includes(each.guid) &&
        each.amount === amount &&
        isAddressEqual(each.to, accounts.payee),
    );
    if (arrived.length !== 1)
      found.push(`${life.key}: ${arrived.length} receipts of ${life.amount}`);
    // One that has not looked cannot know it, though the delivery may have come by now.
    const output = outputOf(life, views, 'arrive');
    if (!arrived.some(({ guid, tx }) => output?.['guid'] === guid && output['tx_hash'] === tx))
      found.push(
        `${life.key}: arrive reports ${String(output?.['guid'])} in ${String(output?.['tx_hash'])}`,
      );
  }
  if (sent.length !== lives.length) found.push(`OMNI ${way}: ${sent.length} sends`);
  if (received.length !== lives.length) found.push(`OMNI ${way}: ${received.length} receipts`);
  return found;
}

function totalOf(lives: readonly OmniLife[], way: Way): bigint {
  return lives
    .filter((life) => life.way === way)
    .reduce((units, life) => units + unitsOf(life), 0n);
}

const unitsOf = ({ amount }: OmniLife): bigint => parseUnits(amount, DECIMALS);
