/** POST /movements */
import type { Requester } from '../../domain/commands/context.ts';
import { mayMove } from '../../domain/roles.ts';
import { otherNamespace } from '../auth/visible.ts';
import { auditedRefusal } from '../audit/refused.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { Reply } from '../http/route.ts';
import { createDecided } from './auto-approval.ts';
import { makeMovement } from './make.ts';
import { planOf } from './plan.ts';
import { preview } from './preview.ts';
import type { PreviewResponse } from './preview-schema.ts';
import { keyUseOf, replay } from './replay.ts';
import { keyOf, namingOf, normalForm } from './request.ts';
import type { CreateResponse } from './responses.ts';
import type { CreateBody } from './schema.ts';

export interface CreateInput {
  readonly body: CreateBody;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly requester: Requester;
  readonly dryRun: boolean;
}

/**
 * Compiles the plan and stores the movement; a repeated request returns the first movement. A dry
 * run ends before anything is written.
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
      throw otherNamespace(requester.caller, body.template_key);
    if (input.dryRun) return preview({ body, key, scope, requester }, deps);
    const used = await keyUseOf({ scope, key }, deps);
    if (used !== null) return replay(used, request, requester.caller, deps);
    const creatable = await planOf(body, deps, { caller: requester.caller });
    return makeMovement(
      {
        ...creatable,
        requester,
        used: { scope, key },
        request,
        strategy_id: body.strategy_id ?? null,
        labels: body.labels,
        naming: namingOf(body),
        approval_ttl_seconds: body.approval_ttl_seconds ?? deps.settings.approvalTtlSeconds,
        callback_url: body.callback_url ?? null,
        subject,
        message: 'Created; waits for approval',
        write: (movement) => createDecided(movement, requester, deps),
      },
      deps,
    );
  });
}
