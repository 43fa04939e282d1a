/** Schemas of Binance's answers, strict wherever money depends on them. */
import { z } from 'zod';
import { compare, normalize } from '../../../../domain/money.ts';
import { decimalText } from '../../../../platform/amount.ts';

/** Binance sends amounts as texts; a JSON number would lose digits in parsing. */
export const amount = decimalText('must be a text with a decimal amount');
/** Binance sends ids as numbers, or as texts if large. */
export const id = z.union([z.string().min(1), z.number().int()]).transform(String);
const optionalText = z
  .string()
  .nullish()
  .transform((text) => (text == null || text === '' ? null : text));
const code = z.union([z.number(), z.string()]).transform(String);
/** Binance's `2019-10-12 11:12:02`, which is UTC; parsed as ISO 8601. */
const utcTime = z
  .string()
  .regex(/^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}$/, 'must be a UTC time')
  .transform((text) => `${text.replace(' ', 'T')}.000Z`)
  .pipe(z.iso.datetime());
/**
 * Milliseconds since 1970; parsed as ISO 8601. A text is allowed, because the library turns every
 * number of an answer into a text when one of them exceeds 2^53. The bound is the last valid date.
 */
const time = z
  .union([z.number(), z.string().regex(/^[0-9]+$/, 'must be milliseconds')])
  .transform(Number)
  .pipe(z.number().int().positive().max(8_640_000_000_000_000))
  .transform((milliseconds) => new Date(milliseconds).toISOString());

export const errorBody = z.object({ code, msg: z.string().default('') });

export const serverTime = z.object({ serverTime: z.number().int().positive() });

export const spotAccount = z.object({
  balances: z.array(z.object({ asset: z.string().min(1), free: amount, locked: amount })),
});
export const fundingWallet = z.array(
  z.object({
    asset: z.string().min(1),
    free: amount,
    locked: amount,
    freeze: amount,
    withdrawing: amount,
  }),
);
const signed = z
  .string()
  .regex(/^-?(0|[1-9][0-9]{0,19})(\.[0-9]{1,18})?$/, 'must be a decimal amount');
export const futuresBalances = z.array(
  z.object({
    asset: z.string().min(1),
    balance: signed,
    availableBalance: signed,
    maxWithdrawAmount: signed,
  }),
);
export const subFutures = z.object({
  futureAccountResp: z.object({
    assets: z.array(
      z.object({ asset: z.string().min(1), walletBalance: signed, maxWithdrawAmount: signed }),
    ),
  }),
});
export const subSpot = z.object({
  balances: z.array(z.object({ asset: z.string().min(1), free: amount, locked: amount })),
});

export const restrictions = z.object({
  enableWithdrawals: z.boolean(),
  permitsUniversalTransfer: z.boolean().default(false),
});

/** Returns 0 for a negative figure, which is a debt: nothing of a debt can be withdrawn. */
export function notBelowZero(text: string): string {
  return compare(text, '0') <= 0 ? '0' : normalize(text);
}

/** Schema of a limit. Zero, an empty text or a missing field all mean that there is no limit. */
const limit = optionalText
  .pipe(amount.nullable())
  .transform((text) => (text === null || compare(text, '0') === 0 ? null : text));

/**
 * Hundreds of coins with their networks. Only the requested network is parsed strictly, so that one
 * unusual entry does not block all others.
 */
export const coins = z.array(
  z.object({ coin: z.string(), networkList: z.array(z.looseObject({ network: z.string() })) }),
);
export const network = z.object({
  withdrawEnable: z.boolean(),
  withdrawFee: amount,
  withdrawMin: amount,
  withdrawMax: limit,
  withdrawIntegerMultiple: limit,
  addressRegex: optionalText,
  memoRegex: optionalText,
});

/** What shows of a network that it pays out. */
export const payout = network.pick({ withdrawEnable: true });

export const addressBook = z.array(
  z.object({
    address: z.string().min(1),
    addressTag: optionalText,
    coin: optionalText,
    network: optionalText,
    whiteStatus: z.boolean(),
  }),
);

export const applied = z.object({ id });
const withdrawal = z.object({
  id,
  withdrawOrderId: optionalText,
  amount,
  transactionFee: amount,
  coin: z.string().min(1),
  status: code,
  address: z.string(),
  addressTag: optionalText,
  txId: optionalText,
  network: optionalText,
  transferType: code.nullish(),
});
export const withdrawals = z.array(withdrawal);
const deposit = z.object({
  id: id.nullish(),
  amount,
  coin: z.string().min(1),
  network: optionalText,
  status: code,
  txId: z.string(),
  insertTime: z.union([z.number(), z.string()]).transform(String),
});
export const deposits = z.array(deposit);

export const transferred = z.object({ tranId: id });
const transfer = z.object({
  tranId: id,
  clientTranId: optionalText,
  asset: z.string().min(1),
  amount,
  fromAccountType: z.string(),
  toAccountType: z.string(),
  fromEmail: z.string(),
  toEmail: z.string(),
  status: z.string(),
});
export const transfers = z.object({ result: z.array(transfer) });

/** The same records as in the searches by id, with what a complete list needs: id and time. */
export const withdrawalHistory = z.array(withdrawal.extend({ applyTime: utcTime }));
export const depositHistory = z.array(
  deposit.extend({ id, insertTime: time, address: optionalText, addressTag: optionalText }),
);
export const transferHistory = z.object({
  result: z.array(transfer.extend({ createTimeStamp: time })),
});
export const subAccounts = z.object({
  subAccounts: z.array(z.object({ email: z.string().min(1) })),
});
