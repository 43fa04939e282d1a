/** Hook of an installation without another hook: applies the daily cap of the template key. */
import { evaluateFree } from '../../domain/auto-approve/free.ts';
import { onlyObserves } from '../../domain/plan/amount.ts';
import { readFreeFacts } from '../../store/auto-approve.ts';
import type { AutoApproveHook } from './hook.ts';

export const freeHook: AutoApproveHook = async ({ plan }, { db }) => {
  const { template_key } = plan.template;
  const facts = await readFreeFacts(db, template_key);
  const { asset, amount } = plan.intent;
  return evaluateFree(
    { template_key, asset, amount, outflow: plan.outflow, only_observes: onlyObserves(plan.nodes) },
    { ...facts, enabled: true },
  );
};
