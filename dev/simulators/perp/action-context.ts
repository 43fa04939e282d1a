/** Types and helpers that all actions share. */
import type { Hex } from '../kit/hex.ts';
import type { Action } from './actions.ts';
import { balanceOf, type Book } from './book.ts';
import type { Effect } from './events.ts';
import { readUsd } from './money.ts';
import type { Network } from './signing.ts';

/** A refusal with the venue's text; the nonce is used up. */
export class Refused extends Error {
  override readonly name = 'Refused';
}

/** The book, and who requested the action, and when. */
export interface ActionContext {
  readonly book: Book;
  /** The account that the action changes: the signer, or the master of the agent that signed. */
  readonly user: Hex;
  readonly nonce: number;
  readonly now: number;
  readonly network: Network;
  /** Hash of the action, as it appears in ledger rows. */
  readonly hash: Hex;
}

/** The action type with this `type` field. */
export type Of<T extends Action['type']> = Extract<Action, { type: T }>;

/** One of an account's balances. */
export interface Pool {
  readonly user: Hex;
  readonly pool: 'perp' | 'spot';
}

/**
 * Returns an amount in millionths. Texts of refusals: docs/perps-venue-facts.md 1.4, measured for
 * `sendAsset`; other actions are assumed to use the same.
 */
export function amountOf(text: string, whenZero: string, whenTooPrecise: string): bigint {
  const amount = readUsd(text);
  if (amount === 'not_decimal') throw new Refused('Invalid decimal number');
  if (amount === 'too_precise') throw new Refused(whenTooPrecise);
  if (amount === 0n) throw new Refused(whenZero);
  return amount;
}

/**
 * Returns the effects of moving `amount` from one balance to another, with `fee` taken in addition.
 */
export function move(
  { book }: ActionContext,
  { from, to, amount, fee = 0n }: { from: Pool; to: Pool | null; amount: bigint; fee?: bigint },
  whenShort: string,
): readonly Effect[] {
  const has = balanceOf(book, from.user, from.pool);
  if (has < amount) throw new Refused(whenShort);
  // Text: facts 1.4, captured for a new destination.
  if (has < amount + fee)
    throw new Refused(
      'Insufficient quote token (e.g., 1 USDC or USDT) balance for token transfer gas.',
    );
  return [
    { does: 'change', ...from, by: (-amount - fee).toString() },
    ...(to === null ? [] : [{ does: 'change' as const, ...to, by: amount.toString() }]),
  ];
}

/** Returns the ledger row of an action, for the ledgers of all its parties. */
export function rowOf(
  { hash, now }: ActionContext,
  users: readonly Hex[],
  delta: Record<string, unknown>,
): Effect {
  return { does: 'row', row: { users: [...new Set(users)], time: now, hash, delta } };
}
