/** The typed client of the API: every operation by its id, and by names for people. */
import { DRY_RUN, isObject, previewOf, strange } from './answer.ts';
import { randomHex } from './bytes.ts';
import { ClientUsageError } from './errors.ts';
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
import { createSigner, type ClientKey } from './sign.ts';
import { assertPrefix, isPrefix, originOf, pathOf, queryOf } from './target.ts';
import { createTransport, type Reply, type Transport, type TransportOptions } from './transport.ts';
import { waitForMovement, waitForTransfer, type WaitFor, type WaitForTransfer } from './wait.ts';

export interface ClientOptions extends TransportChoices {
  readonly key: ClientKey;
  /** What paths begin with; learnt from `GET /healthz` where it is left out. */
  readonly prefix?: string | undefined;
}

export interface TransportChoices {
  /** Scheme, host and port; in a browser the page's own (`location.origin`). */
  readonly baseUrl: string;
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** How often at most a request is sent again (5); only where that does nothing twice. */
  readonly retries?: number | undefined;
  /** No try starts later than this after the first (120,000 ms). */
  readonly retryForMs?: number | undefined;
  /** How long one try may take (30,000 ms). */
  readonly timeoutMs?: number | undefined;
  /** Called before every wait. */
  readonly onRetry?: ((notice: RetryNotice) => void) | undefined;
}

/** What `GET /healthz` answers. */
export interface Health {
  readonly ok: boolean;
  readonly service: string;
  readonly api_prefix: string;
}

export interface Calls {
  /** What would happen; nothing is written. */
  call<Id extends DryRunId>(
    operation: Id,
    input: Input<Id> & { readonly dryRun: true },
  ): Promise<PreviewOf<Id>>;
  /** The plain text of an operation that has one. */
  call<Id extends TextId>(
    operation: Id,
    input: Input<Id> & { readonly query: { readonly format: 'mermaid' } },
  ): Promise<string>;
  /** The body of a success. Throws ApiError, UnreachableError, ClientUsageError. */
  call<Id extends OperationId>(operation: Id, ...input: InputArgs<Id>): Promise<ResultOf<Id>>;
  /** {@link call} with status, headers and the text as it came. */
  request<Id extends OperationId>(
    operation: Id,
    ...input: InputArgs<Id>
  ): Promise<Reply<ResultOf<Id>>>;
  /** Every row, page by page; `query.limit` is how many come at once. */
  pages<Id extends PagedId>(operation: Id, ...input: InputArgs<Id>): AsyncIterable<RowOf<Id>>;
}

export interface FundClient extends Calls, Groups {
  /** What paths begin with (`/v3`). */
  prefix(signal?: AbortSignal): Promise<string>;
  health(signal?: AbortSignal): Promise<Health>;
  /** Polls a movement until it is in a state, or in one that is meant; answers it. */
  readonly waitFor: WaitFor;
  /** Polls a capital transfer. */
  readonly waitForTransfer: WaitForTransfer;
}

/** @throws ClientUsageError for options that no request can be sent with. */
export function createClient(options: ClientOptions): FundClient {
  const transport = transportOf(options, { sign: createSigner(options.key) });
  const prefix = prefixOf(options.prefix, transport);
  const calls = callsOver(transport, prefix);
  return {
    ...calls,
    ...groupsOver(calls),
    prefix,
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
    // Browsers refuse to call a fetch that has lost its window.
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

/** The shared in-flight request for the prefix. */
interface PrefixRequest {
  readonly answer: Promise<string>;
  readonly stop: AbortController;
  waiting: number;
}

/**
 * Requests the prefix once for all callers. A request that failed, or that its last caller left, is
 * sent again for the next caller.
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

/** `isSigned` tells which requests carry a signature; every one where it is left out. */
export function callsOver(
  transport: Transport,
  prefix: Prefix,
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
    const reply = await transport({
      operation: id,
      method: operation.method,
      target: (await prefix(signal)) + target,
      body,
      headers,
      signed: isSigned(operation, query),
      writes,
      harmless: !writes || operation.idempotent,
      signal,
    });
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
  // What an operation takes and answers is typed by its id, from the document of the API.
  const untyped: object = { call, request, pages };
  return untyped as Calls;
}

/** What the table says of an id; of one that JavaScript made up it says nothing. */
function operationOf(id: OperationId): Operation {
  if (!Object.hasOwn(OPERATIONS, id)) throw new ClientUsageError(`There is no operation ${id}.`);
  return OPERATIONS[id];
}

/** The body with its idempotency key: the caller's, or a new one that all tries share. */
function withKey(id: OperationId, { body, idempotencyKey, dryRun }: AnyInput): unknown {
  if (!operationOf(id).idempotent) {
    if (idempotencyKey !== undefined) throw new ClientUsageError(`${id} takes no idempotency key.`);
    return body;
  }
  if (!isObject(body)) return body;
  const own = body['idempotency_key'];
  if (idempotencyKey !== undefined && own !== undefined && own !== idempotencyKey)
    throw new ClientUsageError('The body has another idempotency_key than idempotencyKey says.');
  const key = own ?? idempotencyKey ?? (dryRun === true ? undefined : randomHex(16));
  return key === undefined ? body : { ...body, idempotency_key: key };
}
