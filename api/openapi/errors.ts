/** The refusals and faults of an operation as OpenAPI describes them. */
import { ERROR_TABLE, type ErrorCode } from '../../domain/errors.ts';
import { RETRY_AFTER_SECONDS } from '../http/admission.ts';
import type { JsonSchema } from './schemas.ts';

/** What the server itself answers before any route is looked for. */
const BEFORE_ROUTE: readonly ErrorCode[] = [
  'invalid_path',
  'request_timeout',
  'body_too_large',
  'headers_too_large',
  'internal_error',
];
/** What every route may answer; a path or a method that is none is told by the same address. */
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

/** The headers that answers carry beside their bodies. */
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

/** The one body whose `detail` is a text. */
export const RATE_LIMITED: JsonSchema = {
  type: 'object',
  description: 'The answer of 429, the only one whose `detail` is a text.',
  properties: { detail: { type: 'string', const: ERROR_TABLE.rate_limited.message } },
  required: ['detail'],
};

/** The error responses of a route, by status. */
export function routeFailures(
  own: readonly ErrorCode[],
  failure: JsonSchema,
  authEnabled: boolean,
): JsonSchema {
  return failures([...new Set([...own, ...EVERY_ROUTE, ...(authEnabled ? SIGNED : [])])], failure);
}

/** The error responses of what is answered without a route. */
export function bareFailures(failure: JsonSchema): JsonSchema {
  return failures([...BEFORE_ROUTE, 'method_not_allowed'], failure);
}

/**
 * Errors by status: OpenAPI has one response for each, so the codes are told in words and as
 * examples.
 */
function failures(codes: readonly ErrorCode[], failure: JsonSchema): JsonSchema {
  const statuses = [...new Set(codes.map((code) => ERROR_TABLE[code].status))].sort(
    (a, b) => a - b,
  );
  return Object.fromEntries(
    statuses.map((status) => {
      const own = codes.filter((code) => ERROR_TABLE[code].status === status).sort();
      const schema =
        status === ERROR_TABLE.rate_limited.status
          ? { $ref: '#/components/schemas/RateLimited' }
          : failure;
      return [
        String(status),
        {
          description: own
            .map(
              (code) =>
                `\`${code}\` (retry: ${ERROR_TABLE[code].retry}): ${ERROR_TABLE[code].message}`,
            )
            .join('\n\n'),
          headers: { ...REQUEST_ID, ...headersOf(status) },
          content: {
            'application/json': {
              schema,
              examples: Object.fromEntries(own.map((code) => [code, { value: exampleOf(code) }])),
            },
          },
        },
      ];
    }),
  );
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

function exampleOf(code: ErrorCode): JsonSchema {
  const { message } = ERROR_TABLE[code];
  if (code === 'rate_limited') return { detail: message };
  const issues = [
    {
      path: 'nodes[2].node_key',
      code: 'too_small',
      message: 'Too small: expected string to have >=1 characters',
    },
  ];
  return { detail: { error: code, message, ...(code === 'invalid_request' ? { issues } : {}) } };
}
