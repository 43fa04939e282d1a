/**
 * The actions that move money. Rows: docs/perps-venue-facts.md part 4. When the text of a refusal
 * is unknown for an action, the most similar measured text is used.
 */
import type { Hex } from '../kit/hex.ts';
import { lower } from './actions.ts';
import {
  Refused,
  amountOf,
  move,
  rowOf,
  type ActionContext,
  type Of,
  type Pool,
} from './action-context.ts';
import type { Effect } from './events.ts';
import { ACTIVATION_FEE, WITHDRAWAL_FEE, writeUsd } from './money.ts';

const NOT_ENOUGH = 'Insufficient balance for token transfer';
const ZERO = 'Send amount cannot be zero';
const TOO_PRECISE = 'Invalid number of decimals';

/** The name of USDC in `sendAsset`. Source: facts 1.3, from spotMeta of each network. */
export const USDC_TOKEN = {
  Mainnet: 'USDC:0x6d1e7cde53ba9467b783cb7c530ce054',
  Testnet: 'USDC:0xeb62eee3685fc4c43992febcd9e75443',
} as const;

/**
 * Returns the effects of a withdrawal: debits the whole amount immediately; the payment is the
 * amount less the fee. Source: DOC:exchange-endpoint.
 */
export function performWithdrawal(
  context: ActionContext,
  action: Of<'withdraw3'>,
): readonly Effect[] {
  const { user, nonce } = context;
  const amount = amountOf(action.amount, 'Withdrawal amount cannot be zero', TOO_PRECISE);
  const from: Pool = { user, pool: 'perp' };
  const effects = move(context, { from, to: null, amount }, 'Insufficient balance for withdrawal');
  // No minimum and no text of this refusal is documented; both are ours.
  if (amount <= WITHDRAWAL_FEE) throw new Refused('Withdrawal amount must be above the fee');
  return [
    ...effects,
    {
      does: 'withdrawal',
      key: `${user}:${String(nonce)}`,
      user,
      nonce,
      destination: lower(action.destination),
      net: (amount - WITHDRAWAL_FEE).toString(),
    },
  ];
}

export function performUsdSend(context: ActionContext, action: Of<'usdSend'>): readonly Effect[] {
  const { user } = context;
  const destination = lower(action.destination);
  const amount = amountOf(action.amount, ZERO, TOO_PRECISE);
  if (destination === user) throw new Refused('Invalid send');
  const fee = activation(context, destination);
  const [from, to]: [Pool, Pool] = [
    { user, pool: 'perp' },
    { user: destination, pool: 'perp' },
  ];
  return [
    ...move(context, { from, to, amount, fee }, NOT_ENOUGH),
    rowOf(context, [user, destination], {
      type: 'internalTransfer',
      usdc: writeUsd(amount),
      user,
      destination,
      fee: writeUsd(fee),
    }),
  ];
}

/**
 * Returns the effects of `sendAsset`. Refusals are in the order of facts 1.4, captured for this
 * action.
 */
export function performSendAsset(
  context: ActionContext,
  action: Of<'sendAsset'>,
): readonly Effect[] {
  const { book, network, nonce } = context;
  const destination = lower(action.destination);
  if (action.token !== USDC_TOKEN[network]) throw new Refused(`Unknown token ${action.token}`);
  const [source, target] = [poolOf(action.sourceDex), poolOf(action.destinationDex)];
  // The venue's spot balances have eight decimals; this simulator keeps six.
  const tooPrecise = source === 'perp' || target === 'perp' ? 'Invalid send' : TOO_PRECISE;
  const amount = amountOf(action.amount, ZERO, tooPrecise);
  const user = action.fromSubAccount === '' ? context.user : lower(action.fromSubAccount);
  if (user !== context.user && book.subAccounts.get(user)?.master !== context.user)
    throw new Refused(`Invalid sub-account transfer from ${user} to ${destination}`);
  if (user === destination && source === target) throw new Refused('Invalid send');
  const fee = activation(context, destination);
  const [from, to]: [Pool, Pool] = [
    { user, pool: source },
    { user: destination, pool: target },
  ];
  return [
    ...move(context, { from, to, amount, fee }, NOT_ENOUGH),
    // Both ledgers have the same row, with the action's nonce in milliseconds.
    rowOf(context, [user, destination], {
      type: 'send',
      user,
      destination,
      sourceDex: action.sourceDex,
      destinationDex: action.destinationDex,
      token: 'USDC',
      amount: writeUsd(amount),
      usdcValue: writeUsd(amount),
      fee: writeUsd(fee),
      nativeTokenFee: '0.0',
      nonce,
      feeToken: fee === 0n ? '' : 'USDC',
    }),
  ];
}

/**
 * Returns the effects of a move between perp and spot of the user, or of the sub-account that the
 * amount names.
 */
export function performClassTransfer(
  context: ActionContext,
  action: Of<'usdClassTransfer'>,
): readonly Effect[] {
  const [text = '', sub] = action.amount.split(' subaccount:');
  const amount = amountOf(text, ZERO, TOO_PRECISE);
  const user = sub === undefined ? context.user : lower(sub);
  if (sub !== undefined && context.book.subAccounts.get(user)?.master !== context.user)
    throw new Refused(`Invalid sub-account transfer from ${context.user} to ${user}`);
  const [perp, spot]: [Pool, Pool] = [
    { user, pool: 'perp' },
    { user, pool: 'spot' },
  ];
  const { toPerp } = action;
  return [
    ...move(context, { from: toPerp ? spot : perp, to: toPerp ? perp : spot, amount }, NOT_ENOUGH),
    rowOf(context, [user], { type: 'accountClassTransfer', usdc: writeUsd(amount), toPerp }),
  ];
}

/**
 * Returns the effects of moving perp USDC between a master and its sub-account. The row describes
 * the master's view and has no nonce.
 */
export function performSubAccountTransfer(
  context: ActionContext,
  action: Of<'subAccountTransfer'>,
): readonly Effect[] {
  const { subAccountUser: sub, isDeposit } = action;
  const [user, destination] = isDeposit ? [context.user, sub] : [sub, context.user];
  if (context.book.subAccounts.get(sub)?.master !== context.user)
    throw new Refused(`Invalid sub-account transfer from ${user} to ${destination}`);
  const amount = BigInt(action.usd);
  if (amount === 0n) throw new Refused(ZERO);
  const [from, to]: [Pool, Pool] = [
    { user, pool: 'perp' },
    { user: destination, pool: 'perp' },
  ];
  return [
    ...move(context, { from, to, amount }, NOT_ENOUGH),
    rowOf(context, [user, destination], {
      type: 'subAccountTransfer',
      usdc: writeUsd(amount),
      user,
      destination,
    }),
  ];
}

/**
 * Returns the fee for a destination without account, charged in addition to the amount. Source:
 * DOC:activation-gas-fee.
 */
function activation({ book }: ActionContext, destination: Hex): bigint {
  return book.accounts.has(destination) ? 0n : ACTIVATION_FEE;
}

/**
 * Returns the balance that a `dex` field names. "" is the first perp dex. Source:
 * DOC:exchange-endpoint, `sendAsset`.
 */
function poolOf(dex: string): 'perp' | 'spot' {
  if (dex === '') return 'perp';
  if (dex === 'spot') return 'spot';
  throw new Refused('Invalid perp DEX');
}
