/** POST /movements?dry_run=true: returns what the same request would do, and writes nothing. */
import type { Requester } from '../../domain/commands/context.ts';
import { AGENT_OPEN_MOVEMENTS, openMovementsExceeded } from '../../domain/agents/bounds.ts';
import { asJson } from '../../domain/auto-approve/result.ts';
import type { ServiceError } from '../../domain/errors.ts';
import { rootNodes } from '../../domain/graph/shape.ts';
import type { ResolvedBindings } from '../../domain/plan/bindings.ts';
import type { TemplateNode } from '../../domain/plan/types.ts';
import { namespaceOf } from '../../domain/roles.ts';
import { readCutover } from '../../store/cutover.ts';
import { cutoverActive, versionRetired } from '../../store/faults.ts';
import { readOpenOfAgent } from '../../store/movement-reads.ts';
import { readReferenceUse, type KeyUse } from '../../store/movement-idempotency.ts';
import { agentOf } from '../../store/namespaces.ts';
import { registeredStatuses, type RegisteredStatuses } from '../../store/registry.ts';
import { readRetired } from '../../store/templates.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { Reply } from '../http/route.ts';
import { evaluate } from './auto-approval.ts';
import { assess } from './plan.ts';
import type { PreviewResponse } from './preview-schema.ts';
import { shownNaming } from '../redact.ts';
import { conflictOf, keyUseOf, referenceExists, type ScopedKey } from './replay.ts';
import { namingOf, normalForm } from './request.ts';
import { limitFailures, readDraws, reviewOf, switchedOff } from './review.ts';
import type { ReviewView } from './review-schema.ts';
import type { CreateBody } from './schema.ts';
import { wouldWait } from './would-wait.ts';

type BlockingReason = PreviewResponse['blocking_reasons'][number];

const NO_REVIEW: ReviewView = { sends: [], limits: [], balances: [], would_fail: [] };

/**
 * Reads what a create reads and reports everything that the create would return, refusals included.
 * A template that does not exist stays an error.
 */
export async function preview(
  request: ScopedKey & { readonly body: CreateBody; readonly requester: Requester },
  deps: ApiDependencies,
): Promise<Reply<PreviewResponse>> {
  const { body, requester } = request;
  const [
    used,
    { template, resolved, refusals, compiled, addresses },
    statuses,
    { mode },
    full,
    retired,
    taken,
  ] = await Promise.all([
    keyUseOf(request, deps),
    assess(body, deps, { caller: requester.caller }),
    registeredStatuses(deps.db),
    readCutover(deps.db),
    tooManyOpen(requester, deps),
    readRetired(deps.db, body.template_key, body.template_version),
    referenceTaken(request, deps),
  ]);
  const strategy_id = body.strategy_id ?? null;
  const evaluation =
    compiled === null ? null : await evaluate({ compiled, strategy_id, requester }, deps);
  const repeated = used === null ? [] : [keyReason(used, body, requester)];
  // A repeated request gets its movement in every cutover mode.
  const shut = mode === 'normal' || used !== null ? [] : [reasonOf(cutoverActive(mode))];
  const ended = retired === null ? [] : [versionRetired(retired)];
  const now = used === null ? [...taken, ...ended, ...full] : [];
  const refused = [...repeated, ...shut, ...[...now, ...refusals].map(reasonOf)];
  const draws = compiled === null ? [] : await readDraws(compiled.plan, deps);
  const review =
    compiled === null ? NO_REVIEW : reviewOf(compiled.plan, { addresses, statuses, draws }, deps);
  const waiting = compiled === null ? [] : await wouldWait(compiled.plan, deps);
  return {
    status: 200,
    body: {
      would_create: refused.length === 0,
      compiled_plan_hash: compiled?.compiled_plan_hash ?? null,
      current_frontier: compiled === null ? [] : rootNodes(compiled.plan),
      bindings: template.nodes.map((node) => bindingOf(node, resolved, statuses)),
      allowlist: addresses.map(({ node_key, address, chain_id, allowed, usable_after }) => ({
        node_key,
        address,
        chain_id,
        allowed,
        usable_after,
      })),
      ...shownNaming(namingOf(body), deps.redact),
      ...review,
      limits: [...review.limits, ...(evaluation?.limits ?? [])],
      outflow: compiled?.plan.outflow ?? null,
      auto_approve: evaluation === null ? null : asJson(evaluation.result),
      blocking_reasons: [...refused, ...limitFailures(review.limits)],
      would_wait: waiting,
    },
  };
}

async function referenceTaken(
  { body, scope, requester }: Parameters<typeof preview>[0],
  { db }: ApiDependencies,
): Promise<readonly ServiceError[]> {
  const { external_reference, unique_reference } = body;
  if (!unique_reference || external_reference === undefined) return [];
  const use = await readReferenceUse(db, scope, external_reference);
  return use === null ? [] : [referenceExists(use, requester.caller)];
}

/** Returns the refusal when the agent's authority has too many open movements; empty otherwise. */
async function tooManyOpen(
  { caller }: Requester,
  { db }: ApiDependencies,
): Promise<readonly ServiceError[]> {
  const authority = agentOf(namespaceOf(caller));
  if (authority === null) return [];
  const open = await readOpenOfAgent(db, authority);
  return open < AGENT_OPEN_MOVEMENTS ? [] : [openMovementsExceeded(authority)];
}

/** Returns a refusal in the form of its error body. */
function reasonOf(refusal: ServiceError): BlockingReason {
  return { ...refusal.context, error: refusal.code, message: refusal.message };
}

function keyReason(used: KeyUse, body: CreateBody, { caller }: Requester): BlockingReason {
  const conflict = conflictOf(used, normalForm(body), caller);
  if (conflict !== null) return reasonOf(conflict);
  const message =
    'This idempotency key was used for the same request; a create returns the movement of that request.';
  return { error: 'idempotent_replay', message, movement_id: used.movement_id };
}

/**
 * Returns a node's bindings. The registry in memory decides what is bound; the database holds what
 * operators have switched off.
 */
function bindingOf(
  node: TemplateNode,
  resolved: ResolvedBindings,
  statuses: RegisteredStatuses,
): PreviewResponse['bindings'][number] {
  const bound = resolved.bindings.get(node.node_key);
  const executor_key = bound?.executor_binding.executor_key ?? null;
  const signer_key = bound?.signer_binding?.signer_key ?? null;
  const reasons = [
    ...resolved.unresolved
      .filter((each) => each.node_key === node.node_key)
      .map((each) => `${each.binding}_${each.reason}`),
    ...switchedOff('executor', executor_key, statuses.executors),
    ...switchedOff('signer', signer_key, statuses.signers),
  ];
  const reason = reasons.length === 0 ? null : reasons.join(',');
  return { node_key: node.node_key, executor_key, signer_key, available: reason === null, reason };
}
