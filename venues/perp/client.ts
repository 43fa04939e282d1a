/**
 * Calls the perps venue over HTTP. Reads use the client library, but our own schemas parse the
 * answers, since the library accepts every answer of status 200. Actions are sent as the stored
 * bytes, once for each call; the caller decides whether to send the same bytes again.
 * Source: docs/perps-venue-facts.md 1.4, 2, 4.
 */
import { HyperliquidError, InfoClient, type IRequestTransport } from '@nktkas/hyperliquid';
import { Agent } from 'undici';
import { z } from 'zod';
import { ExecutorFault, type CallOptions, type SendOptions } from '../../domain/executor.ts';
import { isDecimal } from '../../domain/money.ts';
import { callOnce, CallError, type OutgoingAnswer } from '../../platform/outgoing/call.ts';
import type { PerpVenue } from './config.ts';
import {
  FRESH_MS,
  RATE_LIMITED,
  sharedLedger,
  type LedgerRead,
  type LedgerRow,
} from './shared-ledger.ts';

const TIMEOUT_MS = 10_000;
const LIMIT_BYTES = 4_194_304;

/**
 * The venue's answer to an action. `applied`: the action was carried out now. `used`: its nonce is
 * used, so the action was carried out or refused before. `refused`: `proves` is true for a known
 * text, so this call had no effect; `consumed` is true when the refusal also used the nonce, so the
 * same bytes can never be carried out.
 */
export type PerpAnswer =
  | { readonly kind: 'applied' }
  | { readonly kind: 'used'; readonly message: string }
  | {
      readonly kind: 'refused';
      readonly proves: boolean;
      readonly consumed: boolean;
      readonly message: string;
    };

export interface PerpAccountState {
  /** Decimal in units of the asset, may be negative; so is `withdrawable`. */
  readonly account_value: string;
  readonly withdrawable: string;
  readonly open_positions: number;
}

/** Returns the amount, or 0 for a negative one, which is a debt and counts as no balance. */
export function atLeastZero(amount: string): string {
  return amount.startsWith('-') ? '0' : amount;
}

export interface ListedAgent {
  readonly name: string;
  /** The agent's address, in lower case. */
  readonly address: string;
  /** Expiry of the agent's approval, in milliseconds since 1970. */
  readonly valid_until: number;
}

export type PerpRole =
  | { readonly role: 'user' | 'missing' | 'vault' }
  | { readonly role: 'agent' | 'subAccount'; readonly master: string };

export interface LedgerLook {
  /** Returns whether the row is the wanted one: the read stops after the page that contains it. */
  readonly isWanted?: (row: LedgerRow) => boolean;
  /** Accepts a recent read by another caller (shared-ledger.ts). */
  readonly shared?: boolean;
}

/**
 * Calls of the venue. Every call throws a retryable `ExecutorFault` if the answer is not readable.
 */
export interface PerpClient {
  /** Sends the request body once, and nothing after the last moment of `call`. */
  send(body: string, call: SendOptions): Promise<PerpAnswer>;
  /** Returns the account's rows since a time (milliseconds since 1970), oldest first. */
  ledger(
    user: string,
    since: number,
    call: CallOptions,
    how?: LedgerLook,
  ): Promise<readonly LedgerRow[]>;
  state(user: string, call: CallOptions): Promise<PerpAccountState>;
  /** Returns the venue's own time, in milliseconds since 1970. */
  time(call: CallOptions): Promise<number>;
  agents(master: string, call: CallOptions): Promise<readonly ListedAgent[]>;
  role(user: string, call: CallOptions): Promise<PerpRole>;
  /** Returns the account's mode: only `default` and `disabled` keep perps funds apart. */
  mode(user: string, call: CallOptions): Promise<string>;
  /**
   * Returns the names of the deposit and withdrawal rails; null if the venue does not report them.
   */
  rails(
    call: CallOptions,
  ): Promise<{ readonly deposit: string; readonly withdrawal: string } | null>;
  close(): Promise<void>;
}

const decimal = z
  .string()
  .regex(/^-?[0-9]{1,20}(\.[0-9]{1,30})?$/)
  .transform(toVenueDecimals)
  .refine((text) => isDecimal(text.replace(/^-/, '')), 'must be a decimal');
const lowerAddress = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .toLowerCase();
const milliseconds = z.int().min(0);

const stateSchema = z.object({
  marginSummary: z.object({ accountValue: decimal }),
  withdrawable: decimal,
  assetPositions: z.array(z.unknown()),
});
const statusSchema = z.object({ time: milliseconds });
const rowsSchema = z.array(
  z.object({
    time: milliseconds,
    hash: z.string(),
    delta: z.looseObject({ type: z.string() }),
  }),
);
const agentsSchema = z
  .array(z.object({ name: z.string(), address: lowerAddress, validUntil: milliseconds }))
  .nullable();
