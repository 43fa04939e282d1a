/** Moves funds between accounts of the paper venue. */
import { z } from 'zod';
import type {
  TransferAnswer,
  TransferOrder,
  TransferProvider,
} from '../../domain/capital-transfers/provider.ts';
import { ExecutorFault } from '../../domain/executor.ts';
import { compare, isDecimal } from '../../domain/money.ts';
import { rejected } from '../node-plan.ts';
import type { PaperVenue } from './config.ts';
import { createAsk, unreadable, type VenueAnswer } from './http.ts';

const TIMEOUT_SECONDS = 5;
const SETTLE_SECONDS = 1;
const POLL_SECONDS = 1;

/** Codes of final refusals: the venue has recorded that nothing is moved under the reference. */
const REFUSALS: readonly string[] = [
  'ACCOUNT_UNKNOWN',
  'ACCOUNT_TYPE_NOT_SUPPORTED',
  'ASSET_NOT_SUPPORTED',
  'AMOUNT_INVALID',
  'AMOUNT_PRECISION',
  'INSUFFICIENT_BALANCE',
  'TOPOLOGY_NOT_SUPPORTED',
];
const NONE = 'TRANSFER_UNKNOWN';

const recordSchema = z.object({
  client_reference: z.string(),
  transfer_id: z.string().min(1).nullable(),
  status: z.enum(['pending', 'completed', 'failed']),
  from_account: z.string(),
  from_account_type: z.string(),
  to_account: z.string(),
  to_account_type: z.string(),
  asset: z.string(),
  amount: z.string().refine(isDecimal, 'must be a decimal string'),
  error_code: z.string().min(1).nullable(),
  error_message: z.string().nullable(),
});
type TransferRecord = z.infer<typeof recordSchema>;
const errorSchema = z.object({
  detail: z.object({ error: z.string().min(1), message: z.string() }),
});

/**
 * Returns one provider for each paper venue; bindings with the same URL are accounts of one venue.
 */
export function createPaperTransfers(bindings: readonly PaperVenue[]): readonly TransferProvider[] {
  const scopes = [...new Set(bindings.map(scopeOf))];
  return scopes.map((scope) =>
    createProvider(
      scope,
      bindings.filter((binding) => scopeOf(binding) === scope),
    ),
  );
}

/** Returns the normalised URL, which identifies one paper venue. */
function scopeOf({ url }: PaperVenue): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}

function createProvider(scope: string, bindings: readonly PaperVenue[]): TransferProvider {
  const ask = createAsk(scope, TIMEOUT_SECONDS);
  return {
    provider: 'paper',
    scope,
    accounts: bindings.map(({ venue_key, account_role: role }) => ({
      venue_key,
      provider: 'paper',
      scope,
      role,
    })),
    same_key_safe: true,
    settle_seconds: SETTLE_SECONDS,
    timeout_seconds: TIMEOUT_SECONDS,
    in_process: true,
    submit: async (order, call) => {
      const body = requestOf(order, bindings);
      return readSubmit(await ask('/transfers', { body, call }), order, body);
    },
    find: async (order, call) => {
      const body = requestOf(order, bindings);
      return readFind(
        await ask(`/transfers/${encodeURIComponent(order.reference)}`, { call }),
        order,
        body,
      );
    },
  };
}

type Request = Omit<TransferRecord, 'transfer_id' | 'status' | 'error_code' | 'error_message'>;

function requestOf(order: TransferOrder, bindings: readonly PaperVenue[]): Request {
  const accountOf = (venueKey: string): string => {
    const binding = bindings.find(({ venue_key }) => venue_key === venueKey);
    if (binding === undefined)
      throw rejected('VENUE_NOT_BOUND', `${venueKey} is not bound to this venue`);
    return binding.account;
  };
  return {
    client_reference: order.reference,
    from_account: accountOf(order.source.venue_key),
    from_account_type: order.source.account_type,
    to_account: accountOf(order.destination.venue_key),
    to_account_type: order.destination.account_type,
    asset: order.asset,
    amount: order.amount,
  };
}

function readSubmit(
  { status, body }: VenueAnswer,
  order: TransferOrder,
  sent: Request,
): TransferAnswer {
  if (status < 300) return answerOf(readRecord(body), sent);
  const { error, message } = readError(status, body);
  if (status === 422 && REFUSALS.includes(error))
    return { status: 'failed', error_code: error, error_message: message };
  throw rejected(
    'PROVIDER_REJECTED',
    `the venue answered ${status} ${error} to ${order.reference}`,
  );
}

function readFind(
  { status, body }: VenueAnswer,
  order: TransferOrder,
  sent: Request,
): TransferAnswer | null {
  if (status < 300) return answerOf(readRecord(body), sent);
  const { error } = readError(status, body);
  if (status === 404 && error === NONE) return null;
  throw rejected(
    'PROVIDER_REJECTED',
    `the venue answered ${status} ${error} about ${order.reference}`,
  );
}

/**
 * Returns the transfer's state by its record.
 *
 * @throws ExecutorFault `TRANSFER_MISMATCH` for a record of another transfer.
 */
function answerOf(record: TransferRecord, sent: Request): TransferAnswer {
  if (!sameTransfer(record, sent))
    throw new ExecutorFault(
      'protocol',
      'TRANSFER_MISMATCH',
      `the venue has another transfer under ${sent.client_reference}`,
    );
  const id = record.transfer_id === null ? {} : { provider_transfer_id: record.transfer_id };
  switch (record.status) {
    case 'pending':
      return { status: 'pending', ...id, retry_after_seconds: POLL_SECONDS };
    case 'completed':
      return { status: 'completed', ...id };
    case 'failed':
      return {
        status: 'failed',
        ...id,
        error_code: record.error_code ?? 'TRANSFER_FAILED',
        error_message: record.error_message ?? 'the venue did not carry the transfer out',
      };
  }
}

function sameTransfer(record: TransferRecord, sent: Request): boolean {
  return (
    record.client_reference === sent.client_reference &&
    record.from_account === sent.from_account &&
    record.from_account_type === sent.from_account_type &&
    record.to_account === sent.to_account &&
    record.to_account_type === sent.to_account_type &&
    record.asset === sent.asset &&
    isDecimal(sent.amount) &&
    compare(record.amount, sent.amount) === 0
  );
}

function readRecord(body: unknown): TransferRecord {
  const parsed = recordSchema.safeParse(body);
  if (!parsed.success) throw unreadable('the answer is not a transfer record', parsed.error);
  return parsed.data;
}

function readError(
  status: number,
  body: unknown,
): { readonly error: string; readonly message: string } {
  const parsed = errorSchema.safeParse(body);
  if (!parsed.success)
    throw unreadable(`the venue answered ${status} without saying why`, parsed.error);
  return parsed.data.detail;
}
