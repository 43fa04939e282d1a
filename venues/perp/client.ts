/**
 * The perps venue over HTTP. Reads use the client library, but our own schemas parse the answers,
 * since the library believes every answer of status 200. Actions are sent as the stored bytes, once
 * a call; the caller, which knows the nonce, decides whether to send them again. Source:
 * docs/perps-venue-facts.md 1.4, 2, 4.
 */
import { HyperliquidError, InfoClient, type IRequestTransport } from '@nktkas/hyperliquid';
import { Agent } from 'undici';
import { z } from 'zod';
import { ExecutorFault, type CallOptions } from '../../domain/executor.ts';
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
 * The venue's answer to an action. `applied`: it was carried out now. `used`: its nonce is used, so
 * it was carried out or refused before. `refused`: `proves` when the text is a known one, so this
 * call had no effect; `consumed` when the refusal also used the nonce, so the same bytes can never
 * be carried out.
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
  /** Decimals in units of the asset. */
  readonly account_value: string;
  readonly withdrawable: string;
  readonly open_positions: number;
}

/** A value below zero is a debt, which counts as no balance. */
export function atLeastZero(amount: string): string {
  return amount.startsWith('-') ? '0' : amount;
}

export interface ListedAgent {
  readonly name: string;
  /** In lower case. */
  readonly address: string;
  /** Milliseconds since 1970. */
  readonly valid_until: number;
}

export type PerpRole =
  | { readonly role: 'user' | 'missing' | 'vault' }
  | { readonly role: 'agent' | 'subAccount'; readonly master: string };

export interface LedgerLook {
  /** The wanted row: pages after the one that holds it are not read. */
  readonly isWanted?: (row: LedgerRow) => boolean;
  /** Accepts another caller's read of a moment ago (shared-ledger.ts). */
  readonly shared?: boolean;
}

/** Every call throws a retryable `ExecutorFault` where the venue gives no readable answer. */
export interface PerpClient {
  /** Sends the body once. */
  send(body: string, call: CallOptions): Promise<PerpAnswer>;
  /** The account's rows since a time in milliseconds, oldest first. */
  ledger(
    user: string,
    since: number,
    call: CallOptions,
    how?: LedgerLook,
  ): Promise<readonly LedgerRow[]>;
  state(user: string, call: CallOptions): Promise<PerpAccountState>;
  /** The venue's own time in milliseconds. */
  time(call: CallOptions): Promise<number>;
  agents(master: string, call: CallOptions): Promise<readonly ListedAgent[]>;
  role(user: string, call: CallOptions): Promise<PerpRole>;
  /** The account's mode: only `default` and `disabled` keep perps apart. */
  mode(user: string, call: CallOptions): Promise<string>;
  /** The names of the deposit and withdrawal rails; null where the venue does not report them. */
  rails(
    call: CallOptions,
  ): Promise<{ readonly deposit: string; readonly withdrawal: string } | null>;
  close(): Promise<void>;
}

const decimal = z
  .string()
  .regex(/^-?[0-9]{1,20}(\.[0-9]{1,30})?$/)
  .transform(toVenueDecimals)
  .refine((text) => isDecimal(text.replace(/^-/, '')), 'a decimal');
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

/** `freshMs`: maximum age of another caller's read of a ledger. */
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
      signal: call.signal,
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
    if (!parsed.success) throw odd('its answer has an unexpected shape');
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
      // The documentation gives two page sizes, so only a page that adds nothing is surely the
      // last.
      if (last === undefined || fresh.length === 0 || answer.length < PAGE / 2)
        return { rows, whole: true };
      if (fresh.some(isWanted)) return { rows, whole: false };
      startTime = last.time;
    }
    throw odd('the ledger is longer than one call reads');
  };
  const readShared = sharedLedger(readLedger, freshMs);
  return {
    async send(body, call) {
      const parsed = answerSchema.safeParse(await post('exchange', body, call));
      if (!parsed.success) throw odd('its answer to an action has an unexpected shape');
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
        // Not documented, so the venue may not know the question.
        if (error instanceof UnknownQuestion) return undefined;
        throw error;
      });
      if (answer === undefined) return null;
      const parsed = routingSchema.safeParse(answer);
      if (!parsed.success) throw odd('its rails have an unexpected shape');
      return { deposit: parsed.data.depositRoute, withdrawal: parsed.data.withdrawalRoute };
    },
    close: () => dispatcher.close(),
  };
}

/** The venue does not know the question. */
class UnknownQuestion extends ExecutorFault {}

/** Back-off after a 429 without `Retry-After`. */
const BACK_OFF_SECONDS = 15;

/** Reads a 200; every other answer leaves the outcome of a call open. */
function read(path: 'info' | 'exchange', { status, headers, body }: OutgoingAnswer): unknown {
  // Reads only: a 429 to an action leaves open whether it was carried out.
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
    throw odd('it answered no JSON', error);
  }
}

/** Adapter: the client library's transport over our HTTP client. */
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
 * Refusals after the nonce was used, for good. Source: docs/perps-venue-facts.md 1.4, the order of
 * checks and the texts that were seen.
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
 * Refusals before the nonce is checked, or of the nonce itself: this call had no effect. They say
 * nothing about an earlier call with the same bytes. Source: as above.
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

/** Rounded down to the venue's decimals: states carry the noise of floats (facts 4). */
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
