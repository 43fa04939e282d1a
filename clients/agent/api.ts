/**
 * The API client of an agent's program. The client gets the program's own table of operations, not
 * the table of all operations, so that the program's bundle holds no other operation.
 */
import { DRY_RUN, isObject, previewOf, strange } from '../http/answer.ts';
import { randomHex } from '../http/bytes.ts';
import { ClientUsageError } from '../http/errors.ts';
import type { RetryNotice } from '../http/retry.ts';
import { createSigner, type ClientKey } from '../http/sign.ts';
import { assertPrefix, originOf, pathOf, queryOf } from '../http/target.ts';
import { createTransport, type Reply, type Transport } from '../http/transport.ts';
import type { AgentOperation, AgentTable } from './operations.ts';
import { only } from './only.ts';

export interface AgentApiOptions {
  /** Scheme, host and port of the service. */
  readonly baseUrl: string;
  readonly key: ClientKey;
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Maximum number of retries of a request (default 3). */
  readonly retries?: number | undefined;
  /** No try starts later than this time after the first try (default 20,000 ms). */
  readonly retryForMs?: number | undefined;
  /** Time limit of one try (default 15,000 ms). */
  readonly timeoutMs?: number | undefined;
  readonly onRetry?: ((notice: RetryNotice) => void) | undefined;
}

export interface AgentCall {
  readonly params?: Readonly<Record<string, string>> | undefined;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly body?: unknown;
  /**
   * Idempotency key of a write, sent in the body and the same for all tries of the call. If left
   * out, the client makes a random key.
   */
  readonly idempotencyKey?: string | undefined;
  readonly dryRun?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface AgentApi<Id extends string> {
  /**
   * Returns the body of a success. Throws ApiError, ChangeRequestedError, UnreachableError,
   * ClientUsageError.
   */
  call(operation: Id, call?: AgentCall): Promise<unknown>;
  /** Like {@link call}, but returns the whole reply, with the unparsed text of the body. */
  request(operation: Id, call?: AgentCall): Promise<Reply>;
}

/**
 * Creates the client of an agent's program; only the operations of `table` can be sent.
 *
 * @throws ClientUsageError for invalid options, with which no request can be sent.
 */
export function createAgentApi<Id extends string>(
  table: AgentTable<Id>,
  options: AgentApiOptions,
): AgentApi<Id> {
  const learnt: { prefix: string | null } = { prefix: null };
  const send = only(
    Object.values<AgentOperation>(table),
    () => learnt.prefix,
    createTransport({
      origin: originOf(options.baseUrl),
      sign: createSigner(options.key),
      fetch: options.fetch ?? ((...call) => globalThis.fetch(...call)),
      retries: options.retries ?? 3,
      retryForMs: options.retryForMs ?? 20_000,
      timeoutMs: options.timeoutMs ?? 15_000,
      onRetry: options.onRetry,
    }),
  );
  const request = async (id: Id, call: AgentCall = {}): Promise<Reply> => {
    if (!Object.hasOwn(table, id)) throw new ClientUsageError(`There is no operation ${id}.`);
    const { signal } = call;
    learnt.prefix ??= await askPrefix(send, signal);
    const reply = await send({ operation: id, ...sentOf(table[id], learnt.prefix, call), signal });
    return call.dryRun === true ? previewOf(reply) : reply;
  };
  return { request, call: async (id, call) => (await request(id, call)).body };
}

/** Returns the request in the form that the transport takes. */
function sentOf(
  operation: AgentOperation,
  prefix: string,
  { params = {}, query = {}, body, idempotencyKey, dryRun = false }: AgentCall,
) {
  if (dryRun && operation.dryRun !== true)
    throw new ClientUsageError('This operation has no dry run.');
  const writes = operation.writes === true && !dryRun;
  return {
    method: operation.method,
    target:
      prefix + pathOf(operation.path, params) + queryOf({ ...query, ...(dryRun ? DRY_RUN : {}) }),
    // The idempotency key is in the body, because the signature covers the body but no header.
    body: writes && isObject(body) ? withKey(body, idempotencyKey) : body,
    headers: {},
    signed: true,
    writes,
    // Safe to repeat: every write carries its idempotency key.
    harmless: true,
  };
}

function withKey(body: Readonly<Record<string, unknown>>, key = randomHex(16)) {
  return { idempotency_key: key, ...body };
}

async function askPrefix(send: Transport, signal: AbortSignal | undefined): Promise<string> {
  const reply = await send({
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
  if (!isObject(body) || typeof body['api_prefix'] !== 'string')
    throw strange(reply, 'to GET /healthz, without api_prefix');
  assertPrefix(body['api_prefix']);
  return body['api_prefix'];
}
