/** The typed client of the API: calls an operation by its id, or by a method with a short name. */
import { DRY_RUN, isObject, previewOf, strange } from './answer.ts';
import { randomHex } from './bytes.ts';
import { ApiError, ClientUsageError } from './errors.ts';
import { groupsOver, type Groups } from './groups.ts';
import {
  OPERATIONS,
  type AnyInput,
  type DryRunId,
  type Input,
  type InputArgs,
  type Operation,
  type OperationId,
  type PagedId,
  type PreviewOf,
  type ResultOf,
  type RowOf,
  type TextId,
} from './operations.ts';
import { unlessAborted, type RetryNotice } from './retry.ts';
import { createSigner, type ClientKey, type Hashing } from './sign.ts';
import { assertPrefix, isPrefix, originOf, pathOf, queryOf } from './target.ts';
import {
  createTransport,
  type Fetch,
  type Reply,
  type Sent,
  type Transport,
  type TransportOptions,
} from './transport.ts';
import { waitForMovement, waitForTransfer, type WaitFor, type WaitForTransfer } from './wait.ts';

export interface ClientOptions extends TransportChoices {
  readonly key: ClientKey;
  /** Prefix of all paths; if left out, the client reads it from `GET /healthz`. */
  readonly prefix?: string | undefined;
  /**
   * Prefix that reads try first if `prefix` is left out. `GET /healthz` is then read once: before
   * the first write, or after an answer to a read for which a wrong prefix may be the reason; that
   * read is sent again if the prefix differs.
   */
  readonly likelyPrefix?: string | undefined;
  /** Makes the hashes and the signature of each request; default: WebCrypto. */
  readonly hashing?: Hashing | undefined;
}

export interface TransportChoices {
  /** Scheme, host and port of the service; in a browser `location.origin`. */
  readonly baseUrl: string;
  readonly fetch?: Fetch | undefined;
  /** Maximum number of retries (default 5). Only requests that are safe to repeat are retried. */
  readonly retries?: number | undefined;
  /** No try starts later than this time after the first try (default 120,000 ms). */
  readonly retryForMs?: number | undefined;
  /** Time limit of one try (default 30,000 ms). */
  readonly timeoutMs?: number | undefined;
  /** Called before the wait that precedes each retry. */
  readonly onRetry?: ((notice: RetryNotice) => void) | undefined;
}

/** Answer of `GET /healthz`. */
export interface Health {
  readonly ok: boolean;
  readonly service: string;
  readonly api_prefix: string;
}

export interface Calls {
  /** Returns what the operation would do; nothing is written. */
  call<Id extends DryRunId>(
    operation: Id,
    input: Input<Id> & { readonly dryRun: true },
  ): Promise<PreviewOf<Id>>;
  /** Returns the plain text of an operation that offers one. */
  call<Id extends TextId>(
    operation: Id,
    input: Input<Id> & { readonly query: { readonly format: 'mermaid' } },
  ): Promise<string>;
  /**
   * Returns the body of a success. Throws ApiError, ChangeRequestedError, UnreachableError,
   * ClientUsageError.
   */
  call<Id extends OperationId>(operation: Id, ...input: InputArgs<Id>): Promise<ResultOf<Id>>;
  /** Like {@link call}, but returns also status, headers and the unparsed text. */
  request<Id extends OperationId>(
    operation: Id,
    ...input: InputArgs<Id>
  ): Promise<Reply<ResultOf<Id>>>;
  /** Yields every row of all pages; `query.limit` is the number of rows in a page. */
  pages<Id extends PagedId>(operation: Id, ...input: InputArgs<Id>): AsyncIterable<RowOf<Id>>;
}

export interface FundClient extends Calls, Groups {
  /** Returns the prefix of all paths (`/v3`). */
  prefix(signal?: AbortSignal): Promise<string>;
  health(signal?: AbortSignal): Promise<Health>;
  /** Polls a movement until it is in a target state, then returns the movement. */
  readonly waitFor: WaitFor;
  /** Polls a capital transfer until it is in a target state, then returns the transfer. */
  readonly waitForTransfer: WaitForTransfer;
}

/**
 * Creates the client of the API.
 *
 * @throws ClientUsageError for invalid options, with which no request can be sent.
 */
