/** POST auto-approve-policies and PATCH auto-approve-policies/{policy_id}. */
import type { z } from 'zod';
import { auditOf, type Requester } from '../../domain/commands/context.ts';
import { capsAreComplete } from '../../domain/auto-approve/policy.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import { createPolicy, updatePolicy } from '../../store/auto-approve.ts';
import { auditedRefusal } from '../audit/refused.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { Reply } from '../http/route.ts';
import type { policyCreate, PolicyResponse, policyUpdate } from './schema.ts';
import { policyView } from './view.ts';

/** Creates a policy; a client has one policy for each strategy. */
export async function create(
  {
    body,
    requester,
  }: { readonly body: z.output<typeof policyCreate>; readonly requester: Requester },
  deps: ApiDependencies,
): Promise<Reply<PolicyResponse>> {
  if (!capsAreComplete(body)) throw capsIncomplete();
  const created_by = requester.caller.client_id;
  const about = {
    action: 'auto_approve_policy.create',
    entity_type: 'auto_approve_policy',
    details: bodyOf(body),
  } as const;
  const subject = { ...about, entity_key: `${body.client_id}/${body.strategy_id}` };
  return auditedRefusal(deps, requester, subject, async () => {
    const audit = (policyId: string) => [auditOf(requester, { ...about, entity_key: policyId })];
    const outcome = await createPolicy(deps.db, { ...body, created_by }, audit);
    if (!outcome.ok)
      throw new ServiceError('policy_exists', { context: { policy_id: outcome.policy_id } });
    return { status: 201, body: policyView(outcome.policy) };
  });
}

/** Changes the submitted fields of a policy. */
export async function update(
  input: {
    readonly params: { readonly policy_id: string };
    readonly body: z.output<typeof policyUpdate>;
    readonly requester: Requester;
  },
  deps: ApiDependencies,
): Promise<Reply<PolicyResponse>> {
  const { params, body, requester } = input;
  const { policy_id } = params;
  const subject = {
    action: 'auto_approve_policy.update',
    entity_type: 'auto_approve_policy',
    entity_key: policy_id,
    details: bodyOf(body),
  } as const;
  return auditedRefusal(deps, requester, subject, async () => {
    const outcome = await updatePolicy(deps.db, policy_id, body, [auditOf(requester, subject)]);
    if (outcome === null) throw new ServiceError('policy_not_found', { context: { policy_id } });
    if (!outcome.ok) throw capsIncomplete({ policy_id });
    return { status: 200, body: policyView(outcome.policy) };
  });
}

function capsIncomplete(context: Readonly<Record<string, string>> = {}): ServiceError {
  const message = 'max_amount_per_window and max_count_per_window need window_hours.';
  return new ServiceError('cap_consistency_violation', { message, context });
}

/** Returns the body as it was sent, for the audit. */
function bodyOf(body: object): JsonObject {
  return JSON.parse(JSON.stringify(body)) as JsonObject;
}
