/**
 * Bounds on what a request may add to its template, and on the size of a plan. They are checked
 * before the plan is built.
 */
import { isObject, type JsonObject, type JsonValue } from '../json.ts';
import type { PlanTemplate } from './types.ts';

export const MOST_NODE_CONFIG_BYTES = 64 * 1_024;
/** Length of the canonical text in UTF-8. */
export const MOST_PLAN_BYTES = 1_024 * 1_024;

/**
 * Config keys that only a template may set. With them a caller could weaken the template's checks
 * (for example by the balance from which an increase is counted), choose the source of the funds,
 * choose by `tag` the payee at an address that several payees of an exchange share (the allowlist
 * cannot distinguish them), choose who may mint a burn and how much of it the attester keeps, or
 * choose how much an exchange may charge for a withdrawal.
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
  'fee_limit',
] as const;

/** Returns the keys of `input_params.node_config` that a caller may not set. */
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
 * Returns which part is certainly too large, before the plan is built; else null. Each node of a
 * plan copies all of `node_config`.
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
    // A template that sets an amount or passes one on ignores a caller's amount.
    const taken = entries.filter(({ key }) => key !== 'amount' && !Object.hasOwn(config, key));
    return taken.reduce((sum, { bytes }) => sum + bytes, bytesOf(config));
  });
  const least = [...added, bytesOf(inputParams)].reduce((sum, bytes) => sum + bytes, 0);
  return least > MOST_PLAN_BYTES ? EXCESS.plan : null;
}

/** Returns whether the built plan is too large. */
export function excessOf(canonical: string): Excess | null {
  return utf8Bytes(canonical) > MOST_PLAN_BYTES ? EXCESS.plan : null;
}

/**
 * Returns the length of the JSON text in UTF-8. The canonical form has the same length: only the
 * order of its keys differs.
 */
function bytesOf(value: JsonValue): number {
  return utf8Bytes(JSON.stringify(value));
}

function utf8Bytes(text: string): number {
  return new TextEncoder().encode(text).byteLength;
}
