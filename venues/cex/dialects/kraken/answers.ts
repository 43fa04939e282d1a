/**
 * Schemas of Kraken's answers, strict wherever money depends on them. Every answer is
 * `{error, result}`; `error` may hold warnings, which `readError` has let pass.
 */
import { z } from 'zod';
import { compare, normalize } from '../../../../domain/money.ts';
import { decimalText } from '../../../../platform/amount.ts';
import type { Schema } from '../../answers.ts';

const name = z.string().min(1);
const text = z
  .string()
  .nullish()
  .transform((value) => (value == null || value === '' ? null : value));

/** Numbers come as texts or as numbers (docs/kraken-facts.md, 1.8). */
const figure = z.union([
  z.string(),
  z
    .number()
    .refine(isExact, 'has more digits than a number keeps')
    .transform((value) => normalize(String(value))),
]);
const amount = figure.pipe(decimalText('must be a decimal amount'));
/** A figure that may be below zero. */
const signed = figure.pipe(
  z
    .string()
    .regex(/^-?(0|[1-9][0-9]{0,19})(\.[0-9]{1,18})?$/, 'must be a decimal figure')
    .transform(normalize),
);
const credit = signed.nullish().transform((value) => value ?? '0');

/** Seconds since 1970. The bound is the last valid date. */
const seconds = z
  .union([z.number(), z.string().regex(/^[0-9]{1,13}(\.[0-9]+)?$/, 'must be seconds')])
  .transform(Number)
  .pipe(z.number().positive().max(8_640_000_000_000));
/** Seconds since 1970; parsed as ISO 8601. */
const time = seconds.transform((value) => new Date(Math.floor(value * 1_000)).toISOString());

/** Returns whether the number has so few digits that parsing cannot have changed any. */
function isExact(value: number): boolean {
  const [digits = ''] = String(value).replace(/[-.]/g, '').split('e');
  return digits.replace(/^0+/, '').length <= 15;
}

const answer = z.object({ result: z.unknown() });

/** Returns the schema of an answer with such a result. */
export function resultOf<T>(result: Schema<T>): Schema<T> {
  return { parse: (value) => result.parse(answer.parse(value).result) };
}

/** A page of a history. `next` continues it; null: Kraken names no next page. */
export interface Page<T> {
  readonly records: readonly T[];
  readonly next: string | null;
}

const paged = z.looseObject({ next_cursor: text, cursor: text });
const records = z.array(z.unknown());

/**
 * Returns the schema of a page. Sources differ on the names of its list and its cursor, and without
 * a cursor the list is the whole result (docs/kraken-facts.md, 7 and 17).
 */
export function pageOf<T>(record: Schema<T>, lists: readonly string[]): Schema<Page<T>> {
  return {
    parse(value) {
      const { result } = answer.parse(value);
      const page = Array.isArray(result) ? null : paged.parse(result);
      const list =
        page === null ? result : lists.map((each) => page[each]).find((each) => each !== undefined);
      return {
        records: records.parse(list).map((each) => record.parse(each)),
        next: page === null ? null : (page.next_cursor ?? page.cursor),
      };
    },
  };
}

export const serverTime = z.object({ unixtime: seconds });

const setting = z.union([z.string(), z.number()]).transform(String).optional();
/** The reference has its fields in camelCase, a recorded answer in snake_case (10). */
export const keyInfo = z.object({
  permissions: z.array(z.string()),
  nonceWindow: setting,
  nonce_window: setting,
  queryFrom: setting,
  query_from: setting,
  queryTo: setting,
  query_to: setting,
});

export const assets = z.record(z.string(), z.object({ altname: name, status: text }));

/** `hold_trade` covers spot orders alone; `credit` and `credit_used` need a credit line (14). */
export const balances = z.record(
  z.string(),
  z.object({ balance: signed, hold_trade: signed, credit, credit_used: credit }),
);

/**
 * The methods of all assets. Only the one that is used is parsed strictly, so that one unusual
 * entry does not block all others.
 */
export const methods = z.array(z.looseObject({ asset: name, method: z.string(), network: text }));
/** Newer answers name the asset of the fee (docs/kraken-facts.md, 5). */
export const method = z.object({
  minimum: amount,
  fee: z.object({ asset: name }).nullish(),
});
/** `amount` is what arrives, and `limit` the most that may arrive (docs/kraken-facts.md, 5). */
export const info = z.object({ method: z.string(), limit: signed, amount, fee: amount });

/** The tag is in `tag` or in `memo`, by source and by network (docs/kraken-facts.md, 4). */
export const addresses = z.array(
  z.object({
    address: name,
    asset: name,
    method: z.string(),
    key: name,
    tag: text,
    memo: text,
    verified: z.boolean().nullish(),
  }),
);

/** What the send of a withdrawal names besides its order: `quote` of the dialect. */
export const quote = z.object({ asset: name, label: name, address: name, max_fee: amount });

export const withdrawn = z.object({ refid: name });
export const cancelAccepted = z.boolean();
/** `amount` is what arrives, `fee` is on top of it (docs/kraken-facts.md, 5). */
export const withdrawal = z.object({
  refid: name,
  asset: name,
  network: text,
  info: text,
  amount,
  fee: amount,
  txid: text,
  time,
  status: z.string(),
  'status-prop': text,
  key: text,
});
export const deposit = z.object({
  refid: name,
  asset: name,
  info: text,
  amount,
  fee: amount.nullish(),
  txid: text,
  time,
  status: z.string(),
  'status-prop': text,
  originators: z.array(z.string()).nullish(),
});

/** Returns 0 for a negative figure, which is a debt: nothing of a debt can be withdrawn. */
export function notBelowZero(value: string): string {
  return compare(value, '0') <= 0 ? '0' : normalize(value);
}
