/** POST template-proposals/{proposal_id}/promote, and the routes that read one or all proposals. */
import type { z } from 'zod';
import { auditOf, type Requester } from '../../domain/commands/context.ts';
import { blocking } from '../../domain/agents/proposal.ts';
import { ServiceError } from '../../domain/errors.ts';
import { agentNamespace, namespaceOf } from '../../domain/roles.ts';
import { agentOf } from '../../store/namespaces.ts';
import {
  listProposals,
  promoteProposal,
  readProposal,
  type ProposalRecord,
} from '../../store/proposals.ts';
import { auditedRefusal } from '../audit/refused.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { fetchPage, splitPage } from '../http/paging.ts';
import type { Reply } from '../http/route.ts';
import { judge } from './judge.ts';
import { limitsOf, promotionOf } from './propose.ts';
import type {
  ProposalDetail,
  proposalList,
  proposalListQuery,
  ProposalResponse,
} from './schema.ts';
import { detailView, proposalOf, proposalView } from './view.ts';

interface OfProposal {
  readonly params: { readonly proposal_id: string };
  readonly requester: Requester;
}

/** Returns one proposal. For an agent, another agent's proposal does not exist. */
export async function readOne(
  { params: { proposal_id }, requester: { caller } }: OfProposal,
  { db }: ApiDependencies,
): Promise<Reply<ProposalDetail>> {
  const found = await readProposal(db, proposal_id);
  const visible =
    caller.role !== 'agent' ||
    (found !== null && caller.namespace === agentNamespace(found.authority_key));
  if (found === null || !visible) throw notFound(proposal_id);
  return { status: 200, body: detailView(found) };
}

/** Returns a page of proposals, newest first; an agent's key lists only that agent's proposals. */
export async function listAll(
  {
    query,
    requester: { caller },
  }: { readonly query: z.output<typeof proposalListQuery>; readonly requester: Requester },
  { db }: ApiDependencies,
): Promise<Reply<z.input<typeof proposalList>>> {
  const only = agentOf(namespaceOf(caller));
  const [pageQuery, filter] = splitPage(query);
  const { items, next_cursor } = await fetchPage(
    pageQuery,
    (page) => listProposals(db, { ...filter, only }, page),
    (row) => ({ created_at: row.created_at, id: row.proposal_id }),
  );
  return { status: 200, body: { template_proposals: items.map(detailView), next_cursor } };
}

/**
 * Promotes a submitted proposal to a template version, whatever the authority's limits. Payees,
 * signers and the bridge path are checked again: these checks bind administrators too.
 */
export async function promote(
  { params: { proposal_id }, requester }: OfProposal,
  deps: ApiDependencies,
): Promise<Reply<ProposalResponse>> {
  const about = {
    action: 'template_proposal.promote',
    entity_type: 'template_proposal',
    entity_key: proposal_id,
  } as const;
  return auditedRefusal(deps, requester, about, async () => {
    for (;;) {
      const found = await readProposal(deps.db, proposal_id);
      if (found === null) throw notFound(proposal_id);
      if (found.status !== 'submitted') throw notSubmitted(found);
      const { authority_key } = found;
      const proposal = proposalOf(found);
      const limits = await limitsOf(authority_key, deps);
      const { reasons, blueprint, problem } = await judge(proposal, limits, deps);
      const blocked = blocking(reasons);
      if (blueprint === null || blocked.length > 0)
        throw new ServiceError('promotion_blocked', {
          context: { proposal_id, reasons: blocked, ...(problem === null ? {} : { problem }) },
        });
      const mode = 'admin' as const;
      const outcome = await promoteProposal(deps.db, found, {
        ...promotionOf(proposal, { authority_key, limits, blueprint, reasons, requester, mode }),
        limits,
        audit: auditOf(requester, about),
      });
      // The limits changed between the judgement and the write.
      if (outcome.outcome === 'outdated') continue;
      if (outcome.outcome === 'not_submitted') throw notSubmitted(outcome.row);
      return { status: 200, body: proposalView(outcome.row) };
    }
  });
}

function notFound(proposal_id: string): ServiceError {
  return new ServiceError('template_proposal_not_found', { context: { proposal_id } });
}

function notSubmitted({ proposal_id, status }: ProposalRecord): ServiceError {
  return new ServiceError('invalid_state', {
    context: { proposal_id, current_state: status, allowed_states: ['submitted'] },
  });
}
