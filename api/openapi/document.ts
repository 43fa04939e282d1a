/** Builds OpenAPI 3.1 from the route table and the schemas that validate requests. */
import { z } from 'zod';
import { VERSION } from '../../platform/version.ts';
import {
  bareFailures,
  commonErrorsText,
  commonResponses,
  errorExamples,
  HEADERS,
  RATE_LIMITED,
  REQUEST_ID,
  routeFailures,
  type ErrorOptions,
} from './errors.ts';
import { SEEN } from './seen.ts';
import { SchemaCollector, type JsonSchema } from './schemas.ts';
import { dashboardFailures, dashboardSchemes, dashboardSecurity } from './dashboard.ts';
import { securityRequirement, securitySchemes, signingText } from './signing.ts';
import type { DashboardRoute } from '../dashboard/route.ts';
import { keyFieldOf, recordsOf, type Route } from '../http/route.ts';
import { requestKindOf } from '../../domain/approval/power.ts';
import { changeAccepted } from '../change-requests/schema.ts';
import { errorBody } from '../http/schemas.ts';
import { EVENT_STREAM } from '../http/stream-reply.ts';

export interface OpenApiOptions {
  readonly apiPrefix: string;
  /** The API's address, for clients made from the document. */
  readonly serverUrl: string;
  readonly authEnabled: boolean;
  /** Maximum difference in seconds between a signature's timestamp and the service's clock. */
  readonly maxSkewSeconds: number;
  /** The edition; without it the document names no edition. */
  readonly edition?: Edition;
  /** The dashboard's own routes; without them the document describes only the API. */
  readonly dashboard?: readonly DashboardRoute[];
}

type Edition = 'commercial' | 'free';

const REPLAYED = {
  ...REQUEST_ID,
  'Idempotent-Replayed': { $ref: '#/components/headers/IdempotentReplayed' },
};
const REPEATED = 'A repeat: the first result';
const ABOUT =
  'Guarded transfers of funds between venues. Amounts are decimal strings; timestamps are ISO 8601 UTC with milliseconds. ' +
  'Queries and bodies are strict: an unknown parameter or field is refused by name. No text holds NUL or half of a surrogate pair; ' +
  'a body is nested 32 levels deep at most, and no field is called `__proto__`. ' +
  'Every error has the shape of `Error`, but for 429 (`RateLimited`).';

const EDITIONS: Readonly<Record<Edition, string>> = {
  commercial:
    'This is the commercial edition: it has everything that is described here, the lifecycle of signers and the registry of the bridge among it, and policies decide about automatic approval.',
  free: 'This is the free edition: it has everything that is described here. The lifecycle of signers (rotation, inventory, allowances, retirement, history) and the registry of the bridge, but for its refresh, belong to the commercial edition and are 404; rows of that registry are written with `fundadmin bridge`, and a movement over a path that is not ready is 422 `bridge_path_not_ready`; automatic approval goes by the daily caps of templates, and policies are kept and decide nothing.',
};

const ROLES =
  'A key has one role: `agent`, `operator` or `admin`. Each operation says which of them may call it.';
const SECOND_DOOR =
  'Operators of the dashboard reach every operation once more under `/dashboard/api` in place of the prefix, with the same bodies and answers: signed with a key of their own (v3, over eight lines, with a nonce of `GET /dashboard/nonce`), ' +
  'as `dashboard:<operator>`, and in place of 429 they get 503 `overloaded`.';
