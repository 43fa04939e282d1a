/**
 * The automatic approval of the free edition: one cap for each template key. The cap limits each
 * single amount and the sum of 24 hours.
 */
import { add, compare } from '../money.ts';
import { isAgentsTemplate } from '../roles.ts';
import { limitAmount } from '../plan/flow.ts';
import type { OutflowEntry } from '../plan/types.ts';
import { limitOf } from './limits.ts';
import { checksAt, firstFailure, forLateReasons, type Check } from './checks.ts';
import type { AutoApproveResult, Evaluation, FreeReason, LateReason } from './result.ts';

/** The fields of a template key that an administrator sets. */
export interface TemplateCaps {
  readonly auto_approve_enabled: boolean;
  readonly daily_cap_amount: string | null;
  readonly daily_cap_asset: string | null;
}

export interface FreeRequest {
  readonly template_key: string;
  /** The asset of the intent. */
  readonly asset: string;
  readonly amount: string;
  /** The most that the plan can move. */
  readonly outflow: readonly OutflowEntry[];
  /** True: the plan only observes what others send, so a person must judge what that proves. */
  readonly only_observes: boolean;
}

export interface FreeFacts {
  readonly at: string;
  /** The setting that switches automatic approval on. */
  readonly enabled: boolean;
  readonly template: TemplateCaps | null;
  /** The sum of other movements of the template key that were approved in the last 24 hours. */
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

/** Returns the decision by the template's cap. Without a cap, the cap is zero. */
export function evaluateFree(request: FreeRequest, facts: FreeFacts): Evaluation {
  const { reason, checks } = firstFailure(checksOf(request, facts));
  const { at: evaluated_at, template } = facts;
  const { asset } = request;
  const amount = amountOf(request);
  // A cap in another asset does not limit this amount.
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
 * Returns the amount that counts against the cap: what the plan can move, at least the intent's
 * amount; null if there is no upper bound.
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
      // A cap holds for every version of a template key. Agents add versions to their own keys, so
      // those are excluded.
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
