/** Describes the refusals and faults of an operation in OpenAPI. */
import { ERROR_TABLE, type ErrorCode, type RetryMeaning } from '../../domain/errors.ts';
import { RETRY_AFTER_SECONDS } from '../http/admission.ts';
import type { JsonSchema } from './schemas.ts';
import { SEEN } from './seen.ts';

/** Errors of the server itself, before a route is looked up. */
const BEFORE_ROUTE: readonly ErrorCode[] = [
  'invalid_path',
  'request_timeout',
  'body_too_large',
  'headers_too_large',
  'internal_error',
];
/** Errors that every route may return, with those of an unknown path or method. */
const EVERY_ROUTE: readonly ErrorCode[] = [
  ...BEFORE_ROUTE,
  'route_not_found',
  'method_not_allowed',
  'unsupported_media_type',
  'invalid_request',
  'overloaded',
  'dependency_unavailable',
];
const SIGNED: readonly ErrorCode[] = [
  'unauthenticated',
  'forbidden',
  'rate_limited',
  'route_role_unmapped',
];

export const REQUEST_ID = { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } };

const RETRY_RANGE = { minimum: RETRY_AFTER_SECONDS.least, maximum: RETRY_AFTER_SECONDS.most };

/** The response headers. */
export const HEADERS: JsonSchema = {
  RequestId: {
    description: 'The id of the request, in logs and audit too.',
    required: true,
    schema: { type: 'string', minLength: 1, maxLength: 128, pattern: '^[A-Za-z0-9._-]+$' },
  },
  Allow: {
    description: 'The methods that the path takes.',
    required: true,
    schema: { type: 'string' },
  },
  RetryAfter: {
    description: 'Whole seconds until the window of the key ends.',
    required: true,
    schema: { type: 'integer', minimum: 1, maximum: 60 },
  },
  RetryAfterOverload: {
    description: 'With `overloaded`: after how many seconds to come again.',
    schema: { type: 'integer', ...RETRY_RANGE },
  },
  IdempotentReplayed: {
    description:
      'Present, and `true`, when the answer is the result of an earlier request with the same idempotency key.',
    schema: { type: 'string', const: 'true' },
  },
};

/** The body of 429, the only one whose `detail` is a text. */
export const RATE_LIMITED: JsonSchema = {
  type: 'object',
  description: 'The answer of 429, the only one whose `detail` is a text.',
  properties: { detail: { type: 'string', const: ERROR_TABLE.rate_limited.message } },
  required: ['detail'],
};

/** Options for the error responses of a document. */
export interface ErrorOptions {
  /** The schema of error bodies. */
  readonly failure: JsonSchema;
  readonly authEnabled: boolean;
}

/**
 * Returns the error responses of a route, by status: the route's own errors, and for a status
 * without any, a reference to the common response.
 */
export function routeFailures(own: readonly ErrorCode[], options: ErrorOptions): JsonSchema {
  const common = commonCodes(options);
  const statuses = statusesOf([...own, ...common]);
  return Object.fromEntries(
    statuses.map((status) => {
      const mine = withStatus(own, status);
      if (mine.length === 0) return [String(status), referenceTo(status)];
      const shared = withStatus(common, status).filter((code) => !mine.includes(code));
      return [String(status), failure(status, { mine, shared }, options.failure)];
    }),
  );
}

/** Returns the error responses of requests that are answered without a route. */
export function bareFailures(): JsonSchema {
  const statuses = statusesOf([...BEFORE_ROUTE, 'method_not_allowed']);
  return Object.fromEntries(statuses.map((status) => [String(status), referenceTo(status)]));
}

/** Returns the responses common to all operations, by component name. */
export function commonResponses(options: ErrorOptions): JsonSchema {
  const codes = commonCodes(options);
  return Object.fromEntries(
    statusesOf(codes).map((status) => [
      nameOf(status),
      {
        ...failure(status, { mine: withStatus(codes, status), shared: [] }, options.failure),
        // The documentation page shows these below an operation's own.
        'x-common': true,
      },
    ]),
  );
}