const roleSchema = z.discriminatedUnion('role', [
  z.object({ role: z.enum(['user', 'missing', 'vault']) }),
  z.object({ role: z.literal('agent'), data: z.object({ user: lowerAddress }) }),
  z.object({ role: z.literal('subAccount'), data: z.object({ master: lowerAddress }) }),
]);
const routingSchema = z.object({ depositRoute: z.string(), withdrawalRoute: z.string() });
const answerSchema = z.discriminatedUnion('status', [
  z.object({ status: z.literal('ok'), response: z.looseObject({ type: z.string() }) }),
  z.object({ status: z.literal('err'), response: z.string() }),
]);

/** Most rows in one answer. Source: DOC:info-endpoint, pagination. */
const PAGE = 500;
const MOST_PAGES = 20;

/** Creates the client. `freshMs`: maximum age of another caller's ledger read, in milliseconds. */
export function createPerpClient(
  { url }: Pick<PerpVenue, 'url'>,
  { freshMs = FRESH_MS } = {},
): PerpClient {
  const dispatcher = new Agent({ pipelining: 0 });
  const base = url.replace(/\/+$/, '');
  const post = async (
    path: 'info' | 'exchange',
    body: string,
    call: CallOptions,
  ): Promise<unknown> => {
    const answer = await callOnce({
      method: 'POST',
      url: `${base}/${path}`,
      headers: { ...call.traceHeaders },
      body,
      timeoutMs: TIMEOUT_MS,
      limitBytes: LIMIT_BYTES,
      dispatcher,
      limits: call,
    }).catch((error: unknown) => {
      if (!(error instanceof CallError)) throw error;
      const kind =
        error.problem === 'timeout' || error.problem === 'aborted' ? 'timeout' : 'unreachable';
      throw new ExecutorFault(kind, 'VENUE_UNREACHABLE', `the perps venue: ${error.message}`, {
        cause: error,
      });
    });
    return read(path, answer);
  };
  const ask = async <T>(
    schema: z.ZodType<T>,
    call: CallOptions,
    question: (client: InfoClient) => Promise<unknown>,
  ): Promise<T> => {
    const client = new InfoClient({ transport: transportOf(post, call) });
    const answer = await question(client).catch((error: unknown) => {
      if (error instanceof ExecutorFault || !(error instanceof HyperliquidError)) throw error;
      throw odd(`the client library failed: ${error.message}`, error);
    });
    const parsed = schema.safeParse(answer);
    if (!parsed.success) throw odd('the answer has an unexpected shape');
    return parsed.data;
  };
  const readLedger = async (
    user: string,
    since: number,
    call: CallOptions,
    isWanted: (row: LedgerRow) => boolean,
  ): Promise<LedgerRead> => {
    const rows: LedgerRow[] = [];
    const seen = new Set<string>();
    let startTime = since;
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const answer = await ask(rowsSchema, call, (client) =>
        client.userNonFundingLedgerUpdates({ user: hex(user), startTime }),
      );
      const fresh = answer.filter((row) => {
        const id = JSON.stringify([row.time, row.hash, row.delta]);
        return !seen.has(id) && seen.add(id);
      });
      rows.push(...fresh);
      const last = answer.at(-1);
      // The documentation gives two page sizes, so only a page without new rows is surely the last
      // one.
      if (last === undefined || fresh.length === 0 || answer.length < PAGE / 2)
        return { rows, whole: true };
      if (fresh.some(isWanted)) return { rows, whole: false };
      startTime = last.time;
    }
    throw odd('the ledger has more rows than one call may read');
  };
  const readShared = sharedLedger(readLedger, freshMs);
  return {
    async send(body, call) {
      const parsed = answerSchema.safeParse(await post('exchange', body, call));
      if (!parsed.success) throw odd('the answer to an action has an unexpected shape');
      return parsed.data.status === 'ok' ? { kind: 'applied' } : refusalOf(parsed.data.response);
    },
    async ledger(user, since, call, { isWanted = () => false, shared = false } = {}) {
      const from = Math.max(0, since);
      if (shared) return readShared(user, from, call, isWanted);
      return (await readLedger(user, from, call, isWanted)).rows;
    },
    async state(user, call) {
      const state = await ask(stateSchema, call, (client) =>
        client.clearinghouseState({ user: hex(user) }),
      );
      return {
        account_value: state.marginSummary.accountValue,
        withdrawable: state.withdrawable,
        open_positions: state.assetPositions.length,
      };
    },
    async time(call) {
      return (await ask(statusSchema, call, (client) => client.exchangeStatus())).time;
    },
    async agents(master, call) {
      const agents = await ask(agentsSchema, call, (client) =>
        client.extraAgents({ user: hex(master) }),
      );
      return (agents ?? []).map(({ name, address, validUntil }) => ({
        name,
        address,
        valid_until: validUntil,
      }));
    },
    async role(user, call) {
      const answer = await ask(roleSchema, call, (client) => client.userRole({ user: hex(user) }));
      if (answer.role === 'agent') return { role: 'agent', master: answer.data.user };
      if (answer.role === 'subAccount') return { role: 'subAccount', master: answer.data.master };
      return { role: answer.role };
    },
    mode: (user, call) =>
      ask(z.string(), call, (client) => client.userAbstraction({ user: hex(user) })),
    async rails(call) {
      const question = JSON.stringify({ type: 'usdcRouting' });
      const answer = await post('info', question, call).catch((error: unknown) => {
        // The request type is not documented, so the venue may not support it.
        if (error instanceof UnknownQuestion) return undefined;
        throw error;
      });
      if (answer === undefined) return null;
      const parsed = routingSchema.safeParse(answer);
      if (!parsed.success) throw odd('the answer about rails has an unexpected shape');
      return { deposit: parsed.data.depositRoute, withdrawal: parsed.data.withdrawalRoute };
    },
    close: () => dispatcher.close(),
  };
}

