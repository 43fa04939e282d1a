/**
 * What a policy would have approved of movements created in a time that is over. Nothing comes of
 * it. The window's use is what the policy itself would have approved among these movements.
 */
import { add, subtract } from '../money.ts';
import { limitAmount } from '../plan/flow.ts';
import type { OutflowEntry } from '../plan/types.ts';
import type { MovementState } from '../states/movement.ts';
import { NOTHING_USED, type BudgetUsage } from './budget.ts';
import { evaluatePolicy, type AutoApprovePolicy } from './policy.ts';
import type { AutoApproveReason } from './result.ts';

/** A policy without the fields that only a stored one has. */
export type PolicyTerms = Omit<AutoApprovePolicy, 'policy_id' | 'revision'>;

/** Who approved a movement; null: it was not approved. */
export type ApprovedBy = 'person' | 'policy' | 'template_cap' | null;

/** A movement that the policy's client created for the policy's strategy. */
export interface PastMovement {
  readonly movement_id: string;
  /** ISO 8601. */
  readonly created_at: string;
  readonly template_key: string;
  readonly template_version: number;
  /** The asset of the intent. */
  readonly asset: string;
  readonly amount: string;
  /** The most that the plan can move. */
  readonly outflow: readonly OutflowEntry[];
  /** True: the plan only observes what others send. */
  readonly only_observes: boolean;
  /** Whether an agent's key created it; no policy approves such a movement. */
  readonly by_agent: boolean;
  readonly state: MovementState;
  readonly became: ApprovedBy;
}

export interface PastDecision extends Omit<PastMovement, 'outflow' | 'only_observes' | 'by_agent'> {
  /**
   * The amount that counts against every limit: what the plan can move, at least `amount`. Null
   * without an upper bound.
   */
  readonly outflow_amount: string | null;
  readonly would: 'approves' | 'waits';
  readonly reason: AutoApproveReason;
}

export interface PastTotals {
  readonly approves: number;
  readonly waits: number;
  readonly by_reason: Readonly<Partial<Record<AutoApproveReason, number>>>;
  /** By asset: the most that what it would have approved can move. */
  readonly amount_approved: Readonly<Record<string, string>>;
  /**
   * How many it would have approved that people rejected, let expire or cancelled before an
   * approval.
   */
  readonly rejected: number;
  /** How many it would have made wait that a policy or a template's cap approved. */
  readonly approved_automatically: number;
}

export interface PastDecisions {
  readonly totals: PastTotals;
  /** Number of movements that agents created; they are not listed. */
  readonly by_agents: number;
  /** In the order of `past`. */
  readonly listed: readonly PastDecision[];
}

/**
 * Returns what the policy would have decided about each movement, in order of creation. What it
 * would have approved uses up its window in full, whatever became of the movement: one that was
 * rejected would have run. All executors and signers count as available.
 */
export function tryPolicy(policy: PolicyTerms, past: readonly PastMovement[]): PastDecisions {
  // The added fields only name the policy in a result.
  const whole = { policy_id: '', revision: 0, ...policy };
  const window = new PastWindow(policy.window_hours);
  const amounts = new Map<string, string>();
  const listed: PastDecision[] = [];
  for (const { outflow, only_observes, by_agent, ...movement } of past) {
    if (by_agent) continue;
    const { created_at: at, asset, amount } = movement;
    const { result } = evaluatePolicy(
      { ...movement, client_id: policy.client_id, outflow, only_observes },
      { at, policy: whole, usage: window.usageAt(at), bindings_available: true },
      true,
    );
    const outflow_amount = limitAmount({ outflow, intent: { asset, amount } });
    const passes = result.reason === 'policy_passed';
    // A policy approves no amount without a bound.
    if (passes && outflow_amount !== null) {
      window.take(at, outflow_amount);
      const others = outflow.filter((entry) => entry.asset !== asset);
      for (const entry of [{ asset, amount: outflow_amount }, ...others])
        amounts.set(entry.asset, add(amounts.get(entry.asset) ?? '0', entry.amount ?? '0'));
    }
    const would = passes ? 'approves' : 'waits';
    listed.push({ ...movement, outflow_amount, would, reason: result.reason });
  }
  return {
    totals: { ...countsOf(listed), amount_approved: Object.fromEntries(amounts) },
    by_agents: past.length - listed.length,
    listed,
  };
}

const STOPPED: readonly MovementState[] = ['REJECTED', 'EXPIRED', 'CANCELLED'];

function countsOf(listed: readonly PastDecision[]): Omit<PastTotals, 'amount_approved'> {
  const by_reason: Partial<Record<AutoApproveReason, number>> = {};
  for (const { reason } of listed) by_reason[reason] = (by_reason[reason] ?? 0) + 1;
  const approves = listed.filter(({ would }) => would === 'approves');
  const waits = listed.filter(({ would }) => would === 'waits');
  return {
    approves: approves.length,
    waits: waits.length,
    by_reason,
    rejected: approves.filter(({ became, state }) => became === null && STOPPED.includes(state))
      .length,
    approved_automatically: waits.filter(
      ({ became }) => became === 'policy' || became === 'template_cap',
    ).length,
  };
}

const HOUR_MS = 3_600_000;

/** What the policy would have approved in the hours before a movement. */
class PastWindow {
  /** Milliseconds; null: the policy has no window. */
  readonly #length: number | null;
  /** Every take, oldest first. */
  readonly #takes: { readonly at: number; readonly amount: string }[] = [];
  /** Position of the first take that is still in the window. */
  #first = 0;
  #amount = '0';

  constructor(hours: number | null) {
    this.#length = hours === null ? null : hours * HOUR_MS;
  }

  take(at: string, amount: string): void {
    this.#takes.push({ at: Date.parse(at), amount });
    this.#amount = add(this.#amount, amount);
  }

  /** Returns the use at this time. Times never go back. */
  usageAt(at: string): BudgetUsage {
    if (this.#length === null) return NOTHING_USED;
    const since = Date.parse(at) - this.#length;
    for (
      let oldest = this.#takes[this.#first];
      oldest !== undefined && oldest.at <= since;
      oldest = this.#takes[this.#first]
    ) {
      this.#amount = subtract(this.#amount, oldest.amount);
      this.#first += 1;
    }
    return {
      reserved_amount: '0',
      consumed_amount: this.#amount,
      count_in_window: this.#takes.length - this.#first,
    };
  }
}
