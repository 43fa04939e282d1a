/** Reads how much a node moves, and checks the amount against the risk controls. */
import { specOf } from '../actions/built-in.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { compare, isDecimal, readDecimal } from '../money.ts';
import type { TemplateNode } from './types.ts';

export type AmountSource =
  | { readonly kind: 'intent' }
  | { readonly kind: 'amount'; readonly amount: string }
  | { readonly kind: 'node'; readonly node_key: string; readonly field: string }
  | { readonly kind: 'invalid'; readonly text: string };

/**
 * Reads `amount`, else `amount_ref` (`intent` or `nodes.<key>.output.<field>`), else uses the
 * intent's amount. In a compiled node, an `amount` next to an `amount_ref` comes from the template,
 * since a caller's `amount` is removed.
 */
export function parseAmountSource(config: JsonObject): AmountSource {
  const { amount, amount_ref: ref } = config;
  if (amount !== undefined) {
    return typeof amount === 'string' && isDecimal(amount)
      ? { kind: 'amount', amount }
      : { kind: 'invalid', text: JSON.stringify(amount) };
  }
  if (ref === undefined || ref === 'intent') return { kind: 'intent' };
  const match = typeof ref === 'string' ? /^nodes\.(.+)\.output\.([A-Za-z0-9_]+)$/.exec(ref) : null;
  const [, node_key, field] = match ?? [];
  if (node_key === undefined || field === undefined)
    return { kind: 'invalid', text: JSON.stringify(ref) };
  return { kind: 'node', node_key, field };
}

/**
 * Returns the amount in plain notation; null when the node output that it refers to holds no
 * amount. A node whose amount is not known exactly moves nothing.
 */
export function resolveAmount(
  config: JsonObject,
  intentAmount: string,
  outputOf: (nodeKey: string) => JsonObject | null,
): string | null {
  const source = parseAmountSource(config);
  const raw: JsonValue | undefined =
    source.kind === 'intent'
      ? intentAmount
      : source.kind === 'amount'
        ? source.amount
        : source.kind === 'node'
          ? outputOf(source.node_key)?.[source.field]
          : undefined;
  return readDecimal(raw);
}

/**
 * Returns whether a node allows 0: such a node takes an allowance back and pays no one. Only an
 * `amount` of the template or the caller can be 0; a node output of 0 is not accepted.
 */
export function takesBack({
  action_type,
  config: { amount } = {},
}: Pick<TemplateNode, 'action_type' | 'config'>): boolean {
  return (
    specOf(action_type).allowance &&
    typeof amount === 'string' &&
    isDecimal(amount) &&
    compare(amount, '0') === 0
  );
}

/** Returns whether a plan only observes what others send. Taking back an allowance is no send. */
export function onlyObserves(
  nodes: readonly (Pick<TemplateNode, 'node_kind' | 'action_type' | 'config'> & {
    readonly sends: boolean;
  })[],
): boolean {
  return (
    nodes.some(({ node_kind }) => node_kind === 'observe') &&
    !nodes.some((node) => node.sends && !takesBack(node))
  );
}

/** The limit that replaces an unreadable limit. */
const NOTHING = '0';

/**
 * Returns the lower of the plan's and the node's `max_amount`; null when neither is set. A patch
 * may only lower the limit. A limit that is not a decimal allows nothing, since its author wanted a
 * limit.
 */
export function maxAmount(
  riskControls: JsonObject,
  riskPatch: JsonObject | undefined,
): string | null {
  const limits = [riskControls, riskPatch ?? {}]
    .filter((controls) => Object.hasOwn(controls, 'max_amount'))
    .map(({ max_amount: limit }) =>
      typeof limit === 'string' && isDecimal(limit) ? limit : NOTHING,
    );
  const [first, second] = limits;
  if (first === undefined) return null;
  return second !== undefined && compare(second, first) < 0 ? second : first;
}

/** Returns whether the amount is above the limit. An amount equal to the limit is allowed. */
export function exceedsMax(amount: string, limit: string | null): boolean {
  return limit !== null && compare(amount, limit) > 0;
}