/** Descriptions of the tags; the lint test finds a tag without a description. */
const TAGS: Readonly<Record<string, string>> = {
  Service: 'Whether the service is alive, and whom it takes the caller for.',
  Movements: 'From a plan to funds that have arrived: create, approve, act, follow.',
  'Plan templates':
    'The graphs that movements are compiled from. The plan of a version never changes; it can be retired.',
  Routes: 'Templates seen as ways from one venue to another, listed and ranked.',
  Administration: 'The switch that stops new money.',
  Registries: 'Executors, which act, and signers, which sign.',
  Balances: 'What the venues hold, and what of it is promised already.',
  'Capital transfers': 'Transfers between two accounts of one provider.',
  'Automatic approval': 'Policies that approve in place of a person, and what they have left.',
  Approvals: 'Who must approve a movement or a change, and who has.',
  'Change requests': 'Changes that let more money go, or to more places, and that wait for people.',
  Callbacks: 'What is sent to callers when a movement changes, and what could not be sent.',
  'Signer lifecycle': 'Rotation and retirement of signers, with what was seen of their accounts.',
  'Bridge registry': 'Which chains a bridge joins, and what a path needs before funds take it.',
  Audit: 'Who did what, when, and what was refused.',
  Agents: 'What an agent may propose.',
  Dashboard:
    "What a page of the operators' console calls beside the API: the allowlist, its key and its session. Under no prefix, and for no key of the API.",
};

/** Returns the document, ready to be served as JSON. */
export function buildOpenApi(routes: readonly Route[], options: OpenApiOptions): JsonSchema {
  const { dashboard = [] } = options;
  const all = [...routes, ...dashboard.map(({ route }) => route)];
  const collector = new SchemaCollector();
  const errors: ErrorOptions = {
    failure: collector.add(errorBody, 'output'),
    authEnabled: options.authEnabled,
  };
  const responses = new Map(
    all.map((route) => [route.id, collector.add(route.response, 'output')]),
  );
  const requested = collector.add(changeAccepted, 'output');
  const previews = new Map(
    routes.flatMap((route) =>
      route.preview ? [[route.id, collector.add(route.preview, 'output')]] : [],
    ),
  );
  const paths: Record<string, Record<string, unknown>> = {
    '/healthz': { get: healthOperation() },
  };
  for (const route of routes) {
    const path = documentedPath(route, routes);
    const item = (paths[options.apiPrefix + path] ??= {});
    const success = responses.get(route.id) ?? {};
    item[route.method.toLowerCase()] = operation(route, {
      collector,
      errors,
      success,
      requested,
      preview: previews.get(route.id),
      path,
    });
  }
  for (const each of dashboard) {
    const { id, method, path } = each.route;
    const described = operation(
      { ...each.route, errors: dashboardFailures(each) },
      {
        ...{ collector, path, requested, preview: undefined, success: responses.get(id) ?? {} },
        errors: { ...errors, authEnabled: false },
      },
    );
    const item = (paths[path] ??= {});
    item[method.toLowerCase()] = { ...described, security: dashboardSecurity(each) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Fund movement orchestrator',
      version: VERSION,
      description: [
        ABOUT,
        ...(options.edition === undefined ? [] : [EDITIONS[options.edition]]),
        ROLES,
        SECOND_DOOR,
        commonErrorsText(errors),
        ...(options.authEnabled ? [signingText(options.maxSkewSeconds)] : []),
      ].join('\n\n'),
      ...(options.edition === undefined ? {} : { 'x-edition': options.edition }),
      license: { name: 'All rights reserved', identifier: 'LicenseRef-UNLICENSED' },
    },
    servers: [{ url: options.serverUrl }],
    tags: [...new Set(['Service', ...all.map(({ tag }) => tag)])].map((name) => ({
      name,
      description: TAGS[name] ?? all.find(({ tag }) => tag === name)?.tagText,
    })),
    paths,
    components: {
      schemas: {
        ...collector.components,
        ...(options.authEnabled ? { RateLimited: RATE_LIMITED } : {}),
      },
      headers: options.authEnabled ? HEADERS : withoutLimit(HEADERS),
      responses: commonResponses(errors),
      examples: errorExamples(
        [...routes.flatMap((route) => route.errors), ...dashboard.flatMap(dashboardFailures)],
        errors,
      ),
      parameters: {
        RequestId: {
          name: 'X-Request-Id',
          in: 'header',
          required: false,
          description:
            'Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one.',
          schema: { type: 'string', examples: ['rebalance-2026-11-21.1'] },
        },
        IdempotencyKey: {
          name: 'Idempotency-Key',
          in: 'header',
          required: false,
          description:
            'Replaces `idempotency_key` of the body; where both are sent they must be equal. On a write without that field it is 422, unless that only stops or narrows something.',
          schema: { type: 'string', minLength: 1, maxLength: 128 },
        },
        DryRunQuery: {
          name: 'dry_run',
          in: 'query',
          required: false,
          description:
            '`true` writes nothing and answers 200 with what would happen. It is signed with the query, ' +
            'so that nothing on the way can turn a preview into a create.',
          schema: { type: 'string', enum: ['true', 'false'], default: 'false' },
        },
        DryRun: {
          name: 'Dry-Run',
          in: 'header',
          required: false,
          description:
            'The same as the parameter `dry_run`, but not signed: a proxy that drops it makes a create of a preview. ' +
            'The two must not differ; any other value, and the header on an operation that does not list it, is 422.',
          schema: { type: 'string', enum: ['true', 'false'], default: 'false' },
        },
      },
      securitySchemes: {
        ...(options.authEnabled ? securitySchemes() : {}),
        ...(dashboard.length === 0 ? {} : dashboardSchemes()),
      },
    },
    // Always present: without `security` a document does not say whether requests are signed.
    security: options.authEnabled ? [securityRequirement()] : [],
  };
}

