/** What the actions have in common. */
import type { Hex } from '../kit/hex.ts';
import type { Action } from './actions.ts';
import { balanceOf, type Book } from './book.ts';
import type { Effect } from './events.ts';
import { readUsd } from './money.ts';
import type { Network } from './signing.ts';

/** Refused in the venue's words; the nonce is used up. */
export class Refused extends Error {
  override readonly name = 'Refused';
}

/** Who requested an action, and when. */
export interface ActionContext {
  readonly book: Book;
  /** Whose money and agents it changes: the signer, or the master of the agent that signed. */
  readonly user: Hex;
  readonly nonce: number;
  readonly now: number;
  readonly network: Network;
  /** The hash of the action in its rows. */
  readonly hash: Hex;
}

/** The action of one type. */
export type Of<T extends Action['type']> = Extract<Action, { type: T }>;

/** One of an account's balances. */
export interface Pool {
  readonly user: Hex;
  readonly pool: 'perp' | 'spot';
}

/**
 * An amount in millionths. Texts: docs/perps-venue-facts.md 1.4, measured for `sendAsset`; other
 * actions are taken to use the same.
 */
export function amountOf(text: string, whenZero: string, whenTooPrecise: string): bigint {
  const amount = readUsd(text);
  if (amount === 'not_decimal') throw new Refused('Invalid decimal number');
  if (amount === 'too_precise') throw new Refused(whenTooPrecise);
  if (amount === 0n) throw new Refused(whenZero);
  return amount;
}

/** Takes from one balance, `fee` beside it, and gives to the other. */
export function move(
  { book }: ActionContext,
  { from, to, amount, fee = 0n }: { from: Pool; to: Pool | null; amount: bigint; fee?: bigint },
  whenShort: string,
): readonly Effect[] {
  const has = balanceOf(book, from.user, from.pool);
  if (has < amount) throw new Refused(whenShort);
  // Source: facts 1.4, captured for a new destination.
  if (has < amount + fee)
    throw new Refused(
      'Insufficient quote token (e.g., 1 USDC or USDT) balance for token transfer gas.',
    );
  return [
    { does: 'change', ...from, by: (-amount - fee).toString() },
    ...(to === null ? [] : [{ does: 'change' as const, ...to, by: amount.toString() }]),
  ];
}

/** The row of an action, in the ledgers of all who take part. */
export function rowOf(
  { hash, now }: ActionContext,
  users: readonly Hex[],
  delta: Record<string, unknown>,
): Effect {
  return { does: 'row', row: { users: [...new Set(users)], time: now, hash, delta } };
}