export function createClient(options: ClientOptions): FundClient {
  const transport = transportOf(options, { sign: createSigner(options.key, options.hashing) });
  const { prefix, likelyPrefix } = options;
  const readPrefix = prefixOf(prefix, transport);
  const calls = callsOver(
    transport,
    prefix === undefined && likelyPrefix !== undefined
      ? underLikely(likelyPrefix, readPrefix)
      : async (send, { signal }) => send(await readPrefix(signal)),
  );
  return {
    ...calls,
    ...groupsOver(calls),
    prefix: readPrefix,
    health: (signal) => health(transport, signal),
    waitFor: (id, target, how) =>
      waitForMovement(
        (signal) => calls.call('getMovement', { params: { movement_id: id }, signal }),
        { id, target, lookMs: options.timeoutMs, ...how },
      ),
    waitForTransfer: (id, target, how) =>
      waitForTransfer(
        (signal) => calls.call('getCapitalTransfer', { params: { transfer_id: id }, signal }),
        { id, target, lookMs: options.timeoutMs, ...how },
      ),
  };
}

export function transportOf(
  options: TransportChoices,
  access: Pick<TransportOptions, 'sign' | 'credentials'>,
): Transport {
  const { retries = 5, retryForMs = 120_000, timeoutMs = 30_000 } = options;
  if (!Number.isInteger(retries) || retries < 0)
    throw new ClientUsageError('retries must be a whole number, 0 or more.');
  if (!(timeoutMs > 0 && timeoutMs < 2 ** 31))
    throw new ClientUsageError('timeoutMs must be more than 0, and at most 24 days.');
  return createTransport({
    origin: originOf(options.baseUrl),
    ...access,
    // Wrapped, because browsers refuse a `fetch` that is called as a method of another object.
    fetch: options.fetch ?? ((...call) => globalThis.fetch(...call)),
    retries,
    retryForMs,
    timeoutMs: Math.ceil(timeoutMs),
    onRetry: options.onRetry,
  });
}

async function health(transport: Transport, signal?: AbortSignal): Promise<Health> {
  const reply = await transport({
    operation: 'healthz',
    method: 'GET',
    target: '/healthz',
    headers: {},
    signed: false,
    writes: false,
    harmless: true,
    signal,
  });
  const { body } = reply;
  const prefix = isObject(body) ? body['api_prefix'] : undefined;
  if (!isObject(body) || typeof prefix !== 'string' || !isPrefix(prefix))
    throw strange(reply, 'to GET /healthz, without api_prefix');
  return { ok: body['ok'] === true, service: String(body['service']), api_prefix: prefix };
}

type Prefix = (signal?: AbortSignal) => Promise<string>;

/** The request for the prefix that is under way, shared by all callers that wait. */
interface PrefixRequest {
  readonly answer: Promise<string>;
  readonly stop: AbortController;
  waiting: number;
}

/**
 * Requests the prefix once for all callers. If the request failed, or was aborted because its last
 * caller stopped waiting, the next caller starts a new request.
 */
function prefixOf(option: string | undefined, transport: Transport): Prefix {
  if (option !== undefined) assertPrefix(option);
  let known = option;
  let current: PrefixRequest | undefined;
  const start = (): PrefixRequest => {
    const stop = new AbortController();
    const answer = health(transport, stop.signal).then(({ api_prefix }) => (known = api_prefix));
    const made = { answer, stop, waiting: 0 };
    answer.catch(() => forget(made));
    return made;
  };
  const forget = (which: PrefixRequest): void => {
    if (current === which) current = undefined;
  };
  return async (signal) => {
    if (known !== undefined) return known;
    const one = (current ??= start());
    one.waiting += 1;
    try {
      return await unlessAborted(one.answer, signal);
    } finally {
      one.waiting -= 1;
      if (one.waiting === 0) {
        forget(one);
        one.stop.abort();
      }
    }
  };
}

/** Sends a request under the prefix; `send` may be called again with another prefix. */
type Under = (
  send: (prefix: string) => Promise<Reply>,
  of: Pick<Sent, 'writes' | 'signal'>,
) => Promise<Reply>;

/**
 * Sends a read under the likely prefix. If a wrong prefix may be the reason for the answer, reads
 * the prefix from `GET /healthz` and, where that is another one, sends again under that. A write is
 * never tried so, even where a read was answered: what answers under a wrong prefix may be
 * another server.
 */
