/** POST agent-authorities/{authority_key}/template-proposals, and half of a bridge attempt. */
import { auditOf, type Requester } from '../../domain/commands/context.ts';
import type { AuthorityLimits } from '../../domain/agents/authority.ts';
import type { Blueprint } from '../../domain/actions/blueprints/index.ts';
import {
  templateKeyOf,
  type PromotionMode,
  type Proposal,
  type ProposalReason,
} from '../../domain/agents/proposal.ts';
import { ServiceError } from '../../domain/errors.ts';
import { graphShape } from '../../domain/graph/shape.ts';
import type { JsonObject } from '../../domain/json.ts';
import { compare } from '../../domain/money.ts';
import { agentNamespace, identityOf } from '../../domain/roles.ts';
import type { AuditEntry } from '../../domain/transition.ts';
import { readCutover } from '../../store/cutover.ts';
import { cutoverActive } from '../../store/faults.ts';
import { readAuthority } from '../../store/keys.ts';
import {
  createProposal,
  readProposalKeyUse,
  type NewProposal,
  type ProposalRecord,
  type Promotion,
} from '../../store/proposals.ts';
import { auditedRefusal } from '../audit/refused.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { differingFields } from '../http/differences.ts';
import type { Reply } from '../http/route.ts';
import { keyOf } from '../movements/request.ts';
import { digestOf, judge, type Judgement } from './judge.ts';
import type { AttemptBody, ProposalBody, ProposalResponse } from './schema.ts';
import { proposalView, REPLAYED } from './view.ts';

export interface ProposeInput<Body = ProposalBody> {
  readonly params: { readonly authority_key: string };
  readonly body: Body;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly requester: Requester;
}

/** Judges and stores a proposal; a repeated request returns the first proposal. */
export async function propose(
  input: ProposeInput,
  deps: ApiDependencies,
): Promise<Reply<ProposalResponse>> {
  const { row, repeated } = await proposed({ ...input, operation: 'template_proposal' }, deps);
  return { status: 200, ...(repeated ? REPLAYED : {}), body: proposalView(row) };
}

/**
 * Returns the requester as the agent; with authentication off, only the path names the authority.
 */
export function asAgent(requester: Requester, authorityKey: string): Requester {
  const { caller } = requester;
  return caller.role === 'agent'
    ? requester
    : {
        ...requester,
        caller: { ...caller, role: 'agent', namespace: agentNamespace(authorityKey) },
      };
}

/** Returns the proposal of a request: stored now, or by the first request with the same key. */
export async function proposed(
  input: ProposeInput<ProposalBody | AttemptBody> & {
    readonly operation: 'template_proposal' | 'bridge_attempt';
  },
  deps: ApiDependencies,
): Promise<{ readonly row: ProposalRecord; readonly repeated: boolean }> {
  const { params, body, headers, operation } = input;
  const { authority_key } = params;
  const requester = asAgent(input.requester, authority_key);
  const key = keyOf(body, headers['idempotency-key']);
  const scope = requester.caller.client_id ?? 'anonymous';
  const request = normalForm(body, { authority_key, operation });
  const subject = {
    action: 'template_proposal.create',
    entity_type: 'agent_authority',
    entity_key: authority_key,
  } as const;
  return auditedRefusal(deps, requester, subject, async () => {
    const used = key === null ? null : await readProposalKeyUse(deps.db, scope, key);
    if (used !== null) return repeat(used, request);
    if (operation === 'bridge_attempt') await mustBeOpen(deps);
    for (;;) {
      const limits = await limitsOf(authority_key, deps);
      const judged = await judge(body, limits, deps);
      const outcome = await createProposal(deps.db, {
        authority_key,
        request,
        limits,
        proposal_kind: body.proposal_kind,
        asset: body.asset,
        requested_notional: body.requested_notional,
        ttl_seconds: body.ttl_seconds,
        bridge_attempt: operation === 'bridge_attempt',
        client_scope: scope,
        idempotency_key: key,
        created_by: { ...identityOf(requester.caller) },
        decided: decisionOf(body, { authority_key, limits, judged, requester }),
        audit: (proposalId) => auditRows(proposalId, judged, requester),
      });
      // The limits changed between the judgement and the write.
      if (outcome.outcome === 'outdated') continue;
      if (outcome.outcome === 'used') return repeat(outcome.row, request);
      return { row: outcome.row, repeated: false };
    }
  });
}

/** Returns what a repeated request must equal: every field but the idempotency key. */
function normalForm(
  { idempotency_key: _key, ...body }: ProposalBody | AttemptBody,
  of: { readonly authority_key: string; readonly operation: string },
): JsonObject {
  const { callback_url = null, ...fields } = { callback_url: undefined, ...body };
  return { ...of, ...fields, callback_url };
}

