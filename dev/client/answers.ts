/** JSON Schemas of all operations' responses, from the API's own document. */
import { isObject } from '../../domain/json.ts';

type Json = Readonly<Record<string, unknown>>;

/** Returns TypeScript source: `ANSWERS` by operation, and the `SCHEMAS` to which they refer. */
export function answerSchemas(document: Json): string {
  const operations = Object.values(objectIn(document, 'paths'))
    .flatMap((item) => (isObject(item) ? Object.values(item) : []))
    .filter(isObject);
  const answers = Object.fromEntries(
    operations
      .filter(({ operationId }) => operationId !== 'healthz')
      .map((operation) => [String(operation['operationId']), answersOf(operation)]),
  );
  const { schemas } = objectIn(document, 'components');
  const all = objectIn({ schemas }, 'schemas');
  const named = namedIn(answers, all);
  return [
    'type Json = Readonly<Record<string, unknown>>;',
    '',
    '/** By operation: what a success answers, and what a dry run answers. */',
    'export const ANSWERS: Readonly<',
    '  Record<string, { readonly success: Json; readonly preview?: Json }>',
    `> = ${JSON.stringify(answers, null, 1)};`,
    '',
    '/** The schemas that these name. */',
    `export const SCHEMAS: Readonly<Record<string, Json>> = ${JSON.stringify(
      Object.fromEntries(Object.entries(all).filter(([name]) => named.has(name))),
      null,
      1,
    )};`,
    '',
  ].join('\n');
}

function answersOf(operation: Json): Json {
  const responses = objectIn(operation, 'responses');
  const first = schemaOf(responses['200']);
  if (responses['201'] === undefined) return { success: first };
  const either = first?.['oneOf'];
  return {
    success: schemaOf(responses['201']),
    ...(Array.isArray(either) ? { preview: either[0] as unknown } : {}),
  };
}

function schemaOf(response: unknown): Json | undefined {
  if (!isObject(response)) return undefined;
  return objectIn(objectIn(objectIn(response, 'content'), 'application/json'), 'schema');
}

function objectIn(holder: Json, field: string): Json {
  const value = holder[field];
  return isObject(value) ? value : {};
}

/** Returns the names of all schemas to which `value` refers, directly or indirectly. */
function namedIn(value: unknown, all: Json, found = new Set<string>()): ReadonlySet<string> {
  for (const [, name = ''] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/([^"]+)"/g))
    if (!found.has(name)) {
      found.add(name);
      namedIn(all[name] ?? {}, all, found);
    }
  return found;
}
