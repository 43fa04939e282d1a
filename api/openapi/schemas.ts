/** JSON Schemas for OpenAPI: one component for each named schema, shared by all routes. */
import { z } from 'zod';

export type JsonSchema = Readonly<Record<string, unknown>>;

const PREFIX = '#/components/schemas/';

/** Turns zod schemas into JSON Schemas and collects the named ones. */
export class SchemaCollector {
  readonly components: Record<string, JsonSchema> = {};

  /** Returns the schema as requests send it (`input`) or responses hold it (`output`). */
  add(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
    const {
      $schema: _version,
      $defs,
      ...root
    } = z.toJSONSchema(schema, {
      io,
      unrepresentable: 'any',
      target: 'draft-2020-12',
      // Read-only lists exist only in TypeScript, not on the wire.
      override: ({ jsonSchema }) => {
        delete jsonSchema.readOnly;
      },
    });
    const definitions = new Map(
      Object.entries($defs ?? {}).map(([name, each]): [string, JsonSchema] => [name, each]),
    );
    const names = this.#names(definitions);
    for (const [name, each] of definitions)
      this.components[names.get(name) ?? name] = rewritten(each, names);
    return rewritten(root, names);
  }

  /**
   * Returns the component names. A name taken by a different schema (`input` and `output` of a
   * schema may differ) gets a suffix; so does every schema that refers to a renamed schema.
   */
  #names(definitions: ReadonlyMap<string, JsonSchema>): ReadonlyMap<string, string> {
    const names = new Map([...definitions.keys()].map((name) => [name, name]));
    for (let settled = false; !settled;) {
      settled = true;
      for (const [name, schema] of definitions) {
        const taken = this.components[names.get(name) ?? name];
        if (
          taken === undefined ||
          JSON.stringify(taken) === JSON.stringify(rewritten(schema, names))
        )
          continue;
        names.set(name, `${names.get(name) ?? name}Input`);
        settled = false;
      }
    }
    return names;
  }
}

function rewritten(schema: JsonSchema, names: ReadonlyMap<string, string>): JsonSchema {
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, rewrittenValue(key, value, names)]),
  );
}

function rewrittenValue(key: string, value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (key === '$ref' && typeof value === 'string') {
    const name = value.replace(/^#\/\$defs\//, '');
    return PREFIX + (names.get(name) ?? name);
  }
  if (Array.isArray(value)) return value.map((item: unknown) => rewrittenValue('', item, names));
  return typeof value === 'object' && value !== null ? rewritten({ ...value }, names) : value;
}
