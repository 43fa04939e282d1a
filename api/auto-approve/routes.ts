/** The routes of automatic approval policies. */
import { ServiceError } from '../../domain/errors.ts';
import { ADMIN_ROLES, OPS_ROLES } from '../../domain/roles.ts';
import { listPolicies, readPolicy } from '../../store/auto-approve.ts';
import { defineRoute, type Route } from '../http/route.ts';
import { noBody, noParams, noQuery } from '../http/schemas.ts';
import { create, update } from './change.ts';
import { policyCreate, policyList, policyParams, policyResponse, policyUpdate } from './schema.ts';
import { policyView } from './view.ts';

const tag = 'Automatic approval';

export const policyRoutes: readonly Route[] = [
  defineRoute({
    id: 'createAutoApprovePolicy',
    method: 'POST',
    power: { widens: 'policies' },
    path: '/auto-approve-policies',
    roles: ADMIN_ROLES,
    tag,
    summary: 'Create an automatic approval policy',
    description:
      'Says which movements that a client creates for a strategy are approved without a person. What it does not allow is not ' +
      'approved: a policy without templates or assets approves nothing. Limits that are absent or null do not limit.',
    params: noParams,
    query: noQuery,
    body: policyCreate,
    response: policyResponse,
    status: 201,
    errors: ['cap_consistency_violation', 'policy_exists'],
    handler: create,
  }),
  defineRoute({
    id: 'listAutoApprovePolicies',
    method: 'GET',
    acts: 'never',
    power: 'reads',
    path: '/auto-approve-policies',
    roles: OPS_ROLES,
    tag,
    summary: 'List automatic approval policies',
    description: 'All of them, newest first.',
    params: noParams,
    query: noQuery,
    body: noBody,
    response: policyList,
    errors: [],
    handler: async (_input, { db }) => ({
      status: 200,
      body: (await listPolicies(db)).map(policyView),
    }),
  }),
  defineRoute({
    id: 'getAutoApprovePolicy',
    method: 'GET',
    acts: 'never',
    power: 'reads',
    path: '/auto-approve-policies/{policy_id}',
    roles: OPS_ROLES,
    tag,
    summary: 'Read an automatic approval policy',
    params: policyParams,
    query: noQuery,
    body: noBody,
    response: policyResponse,
    errors: ['policy_not_found'],
    handler: async ({ params }, { db }) => {
      const policy = await readPolicy(db, params.policy_id);
      if (policy === null)
        throw new ServiceError('policy_not_found', { context: { policy_id: params.policy_id } });
      return { status: 200, body: policyView(policy) };
    },
  }),
  defineRoute({
    id: 'updateAutoApprovePolicy',
    method: 'PATCH',
    power: { widens: 'policies' },
    path: '/auto-approve-policies/{policy_id}',
    roles: ADMIN_ROLES,
    tag,
    summary: 'Change an automatic approval policy',
    description:
      'Holds for every decision from then on; what is approved stays approved. Client and strategy never change.',
    params: policyParams,
    query: noQuery,
    body: policyUpdate,
    response: policyResponse,
    errors: ['policy_not_found', 'cap_consistency_violation'],
    handler: update,
  }),
];
