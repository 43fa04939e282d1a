/**
 * Schemas of OKX's answers, strict wherever money depends on them. Every answer is
 * `{code, msg, data}`, and every figure in it is a text (test/venues/cex/wire/okx.json).
 */
import { z } from 'zod';
import { compare, normalize } from '../../../../domain/money.ts';
import { decimalText } from '../../../../platform/amount.ts';
import type { Schema } from '../../answers.ts';

const amount = decimalText('must be a text with a decimal amount');
const name = z.string().min(1);
const text = z
  .string()
  .nullish()
  .transform((value) => (value == null || value === '' ? null : value));
const optionalAmount = text.pipe(amount.nullable());

/**
 * A figure that may be below zero, with up to 18 decimals; null: it does not apply. The trading
 * account calculates with more decimals than an amount may have; what is cut off is worth nothing.
 */
const figure = text.pipe(
  z
    .string()
    .regex(/^-?(0|[1-9][0-9]{0,19})(\.[0-9]+)?$/, 'must be a decimal figure')
    .transform((value) => normalize(value.replace(/(\.[0-9]{18})[0-9]+$/, '$1')))
    .nullable(),
);

/** Milliseconds since 1970. The bound is the last valid date. */
const time = z
  .string()
  .regex(/^[0-9]{1,16}$/, 'must be milliseconds')
  .transform(Number)
  .pipe(z.number().int().positive().max(8_640_000_000_000_000));

/** Older records have the currency behind their fee: `0.01000000eth` (docs/okx-facts.md, 9). */
const fee = z
  .string()
  .regex(/^[0-9.]+[A-Za-z]*$/, 'must be a fee')
  .transform((value) => value.replace(/[A-Za-z]+$/, ''))
  .pipe(amount);

const answer = z.object({ code: z.literal('0'), data: z.array(z.unknown()) });
const answerOfOne = answer.extend({ data: z.tuple([z.unknown()]) });

/** Returns the schema of an answer with any number of such items. */
export function listOf<T>(item: Schema<T>): Schema<readonly T[]> {
  return { parse: (value) => answer.parse(value).data.map((each) => item.parse(each)) };
}

/** Returns the schema of an answer with one such item alone. */
export function oneOf<T>(item: Schema<T>): Schema<T> {
  return { parse: (value) => item.parse(answerOfOne.parse(value).data[0]) };
}

/** The gateway writes its codes as numbers, and leaves `data` out or empty. */
export const errorBody = z.object({
  code: z.union([z.string().min(1), z.number()]).transform(String),
  msg: z.string().nullish(),
  data: z.unknown().optional(),
});
export const errorItem = z.object({
  sCode: z.union([z.string().min(1), z.number()]).transform(String),
  sMsg: z.string().nullish(),
});

export const serverTime = z.object({ ts: time });

export const accountConfig = z.object({
  perm: z.string(),
  uid: text,
  mainUid: text,
});

export const fundingBalance = z.object({ ccy: name, bal: figure, availBal: figure });
export const tradingDetail = z.object({ ccy: name, availBal: figure, eq: figure });
export const tradingBalance = z.object({ details: z.array(tradingDetail) });
export const maxWithdrawal = z.object({ ccy: name, maxWd: figure });

/** Returns 0 for a negative figure, which is a debt: nothing of a debt can be withdrawn. */
export function notBelowZero(value: string | null): string | null {
  return value !== null && compare(value, '0') < 0 ? '0' : value;
}

/**
 * A currency has an entry for each of its chains. Only the requested one is parsed strictly, so
 * that one unusual entry does not block all others.
 */
export const currency = z.looseObject({ ccy: z.string(), chain: z.string() });
export const chainTerms = z.object({
  canWd: z.boolean(),
  needTag: z.boolean(),
  fee: optionalAmount,
  minWd: optionalAmount,
  maxWd: optionalAmount,
  wdTickSz: z
    .string()
    .regex(/^([0-9]|1[0-8])$/, 'must be a number of decimals')
    .transform(Number),
  // Shown to people alone, so a strange one must not block a withdrawal.
  wdEstOpenTime: text.pipe(time.nullable()).catch(null),
  wdQuota: figure,
  usedWdQuota: figure,
  burningFeeRate: optionalAmount,
});

/** What shows of a chain whether it pays out, and what is left of the account's quota. */
export const payout = chainTerms.pick({
  canWd: true,
  wdEstOpenTime: true,
  wdQuota: true,
  usedWdQuota: true,
});

/** What the send of a withdrawal names besides its order: `quote` of the dialect. */
export const quote = z.object({ fee: amount, step: amount, until: z.iso.datetime() });

export const withdrawn = z.object({ wdId: name });
export const withdrawal = z.object({
  wdId: name,
  clientId: text,
  ccy: name,
  chain: text,
  amt: amount,
  fee,
  feeCcy: text,
  state: z.string(),
  to: z.string(),
  tag: text,
  pmtId: text,
  memo: text,
  addrEx: z.unknown().optional(),
  txId: text,
  ts: time,
});
export const deposit = z.object({
  depId: name,
  ccy: name,
  chain: text,
  amt: amount,
  state: z.string(),
  to: text,
  txId: text,
  fromWdId: text,
  ts: time,
});

export const transferred = z.object({ transId: name });
export const transfer = z.object({
  transId: name,
  clientId: text,
  ccy: name,
  amt: amount,
  type: z.string(),
  from: z.string(),
  to: z.string(),
  subAcct: text,
  state: z.string(),
});
/** A line of the funding account's ledger. */
export const bill = z.object({
  billId: name,
  clientId: text,
  ccy: name,
  balChg: z
    .string()
    .transform((value) => value.replace(/^-/, ''))
    .pipe(amount),
  type: z.string(),
  ts: time,
});
