/** OpenAPI 3.1 from the route table and the schemas that validate. */
import { z } from 'zod';
import { ERROR_TABLE, type ErrorCode } from '../domain/errors.ts';
import { VERSION } from '../platform/version.ts';
import { SchemaCollector, type JsonSchema } from './openapi-schemas.ts';
import type { Route } from './route.ts';
import { errorBody } from './schemas.ts';

export interface OpenApiOptions {
  readonly apiPrefix: string;
  /** Where the API listens, for clients made from the document. */
  readonly serverUrl: string;
  readonly authEnabled: boolean;
}

/** Errors that any route may answer. */
const ALWAYS: readonly ErrorCode[] = ['invalid_request', 'invalid_path', 'dependency_unavailable', 'internal_error'];
const WITH_BODY: readonly ErrorCode[] = ['unsupported_media_type', 'body_too_large'];
const WITH_AUTH: readonly ErrorCode[] = ['unauthenticated', 'forbidden', 'route_role_unmapped'];
const SIGNATURE_HEADERS = ['Key-Id', 'Timestamp', 'Nonce', 'Signature'] as const;
const REQUEST_ID = { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } };
const REQUEST_ID_SCHEMA = { type: 'string', minLength: 1, maxLength: 128, pattern: '^[A-Za-z0-9._-]+$' };

/** The document, ready to be served as JSON. */
export function buildOpenApi(routes: readonly Route[], options: OpenApiOptions): JsonSchema {
  const collector = new SchemaCollector();
  const failure = collector.add(errorBody, 'output');
  const responses = new Map(routes.map((route) => [route.id, collector.add(route.response, 'output')]));
  const previews = new Map(routes.flatMap((route) => (route.preview ? [[route.id, collector.add(route.preview, 'output')]] : [])));
  const paths: Record<string, Record<string, unknown>> = {
    '/healthz': { get: healthOperation() },
  };
  for (const route of routes) {
    const path = options.apiPrefix + route.path.replace('+}', '}');
    const item = (paths[path] ??= {});
    const success = responses.get(route.id) ?? {};
    item[route.method.toLowerCase()] = operation(route, { collector, failure, success, preview: previews.get(route.id), options });
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Fund movement orchestrator',
      version: VERSION,
      description:
        'Guarded transfers of funds between venues. Amounts are decimal strings; timestamps are ISO 8601 UTC with milliseconds. ' +
        'Request bodies are strict: an unknown field is refused by name. Every error has the shape of `Error`.',
    },
    servers: [{ url: options.serverUrl }],
    tags: [...new Set(['Service', ...routes.map((route) => route.tag)])].map((name) => ({ name })),
    paths,
    components: {
      schemas: collector.components,
      headers: {
        RequestId: { description: 'The id of the request, in logs and audit too.', schema: REQUEST_ID_SCHEMA },
      },
      parameters: {
        RequestId: {
          name: 'X-Request-Id',
          in: 'header',
          required: false,
          description: 'Kept when well-formed, else a new one is given.',
          schema: REQUEST_ID_SCHEMA,
        },
        IdempotencyKey: {
          name: 'Idempotency-Key',
          in: 'header',
          required: false,
          description: 'The same as `idempotency_key` of the body.',
          schema: { type: 'string', minLength: 1, maxLength: 128 },
        },
        DryRun: {
          name: 'Dry-Run',
          in: 'header',
          required: false,
          description:
            '`true` writes nothing and answers 200 with what would happen; `false` is the same as no header. ' +
            'Any other value, and the header on an operation that does not list it, is 422.',
          schema: { type: 'string', enum: ['true', 'false'], default: 'false' },
        },
      },
      ...(options.authEnabled ? { securitySchemes: securitySchemes() } : {}),
    },
    ...(options.authEnabled ? { security: [Object.fromEntries(SIGNATURE_HEADERS.map((name) => [name, []]))] } : {}),
  };
}

interface OperationContext {
  readonly collector: SchemaCollector;
  readonly failure: JsonSchema;
  readonly success: JsonSchema;
  /** What a dry run answers, where there is one. */
  readonly preview: JsonSchema | undefined;
  readonly options: OpenApiOptions;
}

