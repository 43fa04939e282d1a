/**
 * Connects one exchange account over ccxt. The library provides endpoints, signatures and rate
 * limits. This file sends the requests (http.ts), limits their time and interprets the answers: the
 * library's HTTP layer has no abort signal, and its timeout covers only the headers.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Exchange } from 'ccxt';
import { ExecutorFault, type CallOptions } from '../../domain/executor.ts';
import type { RequestDesk } from '../../domain/request-desk.ts';
import { deadline, type Deadline } from '../../platform/deadline.ts';
import { rejected } from '../node-plan.ts';
import type { CcxtVenue } from './config.ts';
import type { CexConnection, Parameters } from './connection.ts';
import { readCredentials, type CexCredentials } from './credentials.ts';
import type { Dialect, Spacing } from './dialect.ts';
import { CEX_FAULTS, ExchangeAnswerError, plainWords, toFault, UnsentFault } from './errors.ts';
import { sendHttp, type SendHttp } from './http.ts';
import { createRequests } from './requests.ts';

/** State of a running call, read by our transport below the library. */
interface Pending {
  readonly limit: Deadline;
  /** The nonce of the key's turn; null: the exchange needs no growing nonce. */
  nonce: string | null;
  /** The distance that the request keeps from the one before it. */
  readonly spacing: Spacing | null;
  /** What the request names. The library reads it once the request may be sent. */
  readonly parameters: object;
  sent: boolean;
}

/** How long a key pauses when the exchange limits it without a `Retry-After`. */
const PAUSE_SECONDS = 10;

/**
 * Opens the connection: loads the library and the key, but sends nothing yet. `http` sends its
 * requests.
 */
export async function openConnection(
  venue: CcxtVenue,
  dialect: Dialect,
  desk: RequestDesk,
  http: SendHttp = sendHttp,
): Promise<CexConnection> {
  if (venue.credentials_file === undefined)
    throw rejected('CREDENTIALS_MISSING', `${venue.venue_key} has no API key of its own`);
  const keys = await readCredentials(venue.credentials_file, dialect);
  const pending = new AsyncLocalStorage<Pending>();
  const exchange = await createExchange(venue, keys);
  const requests = createRequests(desk, {
    key: createHash('sha256').update(keys.api_key.reveal()).digest('hex'),
    budget: dialect.budget ?? {
      capacity: 1,
      units_per_second: 1_000 / (exchange.rateLimit ?? 1_000),
    },
    oneAtATime: dialect.growing_nonce ?? false,
    timeoutMs: venue.timeout_seconds * 1000,
  });
  const words = (text: string): string => plainWords(withoutKeys(text, keys));
  exchange.throttle = async (cost: number | undefined) => {
    const { limit, spacing, parameters } = running(pending);
    await requests.before(cost ?? 1, limit.signal);
    if (spacing === null) return;
    // The last wait before the request is signed and sent: a later one would change the distance.
    await requests.spaced(spacing, limit.signal);
    Object.assign(parameters, spacing.stamp?.());
  };
  exchange.fetch = (url, method = 'GET', headers = {}, body = undefined) =>
    send(
      { exchange, dialect, words, http, pending: running(pending) },
      // The library adds its own headers in the method that this one replaces.
      { url: movedTo(venue, url), method, headers: { ...exchange.headers, ...headers }, body },
    );
  if (dialect.growing_nonce) exchange.nonce = () => nonceOf(running(pending)) as unknown as number;

  /** Makes the call; the caller turns its errors into faults. */
  const attempt = async (method: string, state: Pending) => {
    const { limit } = state;
    const work = requests.inTurn(async (nonce) => {
      state.nonce = nonce;
      return pending.run(state, () => endpoint(exchange, method)(state.parameters));
    }, limit.signal);
    try {
      // The budget may delay the call past its deadline. The call then finds the signal aborted
      // and sends nothing.
      return await Promise.race([work, limit.over]);
    } catch (error) {
      if (error instanceof ExchangeAnswerError && error.limited) {
        const usual = dialect.rate_limit_pauses?.[error.exchangeCode ?? ''] ?? PAUSE_SECONDS;
        await requests
          .limited((error.retryAfterSeconds ?? usual) * 1_000)
          // The exchange limits the other processes itself.
          .catch(() => undefined);
      }
      throw error;
    }
  };
  const called = async (
    method: string,
    parameters: Parameters,
    { call, absent }: { readonly call: CallOptions; readonly absent: readonly string[] },
  ): Promise<unknown> => {
    const limit = deadline(call, venue.timeout_seconds * 1000);
    const spacing = dialect.spacing?.(method, parameters) ?? null;
    const state: Pending = {
      ...{ limit, spacing, parameters: defined(parameters) },
      ...{ nonce: null, sent: false },
    };
    try {
      return await attempt(method, state);
    } catch (error) {
      if (isAbsent(error, absent)) return null;
      throw faultOf(error, { venue, state, call, expired: limit.expired() });
    } finally {
      limit.clear();
    }
  };
  return {
    ask: (method, parameters, call) => called(method, parameters, { call, absent: [] }),
    find: called,
  };
}

