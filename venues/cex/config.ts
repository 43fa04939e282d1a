/** Schemas of an exchange account's venue entry and of the configs of its nodes. */
import { z } from 'zod';
import { TRANSFER_ACCOUNT_TYPES } from '../../domain/capital-transfers/topology.ts';
import { decimalText } from '../../platform/amount.ts';
import { venueKeySchema, venueQueueSchema } from '../entry.ts';
import { BALANCE_ACCOUNT_TYPES, type BalanceAccountType } from './dialect.ts';
import { DIALECTS } from './dialects/index.ts';

/** Requests carry API keys and signatures, so plain http is allowed only to this machine. */
const baseUrl = z.string().refine((text) => {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (
    url === null ||
    url.username !== '' ||
    url.password !== '' ||
    url.search !== '' ||
    url.hash !== ''
  )
    return false;
  return (
    url.protocol === 'https:' ||
    (url.protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname))
  );
}, 'must be an https URL, or an http URL of this machine, without user, query and fragment');

/** Fault of a field that only the process with an account's keys reads. */
export const BELONGS_TO_PROCESS =
  'must not be here: it counts in the venues file of the process that has the keys';

/** A `ccxt` entry of the venues file: one entry for each account of an exchange. */
export const ccxtVenueSchema = z
  .strictObject({
    venue_key: venueKeySchema,
    provider: z.literal('ccxt'),
    /** The exchange's id in ccxt. */
    exchange: z
      .string()
      .refine((id) => DIALECTS.has(id), `must be ${[...DIALECTS.keys()].join(', ')}`),
    account_role: z.enum(['master', 'sub']),
    /** The account's name at the exchange. */
    account: z
      .string()
      .regex(/^[\x21-\x7e]{1,254}$/, 'must be 1 to 254 printable characters without spaces'),
    /**
     * Path, relative to the venues file. Optional for a sub-account with a master; without the file
     * the account can be read and topped up, but cannot withdraw.
     */
    credentials_file: z.string().min(1).max(4096).optional(),
    /**
     * The process that has the account's keys, and those of its sub-accounts, in place of
     * `credentials_file` (docs/decisions/0134-keys-apart.md). The path is relative to the venues
     * file.
     */
    served_at: z
      .strictObject({ url: baseUrl, auth_token_file: z.string().min(1).max(4096) })
      .optional(),
    /** The `venue_key` of this sub-account's master. */
    master: venueKeySchema.optional(),
    sandbox: z.boolean().default(false),
    /** Replaces the exchange's hosts, for proxies and tests. */
    base_url: baseUrl.optional(),
    /**
     * Pools whose balances are fetched; by default all pools that the exchange shows with this key.
     */
    account_types: z.array(z.enum(BALANCE_ACCOUNT_TYPES)).min(1).optional(),
    /**
     * Whether this service alone withdraws from the account. Only then may a new record prove a
     * withdrawal at an exchange that stores no id of ours.
     */
    exclusive: z.boolean().default(false),
    /** Whether a withdrawal must go to an address that the exchange's address book whitelists. */
    withdrawal_whitelist: z.boolean().default(true),
    fetch_interval_seconds: z.number().positive().max(86_400).optional(),
    queue: venueQueueSchema.optional(),
    timeout_seconds: z.number().positive().max(60).default(10),
  })
  .superRefine((venue, context) => {
    const fault = (path: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [path], message });
    if (venue.account_role === 'master' && venue.master !== undefined)
      fault('master', 'is for sub-accounts only');
    const isServed = venue.served_at !== undefined;
    if (venue.credentials_file === undefined && !isServed && venue.master === undefined)
      fault('credentials_file', 'is needed without a master');
    if (isServed && venue.credentials_file !== undefined)
      fault('credentials_file', 'must not be here: the process of served_at has the keys');
    if (isServed && venue.master !== undefined)
      fault('served_at', 'must not be here: a sub-account is served where its master is');
    // What has no effect must not look as if it had one.
    for (const field of ['base_url', 'account_types'] as const)
      if (isServed && venue[field] !== undefined) fault(field, BELONGS_TO_PROCESS);
    const dialect = DIALECTS.get(venue.exchange);
    const problem = dialect?.accountFault(venue.account, venue.account_role);
    if (problem != null) fault('account', problem);
    if (venue.sandbox && dialect?.sandbox_fault !== undefined)
      fault('sandbox', dialect.sandbox_fault);
    // What is not checked must not look as if it were.
    const isChecked = dialect?.addressBook !== undefined || dialect?.book_enforced === true;
    if (dialect !== undefined && venue.withdrawal_whitelist && !isChecked)
      fault('withdrawal_whitelist', 'must be false: the exchange shows no address book');
    const known = accountTypes(venue);
    for (const [index, type] of (venue.account_types ?? []).entries()) {
      if (known.includes(type)) continue;
      const message = `${venue.exchange} does not show ${type} with the key of this binding`;
      context.addIssue({ code: 'custom', path: ['account_types', index], message });
    }
  })
  .transform((venue) => ({ ...venue, account_types: venue.account_types ?? accountTypes(venue) }));

/**
 * Returns the pools that the exchange shows: more with an account's own key than with its master's.
 */
export function accountTypes(venue: {
  readonly exchange: string;
  readonly credentials_file?: string | undefined;
  readonly served_at?: object | undefined;
}): readonly BalanceAccountType[] {
  const types = DIALECTS.get(venue.exchange)?.account_types;
  const hasKey = venue.credentials_file !== undefined || venue.served_at !== undefined;
  return (hasKey ? types?.own : types?.sub) ?? [];
}

export type CcxtVenue = z.output<typeof ccxtVenueSchema>;

/**
 * Returns a schema of text that needs no encoding. The exchange signs and reads some requests
 * without percent-encoding, so no value may end a parameter and start another.
 */
const plainText = (max: number) =>
  z
    .string()
    .regex(
      new RegExp(`^[A-Za-z0-9._:-]{1,${String(max)}}$`),
      `must be 1 to ${String(max)} of letters, digits and . _ : -`,
    );

/**
 * A network as the exchange names it. Some names hold single spaces, which end no parameter either.
 */
const networkName = z
  .string()
  .max(64)
  .regex(
    /^[A-Za-z0-9._:()-]+(?: [A-Za-z0-9._:()-]+)*$/,
    'must be letters, digits and . _ : - ( ), with single spaces between',
  );

/** Not strict: node configs also carry keys for other readers, such as labels. */
export const withdrawalConfigSchema = z.object({
  venue: venueKeySchema,
  network: networkName,
  destination_address: plainText(256),
  tag: plainText(128).optional(),
  /** The most that the exchange's fee may be, in units of the asset. */
  fee_limit: decimalText('must be a text with a decimal amount').optional(),
});
export type WithdrawalConfig = z.output<typeof withdrawalConfigSchema>;

const accountType = z.string().toUpperCase().pipe(z.enum(TRANSFER_ACCOUNT_TYPES));

export const internalTransferConfigSchema = z.object({
  venue: venueKeySchema,
  account_type: accountType.default('SPOT'),
  destination_venue: venueKeySchema,
  destination_account_type: accountType.default('SPOT'),
});
export type InternalTransferConfig = z.output<typeof internalTransferConfigSchema>;

export const depositObserveConfigSchema = z.object({
  venue: venueKeySchema,
  match_from: z.string().min(1).max(128),
});
export type DepositObserveConfig = z.output<typeof depositObserveConfigSchema>;
