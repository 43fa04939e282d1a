/**
 * The wire format between the service and the process that has the keys of exchange accounts: its
 * questions beside the six phases of an executor, and how it states a fault.
 */
import { z } from 'zod';
import type { FetchedBalances } from '../../../domain/balances.ts';
import type { TransferAnswer, TransferOrder } from '../../../domain/capital-transfers/provider.ts';
import { TRANSFER_ACCOUNT_TYPES } from '../../../domain/capital-transfers/topology.ts';
import {
  ExecutorFault,
  type ExecutorFaultKind,
  type ExecutorHealth,
} from '../../../domain/executor.ts';
import { DECIMAL_PATTERN } from '../../../domain/money.ts';
import { VENUE_RECORD_KINDS, type VenueRecord } from '../../../domain/reconcile/records.ts';
import { storable } from '../../../domain/text.ts';
import { jsonObject } from '../../../executors/json-object.ts';
import { RESPONSE_LIMIT_BYTES } from '../../../executors/remote-call.ts';
import { venueKeySchema } from '../../entry.ts';
import type { CcxtVenue } from '../config.ts';
import type { BookEntry, DepositRecord, Period } from '../dialect.ts';

/**
 * Header with the accounts that the caller means, each as {@link accountText} writes it, separated
 * by spaces. The two venues files must not call different accounts by one key: funds would leave or
 * reach another account than the one that was approved.
 */
export const ACCOUNTS_HEADER = 'x-exchange-accounts';

/** An account with its master's entry; a master's is its own, null: the master is not bound. */
export interface NamedAccount {
  readonly venue: CcxtVenue;
  readonly master: CcxtVenue | null;
}

/**
 * Returns all that must be the same in both venues files: which account it is, whose it is, and how
 * it is guarded. The text holds no space, and differs for any two accounts that differ in this.
 */
export function accountText({ venue, master }: NamedAccount): string {
  return [
    venue.venue_key,
    venue.exchange,
    venue.sandbox ? 'sandbox' : 'real',
    venue.account_role,
    venue.account,
    master?.venue_key ?? '',
    master?.account ?? '',
    venue.exclusive ? 'exclusive' : 'shared',
    venue.withdrawal_whitelist ? 'whitelist' : 'any-address',
  ]
    .map(encodeURIComponent)
    .join(':');
}

/** A question to the process, with the schemas of both sides. */
export interface Question<Request extends { readonly venue_key: string }, Answer> {
  readonly path: string;
  readonly request: z.ZodType<Request>;
  readonly answer: z.ZodType<Answer>;
  /** Largest answer in bytes; a longer one is a fault. */
  readonly limitBytes: number;
  /**
   * The question goes without `x-not-after`: a process whose clock is off would refuse it as late,
   * and its clock could not be measured.
   */
  readonly withoutNotAfter?: true;
}

const MIB = 1024 * 1024;
/** Code of a fault: the records of the period do not fit into one answer. */
export const RECORDS_TOO_MANY = 'RECORDS_TOO_MANY';

const words = (max: number) => z.string().max(max);
/** Stored, and so without what Postgres refuses. */
const name = z.string().regex(/^[^\p{Cc}\p{Surrogate}]{1,512}$/u);
/** An amount as exchanges show it; below zero: a debt. */
const figure = z.string().regex(/^-?\d{1,40}(\.\d{1,40})?$/, 'must be a decimal');
/** As large as its column. */
const quotaLeft = z.string().regex(/^\d{1,20}(\.\d{1,18})?$/, 'must be a decimal');
const time = z.iso.datetime({ offset: true });

const balances = z.object({
  pools: z
    .array(
      z.object({
        account_type: z.string().regex(/^[A-Z0-9_]{1,64}$/),
        asset: name,
        available: figure.nullable(),
        withdrawable: figure.nullable(),
        total: figure.nullable(),
        details: jsonObject({ maxBytes: 64 * 1024, maxDepth: 16 }).nullable(),
      }),
    )
    .max(20_000),
  outlook: z
    .object({
      quota: z.object({ left: quotaLeft, unit: name }).nullable(),
      closed: z
        .array(z.object({ asset: name, network: name.nullable(), opens_at: time.nullable() }))
        .max(20_000),
    })
    .nullable()
    // The pools must not be lost with an outlook that cannot be read.
    .catch(null),
}) satisfies z.ZodType<FetchedBalances>;

