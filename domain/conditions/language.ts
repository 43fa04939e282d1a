/**
 * The environment that conditions are parsed, checked and evaluated in. It is made once, when the
 * first condition is met; nothing in it reads a clock, a locale or a random number.
 */
import { Environment } from '@marcbachmann/cel-js';
import { DECIMAL_OPERATORS, Decimal, toDecimal } from './decimal.ts';

/**
 * Bounds of one expression. With them the dearest expression stays at a few milliseconds (decision
 * 0008).
 */
export const LIMITS = {
  /** As the API's own limit of `condition_expr`. */
  characters: 1_024,
  nodes: 256,
  /**
   * Nodes in the predicates of quantifiers, all together: they are evaluated again for each
   * element.
   */
  predicateNodes: 16,
  depth: 24,
  list: 64,
  /**
   * Values an evaluation may read: every scalar, list and object counts, a string one more per 64
   * characters.
   */
  values: 1_000,
  /**
   * The same where a quantifier goes through a list, since it reads them again for each element.
   */
  quantifiedValues: 48,
  /** Lists and objects inside each other, counted from where the expression takes them. */
  valueDepth: 4,
  /**
   * Text of the compiled expressions that are kept; compiled, an expression takes some 150 bytes a
   * character.
   */
  cachedCharacters: 64 * 1_024,
} as const;

/** The fields of `intent`. `amount` can only go through `dec()`. */
export const INTENT_FIELDS = {
  asset: 'string',
  amount: 'string',
  destination_address: 'string',
  chain_id: 'int',
  source_venue: 'string',
  destination_venue: 'string',
} as const;

/** The fields of `nodes['key']`. */
export const NODE_FIELDS = { state: 'string', output: 'dyn', error_code: 'dyn' } as const;

/** What the evaluator sees of the intent; an absent field is undefined, which `has()` tells. */
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

/** The one environment of this process (or of this workflow's sandbox). */
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
  // What a value turns out to be is known at run time only: two strings are never put in order
  // then, or "9" would be greater than "100".
  for (const operator of ['<', '<=', '>', '>='])
    made.registerOperator(`dyn<string> ${operator} dyn<string>`, refuseStringOrder);
  return made;
}

function refuseStringOrder(): boolean {
  throw new Error('strings have no order; compare amounts with dec()');
}