function withoutLimit(headers: JsonSchema): JsonSchema {
  const { RetryAfter: _limit, ...rest } = headers;
  return rest;
}

interface OperationContext {
  readonly collector: SchemaCollector;
  readonly errors: ErrorOptions;
  readonly success: JsonSchema;
  /** Schema of the reply to a call that waits for people. */
  readonly requested: JsonSchema;
  /** Schema of a dry run's reply; undefined for a route without a preview. */
  readonly preview: JsonSchema | undefined;
  readonly path: string;
}

/**
 * Returns the path under which a route is documented. For OpenAPI, two paths that differ only in
 * parameter names are the same path, so such routes share the parameter names of the first.
 */
export function documentedPath(route: Route, routes: readonly Route[]): string {
  const form = (path: string): string => path.replace(/\{[^}]+\}/g, '{}');
  const first = routes.find((each) => form(each.path) === form(route.path)) ?? route;
  return first.path.replace('+}', '}');
}

function operation(
  route: Route,
  { collector, errors, success, requested, preview, path }: OperationContext,
): JsonSchema {
  const body = route.method === 'GET' ? null : bodyOf(route, collector);
  const answered = (status: number, schema: JsonSchema): JsonSchema =>
    json(schema, SEEN.answers[route.id]?.[status]);
  // A route whose body must have the key does not accept the key in a header alone.
  const key = keyFieldOf(route);
  const idempotent = key !== undefined;
  const keyInHeader = key instanceof z.ZodOptional;
  const succeeded = {
    description: route.repeats === true ? 'Success, of a repeat too' : 'Success',
    headers: route.repeats === true ? REPLAYED : REQUEST_ID,
    content:
      route.response instanceof z.ZodNever
        ? { [EVENT_STREAM]: { schema: { type: 'string', description: route.text } } }
        : { ...answered(route.status, success), ...plain(route.text) },
  };
  return {
    operationId: route.id,
    tags: [route.tag],
    summary: route.summary,
    description: [
      ...(route.description === undefined ? [] : [route.description]),
      ...(route.roles.length === 0 ? [] : [`Roles: ${route.roles.join(', ')}.`]),
    ].join('\n\n'),
    'x-roles': route.roles,
    parameters: [
      ...pathParametersOf(route, path, collector),
      ...parametersOf(collector.add(route.query, 'input'), 'query').map((parameter) =>
        recordsOf(route.query).includes(String(parameter['name'])) ? pairsOf(parameter) : parameter,
      ),
      { $ref: '#/components/parameters/RequestId' },
      ...(keyInHeader ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
      ...(preview === undefined
        ? []
        : [
            { $ref: '#/components/parameters/DryRunQuery' },
            { $ref: '#/components/parameters/DryRun' },
          ]),
    ],
    ...(body === null ? {} : { requestBody: body }),
    responses: {
      [String(route.status)]: succeeded,
      ...otherSuccess(route, {
        succeeded,
        content: answered(200, preview === undefined ? success : { oneOf: [preview, success] }),
        idempotent,
      }),
      ...(requestKindOf(route.power) === null
        ? {}
        : {
            202: {
              description:
                'An approval rule makes this call wait for people; nothing else was done.',
              headers: REQUEST_ID,
              content: answered(202, requested),
            },
          }),
      ...routeFailures(route.errors, errors),
    },
  };
}

/** Returns the 200 response of a create: for a repeat and for a dry run. */
function otherSuccess(
  route: Route,
  answer: {
    readonly succeeded: JsonSchema;
    readonly content: JsonSchema;
    readonly idempotent: boolean;
  },
): JsonSchema {
  const { succeeded, content, idempotent } = answer;
  if (route.status !== 201) return {};
  if (route.preview === undefined)
    return idempotent
      ? { 200: { ...succeeded, content, description: REPEATED, headers: REPLAYED } }
      : {};
  const description =
    'With `dry_run=true`: what would happen, nothing was written. Else a repeat of an idempotency key: the first result, ' +
    'with the header `Idempotent-Replayed: true`.';
  return { 200: { ...succeeded, description, headers: REPLAYED, content } };
}

function bodyOf(route: Route, collector: SchemaCollector): JsonSchema {
  return {
    required: !route.body.safeParse(undefined).success,
    content: json(collector.add(route.body, 'input')),
  };
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

/**
 * Returns a record's parameter in its sent form. OpenAPI's exploded form sends each property as a
 * separate parameter, so the record's name is put before each property name.
 */
function pairsOf(parameter: JsonSchema): JsonSchema {
  const name = String(parameter['name']);
  const { propertyNames, ...schema } = parameter['schema'] as JsonSchema;
  const { pattern } = propertyNames as { readonly pattern: string };
  return {
    ...parameter,
    style: 'form',
    explode: true,
    schema: {
      ...schema,
      propertyNames: { type: 'string', pattern: pattern.replace('^', `^${name}\\.`) },
    },
  };
}

/** Returns the path parameters, named as in the document. */
function pathParametersOf(
  route: Route,
  path: string,
  collector: SchemaCollector,
): readonly JsonSchema[] {
  const named = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name);
  const own = [...route.path.matchAll(/\{([^}+]+)\+?\}/g)].map(([, name]) => name);
  return parametersOf(collector.add(route.params, 'input'), 'path').map((parameter) => {
    const ownName = String(parameter['name']);
    const name = named[own.indexOf(ownName)];
    const notes = [
      ...(name === ownName ? [] : [`Here the \`${ownName}\`.`]),
      // OpenAPI cannot describe a parameter that contains slashes, and %2F is refused.
      ...(route.path.endsWith(`{${ownName}+}`)
        ? ['The rest of the path: send each `/` in it as it is, never as `%2F`.']
        : []),
    ];
    return notes.length === 0 ? parameter : { ...parameter, name, description: notes.join(' ') };
  });
}

function json(schema: JsonSchema, example?: unknown): JsonSchema {
  return { 'application/json': { schema, ...(example === undefined ? {} : { example }) } };
}

function plain(description: string | undefined): JsonSchema {
  return description === undefined
    ? {}
    : { 'text/plain': { schema: { type: 'string', description } } };
}

function healthOperation(): JsonSchema {
  const properties = {
    ok: { type: 'boolean' },
    service: { type: 'string' },
    api_prefix: { type: 'string' },
  };
  const schema = { type: 'object', properties, required: Object.keys(properties) };
  return {
    operationId: 'healthz',
    tags: ['Service'],
    summary: 'Whether the process is alive',
    security: [],
    responses: {
      200: {
        description: 'Alive',
        headers: REQUEST_ID,
        content: json(schema, SEEN.answers['healthz']?.['200']),
      },
      ...bareFailures(),
    },
  };
}
