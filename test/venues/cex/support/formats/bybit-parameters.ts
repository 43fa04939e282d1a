/** Parameters of Bybit's requests, and what a key may do with them. Each check throws a Refusal. */
import type { Account, PoolName } from '../books.ts';
import { OwnAnswer, type RouteContext } from '../format.ts';
import { Refusal } from '../refusal.ts';
import { wire } from './bybit-refusals.ts';
import { POOL_OF, walletPermissions } from './bybit-views.ts';

/** Fields of a body that are integers; all others are texts. */
const INTEGERS = ['timestamp', 'forceChain', 'feeType', 'fromMemberId', 'toMemberId'];

export const ownRefusal = (code: number, text: string): OwnAnswer =>
  new OwnAnswer(wire(code, text));

/** Checks that the request has no field but those `names`, and that those of a body have a type. */
export function checkFields({ parameters, body }: RouteContext, names: readonly string[]): void {
  for (const name of parameters.keys())
    if (!names.includes(name)) throw new Refusal('parameter_invalid', name);
  const fields = (body === '' ? {} : JSON.parse(body)) as Readonly<Record<string, unknown>>;
  for (const [name, value] of Object.entries(fields)) {
    const isTyped = INTEGERS.includes(name)
      ? Number.isSafeInteger(value)
      : typeof value === 'string';
    if (!isTyped) throw new Refusal('parameter_invalid', name);
  }
}

/** A parameter that must be there. */
export function needed({ parameters }: RouteContext, name: string): string {
  const value = parameters.get(name);
  if (value === null || value === '') throw new Refusal('parameter_missing', name);
  return value;
}

/** One of the values, which are the only ones; absent: the first one. */
export function choice(
  { parameters }: RouteContext,
  name: string,
  values: readonly [usual: string, ...others: string[]],
): string {
  const value = parameters.get(name) ?? values[0];
  if (!values.includes(value)) throw new Refusal('parameter_invalid', name);
  return value;
}

/** An amount is a text, and a plain number. */
export function amountOf(context: RouteContext): string {
  const amount = needed(context, 'amount');
  if (!/^[0-9]+(\.[0-9]+)?$/.test(amount)) throw new Refusal('parameter_invalid', 'amount');
  return amount;
}

/** Names of coins, so many at most. */
export function coinsOf(context: RouteContext, name: string, most: number): readonly string[] {
  const coins = needed(context, name).split(',');
  if (coins.length > most) throw new Refusal('parameter_invalid', name);
  return coins;
}

export function poolOf(context: RouteContext, name: string): PoolName {
  const pool = POOL_OF[needed(context, name)];
  if (pool === undefined) throw new Refusal('parameter_invalid', name);
  return pool;
}

/** The account of the uid that the parameter names. */
export function memberOf(context: RouteContext, name: string): Account {
  const uid = needed(context, name);
  const account = uid === context.books.master ? null : uid;
  if (!context.books.exists(account)) throw new Refusal('unknown_account', uid);
  return account;
}

/** The account whose balances are meant: a master's key may name a sub-account. */
export function holderOf(context: RouteContext): Account {
  const { account, parameters } = context;
  const holder = parameters.has('memberId') ? memberOf(context, 'memberId') : account;
  if (account !== null && holder !== account) throw new Refusal('master_only');
  return holder;
}

export function needPermission({ books, account }: RouteContext, permission: string): void {
  if (!walletPermissions(books, account).includes(permission))
    throw new Refusal('permission', permission);
}

/** The permission for transfers between uids has another name for a sub-account's key (12). */
export function needMemberTransfer(context: RouteContext): void {
  needPermission(context, context.account === null ? 'SubMemberTransfer' : 'SubMemberTransferList');
}
