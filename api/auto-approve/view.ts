/** Returns a policy as responses show it. */
import type { PolicyRecord } from '../../store/auto-approve.ts';
import type { PolicyResponse } from './schema.ts';

export function policyView(policy: PolicyRecord): PolicyResponse {
  return {
    policy_id: policy.policy_id,
    client_id: policy.client_id,
    strategy_id: policy.strategy_id,
    is_active: policy.is_active,
    allowed_templates: policy.allowed_templates,
    allowed_assets: policy.allowed_assets,
    max_amount_per_request: policy.max_amount_per_request,
    window_hours: policy.window_hours,
    max_amount_per_window: policy.max_amount_per_window,
    max_count_per_window: policy.max_count_per_window,
    created_by: policy.created_by,
    created_at: policy.created_at,
    updated_at: policy.updated_at,
  };
}
