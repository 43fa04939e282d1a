/**
 * The hook of the free edition: one cap for each template key, which is both the largest amount and
 * the sum of a day.
 */
import { add, compare } from '../money.ts';
import { isAgentsTemplate } from '../roles.ts';
import { limitAmount } from '../plan/flow.ts';
import type { OutflowEntry } from '../plan/types.ts';
import { limitOf } from './limits.ts';
import { checksAt, firstFailure, forLateReasons, type Check } from './checks.ts';
import type { AutoApproveResult, Evaluation, FreeReason, LateReason } from './result.ts';

/** The admin fields of a template key. */
export interface TemplateCaps {
  readonly auto_approve_enabled: boolean;
  readonly daily_cap_amount: string | null;
  readonly daily_cap_asset: string | null;
}

export interface FreeRequest {
  readonly template_key: string;
  /** The intent's. */
  readonly asset: string;
  readonly amount: string;
  /** What the plan can move at most. */
  readonly outflow: readonly OutflowEntry[];
  /** It only observes what others send; a person judges what that proves. */
  readonly only_observes: boolean;
}

export interface FreeFacts {
  readonly at: string;
  /** The setting that switches automatic approval on. */
  readonly enabled: boolean;
  readonly template: TemplateCaps | null;
  /** The sum of other movements of the key that were approved in the last 24 hours. */
  readonly used: string;
}

export const FREE_CHECKS = [
  'setting',
  'template',
  'template_enabled',
  'asset',
  'amount',
  'daily_cap',
] as const;
export type FreeCheck = (typeof FREE_CHECKS)[number];

const CHECK_OF: Partial<Record<LateReason, FreeCheck>> = { daily_cap_exceeded: 'daily_cap' };

/** The decision by the template's cap; without a cap it is zero. */
export function evaluateFree(request: FreeRequest, facts: FreeFacts): Evaluation {
  const { reason, checks } = firstFailure(checksOf(request, facts));
  const { at: evaluated_at, template } = facts;
  const { asset } = request;
  const amount = amountOf(request);
  // A cap in another asset does not bound this amount.
  const cap = template?.daily_cap_asset === asset ? template.daily_cap_amount : null;
  const limits = limitOf('template.daily_cap_amount', cap, facts.used, amount);
  if (reason !== null)
    return { result: { outcome: 'pending', reason, checks, evaluated_at }, limits, guard: null };
  return {
    result: { outcome: 'approved', reason: 'free_simple_cap_passed', checks, evaluated_at },
    limits,
    guard: {
      template_key: request.template_key,
      daily_cap_amount: template?.daily_cap_amount ?? '0',
      daily_cap_asset: template?.daily_cap_asset ?? '',
    },
    refused: forLateReasons((late): AutoApproveResult => ({
      outcome: 'pending',
      reason: late,
      checks: checksAt(FREE_CHECKS, CHECK_OF[late]),
      evaluated_at,
    })),
  };
}

/**
 * What the cap counts: what the plan can move, and never less than its intent; null where nothing
 * bounds it.
 */
function amountOf({ asset, amount, outflow }: FreeRequest): string | null {
  return limitAmount({ outflow, intent: { asset, amount } });
}

function checksOf(
  request: FreeRequest,
  { enabled, template, used }: FreeFacts,
): readonly Check<FreeReason>[] {
  const amount = amountOf(request);
  const assets = [request.asset, ...request.outflow.map((entry) => entry.asset)];
  const cap = template?.daily_cap_amount ?? '0';
  const when = (fails: boolean, reason: FreeReason): FreeReason | null => (fails ? reason : null);
  const refusals: Record<FreeCheck, FreeReason | null> = {
    setting: when(!enabled, 'auto_approve_disabled_settings'),
    template: when(template === null, 'template_not_found'),
    template_enabled: when(
      // A cap holds for every version, and of an agent's key the agent makes them.
      template?.auto_approve_enabled !== true || isAgentsTemplate(request.template_key),
      'template_auto_approve_disabled',
    ),
    asset: when(!assets.every((asset) => asset === template?.daily_cap_asset), 'asset_mismatch'),
    amount: request.only_observes
      ? 'no_sending_node'
      : amount === null
        ? 'outflow_unknown'
        : when(compare(amount, cap) > 0, 'amount_exceeded_per_request'),
    daily_cap: when(amount === null || compare(add(used, amount), cap) > 0, 'daily_cap_exceeded'),
  };
  return FREE_CHECKS.map((check) => ({ check, refusal: refusals[check] }));
}
