/** Policies of the tests, and budgets as the contract has them, for properties that compare them with the database's. */
import { randomUUID } from 'node:crypto';
import type { BudgetUsage } from '../../domain/auto-approve/budget.ts';
import type { AutoApprovePolicy } from '../../domain/auto-approve/policy.ts';
import { add } from '../../domain/money.ts';
import { createPolicy, readBudgets, type PolicyRecord } from '../../store/auto-approve.ts';
import type { StoreBench } from './support.ts';

/** A policy of this client for the bench's template in USDC, of a strategy of its own. */
export async function storePolicy(bench: StoreBench, client_id: string, caps: Partial<AutoApprovePolicy>): Promise<PolicyRecord> {
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
    { audit: () => [], refused_audit: () => [] },
  );
  if (!outcome.ok) throw new Error('the policy exists');
  return outcome.policy;
}

/** What of the policy's budget is used, as the API would answer. */
export async function usageOf(bench: StoreBench, { strategy_id, client_id }: PolicyRecord): Promise<BudgetUsage> {
  const [budget] = await readBudgets(bench.db, strategy_id, client_id);
  if (budget === undefined) throw new Error('no budget');
  return budget.usage;
}

interface ModelledReservation {
  readonly movement: string;
  readonly amount: string;
  status: 'reserved' | 'consumed' | 'released';
  hours: number;
}

/** What the contract says a budget is, over a list of reservations. */
export class BudgetModel {
  readonly reservations: ModelledReservation[] = [];
  readonly #hours: number;
  constructor(hours: number) {
    this.#hours = hours;
  }

  usage(): BudgetUsage {
    const inside = this.reservations.filter(({ hours, status }) => hours < this.#hours && status !== 'released');
    const sum = (status: string): string =>
      inside.filter((each) => each.status === status).reduce((total, each) => add(total, each.amount), '0');
    return { reserved_amount: sum('reserved'), consumed_amount: sum('consumed'), count_in_window: inside.length };
  }

  end(movement: string, status: 'consumed' | 'released'): void {
    for (const each of this.reservations) if (each.movement === movement && each.status === 'reserved') each.status = status;
  }
}
