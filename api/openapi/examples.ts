/**
 * Examples of answers, made from their schemas: one that fits is worth more than one that was true
 * once.
 */
import type { JsonSchema } from './schemas.ts';

/** What fields of these names hold, where their schemas have no example of their own. */
const BY_NAME: Readonly<Record<string, string>> = {
  action_type: 'noop',
  actor_key_id: 'desk-key',
  authority_key: 'desk-bot',
  chain_family: 'evm',
  client_id: '01938a5e-7c00-7b3a-9d2f-5b1c7e8a4f10',
  compiled_plan_hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  control: 'max_amount',
  current_frontier: 'withdraw',
  daily_cap_asset: 'USDC',
  error: 'binding_unresolved',
  executor_key: 'builtin.noop',
  from: 'withdraw',
  key_id: 'desk-key',
  kind: 'resolution',
  message: 'A node selects no executor or signer, or more than one.',
  namespace: 'agent/desk-bot',
  next_cursor: 'eyJjcmVhdGVkX2F0Ijoi4oCmIn0',
  node_key: 'withdraw',
  node_kind: 'action',
  signer_key: 'treasury',
  strategy_id: 'rebalance',
  template_key: 'starter/withdraw-to-treasury',
  to: 'sweep',
  url: 'https://treasury.example/callbacks',
};
const REFERENCE = '#/components/schemas/';

/** A value that fits the schema; `components` are what it may refer to. */
export function exampleOf(
  schema: JsonSchema,
  components: Readonly<Record<string, JsonSchema>>,
  name = 'text',
): unknown {
  const { $ref, anyOf, oneOf, allOf } = schema;
  if (typeof $ref === 'string')
    return exampleOf(components[$ref.slice(REFERENCE.length)] ?? {}, components, name);
  const given = givenBy(schema);
  if (given !== undefined) return given;
  const types = [schema['type']].flat();
  const choices = [anyOf, oneOf, allOf].filter(Array.isArray).flat() as JsonSchema[];
  // Where nothing better is known than a field's name, null is the likelier answer.
  if (BY_NAME[name] === undefined && types.includes('string') && types.includes('null'))
    return null;
  if (choices[0] !== undefined) return exampleOf(choices[0], components, name);
  switch (types[0]) {
    case 'object':
      return fieldsOf(schema, components);
    case 'array':
      return schema['items'] === undefined
        ? []
        : [exampleOf(schema['items'] as JsonSchema, components, name)];
    case 'integer':
    case 'number':
      return Math.max(1, Number(schema['minimum'] ?? 1));
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return BY_NAME[name] ?? name;
  }
}

function givenBy({ example, examples, const: only, enum: values }: JsonSchema): unknown {
  if (example !== undefined) return example;
  if (only !== undefined) return only;
  for (const list of [examples, values])
    if (Array.isArray(list) && list.length > 0) return list[0] as unknown;
  return undefined;
}

function fieldsOf(
  { properties }: JsonSchema,
  components: Readonly<Record<string, JsonSchema>>,
): JsonSchema {
  return Object.fromEntries(
    Object.entries((properties ?? {}) as Readonly<Record<string, JsonSchema>>).map(
      ([name, each]) => [name, exampleOf(each, components, name)],
    ),
  );
}