/** Returns the current limits of an authority. */
export async function limitsOf(
  authority_key: string,
  { db }: ApiDependencies,
): Promise<AuthorityLimits> {
  const found = await readAuthority(db, authority_key);
  if (found === null)
    throw new ServiceError('agent_authority_not_found', { context: { authority_key } });
  return found;
}

/** Returns the first proposal if its request was equal; throws `idempotency_conflict` otherwise. */
function repeat(
  used: ProposalRecord,
  request: JsonObject,
): { readonly row: ProposalRecord; readonly repeated: true } {
  const fields = differingFields(used.request, request);
  if (fields.length === 0) return { row: used, repeated: true };
  // The agents of a client share its idempotency keys, and no agent may learn of another's
  // proposal.
  const own = !fields.includes('authority_key');
  throw new ServiceError('idempotency_conflict', {
    context: own ? { proposal_id: used.proposal_id, fields } : { fields: ['authority_key'] },
  });
}

/** Throws unless the cutover mode is normal: other modes allow no movement, so no proposal. */
async function mustBeOpen({ db }: ApiDependencies): Promise<void> {
  const { mode } = await readCutover(db);
  if (mode !== 'normal') throw cutoverActive(mode);
}

interface Deciding {
  readonly authority_key: string;
  readonly limits: AuthorityLimits;
  readonly judged: Judgement;
  readonly requester: Requester;
}

function decisionOf(proposal: Proposal, deciding: Deciding): NewProposal['decided'] {
  const { blueprint, reasons, problem } = deciding.judged;
  if (blueprint === null) return { status: 'rejected', reasons, problem };
  if (reasons.length > 0) return { status: 'submitted', reasons, problem: null };
  const promotion = promotionOf(proposal, { ...deciding, blueprint, reasons, mode: 'auto' });
  return { status: 'auto_promoted', ...promotion };
}

/** Returns the promotion of a proposal to a template version. */
export function promotionOf(
  proposal: Proposal,
  about: Omit<Deciding, 'judged'> & {
    readonly blueprint: Blueprint;
    readonly reasons: readonly ProposalReason[];
    readonly mode: PromotionMode;
  },
): Promotion {
  const { authority_key, limits, blueprint, reasons, requester } = about;
  const namespace = agentNamespace(authority_key);
  const template_key = templateKeyOf(namespace, proposal);
  const max_amount = mostOf(proposal, limits);
  const { nodes, edges, completion_assurance } = blueprint;
  const { protocol_family, asset, source_chain, destination_chain, destination_address } = proposal;
  return {
    reasons,
    template_key,
    max_amount,
    plan_digest: digestOf(blueprint),
    template: {
      template_key,
      nodes,
      edges,
      graph_shape: graphShape(blueprint),
      name: `${protocol_family}: ${asset} from ${source_chain} to ${destination_address} on ${destination_chain}`,
      owner: namespace,
      approval_policy: {},
      risk_controls: { max_amount },
      completion_policy: { completion_assurance },
      created_by: requester.caller.client_id,
      audit: (template_id) => [
        auditOf(requester, {
          action: 'plan_template.create',
          entity_type: 'plan_template',
          entity_key: template_key,
          details: { template_id },
        }),
      ],
    },
  };
}

/**
 * Returns the version's `max_notional`: the authority's limit for a static proposal, or the
 * requested notional where an administrator promoted more than the limit.
 */
function mostOf(
  { proposal_kind, requested_notional }: Proposal,
  { max_notional }: AuthorityLimits,
): string {
  if (proposal_kind === 'ephemeral' || max_notional === null) return requested_notional;
  return compare(requested_notional, max_notional) > 0 ? requested_notional : max_notional;
}

/** Returns the audit rows of the proposal and of the decision about it. */
function auditRows(
  proposalId: string,
  { blueprint, reasons, problem }: Judgement,
  requester: Requester,
): readonly AuditEntry[] {
  const about = { entity_type: 'template_proposal', entity_key: proposalId } as const;
  const [reason] = reasons;
  const denied = reason === undefined ? {} : ({ outcome: 'denied', reason } as const);
  return [
    auditOf(requester, { ...about, action: 'template_proposal.create' }),
    blueprint === null
      ? auditOf(requester, {
          ...about,
          ...denied,
          reason: 'no_blueprint',
          action: 'template_proposal.reject',
          details: { problem },
        })
      : auditOf(requester, { ...about, ...denied, action: 'template_proposal.promote' }),
  ];
}
