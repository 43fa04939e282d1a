/**
 * The environment in which conditions are parsed, checked and evaluated. It is made once, for the
 * first condition. Nothing in it reads the time, a locale or a random number.
 */
import { Environment } from '@marcbachmann/cel-js';
import { DECIMAL_OPERATORS, Decimal, toDecimal } from './decimal.ts';

/**
 * Bounds of one expression. With them the most expensive expression takes a few milliseconds
 * (decision 0008).
 */
export const LIMITS = {
  /** Same as the API's own limit of `condition_expr`. */
  characters: 1_024,
  nodes: 256,
  /**
   * Most syntax nodes in the predicates of all quantifiers together: they are evaluated again for
   * each list element.
   */
  predicateNodes: 16,
  depth: 24,
  list: 64,
  /**
   * Most values that an evaluation may read. Every scalar, list and object counts one; a string
   * counts one more per 64 characters.
   */
  values: 1_000,
  /** Most values with a quantifier, which reads the values again for each list element. */
  quantifiedValues: 48,
  /** Deepest nesting of lists and objects, counted from the value that the expression reads. */
  valueDepth: 4,
  /**
   * Most characters of cached expressions. A compiled expression takes about 150 bytes per
   * character.
   */
  cachedCharacters: 64 * 1_024,
} as const;

/** The fields of `intent`. `amount` can be used only inside `dec()`. */
export const INTENT_FIELDS = {
  asset: 'string',
  amount: 'string',
  destination_address: 'string',
  chain_id: 'int',
  source_venue: 'string',
  destination_venue: 'string',
} as const;

/** The fields of `nodes['key']`, with their types. */
export const NODE_FIELDS = { state: 'string', output: 'dyn', error_code: 'dyn' } as const;

/** The intent as the evaluator sees it. An absent field is undefined, so `has()` returns false. */
export class IntentView {
  asset?: string;
  amount?: string;
  destination_address?: string;
  chain_id?: bigint;
  source_venue?: string;
  destination_venue?: string;
}

export class NodeView {
  state = '';
  output: unknown = null;
  error_code: string | null = null;
}

let environment: Environment | undefined;

/** Returns the only environment of this process (or of this workflow's sandbox). */
export function language(): Environment {
  environment ??= build();
  return environment;
}

function build(): Environment {
  const made = new Environment({
    enableOptionalTypes: false,
    unlistedVariablesAreDyn: false,
    homogeneousAggregateLiterals: true,
    limits: {
      maxAstNodes: LIMITS.nodes,
      maxDepth: LIMITS.depth,
      maxListElements: LIMITS.list,
      maxMapEntries: 8,
      maxCallArguments: 4,
    },
  });
  made.registerType('Decimal', { ctor: Decimal, fields: {} });
  made.registerType('Intent', { ctor: IntentView, fields: { ...INTENT_FIELDS } });
  made.registerType('Node', { ctor: NodeView, fields: { ...NODE_FIELDS } });
  made.registerVariable('intent', 'Intent');
  made.registerVariable('input_params', 'dyn');
  made.registerVariable('nodes', 'map<string, Node>');
  made.registerFunction('dec(string): Decimal', toDecimal, { async: false });
  for (const [signature, handler] of Object.entries(DECIMAL_OPERATORS))
    made.registerOperator(signature, handler);
  // The type of a dyn value is known only at run time. Refuse to order two strings then, since "9"
  // would be greater than "100".
  for (const operator of ['<', '<=', '>', '>='])
    made.registerOperator(`dyn<string> ${operator} dyn<string>`, refuseStringOrder);
  return made;
}

function refuseStringOrder(): boolean {
  throw new Error('strings have no order; compare amounts with dec()');
}
