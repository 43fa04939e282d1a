/** The routes of approval rules, people, groups and passkeys, which only `fundadmin` changes. */
import { OPS_ROLES } from '../../domain/roles.ts';
import { listGroups, listPeople, listRules, readApprovals } from '../../store/approvals.ts';
import { listPasskeys, shownPasskey } from '../../store/passkeys.ts';
import { visibleMovement } from '../auth/visible.ts';
import { defineRoute, type Route } from '../http/route.ts';
import { movementParams, noBody, noParams, noQuery } from '../http/schemas.ts';
import { challengeFor } from './evidence.ts';
import { challenge, offer } from './passkeys.ts';
import {
  approversResponse,
  challengeBody,
  challengeResponse,
  groupsResponse,
  passkeyBody,
  passkeyChallengeResponse,
  passkeyResponse,
  passkeysResponse,
  peopleResponse,
  rulesResponse,
} from './schema.ts';
import { approvalsOf, approversOf } from './view.ts';

const common = {
  tag: 'Approvals',
  roles: OPS_ROLES,
  method: 'GET',
  acts: 'never',
  power: 'reads',
  query: noQuery,
  body: noBody,
} as const;

const written = { tag: 'Approvals', roles: OPS_ROLES, method: 'POST', query: noQuery } as const;

export const approvalRoutes: readonly Route[] = [
  defineRoute({
    ...common,
    id: 'listPeople',
    path: '/people',
    summary: 'List people',
    description:
      'Whom the identities of API clients and dashboard operators belong to. An approval under a rule is of a person, whatever key it was sent with.',
    params: noParams,
    response: peopleResponse,
    errors: [],
    handler: async (_input, { db }) => ({
      status: 200,
      body: {
        people: await listPeople(db),
      },
    }),
  }),
  defineRoute({
    ...common,
    id: 'listApproverGroups',
    path: '/approver-groups',
    summary: 'List approver groups',
    params: noParams,
    response: groupsResponse,
    errors: [],
    handler: async (_input, { db }) => ({
      status: 200,
      body: {
        groups: await listGroups(db),
      },
    }),
  }),
  defineRoute({
    ...common,
    id: 'listApprovalRules',
    path: '/approval-rules',
    summary: 'List approval rules',
    description:
      'All rules that match a movement hold together. A movement is approved once every one of them has enough approvals of different people.',
    params: noParams,
    response: rulesResponse,
    errors: [],
    handler: async (_input, { db }) => ({
      status: 200,
      body: { rules: await listRules(db) },
    }),
  }),
  defineRoute({
    ...common,
    id: 'listMovementApprovers',
    path: '/movements/{movement_id}/approvers',
    summary: 'List who may approve a movement',
    description:
      'What each rule requires, what is missing, and of each member of its groups whether an approval would count.',
    params: movementParams,
    response: approversResponse,
    errors: ['movement_not_found'],
    handler: async ({ params: { movement_id }, requester }, deps) => {
      const { caller } = requester;
      const { request_state: state } = await visibleMovement(movement_id, requester, deps);
      const standing = await readApprovals(deps.db, movement_id, caller.client_id);
      return {
        status: 200,
        body: {
          movement_id,
          approvals: approvalsOf(standing, { caller, waits: state === 'PENDING_APPROVAL' }),
          approvers: approversOf(standing.rules),
        },
      };
    },
  }),
  defineRoute({
    ...written,
    id: 'challengeMovementApproval',
    power: 'reads',
    path: '/movements/{movement_id}/challenge',
    summary: 'Get what a passkey signs to approve a movement',
    description:
      'The SHA-256 of `statement` is the challenge of the assertion that `approve` takes, within five minutes. Check that the statement names the plan that you reviewed.',
    params: movementParams,
    body: challengeBody,
    response: challengeResponse,
    errors: ['movement_not_found', 'approver_excluded'],
    handler: async ({ params: { movement_id }, requester }, deps) => {
      const { compiled_plan_hash: hash } = await visibleMovement(movement_id, requester, deps);
      return {
        status: 200,
        body: await challengeFor({ kind: 'movement', id: movement_id, hash }, requester, deps),
      };
    },
  }),
  defineRoute({
    ...common,
    id: 'listPasskeys',
    path: '/passkeys',
    summary: 'List passkeys',
    params: noParams,
    response: passkeysResponse,
    errors: [],
    handler: async (_input, { db }) => ({
      status: 200,
      body: {
        passkeys: (await listPasskeys(db)).map(shownPasskey),
      },
    }),
  }),
  defineRoute({
    ...written,
    id: 'challengePasskey',
    power: 'reads',
    path: '/passkeys/challenge',
    summary: 'Get what the browser needs to make a passkey',
    params: noParams,
    body: noBody,
    response: passkeyChallengeResponse,
    errors: ['passkey_refused'],
    handler: challenge,
  }),
  defineRoute({
    ...written,
    id: 'offerPasskey',
    power: 'narrows',
    path: '/passkeys',
    summary: 'Hand over a passkey that the browser made',
    description:
      'It counts once an administrator has compared its fingerprint and confirmed it: `fundadmin passkeys confirm`.',
    params: noParams,
    body: passkeyBody,
    status: 201,
    response: passkeyResponse,
    errors: ['passkey_refused'],
    handler: offer,
  }),
];