/** Returns whether the exchange answered that it has no such record. */
function isAbsent(error: unknown, absent: readonly string[]): boolean {
  return (
    error instanceof ExchangeAnswerError &&
    error.exchangeCode !== null &&
    !error.limited &&
    isRefusal(error.status) &&
    absent.includes(error.exchangeCode)
  );
}

function running(pending: AsyncLocalStorage<Pending>): Pending {
  const state = pending.getStore();
  if (state === undefined)
    throw new Error('the library called the exchange outside a call of this client');
  return state;
}

function nonceOf({ nonce }: Pending): string {
  if (nonce === null) throw new Error('the request has no turn, and so no nonce');
  return nonce;
}

async function createExchange(venue: CcxtVenue, keys: CexCredentials): Promise<Exchange> {
  const Class = await exchangeClass(venue.exchange);
  const exchange = new Class({
    apiKey: keys.api_key.reveal(),
    secret: keys.secret.reveal(),
    ...(keys.password === undefined ? {} : { password: keys.password.reveal() }),
    number: String,
    // Calls `throttle`, which is ours: the budget of a key is shared by all processes.
    enableRateLimit: true,
    timeout: venue.timeout_seconds * 1000,
    // Never repeats a request, since a repeated write may pay twice. The short window limits how
    // late the exchange accepts a delayed request.
    options: { maxRetriesOnFailure: 0, adjustForTimeDifference: false, recvWindow: 5_000 },
  });
  if (venue.sandbox) exchange.setSandboxMode(true);
  return exchange;
}

type ExchangeClass = new (settings: object) => Exchange;

/**
 * Loads the library's part for one exchange. The whole library, which is all that it exports, takes
 * three times the memory and time (docs/performance.md).
 */
async function exchangeClass(exchange: string): Promise<ExchangeClass> {
  const folder = dirname(createRequire(import.meta.url).resolve('ccxt'));
  const file = pathToFileURL(join(folder, '../js/src', `${exchange}.js`));
  const part = (await import(file.href)) as { readonly default: ExchangeClass };
  return part.default;
}

/**
 * Returns where a request of the library goes: to `base_url` in place of the exchange's host. It is
 * moved only here, since some exchanges sign the host: it has to be theirs behind a proxy too.
 */
