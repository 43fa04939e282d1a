/** POST agent-authorities/{authority_key}/bridge-attempt */
import type { Requester } from '../../domain/commands/context.ts';
import type { ProposalRecord } from '../../store/proposals.ts';
import { auditedRefusal } from '../audit/refused.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { afterAccepting } from '../http/accepted.ts';
import type { Reply } from '../http/route.ts';
import { createDecided } from '../movements/auto-approval.ts';
import { makeMovement } from '../movements/make.ts';
import { planOf } from '../movements/plan.ts';
import { normalForm } from '../movements/request.ts';
import type { CreateBody } from '../movements/schema.ts';
import { asAgent, proposed, type ProposeInput } from './propose.ts';
import type { AttemptBody, AttemptResponse } from './schema.ts';
import { proposalOf, REPLAYED } from './view.ts';

/** Scope of the movements' idempotency keys. Each key is a proposal's id and makes one movement. */
const SCOPE = 'bridge-attempt';

/**
 * Stores a proposal and, once the proposal is promoted, its movement. The proposal is written first
 * and the movement has the proposal's id as its key, so a repeated request completes an interrupted
 * attempt.
 */
export async function attempt(
  input: ProposeInput<AttemptBody>,
  deps: ApiDependencies,
): Promise<Reply<AttemptResponse>> {
  const { row, repeated } = await proposed({ ...input, operation: 'bridge_attempt' }, deps);
  const requester = asAgent(input.requester, row.authority_key);
  const movement_id =
    row.movement_id ?? (row.status === 'auto_promoted' ? await make(row, requester, deps) : null);
  const { proposal_id, status, template_key, template_version } = row;
  return {
    status: 200,
    ...(repeated ? REPLAYED : {}),
    body: { proposal_id, status, movement_id, template_key, template_version },
  };
}

async function make(
  row: ProposalRecord,
  requester: Requester,
  deps: ApiDependencies,
): Promise<string> {
  const body = movementOf(row);
  const subject = {
    action: 'movement.create',
    entity_type: 'movement',
    entity_key: `${body.template_key}@${String(body.template_version)}`,
    details: { proposal_id: row.proposal_id },
  } as const;
  // The proposal is already stored at this point.
  return afterAccepting(() =>
    auditedRefusal(deps, requester, subject, async () => {
      const compiled = await planOf(body, deps, { caller: requester.caller });
      const made = await makeMovement(
        {
          ...compiled,
          requester,
          subject,
          request: normalForm(body),
          used: { scope: SCOPE, key: row.proposal_id },
          strategy_id: null,
          labels: {},
          callback_url: body.callback_url ?? null,
          approval_ttl_seconds: deps.settings.approvalTtlSeconds,
          message: `Made by a bridge attempt, proposal ${row.proposal_id}; waits for approval`,
          write: (movement) => createDecided(movement, requester, deps),
        },
        deps,
      );
      return made.body.movement_id;
    }),
  );
}

/**
 * Returns the create request of the proposal's movement. Its values were validated when the
 * proposal was stored and are not validated again: a normalised callback address may be longer than
 * a request may send.
 */
export function movementOf(row: ProposalRecord): CreateBody {
  const { template_key, template_version, request } = row;
  if (template_key === null || template_version === null)
    throw new Error(`proposal ${row.proposal_id} is promoted without a version`);
  const { asset, requested_notional: amount } = proposalOf(row);
  const { callback_url: url } = request;
  return {
    template_key,
    template_version,
    intent: { asset, amount },
    input_params: {},
    labels: {},
    unique_reference: false,
    metadata: {},
    ...(typeof url === 'string' ? { callback_url: url } : {}),
  };
}
