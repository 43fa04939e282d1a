/**
 * The plan that an approval binds: parsed from its bytes and checked against the movement's hash.
 */
import { planHash } from '../../../../clients/http/plan.ts';
import { isObject } from '../../../../domain/json.ts';
import type { CompiledPlan } from '../../../../domain/plan/types.ts';

/**
 * Result of reading a plan. With `differs` or `unreadable` no plan is shown and no command is
 * offered.
 */
export type PlanReading =
  | {
      readonly status: 'agrees';
      /** The plan's text, as the service returned it. */
      readonly text: string;
      /** Hash computed here from `text`; an approval sends it. */
      readonly hash: string;
      readonly plan: CompiledPlan;
    }
  | {
      readonly status: 'differs' | 'unreadable';
      readonly text: string;
      readonly hash: string;
      readonly problem: string;
    };

/**
 * Hashes `text` (`GET movements/{id}/plan`) and compares the result with `approved`, the movement's
 * hash.
 */
export async function readPlan(text: string, approved: string): Promise<PlanReading> {
  const hash = await planHash(text);
  if (hash !== approved)
    return {
      status: 'differs',
      text,
      hash,
      problem: `The returned plan has the hash ${hash}, but the movement has ${approved}: do not trust the plan. Reload the page; if the hashes still differ, report it and decide nothing.`,
    };
  const plan = parsed(text);
  if (plan === null)
    return {
      status: 'unreadable',
      text,
      hash,
      problem:
        'This version of the console cannot read the plan. Reload the page, or use fundctl of the release that runs.',
    };
  return { status: 'agrees', text, hash, plan };
}

/**
 * Returns the parsed plan, or null when the text is no plan. Text with the right hash was compiled
 * by the service, so a rough check is enough.
 */
function parsed(text: string): CompiledPlan | null {
  const value = jsonOf(text);
  return isPlan(value) ? value : null;
}

/** Returns the parsed JSON; null when the text is none. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

function isPlan(value: unknown): value is CompiledPlan {
  return (
    isObject(value) &&
    Array.isArray(value['nodes']) &&
    Array.isArray(value['edges']) &&
    isObject(value['intent']) &&
    isObject(value['template'])
  );
}
