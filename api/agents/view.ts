/** Views of proposals for responses. */
import type { JsonObject } from '../../domain/json.ts';
import type { Proposal } from '../../domain/agents/proposal.ts';
import { stored } from '../../store/json.ts';
import type { ProposalRecord } from '../../store/proposals.ts';
import type { ProposalDetail, ProposalResponse } from './schema.ts';

/** Reply headers for a repeated request. */
export const REPLAYED = { headers: { 'Idempotent-Replayed': 'true' } } as const;

export function proposalView(row: ProposalRecord): ProposalResponse {
  return {
    proposal_id: row.proposal_id,
    authority_key: row.authority_key,
    status: row.status,
    promotion_mode: row.promotion_mode,
    template_key: row.template_key,
    template_version: row.template_version,
    reasons: row.reasons,
    expires_at: row.expires_at,
    created_at: row.created_at,
  };
}

/** Returns the view with the proposal's content, for the administrator who promotes it. */
export function detailView(row: ProposalRecord): ProposalDetail {
  return {
    ...proposalView(row),
    proposal: proposedFields(row),
    problem: row.problem,
    movement_id: row.movement_id,
  };
}

function proposedFields({ request }: ProposalRecord): JsonObject {
  const {
    authority_key: _authority,
    operation: _operation,
    callback_url: url,
    ...fields
  } = request;
  return { ...fields, ...(url === null || url === undefined ? {} : { callback_url: url }) };
}

/** Returns the proposal's content as validated when it was stored. */
export function proposalOf({ request }: ProposalRecord): Proposal {
  return stored<Proposal>(request);
}
