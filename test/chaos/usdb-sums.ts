/** Whether burns, mints, fees and balances of the burn-and-mint lane add up. */
import type { Hex } from 'viem';
import type { BridgeSide, StackBridges } from '../../dev/stack/bridges.ts';
import { amountOf, fastFee, readBooks, unitsOf, type SideBooks } from '../support/bridge-books.ts';
import { ENDS, WAYS, type UsdbLife, type Way } from './ways.ts';

export interface UsdbSide extends Omit<SideBooks, 'held' | 'allowed'> {
  /** What the payee holds. */
  readonly received: bigint;
  /** What is left of what the signer allows. */
  readonly left: bigint;
}
/** Both chains at one time. */
export interface UsdbBooks {
  readonly near: UsdbSide;
  readonly far: UsdbSide;
}

export async function readUsdb(
  { near, far }: StackBridges,
  { payee, signer }: { readonly payee: Hex; readonly signer: Hex },
): Promise<UsdbBooks> {
  const of = async (side: BridgeSide): Promise<UsdbSide> => {
    const { held, allowed, ...books } = await readBooks(side);
    const [received, left] = await Promise.all([held(payee), allowed(signer)]);
    return { ...books, received, left };
  };
  return { near: await of(near), far: await of(far) };
}

/** Everything that does not add up, in words. */
export function usdbContradictions(
  lives: readonly UsdbLife[],
  before: UsdbBooks,
  after: UsdbBooks,
): readonly string[] {
  const sum = ({ near, far }: UsdbBooks): bigint => near.supply + far.supply;
  return [
    ...(sum(before) === sum(after)
      ? []
      : [`USDB: a supply of ${amountOf(sum(before))} became ${amountOf(sum(after))}`]),
    ...WAYS.flatMap((way) => wayAddsUp(way, lives, before, after)),
  ];
}

/** One burn and one mint for each movement, nothing else, and balances that say the same. */
function wayAddsUp(
  way: Way,
  all: readonly UsdbLife[],
  before: UsdbBooks,
  after: UsdbBooks,
): readonly string[] {
  const [source, destination] = ENDS[way];
  const lives = all.filter((life) => life.way === way);
  const burns = after[source].burns.slice(before[source].burns.length);
  const mints = after[destination].mints.slice(before[destination].mints.length);
  const found: string[] = [];
  const feeOf = ({ amount, finality }: UsdbLife): bigint =>
    finality === 'fast' ? fastFee(unitsOf(amount)) : 0n;
  for (const life of lives) {
    const units = unitsOf(life.amount);
    const burnt = burns.filter(({ amount }) => amount === units).length;
    const minted = mints.filter(
      ({ amount, fee }) => amount + fee === units && fee === feeOf(life),
    ).length;
    if (burnt !== 1) found.push(`${life.key}: ${burnt} burns of ${life.amount}`);
    if (minted !== 1) found.push(`${life.key}: ${minted} mints of ${life.amount}`);
  }
  const expect = (what: string, is: bigint, wanted: bigint): void => {
    if (is !== wanted)
      found.push(`USDB ${way}: ${what} ${amountOf(is)}, and not ${amountOf(wanted)}`);
  };
  const total = lives.reduce((units, { amount }) => units + unitsOf(amount), 0n);
  const fees = lives.reduce((units, life) => units + feeOf(life), 0n);
  if (burns.length !== lives.length) found.push(`USDB ${way}: ${burns.length} burns`);
  if (mints.length !== lives.length) found.push(`USDB ${way}: ${mints.length} mints`);
  const [from, to] = [after[source], after[destination]];
  const [was, had] = [before[source], before[destination]];
  expect('the payee got', to.received - had.received, total - fees);
  expect('the fee collector got', to.collected - had.collected, fees);
  expect('of the allowance were drawn', was.left - from.left, total);
  return found;
}
