/**
 * Generates the files of the typed client: types from the API's own document, and operations,
 * errors and end states as data. `npm run client:types` writes them to clients/http/generated/.
 */
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';
import { z } from 'zod';
import { commercial } from '../../api/commercial.ts';
import { withExtensions } from '../../api/extension.ts';
import type { Route } from '../../api/http/route.ts';
import { buildOpenApi } from '../../api/openapi/document.ts';
import { routes } from '../../venues/routes.ts';
import { ERROR_TABLE } from '../../domain/errors.ts';
import { isObject } from '../../domain/json.ts';
import { TRANSFER_STATES, TRANSFER_TABLE } from '../../domain/states/capital-transfer.ts';
import { ENDED_STATES } from '../../domain/states/movement.ts';
import { isFinal } from '../../domain/states/table.ts';
import { answerSchemas } from './answers.ts';

type Json = Readonly<Record<string, unknown>>;

export const GENERATED_FOLDER = 'clients/http/generated';

const NOTE = '// Written by `npm run client:types` from the API; not by hand.\n';

/** Returns every route of the commercial edition, which includes those of the free edition. */
export function allRoutes(): readonly Route[] {
  return withExtensions(routes, [commercial({ autoApproveDryRun: false })]);
}

/** Returns the expected content of each generated file, by path. */
export async function generatedFiles(): Promise<ReadonlyMap<string, string>> {
  const table = allRoutes();
  const document = successesAlone(documentOf(table));
  return new Map([
    [`${GENERATED_FOLDER}/schema.ts`, NOTE + (await schemaTypes(document))],
    [`${GENERATED_FOLDER}/answers.ts`, NOTE + answerSchemas(document)],
    [`${GENERATED_FOLDER}/operations.ts`, NOTE + operationsTable(table)],
    [`${GENERATED_FOLDER}/errors.ts`, NOTE + errorsTable()],
    [`${GENERATED_FOLDER}/states.ts`, NOTE + endStates()],
  ]);
}

function documentOf(table: readonly Route[]): Json {
  return buildOpenApi(table, {
    apiPrefix: '/v3',
    serverUrl: 'http://127.0.0.1:8100',
    authEnabled: true,
    maxSkewSeconds: 300,
  });
}

async function schemaTypes(document: Json): Promise<string> {
  // A request may leave out a field with a default.
  const nodes = await openapiTS(JSON.stringify(document), {
    defaultNonNullable: false,
    immutable: true,
  });
  const kept = nodes.filter(
    (node) =>
      ts.isInterfaceDeclaration(node) && ['components', 'operations'].includes(node.name.text),
  );
  return astToString(kept);
}

/** Returns the document without error responses, which are typed from the error table. */
function successesAlone(document: Json): Json {
  const { paths, components, ...rest } = document;
  const operations = mapValues(paths, (item) =>
    mapValues(item, (operation) => (isObject(operation) ? withoutFailures(operation) : operation)),
  );
  const { schemas, headers, parameters } = isObject(components) ? components : {};
  return { ...rest, paths: operations, components: { schemas, headers, parameters } };
}

function withoutFailures(operation: Json): Json {
  const { responses, ...rest } = operation;
  const successes = Object.entries(isObject(responses) ? responses : {})
    .filter(([status]) => status.startsWith('2'))
    .map(([status, response]) => [
      status,
      mapValues(response, (value, key) =>
        key === 'content' ? mapValues(value, withoutExample) : value,
      ),
    ]);
  return { ...rest, responses: Object.fromEntries(successes) };
}

function withoutExample(content: unknown): unknown {
  if (!isObject(content)) return content;
  const { example: _example, ...rest } = content;
  return rest;
}

function mapValues(value: unknown, change: (each: unknown, key: string) => unknown): Json {
  return Object.fromEntries(
    Object.entries(isObject(value) ? value : {}).map(([key, each]) => [key, change(each, key)]),
  );
}

function operationsTable(table: readonly Route[]): string {
  const rows = table.map((route) => `  ${route.id}: ${literal(operationOf(route))},`);
  return [
    '/** Every operation: how it is requested, and what a caller may do with it. */',
    'export const OPERATIONS = {',
    ...rows,
    '} as const;',
    '',
  ].join('\n');
}

function operationOf({ method, path, body, response, preview, text }: Route): object {
  const takesKey = body instanceof z.ZodObject && 'idempotency_key' in body.shape;
  return {
    method,
    path,
    idempotent: takesKey,
    paged: pluralOf(response),
    dryRun: preview !== undefined,
    ...(text === undefined ? {} : { text: true }),
  };
}

/** Returns the field of a page that holds its rows; null when the response is no page. */
function pluralOf(response: z.ZodType): string | null {
  if (!(response instanceof z.ZodObject) || !('next_cursor' in response.shape)) return null;
  return Object.keys(response.shape).find((key) => key !== 'next_cursor') ?? null;
}

function errorsTable(): string {
  const rows = Object.entries(ERROR_TABLE).map(
    ([code, { status, retry }]) => `  ${code}: ${literal({ status, retry })},`,
  );
  return [
    '/** Every code that the API answers instead of a success, and whether a repeat may succeed. */',
    'export const ERRORS = {',
    ...rows,
    '} as const;',
    '',
  ].join('\n');
}

function endStates(): string {
  const list = (name: string, about: string, states: readonly string[]): string =>
    `/** ${about} */\nexport const ${name} = ${literal(states)} as const;\n`;
  return [
    list(
      'MOVEMENT_END_STATES',
      'States in which a movement has ended; a failed one moves again only when it is retried.',
      ENDED_STATES,
    ),
    list(
      'TRANSFER_END_STATES',
      'States that a capital transfer never leaves.',
      TRANSFER_STATES.filter((state) => isFinal(TRANSFER_TABLE, state)),
    ),
  ].join('\n');
}

/** Returns a value as TypeScript source. */
function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (isObject(value))
    return `{ ${Object.entries(value)
      .map(([key, each]) => `${key}: ${literal(each)}`)
      .join(', ')} }`;
  return typeof value === 'string' ? `'${value}'` : String(value);
}
