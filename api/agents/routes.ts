/** The routes of agents: their authorities, proposals and bridge attempts. */
import { z } from 'zod';
import { ServiceError } from '../../domain/errors.ts';
import { ADMIN_ROLES, AGENT_ROLES, ALL_ROLES } from '../../domain/roles.ts';
import { readAuthority } from '../../store/keys.ts';
import { defineRoute, type Route } from '../http/route.ts';
import { noBody, noParams, noQuery, uuid } from '../http/schemas.ts';
import { attempt } from './bridge-attempt.ts';
import { listAll, promote, readOne } from './promote.ts';
import { propose } from './propose.ts';
import {
  agentAuthority,
  attemptBody,
  attemptResponse,
  authorityKey,
  proposalBody,
  proposalDetail,
  proposalList,
  proposalListQuery,
  proposalResponse,
} from './schema.ts';

const ofAuthority = {
  namespaceParam: 'authority_key',
  tag: 'Agents',
  params: z.strictObject({ authority_key: authorityKey }),
  query: noQuery,
} as const;
const ofProposal = {
  tag: 'Agents',
  params: z.strictObject({ proposal_id: uuid }),
  query: noQuery,
  body: noBody,
} as const;

const REPEATED =
  'A repeat with the same idempotency key and an equal request answers the first one as it is now, with `Idempotent-Replayed: true`.';

export const agentRoutes: readonly Route[] = [
  defineRoute({
    ...ofAuthority,
    id: 'getAgentAuthority',
    method: 'GET',
    acts: 'never',
    power: 'reads',
    path: '/agent-authorities/{authority_key}',
    roles: ALL_ROLES,
    summary: 'Read an agent authority',
    description: 'An agent reads only its own.',
    body: noBody,
    response: agentAuthority,
    errors: ['agent_authority_not_found', 'agent_namespace_mismatch'],
    handler: async ({ params: { authority_key } }, { db }) => {
      const found = await readAuthority(db, authority_key);
      if (found === null)
        throw new ServiceError('agent_authority_not_found', { context: { authority_key } });
      return { status: 200, body: found };
    },
  }),
  defineRoute({
    ...ofAuthority,
    id: 'createTemplateProposal',
    method: 'POST',
    power: { widens: 'templates' },
    path: '/agent-authorities/{authority_key}/template-proposals',
    roles: AGENT_ROLES,
    summary: 'Propose a template',
    description:
      "Becomes a version of a template in the agent's namespace at once where the authority's limits cover it, its destination is on the allowlist and past " +
      'cooling, its signer profile resolves and its bridge path is ready. Otherwise it stays `submitted` with every reason until an administrator promotes it ' +
      `or it expires; without a blueprint of its protocol family it is \`rejected\`. ${REPEATED}`,
    body: proposalBody,
    response: proposalResponse,
    errors: [
      'agent_authority_not_found',
      'agent_namespace_mismatch',
      'idempotency_conflict',
      'template_versions_exceeded',
    ],
    handler: propose,
  }),
  defineRoute({
    ...ofAuthority,
    id: 'createBridgeAttempt',
    method: 'POST',
    power: { widens: 'templates' },
    path: '/agent-authorities/{authority_key}/bridge-attempt',
    roles: AGENT_ROLES,
    summary: 'Propose a template and create its movement',
    description:
      'The same as a proposal and, once that is promoted, a movement of its notional, which waits for a person. Where the movement is refused the proposal ' +
      `stays, and a repeat with the idempotency key tries again. ${REPEATED}`,
    body: attemptBody,
    response: attemptResponse,
    errors: [
      'agent_authority_not_found',
      'agent_namespace_mismatch',
      'idempotency_conflict',
      'template_versions_exceeded',
      'open_movements_exceeded',
      'cutover_mode_active',
      'template_not_found',
      'template_not_executable',
      'template_version_retired',
      'reserved_template_family',
      'plan_too_large',
      'binding_unresolved',
      'completion_assurance_unsupported',
      'address_not_allowlisted',
      'intent_asset_not_moved',
      'bridge_path_not_ready',
      'token_asset_mismatch',
      'max_notional_exceeded',
      'asset_not_allowed',
      'chain_not_allowed',
    ],
    handler: attempt,
  }),
  defineRoute({
    id: 'listTemplateProposals',
    method: 'GET',
    acts: 'never',
    power: 'reads',
    path: '/template-proposals',
    roles: ALL_ROLES,
    tag: 'Agents',
    summary: 'List template proposals, newest first',
    description: 'With what was proposed. An agent lists only its own.',
    params: noParams,
    query: proposalListQuery,
    body: noBody,
    response: proposalList,
    errors: [],
    handler: listAll,
  }),
  defineRoute({
    ...ofProposal,
    id: 'getTemplateProposal',
    method: 'GET',
    acts: 'never',
    power: 'reads',
    path: '/template-proposals/{proposal_id}',
    roles: ALL_ROLES,
    summary: 'Read a template proposal',
    description: 'With what was proposed. An agent reads only its own.',
    response: proposalDetail,
    errors: ['template_proposal_not_found'],
    handler: readOne,
  }),
  defineRoute({
    ...ofProposal,
    id: 'promoteTemplateProposal',
    method: 'POST',
    power: { widens: 'templates' },
    path: '/template-proposals/{proposal_id}/promote',
    roles: ADMIN_ROLES,
    summary: 'Promote a submitted proposal',
    description:
      "Waives the authority's limits on asset, chain, notional and time, for this version and its notional. Whether its destination is on the allowlist and " +
      'past cooling, its signer profile resolves and its bridge path is ready is checked again; if not, the answer is `promotion_blocked`.',
    response: proposalResponse,
    errors: [
      'template_proposal_not_found',
      'agent_authority_not_found',
      'invalid_state',
      'promotion_blocked',
    ],
    handler: promote,
  }),
];
