/**
 * The automatic approval of the commercial edition: a policy for each pair of client and strategy,
 * with five checks in a fixed order.
 */
import { compare } from '../money.ts';
import { isAgentsTemplate } from '../roles.ts';
import { limitAmount } from '../plan/flow.ts';
import type { OutflowEntry } from '../plan/types.ts';
import { checksAt, firstFailure, forLateReasons, type Check } from './checks.ts';
import { fits, type BudgetUsage, type WindowCaps } from './budget.ts';
import { policyLimits } from './limits.ts';
import type { AutoApproveResult, Evaluation, LateReason, PolicyReason } from './result.ts';

export interface AllowedTemplate {
  readonly template_key: string;
  /**
   * Null allows every version, except for an agent's template key, since the agent may add
   * versions.
   */
  readonly template_version: number | null;
}

export interface AutoApprovePolicy extends WindowCaps {
  readonly policy_id: string;
  readonly client_id: string;
  readonly strategy_id: string;
  readonly is_active: boolean;
  readonly allowed_templates: readonly AllowedTemplate[];
  readonly allowed_assets: readonly string[];
  readonly max_amount_per_request: string | null;
  /** Increases with every change. */
  readonly revision: number;
}

/** The movement to decide about. */
export interface PolicyRequest {
  /** Null if the request is not authenticated. */
  readonly client_id: string | null;
  /** The asset of the intent. */
  readonly asset: string;
  readonly amount: string;
  /** The most that the plan can move. */
  readonly outflow: readonly OutflowEntry[];
  /** True: the plan only observes what others send, so a person must judge what that proves. */
  readonly only_observes: boolean;
  readonly template_key: string;
  readonly template_version: number;
}

/** The policy, and the use of its window, at the time of the decision. */
export interface PolicyFacts {
  readonly at: string;
  readonly policy: AutoApprovePolicy | null;
  /** Use of the policy's window; zero if the policy has no window. */
  readonly usage: BudgetUsage;
  readonly bindings_available: boolean;
}

export const POLICY_CHECKS = [
  'is_active',
  'asset',
  'template',
  'amount',
  'binding_available',
] as const;
export type PolicyCheck = (typeof POLICY_CHECKS)[number];

const CHECK_OF: Partial<Record<LateReason, PolicyCheck>> = {
  window_amount_exceeded: 'amount',
  window_count_exceeded: 'amount',
  binding_unavailable: 'binding_available',
};

/**
 * Returns the decision by the policy. A dry run only shows the decision to the caller and has no
 * effect.
 */
export function evaluatePolicy(
  request: PolicyRequest,
  facts: PolicyFacts,
  dryRun: boolean,
): Evaluation {
  const { at, policy } = facts;
  const outcome = dryRun ? 'dry_run' : 'pending';
  const missing = request.client_id === null ? 'client_id_missing' : 'policy_not_found';
  if (request.client_id === null || policy === null) {
    return {
      result: { outcome, reason: missing, checks: [], evaluated_at: at },
      limits: [],
      guard: null,
    };
  }
  const { reason, checks } = firstFailure(checksOf(request, policy, facts));
  const about = { policy_id: policy.policy_id, evaluated_at: at } as const;
  const limits = policyLimits(policy, facts.usage, amountOf(request));
  if (reason !== null || dryRun)
    return {
      result: { ...about, outcome, reason: reason ?? 'policy_passed', checks },
      limits,
      guard: null,
    };
  return {
    limits,
    result: { ...about, outcome: 'approved', reason: 'policy_passed', checks },
    guard: { policy_id: policy.policy_id, revision: policy.revision },
    refused: forLateReasons((late): AutoApproveResult => ({
      ...about,
      outcome: 'pending',
      reason: late,
      checks: checksAt(POLICY_CHECKS, CHECK_OF[late]),
    })),
  };
}

function checksOf(
  request: PolicyRequest,
  policy: AutoApprovePolicy,
  { usage, bindings_available }: PolicyFacts,
): readonly Check<PolicyReason>[] {
  const when = <R extends PolicyReason>(fails: boolean, reason: R): R | null =>
    fails ? reason : null;
  const refusals: Record<PolicyCheck, PolicyReason | null> = {
    is_active: when(!policy.is_active, 'policy_inactive'),
    asset: when(
      !assetsOf(request).every((asset) => policy.allowed_assets.includes(asset)),
      'asset_not_allowed',
    ),
    template: when(
      !policy.allowed_templates.some((each) => allows(each, request)),
      'template_not_allowed',
    ),
    amount: amountRefusal(request, policy, usage),
    binding_available: when(!bindings_available, 'binding_unavailable'),
  };
  return POLICY_CHECKS.map((check) => ({ check, refusal: refusals[check] }));
}

function allows(entry: AllowedTemplate, request: PolicyRequest): boolean {
  const { template_key, template_version } = entry;
  return (
    template_key === request.template_key &&
    (template_version === null
      ? !isAgentsTemplate(template_key)
      : template_version === request.template_version)
  );
}

/**
 * Returns the amount that counts against every limit: what the plan can move, at least the intent's
 * amount; null if there is no upper bound.
 */
function amountOf({ asset, amount, outflow }: PolicyRequest): string | null {
  return limitAmount({ outflow, intent: { asset, amount } });
}

/** Returns every asset that the plan moves, and the intent's asset. */
function assetsOf({ asset, outflow }: PolicyRequest): readonly string[] {
  return [asset, ...outflow.map((entry) => entry.asset)];
}

/**
 * Returns why the amount is refused, or null. A cap is in units of the intent's asset, so it does
 * not limit another asset of the plan.
 */
function amountRefusal(
  request: PolicyRequest,
  policy: AutoApprovePolicy,
  usage: BudgetUsage,
): PolicyReason | null {
  if (request.only_observes) return 'no_sending_node';
  const amount = amountOf(request);
  if (amount === null || request.outflow.some((entry) => entry.amount === null))
    return 'outflow_unknown';
  const { max_amount_per_request: most, max_amount_per_window: window } = policy;
  const capped = most !== null || window !== null;
  if (capped && assetsOf(request).some((asset) => asset !== request.asset))
    return 'outflow_asset_differs';
  return most !== null && compare(amount, most) > 0
    ? 'amount_exceeded_per_request'
    : fits(policy, usage, amount);
}

/** Returns whether caps for a window are set together with the window's length. */
export function capsAreComplete(
  caps: Partial<{ [K in keyof WindowCaps]: WindowCaps[K] | undefined }>,
): boolean {
  const { window_hours = null, max_amount_per_window = null, max_count_per_window = null } = caps;
  return window_hours !== null || (max_amount_per_window === null && max_count_per_window === null);
}
