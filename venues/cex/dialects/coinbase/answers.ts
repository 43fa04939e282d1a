/**
 * Schemas of Coinbase's answers, strict wherever money depends on them. Numbers come as numbers or
 * as texts, amounts always as texts, and an answer may hold warnings beside `data`
 * (docs/coinbase-facts.md, 1).
 */
import { z } from 'zod';
import { normalize } from '../../../../domain/money.ts';
import { decimalText } from '../../../../platform/amount.ts';
import type { Schema } from '../../answers.ts';

const name = z.string().min(1);
const text = z
  .string()
  .nullish()
  .transform((value) => (value == null || value === '' ? null : value));
const amount = decimalText('must be a text with a decimal amount');
/** What leaves an account has a minus. */
const signed = z
  .string()
  .regex(/^-?(0|[1-9][0-9]{0,19})(\.[0-9]{1,18})?$/, 'must be a signed decimal text')
  .transform(normalize);
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** ISO 8601 with `Z` or an offset; parsed as milliseconds since 1970. */
const time = z.iso.datetime({ offset: true }).transform((value) => Date.parse(value));

/** The first form of errors, of v2. */
export const errors = z.object({ errors: z.array(z.object({ id: name, message: text })) });
/** The second form, of v3. */
export const error = z.object({ error: name, message: text, error_details: text });

const answer = z.object({ data: z.unknown() });

/** Returns the schema of an answer of v2 with such data. */
export function dataOf<T>(data: Schema<T>): Schema<T> {
  return { parse: (value) => data.parse(answer.parse(value).data) };
}

/** A page of a list of v2. */
export interface Page<T> {
  readonly records: readonly T[];
  /**
   * The id after which the next page starts; null: this is the last page; undefined: the page does
   * not say.
   */
  readonly next: string | null | undefined;
}

const listed = z.object({
  data: z.array(z.unknown()),
  pagination: z.object({ next_uri: z.string().nullish() }).nullish(),
});
/** A cursor is put into a URL again, so it may hold nothing that ends a parameter. */
const cursor = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be a plain cursor');

/** Returns the schema of a page of such records. */
export function pageOf<T>(record: Schema<T>): Schema<Page<T>> {
  return {
    parse(value) {
      const { data, pagination } = listed.parse(value);
      const next = nextOf(pagination?.next_uri);
      return { records: data.map((each) => record.parse(each)), next };
    },
  };
}

/** A URL of an answer is never called: only its cursor is used (10). */
function nextOf(uri: string | null | undefined): Page<never>['next'] {
  if (uri == null) return uri;
  if (uri === '') return null;
  return cursor.parse(/[?&]starting_after=([^&]*)/.exec(uri)?.[1]);
}

export const serverTime = z.object({
  epochMillis: z
    .union([z.string().regex(/^[0-9]{1,16}$/, 'must be milliseconds'), z.number()])
    .transform(Number)
    .pipe(z.number().int().positive().max(8_640_000_000_000_000)),
});

export const keyPermissions = z.object({
  can_view: z.unknown().optional(),
  can_transfer: z.unknown().optional(),
  portfolio_type: text,
});

/**
 * An account of one asset. There are hundreds, so the asset is parsed strictly only where it is
 * used: one unusual account must not block all others.
 */
export const account = z.object({
  id: name,
  type: text,
  currency: z.unknown().optional(),
  allow_withdrawals: z.unknown().optional(),
});
export const code = z.object({ code: name });
export const currency = z.object({
  code: name,
  exponent: z
    .union([z.string().regex(/^[0-9]{1,2}$/, 'must be a number of decimals'), z.number()])
    .transform(Number)
    .pipe(z.number().int().min(0).max(18)),
  address_regex: text,
  destination_tag_regex: text,
});

const value = z.object({ value: signed, currency: name });
export const balance = z.object({
  uuid: name,
  currency: name,
  available_balance: value,
  hold: value,
});
export const balances = z.object({
  accounts: z.array(balance),
  has_next: z.boolean(),
  cursor: text,
});

/** What the send of a withdrawal names besides its order: `quote` of the dialect. */
export const quote = z.object({ account: z.string().regex(UUID, 'must be a UUID'), amount });

const money = z.object({ amount: signed, currency: name });
/**
 * A record of the only history, which holds everything. `network` and `to` are parsed strictly
 * where they are used: records of trades and of older forms must not block a search.
 */
export const transaction = z.object({
  id: name,
  type: z.string(),
  status: z.string(),
  idem: text,
  amount: money,
  created_at: time,
  network: z.unknown().optional(),
  to: z.unknown().optional(),
});
/** `name` in records before 2024-03-31, `network_name` since then (10). */
export const network = z
  .object({
    status: text,
    hash: text,
    name: text,
    network_name: text,
    transaction_fee: money.nullish(),
    transaction_amount: money.nullish(),
  })
  .nullish();
/** A user of Coinbase has no address here. */
export const to = z.object({ address: text }).nullish();

/** Returns whether an account's id is one: an account that was never used has its asset's code. */
export function isUuid(id: string): boolean {
  return UUID.test(id);
}
