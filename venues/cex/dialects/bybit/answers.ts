/**
 * Schemas of Bybit's answers, strict wherever money depends on them. Every answer is
 * `{retCode, retMsg, result}`. Amounts are texts; ids and codes come as numbers or as texts, and
 * the library turns all numbers of an answer into texts where one of them is long.
 */
import { z } from 'zod';
import { compare, normalize } from '../../../../domain/money.ts';
import { decimalText } from '../../../../platform/amount.ts';
import type { Schema } from '../../answers.ts';
import { UID } from './names.ts';

const amount = decimalText('must be a text with a decimal amount');
const name = z.string().min(1);
const text = z
  .string()
  .nullish()
  .transform((value) => (value == null || value === '' ? null : value));
const optionalAmount = text.pipe(amount.nullable());
const code = z.union([z.string().min(1), z.number().int()]).transform(String);
const optionalCode = z
  .union([z.string(), z.number().int()])
  .nullish()
  .transform((value) => (value == null || value === '' ? null : String(value)));

/**
 * A figure that may be below zero; null: it does not apply. Bybit writes more decimals than an
 * amount may have; what is cut off is worth nothing.
 */
const figure = text.pipe(
  z
    .string()
    .regex(/^-?(0|[1-9][0-9]{0,19})(\.[0-9]+)?$/, 'must be a decimal figure')
    .transform((value) => normalize(value.replace(/(\.[0-9]{18})[0-9]+$/, '$1')))
    .nullable(),
);

/** The last valid date, in milliseconds since 1970. */
const LAST_DATE = 8_640_000_000_000_000;
const milliseconds = code.pipe(
  z
    .string()
    .regex(/^[0-9]{1,16}$/, 'must be a time')
    .transform(Number)
    .pipe(z.number().positive().max(LAST_DATE)),
);
/** In seconds; parsed as milliseconds since 1970. */
const seconds = code.pipe(
  z
    .string()
    .regex(/^[0-9]{1,13}$/, 'must be a time')
    .transform((value) => Number(value) * 1_000)
    .pipe(z.number().positive().max(LAST_DATE)),
);
const optionalTime = z
  .union([z.literal(['', '0', 0]).transform(() => null), milliseconds])
  .nullish()
  .transform((value) => value ?? null);

const answer = z.object({
  retCode: z.union([z.literal(0), z.literal('0')]),
  result: z.unknown(),
});

/** Returns the schema of an answer with such a result. */
export function resultOf<T>(result: Schema<T>): Schema<T> {
  return { parse: (value) => result.parse(answer.parse(value).result) };
}

/** A page of a list. `next` is the cursor of the next page; null: there is none. */
export interface Page<T> {
  readonly records: readonly T[];
  readonly next: string | null;
}

/** It is sent as it came, without encoding, so it must not be able to end its parameter. */
const cursor = text.pipe(
  z
    .string()
    .regex(/^[A-Za-z0-9%=_.:,-]+$/, 'must be a cursor')
    .nullable(),
);
const records = z.array(z.unknown());
const page = z.object({
  rows: records.optional(),
  list: records.optional(),
  nextPageCursor: cursor,
});

/** Returns the schema of a page of a list, which has one of two names by call. */
export function pageOf<T>(list: 'rows' | 'list', record: Schema<T>): Schema<Page<T>> {
  return {
    parse(value) {
      const found = page.parse(answer.parse(value).result);
      return {
        records: records.parse(found[list]).map((each) => record.parse(each)),
        next: found.nextPageCursor,
      };
    },
  };
}

/** An error may lack everything but its code and its text (docs/bybit-facts.md, 1.1). */
export const errorBody = z.object({
  retCode: optionalCode,
  retMsg: z.string().nullish(),
  result: z.unknown().optional(),
});

/** The time is beside the result. */
export const serverTime = z.object({ time: milliseconds });

export const keyInfo = z.object({
  readOnly: code,
  uta: optionalCode,
  isMaster: z.boolean(),
  userID: code,
  userIDInt64: optionalCode,
  permissions: z.object({ Wallet: z.array(z.string()).nullish() }),
});
export const uid = z.string().regex(UID, 'must be a uid');

export const coinBalance = z.object({ coin: name, transferBalance: figure, walletBalance: figure });
export const coinBalances = z.object({ balance: z.array(coinBalance) });
const fundWallet = z.object({ withdrawableAmount: figure });
/** Every wallet may be missing. */
export const withdrawable = z.object({
  withdrawableAmount: z.object({ FUND: fundWallet.nullish() }),
});
export const walletCoin = z.object({ coin: name, equity: figure });
export const walletBalance = z.object({
  list: z.array(z.object({ coin: z.array(walletCoin) })),
});
export const leaving = z.object({ availableWithdrawalMap: z.record(z.string(), figure) });
/** What an account holds: only for the names of its coins (docs/bybit-facts.md, 3). */
export const coinName = z.object({ coin: name });
export const overview = z.object({
  list: z.array(z.object({ coinDetail: z.array(coinName).nullish() })),
});

/** Returns 0 for a negative figure, which is a debt: nothing of a debt can be withdrawn. */
export function notBelowZero<T extends string | null>(value: T): T | '0' {
  return value !== null && compare(value, '0') < 0 ? '0' : value;
}

/**
 * A coin has an entry for each of its chains. Only the requested one is parsed strictly, so that
 * one unusual entry does not block all others.
 */
export const coins = z.object({
  rows: z.array(
    z.looseObject({
      coin: z.string(),
      chains: z.array(z.looseObject({ chain: z.string() })),
    }),
  ),
});
export const chainTerms = z.object({
  chainWithdraw: code,
  withdrawFee: optionalAmount,
  withdrawPercentageFee: optionalAmount,
  withdrawMin: optionalAmount,
  withdrawMax: text.transform((value) => (value === '-1' ? null : value)).pipe(amount.nullable()),
  minAccuracy: code.pipe(
    z
      .string()
      .regex(/^([0-9]|1[0-8])$/, 'must be a number of decimals')
      .transform(Number),
  ),
});

export const bookEntry = z.object({
  coin: name,
  chain: z.string(),
  address: name,
  tag: text,
  status: code,
  addressType: code,
  verified: code,
});

/** What the send of a withdrawal names besides its order: `quote` of the dialect. */
export const quote = z.object({ address: name });

export const withdrawn = z.object({ id: code });
export const cancelled = z.object({ status: code });
export const withdrawal = z.object({
  withdrawId: code,
  withdrawType: code,
  coin: name,
  chain: text,
  amount,
  withdrawFee: amount,
  tax: optionalAmount,
  txID: text,
  status: z.string(),
  toAddress: z.string(),
  tag: text,
  createTime: milliseconds,
});

/** Older records have neither `id` nor `depositType`. */
export const deposit = z.object({
  id: optionalCode,
  coin: name,
  chain: text,
  amount,
  depositFee: optionalAmount,
  txID: text,
  txIndex: text,
  status: code,
  depositType: optionalCode,
  toAddress: text,
  tag: text,
  successAt: optionalTime,
});
/** A deposit that another account of Bybit made. */
export const internalDeposit = z.object({
  id: code,
  coin: name,
  amount,
  txID: text,
  status: code,
  complianceStatus: optionalCode,
  createdTime: seconds,
});

export const transferred = z.object({ transferId: name });
export const transfer = z.object({
  transferId: name,
  coin: name,
  amount,
  fromAccountType: z.string(),
  toAccountType: z.string(),
  timestamp: milliseconds,
  status: z.string(),
});
export const universalTransfer = transfer.extend({ fromMemberId: code, toMemberId: code });
