/** Makes JSON Schemas of the output of commands, from the schemas in the API document. */
import type { Answer, JsonSchema } from './command.ts';

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';
const PREFIX = '#/components/schemas/';

/** Returns a schema with all referenced schemas included; null for a command without JSON. */
export async function schemaOf(answer: Answer): Promise<JsonSchema | null> {
  if (answer === null) return null;
  if ('schema' in answer) return { $schema: DIALECT, ...described(answer), ...answer.schema };
  const { ANSWERS, SCHEMAS } = await import('../http/generated/answers.ts');
  const found = ANSWERS[answer.operation];
  if (found === undefined) throw new Error(`there is no operation ${answer.operation}`);
  const { success, preview = success } = found;
  const root =
    answer.preview === true
      ? preview
      : answer.dryRun === true
        ? { oneOf: [preview, success] }
        : success;
  const names = reached(root, SCHEMAS);
  return {
    $schema: DIALECT,
    ...described(answer),
    ...(renamed(root) as JsonSchema),
    ...(names.size === 0
      ? {}
      : { $defs: Object.fromEntries([...names].map((name) => [name, renamed(SCHEMAS[name])])) }),
  };
}

function described(answer: { readonly lines?: true }): JsonSchema {
  return answer.lines === true
    ? { $comment: 'The command prints one such value on each line.' }
    : {};
}

/** Returns the names of all schemas that a schema refers to, directly or through others. */
function reached(schema: unknown, all: Readonly<Record<string, unknown>>): ReadonlySet<string> {
  const names = new Set<string>();
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(walk);
    if (typeof value !== 'object' || value === null) return;
    for (const [key, each] of Object.entries(value)) {
      if (key !== '$ref' || typeof each !== 'string') walk(each);
      else if (!names.has(each.slice(PREFIX.length))) {
        names.add(each.slice(PREFIX.length));
        walk(all[each.slice(PREFIX.length)]);
      }
    }
  };
  walk(schema);
  return names;
}

function renamed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(renamed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key,
      key === '$ref' && typeof each === 'string' ? each.replace(PREFIX, '#/$defs/') : renamed(each),
    ]),
  );
}