function operation(route: Route, { collector, failure, success, preview, options }: OperationContext): JsonSchema {
  const body = route.method === 'GET' ? null : bodyOf(route, collector);
  const codes = new Set([...route.errors, ...ALWAYS, ...(body === null ? [] : WITH_BODY), ...(options.authEnabled ? WITH_AUTH : [])]);
  const idempotent = route.body instanceof z.ZodObject && 'idempotency_key' in route.body.shape;
  const succeeded = { description: 'Success', headers: REQUEST_ID, content: { ...json(success), ...plain(route.text) } };
  return {
    operationId: route.id,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    'x-roles': route.roles,
    parameters: [
      ...parametersOf(collector.add(route.params, 'input'), 'path'),
      ...parametersOf(collector.add(route.query, 'input'), 'query'),
      { $ref: '#/components/parameters/RequestId' },
      ...(idempotent ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
      ...(preview === undefined ? [] : [{ $ref: '#/components/parameters/DryRun' }]),
    ],
    ...(body === null ? {} : { requestBody: body }),
    responses: {
      [String(route.status)]: succeeded,
      ...otherSuccess(route, { succeeded, success, preview, idempotent }),
      ...failures([...codes], failure),
    },
  };
}

/** Where a create answers 200: to a repeat, and to a dry run. */
function otherSuccess(
  route: Route,
  answer: {
    readonly succeeded: JsonSchema;
    readonly success: JsonSchema;
    readonly preview: JsonSchema | undefined;
    readonly idempotent: boolean;
  },
): JsonSchema {
  const { succeeded, success, preview, idempotent } = answer;
  if (route.status !== 201) return {};
  if (preview === undefined) return idempotent ? { 200: { ...succeeded, description: 'A repeat: the first result' } } : {};
  const description =
    'With `Dry-Run: true`: what would happen, nothing was written. Else a repeat of an idempotency key: the first result, ' +
    'with the header `Idempotent-Replayed: true`.';
  return { 200: { ...succeeded, description, content: json({ oneOf: [preview, success] }) } };
}

function bodyOf(route: Route, collector: SchemaCollector): JsonSchema {
  return { required: !route.body.safeParse(undefined).success, content: json(collector.add(route.body, 'input')) };
}

function parametersOf(schema: JsonSchema, where: 'path' | 'query'): readonly JsonSchema[] {
  const { properties, required } = schema;
  if (typeof properties !== 'object' || properties === null) return [];
  return Object.entries(properties).map(([name, each]) => ({
    name,
    in: where,
    required: where === 'path' || (Array.isArray(required) && required.includes(name)),
    schema: each as JsonSchema,
  }));
}

/** Errors by status: OpenAPI has one response for each, so the codes are told in words and as examples. */
function failures(codes: readonly ErrorCode[], failure: JsonSchema): JsonSchema {
  const statuses = [...new Set(codes.map((code) => ERROR_TABLE[code].status))].sort((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => {
      const own = codes.filter((code) => ERROR_TABLE[code].status === status).sort();
      const examples = own.map((code) => [code, { value: { detail: { error: code, message: ERROR_TABLE[code].message } } }] as const);
      return [
        String(status),
        {
          description: own.map((code) => `\`${code}\` (retry: ${ERROR_TABLE[code].retry}): ${ERROR_TABLE[code].message}`).join('\n\n'),
          headers: REQUEST_ID,
          content: { 'application/json': { schema: failure, examples: Object.fromEntries(examples) } },
        },
      ];
    }),
  );
}

function json(schema: JsonSchema): JsonSchema {
  return { 'application/json': { schema } };
}

function plain(description: string | undefined): JsonSchema {
  return description === undefined ? {} : { 'text/plain': { schema: { type: 'string', description } } };
}

function healthOperation(): JsonSchema {
  const properties = { ok: { type: 'boolean' }, service: { type: 'string' }, api_prefix: { type: 'string' } };
  const schema = { type: 'object', properties, required: Object.keys(properties) };
  return {
    operationId: 'healthz',
    tags: ['Service'],
    summary: 'Whether the process is alive',
    security: [],
    responses: { 200: { description: 'Alive', headers: REQUEST_ID, content: json(schema) } },
  };
}

function securitySchemes(): JsonSchema {
  const about = 'HMAC-SHA256 over six lines: method, decoded path, query as sent, SHA-256 of the body, timestamp, nonce.';
  return Object.fromEntries(
    SIGNATURE_HEADERS.map((name) => [
      name,
      { type: 'apiKey', in: 'header', name: `X-SVC-${name}`, ...(name === 'Signature' ? { description: about } : {}) },
    ]),
  );
}
