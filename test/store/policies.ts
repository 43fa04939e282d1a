/** Policies of the tests, and what the database says is used of them. */
import { randomUUID } from 'node:crypto';
import type { BudgetUsage } from '../../domain/auto-approve/budget.ts';
import type { AutoApprovePolicy } from '../../domain/auto-approve/policy.ts';
import { createPolicy, readBudgets, type PolicyRecord } from '../../store/auto-approve.ts';
import type { StoreBench } from './support.ts';

/** A policy of this client for the bench's template in USDC, of a strategy of its own. */
export async function storePolicy(
  bench: StoreBench,
  client_id: string,
  caps: Partial<AutoApprovePolicy>,
): Promise<PolicyRecord> {
  const outcome = await createPolicy(
    bench.db,
    {
      client_id,
      strategy_id: randomUUID(),
      is_active: true,
      allowed_templates: [{ template_key: 'test/store', template_version: null }],
      allowed_assets: ['USDC'],
      max_amount_per_request: null,
      window_hours: null,
      max_amount_per_window: null,
      max_count_per_window: null,
      created_by: null,
      ...caps,
    },
    () => [],
  );
  if (!outcome.ok) throw new Error('the policy exists');
  return outcome.policy;
}

/** What of the policy's budget is used, as the API would answer. */
export async function usageOf(
  bench: StoreBench,
  { strategy_id, client_id }: PolicyRecord,
): Promise<BudgetUsage> {
  const [budget] = await readBudgets(bench.db, strategy_id, client_id);
  if (budget === undefined) throw new Error('no budget');
  return budget.usage;
}
