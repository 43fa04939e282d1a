/** Stores a movement of a compiled plan; shared by every route that creates one. */
import { actorOf, auditOf, type Requester } from '../../domain/commands/context.ts';
import { rootNodes } from '../../domain/graph/shape.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { CreatedMovement, CreateOutcome, NewMovement } from '../../store/movements.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { Reply } from '../http/route.ts';
import { observeAutoApproval } from '../operations/request-metrics.ts';
import type { Creatable } from './plan.ts';
import { referenceExists, replay, type ScopedKey } from './replay.ts';
import { shownNaming } from '../redact.ts';
import type { Naming } from './request.ts';
import type { CreateResponse } from './responses.ts';
import { limitsOf, sendsOf } from './review.ts';

const UNNAMED: Naming = { external_reference: null, unique_reference: false, metadata: {} };

export interface Making extends Creatable {
  readonly requester: Requester;
  /** The idempotency key with which a repeat finds the movement. */
  readonly used: ScopedKey;
  /** The normal form that a repeated request must equal. */
  readonly request: JsonObject;
  readonly strategy_id: string | null;
  readonly labels: Readonly<Record<string, string>>;
  /** References of the caller; absent for a movement that the service itself creates. */
  readonly naming?: Naming;
  readonly approval_ttl_seconds: number;
  readonly callback_url: string | null;
  readonly subject: Pick<Parameters<typeof auditOf>[1], 'action' | 'entity_type'>;
  /** First message of the movement's timeline. */
  readonly message: string;
  /** Writes the movement, approved or not. */
  readonly write: (movement: Omit<NewMovement, 'auto_approve_result'>) => Promise<CreateOutcome>;
}

/** Stores the movement and wakes its run, or returns the first movement that used the key. */
export async function makeMovement(
  making: Making,
  deps: ApiDependencies,
): Promise<Reply<CreateResponse>> {
  const { plan, compiled_plan_hash, requester, used, request, subject } = making;
  const { naming = UNNAMED } = making;
  const frontier = rootNodes(plan);
  const { template_key, version: template_version } = plan.template;
  const { client_id, key_id, role } = requester.caller;
  const details = { template_key, template_version, compiled_plan_hash };
  const outcome = await making.write({
    plan,
    compiled_plan_hash,
    chains: deps.chains,
    declared_seconds: declaredSeconds(deps),
    payees: making.addresses
      .filter(({ problem }) => problem === null)
      .map(({ chain_family, address, chain_id, strict }) => ({
        chain_family,
        address,
        chain_id,
        strict,
      })),
    strategy_id: making.strategy_id,
    labels: making.labels,
    ...naming,
    frontier,
    approval_ttl_seconds: making.approval_ttl_seconds,
    callback_url: making.callback_url,
    client_scope: used.scope,
    idempotency_key: used.key,
    request,
    created_by: { client_id, key_id, role },
    timeline: [
      {
        event_type: 'movement_created',
        message: making.message,
        actor: actorOf(requester),
        to_state: 'PENDING_APPROVAL',
        data: details,
      },
    ],
    audit: (movementId: string) => [
      auditOf(requester, { ...subject, entity_key: movementId, details }),
    ],
  });
  if (!outcome.created) {
    if ('holder' in outcome) throw referenceExists(outcome, requester.caller);
    return replay(outcome, request, requester.caller, deps);
  }
  deps.handOver(outcome.movement_id, { ...outcome.command, plan, strategy_id: making.strategy_id });
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
      sends: sendsOf(plan, making.addresses),
      limits: limitsOf(plan),
      ...shownNaming(naming, deps.redact),
      expires_at: outcome.expires_at,
      created_at: outcome.created_at,
    },
  };
}

/**
 * Returns how long nodes of a team's executor are usually observed, in seconds, if the registry
 * entry says so.
 */
function declaredSeconds({ executors }: ApiDependencies): ReadonlyMap<string, number> {
  const declared = new Map<string, number>();
  for (const { executor_key, usual_seconds } of executors.list())
    if (usual_seconds !== undefined) declared.set(executor_key, usual_seconds);
  return declared;
}

function countDecision({ auto_approve_result: result }: CreatedMovement): void {
  if (result !== null)
    observeAutoApproval({ outcome: String(result['outcome']), reason: String(result['reason']) });
}
