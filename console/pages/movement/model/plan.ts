/** The plan that an approval binds, read from its bytes and held to the hash of the movement. */
import { planHash } from '../../../../clients/http/plan.ts';
import { isObject } from '../../../../domain/json.ts';
import type { CompiledPlan } from '../../../../domain/plan/types.ts';

/** `differs` and `unreadable` are no plan: nothing of them is shown as one, nothing is offered. */
export type PlanReading =
  | {
      readonly status: 'agrees';
      /** The bytes as they were answered. */
      readonly text: string;
      /** Made here from `text`; what an approval sends. */
      readonly hash: string;
      readonly plan: CompiledPlan;
    }
  | {
      readonly status: 'differs' | 'unreadable';
      readonly text: string;
      readonly hash: string;
      readonly problem: string;
    };

/** Hashes `text` (`GET movements/{id}/plan`) and compares with `approved`, the movement's hash. */
export async function readPlan(text: string, approved: string): Promise<PlanReading> {
  const hash = await planHash(text);
  if (hash !== approved)
    return {
      status: 'differs',
      text,
      hash,
      problem: `The plan that was answered has the hash ${hash}, and the movement says ${approved}: nothing of it is to be believed. Reload the page; if it stays so, report it and decide nothing.`,
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

/** What has the right hash was compiled by the service: this tells it from something else. */
function parsed(text: string): CompiledPlan | null {
  const value = jsonOf(text);
  return isPlan(value) ? value : null;
}

function jsonOf(text: string): unknown {
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
