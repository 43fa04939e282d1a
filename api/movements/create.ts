/** POST /movements */
import { actorOf, auditOf, type Requester } from '../../domain/actions/context.ts';
import { ServiceError } from '../../domain/errors.ts';
import { rootNodes } from '../../domain/graph/shape.ts';
import { mayMove } from '../../domain/roles.ts';
import type { CreatedMovement } from '../../store/movements.ts';
import { auditedRefusal } from '../audit/refused.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { observeAutoApproval } from '../operations/request-metrics.ts';
import type { Reply } from '../http/route.ts';
import { createDecided } from './auto-approval.ts';
import { planOf } from './plan.ts';
import { preview } from './preview.ts';
import type { PreviewResponse } from './preview-schema.ts';
import { keyUseOf, replay } from './replay.ts';
import { keyOf, normalForm } from './request.ts';
import type { CreateResponse } from './responses.ts';
import type { CreateBody } from './schema.ts';

export interface CreateInput {
  readonly body: CreateBody;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly requester: Requester;
  readonly dryRun: boolean;
}

/**
 * Compiles the plan and stores the movement, or answers a repeat with the first one; a dry run
 * stops before anything is written.
 */
export async function create(
  input: CreateInput,
  deps: ApiDependencies,
): Promise<Reply<CreateResponse | PreviewResponse>> {
  const { body, headers, requester } = input;
  const key = keyOf(body, headers['idempotency-key']);
  const scope = requester.caller.client_id ?? 'anonymous';
  const request = normalForm(body);
  const subject = {
    action: 'movement.create',
    entity_type: 'movement',
    entity_key: `${body.template_key}@${String(body.template_version)}`,
  } as const;
  return auditedRefusal(deps, requester, subject, async () => {
    if (!mayMove(requester.caller, body.template_key))
      throw new ServiceError('agent_namespace_mismatch');
    if (input.dryRun) return preview({ body, key, scope, requester }, deps);
    const used = await keyUseOf({ scope, key }, deps);
    if (used !== null) return replay(used, request, requester.caller, deps);
    const { plan, compiled_plan_hash } = await planOf(body, deps);
    const frontier = rootNodes(plan);
    const { template_key, version: template_version } = plan.template;
    const movement = {
      plan,
      compiled_plan_hash,
      chains: deps.chains,
      strategy_id: body.strategy_id ?? null,
      labels: body.labels,
      frontier,
      approval_ttl_seconds: body.approval_ttl_seconds ?? deps.settings.approvalTtlSeconds,
      callback_url: body.callback_url ?? null,
      client_scope: scope,
      idempotency_key: key,
      request,
      created_by: {
        client_id: requester.caller.client_id,
        key_id: requester.caller.key_id,
        role: requester.caller.role,
      },
      timeline: [
        {
          event_type: 'movement_created',
          message: 'Created; waits for approval',
          actor: actorOf(requester),
          to_state: 'PENDING_APPROVAL',
          data: { template_key, template_version, compiled_plan_hash },
        },
      ],
      audit: (movementId: string) => [
        auditOf(requester, {
          ...subject,
          entity_key: movementId,
          details: { template_key, template_version, compiled_plan_hash },
        }),
      ],
    } as const;
    const outcome = await createDecided(movement, requester, deps);
    if (!outcome.created) return replay(outcome, request, requester.caller, deps);
    deps.handOver(outcome.movement_id, { ...outcome.command, plan });
    countDecision(outcome);
    return {
      status: 201,
      body: {
        movement_id: outcome.movement_id,
        request_state: outcome.request_state,
        template: plan.template,
        compiled_plan_hash,
        current_frontier: frontier,
        approval_status: outcome.approval_status,
        reservation_status: outcome.reservation_status,
        auto_approve_result: outcome.auto_approve_result,
        outflow: plan.outflow,
        expires_at: outcome.expires_at,
        created_at: outcome.created_at,
      },
    };
  });
}

function countDecision({ auto_approve_result: result }: CreatedMovement): void {
  if (result !== null)
    observeAutoApproval({ outcome: String(result['outcome']), reason: String(result['reason']) });
}
