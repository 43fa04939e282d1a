/** The result of automatic approval: whether a new movement may run without a person's approval. */
import type { JsonObject } from '../json.ts';
import type { LimitUse } from './limits.ts';

export const POLICY_REASONS = [
  'policy_passed',
  'client_id_missing',
  'policy_not_found',
  'policy_inactive',
  'asset_not_allowed',
  'template_not_allowed',
  'no_sending_node',
  'outflow_unknown',
  'outflow_asset_differs',
  'amount_exceeded_per_request',
  'window_amount_exceeded',
  'window_count_exceeded',
  'binding_unavailable',
] as const;
export type PolicyReason = (typeof POLICY_REASONS)[number];

export const FREE_REASONS = [
  'free_simple_cap_passed',
  'auto_approve_disabled_settings',
  'template_not_found',
  'template_auto_approve_disabled',
  'asset_mismatch',
  'no_sending_node',
  'outflow_unknown',
  'amount_exceeded_per_request',
  'daily_cap_exceeded',
] as const;
export type FreeReason = (typeof FREE_REASONS)[number];

/** Reasons that the approving transaction may find, since it checks again under locks. */
export const LATE_REASONS = [
  'window_amount_exceeded',
  'window_count_exceeded',
  'daily_cap_exceeded',
  'binding_unavailable',
  'insufficient_effective_withdrawable',
  'approval_expired',
  'approvals_missing',
] as const;
export type LateReason = (typeof LATE_REASONS)[number];

export type AutoApproveReason =
  PolicyReason | FreeReason | LateReason | 'agent_auto_approve_skipped';

export const AUTO_APPROVE_OUTCOMES = ['approved', 'pending', 'dry_run'] as const;
export type AutoApproveOutcome = (typeof AUTO_APPROVE_OUTCOMES)[number];

export interface CheckResult {
  readonly check: string;
  readonly passed: boolean;
}

/** The result stored with the movement and shown as `auto_approve_result`. */
export interface AutoApproveResult {
  readonly outcome: AutoApproveOutcome;
  readonly reason: AutoApproveReason;
  readonly policy_id?: string;
  /** In the order of the checks, up to the first that failed. */
  readonly checks: readonly CheckResult[];
  readonly evaluated_at: string;
}

/** The settings that decided an approval. The approving transaction must find them unchanged. */
export type ApprovalGuard =
  | { readonly policy_id: string; readonly revision: number }
  | {
      readonly template_key: string;
      readonly daily_cap_amount: string;
      readonly daily_cap_asset: string;
    };

/** A decision. Without a guard the movement waits for a person. `limits` is shown in previews. */
export type Evaluation =
  | {
      readonly result: AutoApproveResult;
      readonly limits: readonly LimitUse[];
      readonly guard: null;
    }
  | {
      readonly result: AutoApproveResult;
      readonly limits: readonly LimitUse[];
      readonly guard: ApprovalGuard;
      /** The result that replaces `result` when the transaction finds that it cannot approve. */
      readonly refused: Readonly<Record<LateReason, AutoApproveResult>>;
    };

/**
 * Returns the decision for an agent's movement: never approved automatically, whatever the settings
 * are.
 */
export function skippedForAgent(evaluated_at: string): Evaluation {
  return {
    result: { outcome: 'pending', reason: 'agent_auto_approve_skipped', checks: [], evaluated_at },
    limits: [],
    guard: null,
  };
}

/** Returns the result as it is stored. */
export function asJson(result: AutoApproveResult): JsonObject {
  return { ...result, checks: result.checks.map((check) => ({ ...check })) };
}
