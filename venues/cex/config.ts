/** What a binding of an exchange account and the configs of its nodes look like. */
import { z } from 'zod';
import { TRANSFER_ACCOUNT_TYPES } from '../../domain/capital-transfers/topology.ts';
import { venueKeySchema } from '../entry.ts';
import { BALANCE_ACCOUNT_TYPES, type BalanceAccountType } from './dialect.ts';
import { DIALECTS } from './dialects/index.ts';

/** Keys and signatures go there, so plain http is for this machine alone. */
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

/** A `ccxt` entry of the venues file: one for each account of an exchange. */
export const ccxtVenueSchema = z
  .strictObject({
    venue_key: venueKeySchema,
    provider: z.literal('ccxt'),
    /** The library's id of the exchange. */
    exchange: z
      .string()
      .refine((id) => DIALECTS.has(id), `must be ${[...DIALECTS.keys()].join(', ')}`),
    account_role: z.enum(['master', 'sub']),
    /** The exchange's own name of the account. */
    account: z
      .string()
      .regex(/^[\x21-\x7e]{1,254}$/, 'must be 1 to 254 printable characters without spaces'),
    /**
     * Relative to the venues file. A sub-account with a master may do without; it can then be read
     * and topped up, but not withdraw.
     */
    credentials_file: z.string().min(1).max(4096).optional(),
    /** The `venue_key` of the account that this one is a sub-account of. */
    master: venueKeySchema.optional(),
    sandbox: z.boolean().default(false),
    /** Replaces the exchange's hosts, for proxies and tests. */
    base_url: baseUrl.optional(),
    /**
     * Pools that balances are fetched of; by default all that the exchange tells of with the key at
     * hand.
     */
    account_types: z.array(z.enum(BALANCE_ACCOUNT_TYPES)).min(1).optional(),
    /**
     * Whether a withdrawal must go to an address that the exchange's own book holds as whitelisted.
     */
    withdrawal_whitelist: z.boolean().default(true),
    fetch_interval_seconds: z.number().positive().max(86_400).optional(),
    timeout_seconds: z.number().positive().max(60).default(10),
  })
  .superRefine((venue, context) => {
    const fault = (path: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [path], message });
    if (venue.account_role === 'master' && venue.master !== undefined)
      fault('master', 'is for sub-accounts only');
    if (venue.credentials_file === undefined && venue.master === undefined)
      fault('credentials_file', 'is needed without a master');
    const told = DIALECTS.get(venue.exchange)?.accountFault(venue.account, venue.account_role);
    if (told != null) fault('account', told);
    const known = accountTypes(venue);
    for (const [index, type] of (venue.account_types ?? []).entries()) {
      if (known.includes(type)) continue;
      const message = `${venue.exchange} does not tell of ${type} with the key of this binding`;
      context.addIssue({ code: 'custom', path: ['account_types', index], message });
    }
  })
  .transform((venue) => ({ ...venue, account_types: venue.account_types ?? accountTypes(venue) }));
/** What the exchange tells of: more with an account's own key than with its master's. */
function accountTypes(venue: {
  readonly exchange: string;
  readonly credentials_file?: string | undefined;
}): readonly BalanceAccountType[] {
  const types = DIALECTS.get(venue.exchange)?.account_types;
  return (venue.credentials_file === undefined ? types?.sub : types?.own) ?? [];
}

export type CcxtVenue = z.output<typeof ccxtVenueSchema>;

/**
 * The exchange signs and reads some requests without percent-encoding, so what goes there must not
 * be able to end a parameter and begin another.
 */
const plainText = (max: number) =>
  z
    .string()
    .regex(
      new RegExp(`^[A-Za-z0-9._:-]{1,${String(max)}}$`),
      `must be 1 to ${String(max)} of letters, digits and . _ : -`,
    );

/**
 * Node configs carry keys for others too (amount, labels), so these schemas read only their own.
 */
export const withdrawalConfigSchema = z.object({
  venue: venueKeySchema,
  network: plainText(32),
  destination_address: plainText(256),
  chain_id: z.number().int().positive().optional(),
  tag: plainText(128).optional(),
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