function movedTo({ base_url }: CcxtVenue, url: string): string {
  if (base_url === undefined) return url;
  return base_url.replace(/\/+$/, '') + url.replace(/^https?:\/\/[^/?#]+/, '');
}

function endpoint(exchange: Exchange, method: string): (parameters: object) => Promise<unknown> {
  const found: unknown = Reflect.get(exchange, method);
  if (typeof found !== 'function') throw new Error(`the library has no endpoint ${method}`);
  return (parameters) => Promise.resolve(Reflect.apply(found, exchange, [parameters]));
}

interface Transport {
  readonly exchange: Exchange;
  readonly dialect: Dialect;
  readonly words: (text: string) => string;
  readonly http: SendHttp;
  readonly pending: Pending;
}

/** Sends in place of the library: one request, no redirect, one deadline until the last byte. */
async function send(
  { exchange, dialect, words, http, pending }: Transport,
  {
    url,
    method,
    headers,
    body,
  }: { url: string; method: string; headers: Record<string, string>; body: string | undefined },
): Promise<unknown> {
  // The deadline may have passed while the budget held the call. In a process that was
  // suspended meanwhile, this check runs before the timers.
  pending.limit.check();
  pending.sent = true;
  const answer = await http({ url, method, headers, body, limit: pending.limit });
  const { status, text } = answer;
  const isSuccess = status >= 200 && status <= 299;
  const reported = isSuccess && !dialect.errors_with_success ? null : dialect.readError(json(text));
  if (!isSuccess || reported !== null)
    throw answerError(dialect, { status, reported, words, after: answer.headers['retry-after'] });
  // The dialect reads the whole answer; the library would take a warning for an error.
  if (dialect.errors_with_success) return exchange.parseJson(text.trim()) as unknown;
  const response = {
    status,
    statusText: '',
    headers: answer.headers,
    text: () => Promise.resolve(text),
  };
  return exchange.handleRestResponse(response, url, method, headers, body).catch(() => {
    throw new ExchangeAnswerError({
      status,
      message: 'the exchange answered with an error',
      refusal: null,
    });
  });
}

/** Returns the error of an answer that has a status of an error, or the body of one. */
function answerError(
  { refusals, rate_limit_codes = [] }: Dialect,
  {
    status,
    reported,
    words,
    after,
  }: {
    readonly status: number;
    readonly reported: { readonly code: string; readonly message: string } | null;
    readonly words: (text: string) => string;
    readonly after: string | string[] | undefined;
  },
): ExchangeAnswerError {
  const said = reported === null ? '' : `: ${words(`${reported.code} ${reported.message}`)}`;
  const message = `the exchange answered ${String(status)}${said}`;
  const exchangeCode = reported?.code ?? null;
  const limited =
    status === 429 ||
    status === 418 ||
    (exchangeCode !== null && rate_limit_codes.includes(exchangeCode));
  const code =
    exchangeCode !== null && !limited && isRefusal(status) && Object.hasOwn(refusals, exchangeCode)
      ? refusals[exchangeCode]
      : undefined;
  const seconds = Number(after ?? Number.NaN);
  return new ExchangeAnswerError({
    status,
    message,
    exchangeCode,
    refusal: code === undefined ? null : { code, message },
    limited,
    retryAfterSeconds: seconds >= 0 && seconds <= 86_400 ? seconds : undefined,
  });
}

/**
 * Returns whether a status may be a refusal, if the body is one. The excluded statuses mean a
 * timeout or too much load, and leave open whether the exchange got the request.
 */
function isRefusal(status: number): boolean {
  const isSuccess = status >= 200 && status <= 299;
  const isFault = status >= 400 && status <= 499 && ![408, 409, 418, 425, 429].includes(status);
  return isSuccess || isFault;
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function withoutKeys(text: string, keys: CexCredentials): string {
  const known = [keys.api_key, keys.secret, keys.password].flatMap((each) =>
    each === undefined ? [] : [each.reveal()],
  );
  return known.reduce((rest, key) => rest.replaceAll(key, '[redacted]'), text);
}

/**
 * Returns the fault without the original error: errors of the library and the transport contain the
 * signed request.
 */
function faultOf(
  error: unknown,
  of: { venue: CcxtVenue; state: Pending; call: CallOptions; expired: boolean },
): ExecutorFault {
  if (error instanceof ExchangeAnswerError) return toFault(error);
  const { venue, state } = of;
  const where = state.sent ? '' : ', before anything was sent';
  const Fault = state.sent ? ExecutorFault : UnsentFault;
  if (of.expired)
    return new Fault(
      'timeout',
      CEX_FAULTS.timeout,
      `${venue.exchange} did not answer in time${where}`,
    );
  if (of.call.signal.aborted)
    return new Fault('timeout', CEX_FAULTS.aborted, `the call was aborted${where}`);
  if (!state.sent) return unsent(error, venue);
  const code =
    error instanceof Error && 'code' in error && /^[A-Z0-9_]{1,40}$/.test(String(error.code))
      ? ` (${String(error.code)})`
      : '';
  return new ExecutorFault(
    'unreachable',
    CEX_FAULTS.unreachable,
    `${venue.exchange} gave no usable answer${code}`,
  );
}

function unsent(error: unknown, venue: CcxtVenue): ExecutorFault {
  if (venue.sandbox && error instanceof Error && error.constructor.name === 'NotSupported') {
    return rejected(
      'SANDBOX_NOT_SUPPORTED',
      `${venue.exchange} has no sandbox for this request; nothing was sent`,
    );
  }
  return new UnsentFault(
    'protocol',
    CEX_FAULTS.protocol,
    `the request to ${venue.exchange} could not be made; nothing was sent`,
  );
}

function defined(parameters: Parameters): object {
  return Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== undefined));
}
