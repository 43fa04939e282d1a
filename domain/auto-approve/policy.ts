/**
 * The hook of the commercial edition: a policy for each pair of client and strategy, and five
 * checks in their order.
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
  /** Null allows every version, except of an agent's key, which may add versions. */
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
  /** Grows with every change. */
  readonly revision: number;
}

/** The movement that asks. */
export interface PolicyRequest {
  /** Null where the request is not authenticated. */
  readonly client_id: string | null;
  /** The intent's. */
  readonly asset: string;
  readonly amount: string;
  /** What the plan can move at most. */
  readonly outflow: readonly OutflowEntry[];
  /** It only observes what others send; a person judges what that proves. */
  readonly only_observes: boolean;
  readonly template_key: string;
  readonly template_version: number;
}

/** What is known about the policy at the time of the decision. */
export interface PolicyFacts {
  readonly at: string;
  readonly policy: AutoApprovePolicy | null;
  /** Of the policy's window; nothing where it has none. */
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

/** The decision of the policy. In a dry run the caller sees it, and it has no effect. */
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
 * What every limit counts: what the plan can move, and never less than its intent; null where
 * nothing bounds it.
 */
function amountOf({ asset, amount, outflow }: PolicyRequest): string | null {
  return limitAmount({ outflow, intent: { asset, amount } });
}

/** Every asset that the plan moves, the intent's among them. */
function assetsOf({ asset, outflow }: PolicyRequest): readonly string[] {
  return [asset, ...outflow.map((entry) => entry.asset)];
}

/** A cap is in units of the intent's asset, so it does not bound another asset of the plan. */
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

/** Whether the caps of a window come with a window. */
export function capsAreComplete(
  caps: Partial<{ [K in keyof WindowCaps]: WindowCaps[K] | undefined }>,
): boolean {
  const { window_hours = null, max_amount_per_window = null, max_count_per_window = null } = caps;
  return window_hours !== null || (max_amount_per_window === null && max_count_per_window === null);
}
