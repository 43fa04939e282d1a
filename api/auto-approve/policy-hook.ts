/** Hook of the commercial edition: applies the policy of client and strategy. */
import { evaluatePolicy } from '../../domain/auto-approve/policy.ts';
import { isDashboardId } from '../../domain/roles.ts';
import { onlyObserves } from '../../domain/plan/amount.ts';
import { readPolicyFacts } from '../../store/auto-approve.ts';
import type { AutoApproveHook } from './hook.ts';

/**
 * Returns the hook. In a dry run the decision is reported and logged, and the movement waits for a
 * person.
 */
export function policyHook({ dryRun }: { readonly dryRun: boolean }): AutoApproveHook {
  return async ({ client_id, strategy_id, plan, required, missing }, { db, log }) => {
    const { switched_off, ...facts } = await readPolicyFacts(
      db,
      { client_id: withPolicies(client_id), strategy_id },
      required,
    );
    const { template_key, version: template_version } = plan.template;
    const { asset, amount } = plan.intent;
    const request = {
      client_id,
      asset,
      amount,
      outflow: plan.outflow,
      only_observes: onlyObserves(plan.nodes),
      template_key,
      template_version,
    };
    const bindings_available = missing.length === 0 && switched_off.length === 0;
    const evaluation = evaluatePolicy(request, { ...facts, bindings_available }, dryRun);
    if (dryRun)
      log.info(
        { ...evaluation.result, client_id, strategy_id, template_key },
        'dry run of automatic approval: a person still decides',
      );
    return evaluation;
  };
}

/** Returns null for an operator of the dashboard: an operator is no client and has no policies. */
function withPolicies(clientId: string | null): string | null {
  return clientId !== null && isDashboardId(clientId) ? null : clientId;
}