/** Thrown when the venue does not support a request type. */
class UnknownQuestion extends ExecutorFault {}

/** Seconds to wait after a 429 without `Retry-After`. */
const BACK_OFF_SECONDS = 15;

/**
 * Returns the body of an answer of status 200; throws on every other status, which leaves the
 * outcome of a call open.
 */
function read(path: 'info' | 'exchange', { status, headers, body }: OutgoingAnswer): unknown {
  // For reads only: a 429 to an action leaves open whether the action was carried out.
  if (status === 429 && path === 'info') {
    const after = Number(headers['retry-after'] ?? Number.NaN);
    throw new ExecutorFault('not_yet', RATE_LIMITED, 'the perps venue rate-limits us', {
      retryAfterSeconds: after > 0 && after <= 300 ? after : BACK_OFF_SECONDS,
    });
  }
  if (status === 422)
    throw new UnknownQuestion('protocol', 'VENUE_ANSWER_INVALID', 'the perps venue answered 422');
  if (status !== 200)
    throw new ExecutorFault(
      'server_error',
      'VENUE_UNAVAILABLE',
      `the perps venue answered ${String(status)}`,
    );
  try {
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch (error) {
    throw odd('the answer is not JSON', error);
  }
}

/** Adapter: runs the client library's reads over our HTTP client. */
function transportOf(
  post: (path: 'info' | 'exchange', body: string, call: CallOptions) => Promise<unknown>,
  call: CallOptions,
): IRequestTransport {
  return {
    isTestnet: false,
    async request<T>(endpoint: 'info' | 'exchange' | 'explorer', payload: unknown): Promise<T> {
      if (endpoint !== 'info') throw new Error('only reads go through the client library');
      return (await post('info', JSON.stringify(payload), call)) as T;
    },
  };
}

/**
 * Texts of refusals that have used the nonce, so the same bytes can never be carried out. Source:
 * docs/perps-venue-facts.md 1.4, the order of checks and the texts that were seen.
 */
const AFTER_THE_NONCE: readonly RegExp[] = [
  /^insufficient /i,
  /amount cannot be zero/i,
  /^withdrawal amount must/i,
  /^error withdrawing from bridge/i,
  /^action disabled when unified account/i,
  /^unified account only supports/i,
  /^invalid send/i,
  /^invalid sub-account transfer/i,
  /^unknown token/i,
  /^invalid perp dex/i,
  /^invalid decimal number/i,
  /^invalid number of decimals/i,
  /^too many extra agents/i,
  /^extra agent already used/i,
  /^user has pending agent removal/i,
  /valid_until already expired/i,
];

/**
 * Texts of refusals that come before the nonce check, or from the nonce check: this call had no
 * effect. An earlier call with the same bytes may have had one. Source: docs/perps-venue-facts.md
 * 1.4.
 */
const BEFORE_THE_NONCE: readonly RegExp[] = [
  /^nonce mismatch/i,
  /^unable to recover signer/i,
  /^must deposit before performing actions/i,
  /^(?:l1 error: )?user or api wallet 0x[0-9a-f]{40} does not exist/i,
  /^vault may not perform this action/i,
  /^action does not support expires_after/i,
  /^invalid nonce: nonce too low/i,
  /^too many cumulative requests sent/i,
];

function refusalOf(text: string): PerpAnswer {
  const message = text.slice(0, 500);
  if (/^invalid nonce: duplicate nonce/i.test(text)) return { kind: 'used', message };
  const among = (list: readonly RegExp[]): boolean => list.some((each) => each.test(text));
  const consumed = among(AFTER_THE_NONCE);
  return { kind: 'refused', proves: consumed || among(BEFORE_THE_NONCE), consumed, message };
}

/**
 * Returns the number cut to the venue's decimals: account states carry rounding noise (facts 4).
 */
function toVenueDecimals(text: string): string {
  const [, sign = '', whole = '0', part = ''] = /^(-?)0*([0-9]+?)(?:\.([0-9]+))?$/.exec(text) ?? [];
  const cut = part.slice(0, 6).replace(/0+$/, '');
  const digits = cut === '' ? whole : `${whole}.${cut}`;
  return digits === '0' ? '0' : `${sign}${digits}`;
}

function hex(address: string): `0x${string}` {
  return address.toLowerCase() as `0x${string}`;
}

function odd(message: string, cause?: unknown): ExecutorFault {
  return new ExecutorFault('protocol', 'VENUE_ANSWER_INVALID', `the perps venue: ${message}`, {
    cause,
  });
}
