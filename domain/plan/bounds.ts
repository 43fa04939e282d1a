/**
 * What a request may add to its template, and how large a plan may become; checked before anything
 * large is built.
 */
import { isObject, type JsonObject, type JsonValue } from '../json.ts';
import type { PlanTemplate } from './types.ts';

export const MOST_NODE_CONFIG_BYTES = 64 * 1_024;
/** Of the canonical text. */
export const MOST_PLAN_BYTES = 1_024 * 1_024;

/**
 * Only a template sets these. A caller must not weaken what it promises (which includes the balance
 * from which an increase is counted), choose where money comes from, choose by a `tag` whom an
 * exchange pays at an address that many share (which the allowlist cannot distinguish), or choose
 * who may mint a burn and how much of it the attester keeps.
 */
export const TEMPLATE_ONLY_KEYS = [
  'completion_assurance',
  'amount_ref',
  'match_from',
  'burn_from',
  'tag',
  'baseline',
  'baseline_amount',
  'destination_caller',
  'max_fee',
  'finality',
] as const;

/** The keys of `input_params.node_config` that a caller may not set. */
export function foreignKeys(inputParams: JsonObject): readonly string[] {
  const shared = inputParams['node_config'];
  return isObject(shared) ? TEMPLATE_ONLY_KEYS.filter((key) => Object.hasOwn(shared, key)) : [];
}

export interface Excess {
  readonly part: 'node_config' | 'plan';
  readonly limit_bytes: number;
}
const EXCESS = {
  node_config: { part: 'node_config', limit_bytes: MOST_NODE_CONFIG_BYTES },
  plan: { part: 'plan', limit_bytes: MOST_PLAN_BYTES },
} as const satisfies Readonly<Record<string, Excess>>;

/**
 * What is certainly too large before the plan is built, whose nodes each copy all of `node_config`;
 * else null.
 */
export function excessBefore(template: PlanTemplate, inputParams: JsonObject): Excess | null {
  const shared = inputParams['node_config'];
  const entries = isObject(shared)
    ? Object.entries(shared).map(([key, value]) => ({
        key,
        bytes: bytesOf(key) + bytesOf(value) + 2,
      }))
    : [];
  if (isObject(shared) && bytesOf(shared) > MOST_NODE_CONFIG_BYTES) return EXCESS.node_config;
  const added = template.nodes.map(({ config = {} }) => {
    // A template that passes an amount on ignores a caller's amount.
    const taken = entries.filter(({ key }) => key !== 'amount' && !Object.hasOwn(config, key));
    return taken.reduce((sum, { bytes }) => sum + bytes, bytesOf(config));
  });
  const least = [...added, bytesOf(inputParams)].reduce((sum, bytes) => sum + bytes, 0);
  return least > MOST_PLAN_BYTES ? EXCESS.plan : null;
}

/** Whether the built plan is too large after all. */
export function excessOf(canonical: string): Excess | null {
  return utf8Bytes(canonical) > MOST_PLAN_BYTES ? EXCESS.plan : null;
}

/**
 * The length of the JSON text in UTF-8, which is that of the canonical form: only the order of keys
 * differs.
 */
function bytesOf(value: JsonValue): number {
  return utf8Bytes(JSON.stringify(value));
}

function utf8Bytes(text: string): number {
  return new TextEncoder().encode(text).byteLength;
}