function underLikely(likely: string, readPrefix: Prefix): Under {
  assertPrefix(likely);
  /** What `GET /healthz` has answered. */
  let known: string | undefined;
  return async (send, { writes, signal }) => {
    if (writes) known ??= await readPrefix(signal);
    if (known !== undefined) return send(known);
    try {
      return await send(likely);
    } catch (error) {
      if (!mayBeWrongPrefix(error)) throw error;
      try {
        known = await readPrefix(signal);
      } catch (unread) {
        // After a 5xx that is the same outage, of which the first error says more. An abort stays
        // the caller's own reason.
        throw error.status < 500 || signal?.aborted === true ? unread : error;
      }
      if (known === likely) throw error;
      return send(known);
    }
  };
}

/**
 * Returns whether a wrong prefix may be the reason for an error: the service has no such route, or
 * the answer is another server's, such as the 404 of a proxy that passes on only the right prefix,
 * or the 503 of its default backend.
 */
function mayBeWrongPrefix(error: unknown): error is ApiError {
  if (!(error instanceof ApiError)) return false;
  return error.rawCode === 'route_not_found' || error.rawCode === null;
}

/** Returns the calls over a transport. `isSigned` selects the requests to sign; default: all. */
export function callsOver(
  transport: Transport,
  under: Under,
  isSigned: (operation: Operation, query: Readonly<Record<string, unknown>>) => boolean = () =>
    true,
): Calls {
  const request = async (id: OperationId, input: AnyInput = {}): Promise<Reply> => {
    const operation = operationOf(id);
    const { params = {}, headers = {}, dryRun = false, signal } = input;
    if (dryRun && !operation.dryRun) throw new ClientUsageError(`${id} has no dry run.`);
    const query = { ...input.query, ...(dryRun ? DRY_RUN : {}) };
    const target = pathOf(operation.path, params) + queryOf(query);
    const body = withKey(id, input);
    const writes = operation.method !== 'GET' && !dryRun;
    const sent = {
      operation: id,
      method: operation.method,
      body,
      headers,
      signed: isSigned(operation, query),
      writes,
      harmless: !writes || operation.idempotent,
      signal,
    };
    const reply = await under((prefix) => transport({ ...sent, target: prefix + target }), sent);
    return dryRun ? previewOf(reply) : reply;
  };
  const call = async (id: OperationId, input?: AnyInput): Promise<unknown> =>
    (await request(id, input)).body;
  async function* pages(id: PagedId, input: AnyInput = {}): AsyncGenerator<unknown> {
    let { query } = input;
    for (;;) {
      const reply = await request(id, { ...input, query });
      const page = reply.body;
      const rows = isObject(page) ? page[OPERATIONS[id].paged] : undefined;
      if (!isObject(page) || !Array.isArray(rows))
        throw strange(reply, `to ${id}, without ${OPERATIONS[id].paged}`);
      yield* rows;
      const next = page['next_cursor'];
      if (typeof next !== 'string') return;
      if (next === query?.['cursor']) throw strange(reply, `to ${id}, whose next page is itself`);
      query = { ...query, cursor: next };
    }
  }
  // The cast is safe: the input and answer types of each id come from the API document.
  const untyped: object = { call, request, pages };
  return untyped as Calls;
}

/** Returns the table entry of an id. Throws for an unknown id, as untyped code may pass. */
function operationOf(id: OperationId): Operation {
  if (!Object.hasOwn(OPERATIONS, id)) throw new ClientUsageError(`There is no operation ${id}.`);
  return OPERATIONS[id];
}

/** Returns the body with an idempotency key: the caller's key, or a new key for all tries. */
function withKey(id: OperationId, { body, idempotencyKey, dryRun }: AnyInput): unknown {
  if (!operationOf(id).idempotent) {
    if (idempotencyKey !== undefined) throw new ClientUsageError(`${id} takes no idempotency key.`);
    return body;
  }
  if (!isObject(body)) return body;
  const own = body['idempotency_key'];
  if (idempotencyKey !== undefined && own !== undefined && own !== idempotencyKey)
    throw new ClientUsageError('idempotency_key of the body differs from option idempotencyKey.');
  const key = own ?? idempotencyKey ?? (dryRun === true ? undefined : randomHex(16));
  return key === undefined ? body : { ...body, idempotency_key: key };
}