const transferEnd = z.object({
  venue_key: venueKeySchema,
  account_type: z.enum(TRANSFER_ACCOUNT_TYPES),
});
const order = z.object({
  reference: z.string().regex(/^[0-9a-f-]{32,36}$/i),
  source: transferEnd,
  destination: transferEnd,
  asset: name,
  amount: z.string().regex(DECIMAL_PATTERN, 'must be a decimal'),
  created_at: words(64),
  provider_transfer_id: name.exactOptional(),
}) satisfies z.ZodType<TransferOrder>;

const provider_transfer_id = name.exactOptional();
const transferAnswer = z.discriminatedUnion('status', [
  z.object({
    status: z.literal('pending'),
    provider_transfer_id,
    retry_after_seconds: z.number().min(0).max(86_400).exactOptional(),
  }),
  z.object({ status: z.literal('completed'), provider_transfer_id }),
  z.object({
    status: z.literal('failed'),
    provider_transfer_id,
    error_code: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$/),
    error_message: words(10_000).transform((text) => storable(text, 2_000)),
  }),
]) satisfies z.ZodType<TransferAnswer>;

const bookEntry = z.object({
  address: name,
  tag: words(512).nullable(),
  asset: name.nullable(),
  network: name.nullable(),
  whitelisted: z.boolean(),
}) satisfies z.ZodType<BookEntry>;

const text = words(1_024);
const record = z.object({
  kind: z.enum(VENUE_RECORD_KINDS),
  id: name,
  client_id: text.nullable(),
  at: time,
  status: z.enum(['pending', 'credited', 'completed', 'failed']),
  asset: name,
  amount: figure,
  fee: figure.nullable(),
  network: text.nullable(),
  address: text.nullable(),
  tag: text.nullable(),
  transaction: text.nullable(),
  source: text.nullable(),
  destination: text.nullable(),
}) satisfies z.ZodType<VenueRecord>;

const deposit = z.object({
  id: name,
  status: z.enum(['pending', 'credited', 'completed', 'failed']),
  exchange_status: text,
  asset: name,
  network: text.nullable(),
  amount: z.string().regex(DECIMAL_PATTERN, 'must be a decimal'),
  transaction: text,
}) satisfies z.ZodType<DepositRecord>;

interface OfVenue {
  readonly venue_key: string;
}
interface OfTransfer extends OfVenue {
  readonly order: TransferOrder;
}
interface OfRecords extends OfVenue {
  readonly period: Period;
}
/**
 * A transaction hash, or an exchange's id of a booking. It is sent unencoded, so it must not
 * be able to start another parameter.
 */
export const TRANSACTION_PATTERN = /^[A-Za-z0-9_-]{1,128}$/;

export interface OfDeposits extends OfVenue {
  readonly transaction: string;
  readonly asset: string;
  readonly period: Period;
}
const ofVenue = z.object({ venue_key: venueKeySchema });
const ofPeriod = z.object({ from: z.int(), to: z.int() });
const ofTransfer = ofVenue.extend({ order });
const instant = z.int().min(0).max(8_640_000_000_000_000);

function question<Request extends OfVenue, Answer>(
  path: string,
  request: z.ZodType<Request>,
  answer: z.ZodType<Answer>,
  limitBytes = RESPONSE_LIMIT_BYTES,
): Question<Request, Answer> {
  return { path, request, answer, limitBytes };
}

