/** POST auto-approve-policies and PATCH auto-approve-policies/{policy_id}. */
import type { z } from 'zod';
import { auditOf, type Requester } from '../../domain/actions/context.ts';
import { capsAreComplete } from '../../domain/auto-approve/policy.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { AuditAction } from '../../domain/events.ts';
import type { JsonObject } from '../../domain/executor.ts';
import type { AuditEntry } from '../../domain/transition.ts';
import { createPolicy, updatePolicy } from '../../store/auto-approve.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { Reply } from '../route.ts';
import type { policyCreate, PolicyResponse, policyUpdate } from './schema.ts';
import { policyView } from './view.ts';

/** Creates a policy; a client has one for each strategy. */
export async function create(
  { body, requester }: { readonly body: z.output<typeof policyCreate>; readonly requester: Requester },
  { db }: ApiDependencies,
): Promise<Reply<PolicyResponse>> {
  if (!capsAreComplete(body)) throw capsIncomplete();
  const created_by = requester.caller.client_id;
  const audit = auditPair(requester, 'auto_approve_policy.create', 'policy_exists', body);
  const outcome = await createPolicy(db, { ...body, created_by }, audit);
  if (!outcome.ok) throw new ServiceError('policy_exists', { context: { policy_id: outcome.policy_id } });
  return { status: 201, body: policyView(outcome.policy) };
}

/** Changes the submitted fields. */
export async function update(
  input: { readonly params: { readonly policy_id: string }; readonly body: z.output<typeof policyUpdate>; readonly requester: Requester },
  { db }: ApiDependencies,
): Promise<Reply<PolicyResponse>> {
  const { params, body, requester } = input;
  const { policy_id } = params;
  const audit = auditPair(requester, 'auto_approve_policy.update', 'cap_consistency_violation', body);
  const outcome = await updatePolicy(db, policy_id, body, audit);
  if (outcome === null) throw new ServiceError('policy_not_found', { context: { policy_id } });
  if (!outcome.ok) throw capsIncomplete({ policy_id });
  return { status: 200, body: policyView(outcome.policy) };
}

function capsIncomplete(context: Readonly<Record<string, string>> = {}): ServiceError {
  const message = 'max_amount_per_window and max_count_per_window need window_hours.';
  return new ServiceError('cap_consistency_violation', { message, context });
}

function auditPair(requester: Requester, action: AuditAction, refusal: string, body: object) {
  const details = JSON.parse(JSON.stringify(body)) as JsonObject;
  const about = (policyId: string) => ({ action, entity_type: 'auto_approve_policy', entity_key: policyId, details }) as const;
  return {
    audit: (policyId: string): readonly AuditEntry[] => [auditOf(requester, about(policyId))],
    refused_audit: (policyId: string): readonly AuditEntry[] => [
      auditOf(requester, { ...about(policyId), outcome: 'denied', reason: refusal }),
    ],
  };
}
