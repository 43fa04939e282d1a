/** Schemas of Binance's answers, strict wherever money depends on them. */
import { z } from 'zod';
import { compare, normalize } from '../../../domain/money.ts';
import { decimalText } from '../../../platform/amount.ts';

/** Binance sends amounts as texts; a JSON number would lose digits in parsing. */
export const amount = decimalText('must be a text with a decimal amount');
/** Binance sends ids as numbers, or as texts if large. */
export const id = z.union([z.string().min(1), z.number().int()]).transform(String);
const optionalText = z
  .string()
  .nullish()
  .transform((text) => (text == null || text === '' ? null : text));
const code = z.union([z.number(), z.string()]).transform(String);

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
export const withdrawals = z.array(
  z.object({
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
    transferType: z.number().int().nullish(),
  }),
);
export const deposits = z.array(
  z.object({
    id: id.nullish(),
    amount,
    coin: z.string().min(1),
    network: optionalText,
    status: code,
    txId: z.string(),
    insertTime: z.union([z.number(), z.string()]).transform(String),
  }),
);

export const transferred = z.object({ tranId: id });
export const transfers = z.object({
  result: z.array(
    z.object({
      tranId: id,
      clientTranId: optionalText,
      asset: z.string().min(1),
      amount,
      fromAccountType: z.string(),
      toAccountType: z.string(),
      fromEmail: z.string(),
      toEmail: z.string(),
      status: z.string(),
    }),
  ),
});
