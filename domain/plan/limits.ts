/**
 * Compares the amounts of a compiled plan with its limits, as far as the amounts are known before
 * it runs.
 */
import { compare } from '../money.ts';
import { exceedsMax, maxAmount, resolveAmount } from './amount.ts';
import type { CompiledNode, CompiledPlan } from './types.ts';

export interface LimitCheck {
  /** The limit's name: `max_amount` of the plan, or `nodes.<key>.max_amount`. */
  readonly control: string;
  readonly limit: string;
  /** The amount to compare with the limit; null while no amount is known. */
  readonly after: string | null;
  /** Null when the amount depends on an earlier node's output. */
  readonly ok: boolean | null;
}

/**
 * Returns a check for every `max_amount`, the plan's first. A limit applies to each node
 * separately, not to the sum, so the check of the plan's limit shows the largest known amount of
 * its nodes.
 */
export function amountLimits(plan: CompiledPlan): readonly LimitCheck[] {
  // A gate moves nothing, so its amount does not matter.
  const nodes = plan.nodes.filter((node) => node.node_kind !== 'manual_gate');
  const amountOf = (node: CompiledNode): string | null =>
    resolveAmount(node.config, plan.intent.amount, () => null);
  const overall = maxAmount(plan.risk_controls, undefined);
  const checks = overall === null ? [] : [check('max_amount', overall, nodes.map(amountOf))];
  return [
    ...checks,
    ...nodes.flatMap((node) => {
      const own = maxAmount({}, node.risk_patch);
      return own === null
        ? []
        : [check(`nodes.${node.node_key}.max_amount`, own, [amountOf(node)])];
    }),
  ];
}

function check(control: string, limit: string, amounts: readonly (string | null)[]): LimitCheck {
  const known = amounts.filter((amount) => amount !== null).sort(compare);
  const after = known.at(-1) ?? null;
  const exceeded = after !== null && exceedsMax(after, limit);
  return {
    control,
    limit,
    after,
    ok: exceeded ? false : known.length < amounts.length ? null : true,
  };
}
