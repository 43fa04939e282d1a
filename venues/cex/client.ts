/**
 * Connects one exchange account over ccxt. The library provides endpoints, signatures and rate
 * limits. This file sends the requests, limits their time and interprets the answers: the library's
 * HTTP layer has no abort signal, and its timeout covers only the headers.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Exchange } from 'ccxt';
import { Agent, request } from 'undici';
import { ExecutorFault, type CallOptions } from '../../domain/executor.ts';
import { deadline, type Deadline } from '../../platform/deadline.ts';
import { rejected } from '../node-plan.ts';
import type { CcxtVenue } from './config.ts';
import type { CexConnection, Parameters } from './connection.ts';
import { readCredentials, type CexCredentials } from './credentials.ts';
import type { Dialect } from './dialect.ts';
import { CEX_FAULTS, ExchangeAnswerError, plainWords, toFault } from './errors.ts';

/** State of a running call, read by our transport below the library. */
interface Pending {
  readonly limit: Deadline;
  sent: boolean;
}

const LARGEST_ANSWER_BYTES = 64 * 1024 * 1024;
const agentOptions = { connect: { timeout: 10_000 }, maxResponseSize: LARGEST_ANSWER_BYTES };
const kept = new Agent({ ...agentOptions, keepAliveTimeout: 4_000 });
// Writes use a new connection each: a kept connection may close just as the request is sent, and
// the outcome would be unknown.
const fresh = new Agent({ ...agentOptions, pipelining: 0 });

/** Opens the connection: loads the library and the key, but sends nothing yet. */
export async function openConnection(
  venue: CcxtVenue,
  dialect: Dialect,
  credentials?: CexCredentials,
): Promise<CexConnection> {
  if (venue.credentials_file === undefined)
    throw rejected('CREDENTIALS_MISSING', `${venue.venue_key} has no API key of its own`);
  const keys = credentials ?? (await readCredentials(venue.credentials_file));
  const pending = new AsyncLocalStorage<Pending>();
  const exchange = await createExchange(venue, keys);
  const words = (text: string): string => plainWords(withoutKeys(text, keys));
  exchange.fetch = (url, method = 'GET', headers = {}, body = undefined) =>
    send({ exchange, dialect, words, pending: pending.getStore() }, { url, method, headers, body });

  return {
    async ask(method, parameters, call) {
      const limit = deadline(call.signal, venue.timeout_seconds * 1000);
      const state: Pending = { limit, sent: false };
      try {
        const work = pending.run(state, () => endpoint(exchange, method)(defined(parameters)));
        // The rate limit may delay the call past its deadline. The call then finds the signal
        // aborted and sends nothing.
        return await Promise.race([work, limit.over]);
      } catch (error) {
        throw faultOf(error, { venue, state, call, expired: limit.expired() });
      } finally {
        limit.clear();
      }
    },
  };
}

async function createExchange(venue: CcxtVenue, keys: CexCredentials): Promise<Exchange> {
  const Class = await exchangeClass(venue.exchange);
  const exchange = new Class({
    apiKey: keys.api_key.reveal(),
    secret: keys.secret.reveal(),
    ...(keys.password === undefined ? {} : { password: keys.password.reveal() }),
    number: String,
    enableRateLimit: true,
    timeout: venue.timeout_seconds * 1000,
    // Never repeats a request, since a repeated write may pay twice. The short window limits how
    // late the exchange accepts a delayed request.
    options: { maxRetriesOnFailure: 0, adjustForTimeDifference: false, recvWindow: 5_000 },
  });
  if (venue.sandbox) exchange.setSandboxMode(true);
  if (venue.base_url !== undefined)
    Reflect.set(exchange.urls, 'api', moved(exchange.urls['api'], venue.base_url));
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
 * Returns the same paths at another host. Entries without a URL, as in a sandbox, stay unchanged.
 */
function moved(urls: unknown, base: string): unknown {
  if (typeof urls === 'string')
    return base.replace(/\/+$/, '') + new URL(urls).pathname.replace(/\/+$/, '');
  return Object.fromEntries(
    Object.entries(urls as object).map(([name, url]) => [name, moved(url, base)]),
  );
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
  readonly pending: Pending | undefined;
}

/** Sends in place of the library: one request, no redirect, one deadline until the last byte. */
async function send(
  { exchange, dialect, words, pending }: Transport,
  {
    url,
    method,
    headers,
    body,
  }: { url: string; method: string; headers: Record<string, string>; body: string | undefined },
): Promise<unknown> {
  if (pending === undefined)
    throw new Error('the library called the exchange outside a call of this client');
  // The deadline may have passed while the rate limit held the call. In a process that was
  // suspended meanwhile, this check runs before the timers.
  pending.limit.check();
  pending.sent = true;
  const answer = await request(url, {
    method: method as 'GET',
    headers,
    ...(body === undefined ? {} : { body }),
    signal: pending.limit.signal,
    dispatcher: method === 'GET' ? kept : fresh,
  });
  const [status, text] = [answer.statusCode, await answer.body.text()];
  if (status >= 200 && status <= 299) {
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
  const reported = dialect.readError(json(text));
  const said = reported === null ? '' : `: ${words(`${reported.code} ${reported.message}`)}`;
  const message = `the exchange answered ${String(status)}${said}`;
  const code = reported !== null && isRefusal(status) ? dialect.refusals[reported.code] : undefined;
  const after = Number(answer.headers['retry-after'] ?? Number.NaN);
  throw new ExchangeAnswerError({
    status,
    message,
    refusal: code === undefined ? null : { code, message },
    retryAfterSeconds: after >= 0 && after <= 86_400 ? after : undefined,
  });
}

/**
 * Returns whether a status may be a refusal. The excluded statuses mean a timeout or too much load,
 * and leave open whether the exchange got the request.
 */
function isRefusal(status: number): boolean {
  return status >= 400 && status <= 499 && ![408, 409, 418, 425, 429].includes(status);
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
  if (of.expired)
    return new ExecutorFault(
      'timeout',
      CEX_FAULTS.timeout,
      `${venue.exchange} did not answer in time${where}`,
    );
  if (of.call.signal.aborted)
    return new ExecutorFault('timeout', CEX_FAULTS.aborted, `the call was aborted${where}`);
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
  return new ExecutorFault(
    'protocol',
    CEX_FAULTS.protocol,
    `the request to ${venue.exchange} could not be made; nothing was sent`,
  );
}

function defined(parameters: Parameters): object {
  return Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== undefined));
}