/** `venue_key` is the account; of a transfer the master of both ends. */
export const QUESTIONS = {
  balances: question<OfVenue, FetchedBalances>('balances', ofVenue, balances, 8 * MIB),
  submitTransfer: question<OfTransfer, { readonly answer: TransferAnswer }>(
    'transfers/submit',
    ofTransfer,
    z.object({ answer: transferAnswer }),
  ),
  /** `answer` is null: there is no record of this reference (yet). */
  findTransfer: question<OfTransfer, { readonly answer: TransferAnswer | null }>(
    'transfers/find',
    ofTransfer,
    z.object({ answer: transferAnswer.nullable() }),
  ),
  /** `entries` is null: the exchange has no call for its address book. */
  addressBook: question<OfVenue, { readonly entries: readonly BookEntry[] | null }>(
    'address-book',
    ofVenue,
    z.object({ entries: z.array(bookEntry).max(50_000).nullable() }),
    8 * MIB,
  ),
  /** All records of a period in milliseconds since 1970, both ends included. */
  records: question<OfRecords, { readonly records: readonly VenueRecord[] }>(
    'records',
    ofVenue.extend({ period: ofPeriod }),
    z.object({ records: z.array(record) }),
    16 * MIB,
  ),
  /** The deposits of an asset in one transaction. */
  deposits: question<OfDeposits, { readonly deposits: readonly DepositRecord[] }>(
    'deposits',
    ofVenue.extend({
      transaction: z.string().regex(TRANSACTION_PATTERN),
      asset: name,
      period: ofPeriod,
    }),
    z.object({ deposits: z.array(deposit).max(10_000) }),
    8 * MIB,
  ),
  /** The exchange's time and, read right afterwards, that of the process, in milliseconds. */
  clock: {
    ...question<OfVenue, { readonly exchange: number; readonly process: number }>(
      'clock',
      ofVenue,
      z.object({ exchange: instant, process: instant }),
    ),
    withoutNotAfter: true,
  },
} as const;

/**
 * The answer to a preflight that passed. Not a 204, as of a team's executor, which a proxy may
 * answer too.
 */
export const PASSED = { passed: true } as const;
export const passedSchema = z.strictObject({ passed: z.literal(true) });

/** The answer to `GET executors/<executor_key>/health`. */
export const healthSchema = z.object({
  state: z.enum(['up', 'down', 'unknown']),
  detail: words(10_000)
    .transform((detail) => storable(detail, 2_000))
    .exactOptional(),
}) satisfies z.ZodType<ExecutorHealth>;

const KINDS = [
  'timeout',
  'unreachable',
  'rejected',
  'server_error',
  'protocol',
  'not_yet',
] as const satisfies readonly ExecutorFaultKind[];

const statedSchema = z.object({
  fault: z.object({
    kind: z.enum(KINDS),
    code: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$/),
    message: words(10_000),
    retry_after_seconds: z.number().min(0).max(86_400).exactOptional(),
  }),
});

/** Statuses with which the process states a fault; a refusal has one of its own. */
const REFUSED = 422;
const NOT_DONE = 503;

/** Returns the status and the body with which the process states the fault. */
export function statedFault({ kind, code, message, retryAfterSeconds }: ExecutorFault): {
  readonly status: number;
  readonly body: z.input<typeof statedSchema>;
} {
  return {
    status: kind === 'rejected' ? REFUSED : NOT_DONE,
    body: {
      fault: {
        kind,
        code,
        message: storable(message, 2_000),
        ...(retryAfterSeconds === undefined ? {} : { retry_after_seconds: retryAfterSeconds }),
      },
    },
  };
}

/**
 * Returns the fault that an answer states; null if it states none, and so proves nothing. Status
 * and kind must agree: a refusal proves that nothing was done.
 */
export function readStatedFault(status: number, body: unknown): ExecutorFault | null {
  const parsed = statedSchema.safeParse(body);
  if (!parsed.success) return null;
  const { kind, code, message, retry_after_seconds: after } = parsed.data.fault;
  if (status !== (kind === 'rejected' ? REFUSED : NOT_DONE)) return null;
  return new ExecutorFault(kind, code, storable(message, 2_000), {
    ...(after === undefined ? {} : { retryAfterSeconds: after }),
  });
}
