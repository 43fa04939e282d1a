/** How much a node moves, and whether its risk controls allow that. */
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
 * Reads `amount`, else `amount_ref` (`intent` or `nodes.<key>.output.<field>`), else the intent's.
 * In a compiled node an `amount` next to an `amount_ref` is the template's, since a caller's is
 * removed.
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
 * The amount in plain notation, or null when the output it refers to holds none: a node whose
 * amount is not known exactly moves nothing.
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
 * Whether a node allows 0: it takes an allowance back, draws nothing and pays no one. A template's
 * or a caller's `amount` says so; an output that comes to 0 is an allowance like any other.
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

/** Whether a plan waits for what others send and sends nothing itself; to take back is no send. */
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

/** The limit that an unreadable limit stands for. */
const NOTHING = '0';

/**
 * The tighter of the plan's and the node's `max_amount`; null where neither sets one. A patch may
 * only tighten. A limit that is present but no decimal allows nothing, since its author wanted a
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

/** Whether an amount may be dispatched. Equal to the limit is allowed. */
export function exceedsMax(amount: string, limit: string | null): boolean {
  return limit !== null && compare(amount, limit) > 0;
}
