/** GET budgets/{strategy_id}. */
import { z } from 'zod';
import type { Requester } from '../../domain/commands/context.ts';
import { available } from '../../domain/auto-approve/budget.ts';
import { ServiceError } from '../../domain/errors.ts';
import { ALL_ROLES } from '../../domain/roles.ts';
import { readBudgets, type PolicyBudget } from '../../store/auto-approve.ts';
import { auditedRefusal } from '../audit/refused.ts';
import { defineRoute, type Route } from '../http/route.ts';
import { decimalString, listOf, noBody, text, uuid } from '../http/schemas.ts';

const policyBudget = z
  .object({
    policy_id: uuid,
    window_hours: z.int(),
    max_amount_per_window: decimalString.nullable(),
    max_count_per_window: z.int().nullable(),
    reserved_amount: z
      .string()
      .meta({ description: 'Approved in the window, neither completed nor released.' }),
    consumed_amount: z.string().meta({ description: 'Approved in the window and completed.' }),
    available_amount: z.string().nullable().meta({
      description:
        'What the window has left; null without an amount cap, below zero when the cap was lowered under what is used.',
    }),
    count_in_window: z
      .int()
      .meta({ description: 'Approvals in the window that are not released.' }),
  })
  .meta({ id: 'PolicyBudget' });

const budgetResponse = z
  .object({ strategy_id: z.string(), policies: listOf(policyBudget) })
  .meta({ id: 'BudgetResponse' });

export const budgetRoutes: readonly Route[] = [
  defineRoute({
    id: 'getBudget',
    method: 'GET',
    acts: 'never',
    power: 'reads',
    path: '/budgets/{strategy_id}',
    roles: ALL_ROLES,
    tag: 'Automatic approval',
    summary: 'Read what is left of a strategy’s budgets',
    description:
      'The active policies of the strategy that cap a window. Of all clients, or of `client_id`; an agent sees those of its own ' +
      'client and no others. A strategy without any answers an empty list.',
    // Other texts cannot be a path segment and are refused earlier, so the schema does not allow
    // them.
    params: z.strictObject({
      strategy_id: text(1, 128).regex(
        /^[^\u0000-\u001f\u007f-\u009f%/\\]+$/,
        'must not hold /, %, \\ or control characters',
      ),
    }),
    query: z.strictObject({ client_id: uuid.optional() }),
    body: noBody,
    response: budgetResponse,
    errors: ['forbidden'],
    handler: async ({ params, query, requester }, deps) => {
      const { strategy_id } = params;
      const subject = {
        action: 'route.call',
        entity_type: 'route',
        entity_key: 'getBudget',
      } as const;
      return auditedRefusal(deps, requester, subject, async () => {
        const budgets = await readBudgets(
          deps.db,
          strategy_id,
          clientOf(requester, query.client_id),
        );
        return { status: 200, body: { strategy_id, policies: budgets.map(budgetView) } };
      });
    },
  }),
];

/** Returns the client whose budgets to show; null for all clients. */
function clientOf({ caller }: Requester, requested: string | undefined): string | null {
  if (caller.role !== 'agent') return requested ?? null;
  if (caller.client_id !== null && (requested === undefined || requested === caller.client_id))
    return caller.client_id;
  throw new ServiceError('forbidden', {
    message: 'An agent reads the budgets of its own client only.',
  });
}

function budgetView({ policy, usage }: PolicyBudget): z.input<typeof policyBudget> {
  return {
    policy_id: policy.policy_id,
    // Every listed policy caps a window, so its `window_hours` is set.
    window_hours: policy.window_hours ?? 0,
    max_amount_per_window: policy.max_amount_per_window,
    max_count_per_window: policy.max_count_per_window,
    ...usage,
    available_amount: available(policy, usage),
  };
}