/** Returns the error examples for references, by code; `own` are the codes of all routes. */
export function errorExamples(own: readonly ErrorCode[], options: ErrorOptions): JsonSchema {
  const listed = new Set([...own, ...commonCodes(options)]);
  return Object.fromEntries(
    Object.entries(SEEN.refusals)
      .filter(([code]) => listed.has(code as ErrorCode))
      .map(([code, value]) => [code, { summary: code, value }]),
  );
}

/** Returns the errors common to every operation in Markdown, once for the whole document. */
export function commonErrorsText(options: ErrorOptions): string {
  const rows = statusesOf(commonCodes(options)).flatMap((status) =>
    withStatus(commonCodes(options), status).map((code) => {
      const { retry, message } = ERROR_TABLE[code];
      return `| ${String(status)} | \`${code}\` | ${REPEAT[retry]} | ${message} |`;
    }),
  );
  return [
    '## Errors of every operation',
    'Each operation lists its own errors first. Beside them each may answer these:',
    ['| status | code | repeat | meaning |', '|---|---|---|---|', ...rows].join('\n'),
  ].join('\n\n');
}

const REPEAT: Readonly<Record<RetryMeaning, string>> = {
  never: 'never',
  after_change: 'after a change',
  safe: 'as it is',
};

/** Component names of the common responses, after the most usual meaning of the status. */
const NAMES: Readonly<Record<number, string>> = {
  400: 'InvalidPath',
  401: 'Unauthenticated',
  403: 'Forbidden',
  404: 'RouteNotFound',
  405: 'MethodNotAllowed',
  408: 'RequestTimeout',
  413: 'BodyTooLarge',
  415: 'UnsupportedMediaType',
  422: 'InvalidRequest',
  429: 'TooManyRequests',
  431: 'HeadersTooLarge',
  500: 'InternalError',
  503: 'Unavailable',
};

function nameOf(status: number): string {
  const name = NAMES[status];
  if (name === undefined) throw new Error(`the common response of ${String(status)} has no name`);
  return name;
}

function referenceTo(status: number): JsonSchema {
  return { $ref: `#/components/responses/${nameOf(status)}` };
}

function commonCodes({ authEnabled }: ErrorOptions): readonly ErrorCode[] {
  return [...EVERY_ROUTE, ...(authEnabled ? SIGNED : [])];
}

function statusesOf(codes: readonly ErrorCode[]): readonly number[] {
  return [...new Set(codes.map((code) => ERROR_TABLE[code].status))].sort((a, b) => a - b);
}

function withStatus(codes: readonly ErrorCode[], status: number): readonly ErrorCode[] {
  return [...new Set(codes.filter((code) => ERROR_TABLE[code].status === status))].sort();
}

/**
 * Returns one response for a status, as OpenAPI requires; its codes are in the description and the
 * examples.
 */
function failure(
  status: number,
  codes: { readonly mine: readonly ErrorCode[]; readonly shared: readonly ErrorCode[] },
  schema: JsonSchema,
): JsonSchema {
  const { mine, shared } = codes;
  const lines = mine.map(
    (code) => `\`${code}\` (retry: ${ERROR_TABLE[code].retry}): ${ERROR_TABLE[code].message}`,
  );
  const also =
    shared.length === 0
      ? []
      : [`As everywhere: ${shared.map((code) => `\`${code}\``).join(', ')}.`];
  const limited = status === ERROR_TABLE.rate_limited.status;
  const seen = [...mine, ...shared].filter((code) => code in SEEN.refusals);
  const examples = Object.fromEntries(
    seen.map((code) => [code, { $ref: `#/components/examples/${code}` }]),
  );
  return {
    description: [...lines, ...also].join('\n\n'),
    headers: { ...REQUEST_ID, ...headersOf(status) },
    content: {
      'application/json': {
        schema: limited ? { $ref: '#/components/schemas/RateLimited' } : schema,
        ...(seen.length === 0 ? {} : { examples }),
      },
    },
  };
}

function headersOf(status: number): JsonSchema {
  if (status === ERROR_TABLE.method_not_allowed.status)
    return { Allow: { $ref: '#/components/headers/Allow' } };
  if (status === ERROR_TABLE.rate_limited.status)
    return { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } };
  if (status === ERROR_TABLE.overloaded.status)
    return { 'Retry-After': { $ref: '#/components/headers/RetryAfterOverload' } };
  return {};
}
