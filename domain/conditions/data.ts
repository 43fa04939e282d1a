/** Builds the data of one evaluation: a bounded copy of exactly what the expression reads. */
import { isObject, type JsonObject, type JsonValue } from '../json.ts';
import type { Intent } from '../plan/types.ts';
import type { Program } from './compile.ts';
import { IntentView, LIMITS, NodeView } from './language.ts';
import type { ConditionNode } from './scope.ts';
import type { Fields } from './uses.ts';

interface Budget {
  readonly values: number;
  left: number;
}

/**
 * Returns the variables of an evaluation. Throws if the expression reads more values than allowed.
 */
export function variablesOf(
  program: Program,
  plan: { readonly intent: Intent; readonly input_params: JsonObject },
  nodeOf: (key: string) => ConditionNode | undefined,
): Record<string, unknown> {
  const values = program.uses.predicateNodes > 0 ? LIMITS.quantifiedValues : LIMITS.values;
  const budget: Budget = { values, left: values };
  const nodes = new Map<string, NodeView>();
  for (const [key, fields] of program.uses.nodes) {
    const node = nodeOf(key);
    if (node === undefined) throw new Error(`nodes[${JSON.stringify(key)}] cannot be read here`);
    const view = Object.assign(new NodeView(), { state: node.state, error_code: node.error_code });
    view.output = copyFields(node.output, fields, budget);
    nodes.set(program.names.get(key) ?? key, view);
  }
  return {
    intent: intentView(plan.intent),
    input_params: copyFields(plan.input_params, program.uses.inputParams, budget),
    nodes,
  };
}

function intentView(intent: Intent): IntentView {
  const { chain_id, ...rest } = intent;
  return Object.assign(
    new IntentView(),
    rest,
    chain_id === undefined ? {} : { chain_id: BigInt(chain_id) },
  );
}

/**
 * Copies objects as Maps: then names that any caller may send, such as `__proto__` or
 * `constructor`, have no special meaning.
 */
function copyFields(value: JsonValue, fields: Fields, budget: Budget): unknown {
  if (fields.whole) return copy(value, budget, LIMITS.valueDepth);
  if (!isObject(value)) return Array.isArray(value) ? [] : copy(value, budget, 0);
  const found = [...fields.named].filter(([name]) => Object.hasOwn(value, name));
  return new Map(
    found.map(([name, inner]) => [name, copyFields(value[name] ?? null, inner, budget)]),
  );
}

function copy(value: JsonValue, budget: Budget, depth: number): unknown {
  budget.left -= typeof value === 'string' ? 1 + Math.floor(value.length / 64) : 1;
  if (budget.left < 0) throw new Error(`more than ${budget.values} values are read`);
  if (typeof value !== 'object' || value === null) return value;
  if (depth <= 0) throw new Error(`values are nested more than ${LIMITS.valueDepth} deep`);
  if (isObject(value))
    return new Map(
      Object.entries(value).map(([name, inner]) => [name, copy(inner, budget, depth - 1)]),
    );
  return value.map((inner: JsonValue) => copy(inner, budget, depth - 1));
}
