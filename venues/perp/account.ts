/** Checks an account at the perps venue before anything is sent. */
import type { CallOptions } from '../../domain/executor.ts';
import { add, compare } from '../../domain/money.ts';
import { rejected } from '../node-plan.ts';
import { atLeastZero, type PerpClient } from './client.ts';
import { keepsPerpsApart } from './config.ts';

/**
 * Throws unless the account keeps its perps funds apart from spot.
 *
 * @throws ExecutorFault `rejected` `ACCOUNT_MODE_UNSUPPORTED`.
 */
export async function requireMode(
  client: PerpClient,
  account: string,
  call: CallOptions,
): Promise<void> {
  const mode = await client.mode(account, call);
  if (keepsPerpsApart(mode)) return;
  throw rejected(
    'ACCOUNT_MODE_UNSUPPORTED',
    `${account} is in mode ${mode}, which keeps perps and spot together`,
  );
}

/**
 * Throws unless the venue's deposits or withdrawals use its bridge. A venue that reports no rail
 * counts as using its bridge.
 *
 * @throws ExecutorFault `rejected` `VENUE_ROUTE_CLOSED`.
 */
export async function requireRail(
  client: PerpClient,
  way: 'deposit' | 'withdrawal',
  call: CallOptions,
): Promise<void> {
  const rail = (await client.rails(call))?.[way] ?? 'bridge';
  if (rail === 'bridge') return;
  throw rejected('VENUE_ROUTE_CLOSED', `the venue's ${way}s use ${rail}, not its bridge`);
}

/**
 * Throws unless the account can withdraw the amount.
 *
 * @throws ExecutorFault `rejected` `INSUFFICIENT_WITHDRAWABLE`.
 */
export async function requireWithdrawable(
  client: PerpClient,
  account: string,
  amount: string,
  call: CallOptions,
): Promise<void> {
  const { withdrawable } = await client.state(account, call);
  if (!withdrawable.startsWith('-') && compare(withdrawable, amount) >= 0) return;
  throw rejected(
    'INSUFFICIENT_WITHDRAWABLE',
    `the plan moves ${amount}, but only ${withdrawable} can be withdrawn from the master account`,
  );
}

/**
 * Returns the account's current value, which together with `amount` may not exceed `most`.
 *
 * @throws ExecutorFault `rejected` `MAX_AGENT_BALANCE_EXCEEDED`.
 */
export async function requireRoom(
  client: PerpClient,
  account: string,
  { amount, most }: { readonly amount: string; readonly most: string },
  call: CallOptions,
): Promise<string> {
  const { account_value: value } = await client.state(account, call);
  const held = atLeastZero(value);
  if (compare(add(held, amount), most) <= 0) return held;
  throw rejected(
    'MAX_AGENT_BALANCE_EXCEEDED',
    `${account} holds ${held} and may hold at most ${most}`,
  );
}
