/**
 * Routes of the perps venue: its master account, the strategies that trade there, and their agents.
 */
import { ADMIN_ROLES, ALL_ROLES, OPS_ROLES } from '../../../domain/roles.ts';
import { defineRoute, type Route } from '../../../api/http/route.ts';
import { noBody, noParams, noQuery } from '../../../api/http/schemas.ts';
import { createResponse } from '../../../api/movements/responses.ts';
import { createBinding, getBinding, pauseStrategy } from './bindings.ts';
import { emergencyState } from './emergency.ts';
import { createMaster } from './master.ts';
import {
  agentParams,
  bindingCreate,
  bindingResponse,
  emergencyResponse,
  masterCreate,
  masterResponse,
  pauseRequest,
  strategyParams,
  topUpRequest,
  walletCreate,
  walletList,
  walletResponse,
} from './schema.ts';
import { topUp } from './top-up.ts';
import { createWallet, listWallets } from './wallets.ts';

const common = {
  tag: 'Perp venue',
  tagText:
    'The account that the perps venue is paid from, the strategies that trade there, and their agents.',
  query: noQuery,
} as const;
const BINDINGS = '/perp-venue/strategy-bindings';
const ofStrategy = {
  ...common,
  path: `${BINDINGS}/{strategy_id}`,
  params: strategyParams,
} as const;

/** Error codes of routes that read a signer's current address. */
const SIGNER_REFUSALS = [
  'signer_not_found',
  'signer_not_active',
  'signer_identity_not_applicable',
  'signer_runtime_identity_unavailable',
  'signer_runtime_identity_invalid',
  'signer_expected_identity_invalid',
  'signer_identity_mismatch',
] as const;

export const perpVenueRoutes: readonly Route[] = [
  defineRoute({
    ...common,
    id: 'createMasterAccount',
    method: 'POST',
    power: { widens: 'perps' },
    path: '/perp-venue/master-account',
    roles: ADMIN_ROLES,
    summary: 'Name the account that is paid from',
    description:
      'There is one, and nothing changes it. Address and network are those of the perp entry of the venues file, and the signer ' +
      'tells the same address now. An equal repeat answers it.',
    params: noParams,
    body: masterCreate,
    response: masterResponse,
    repeats: true,
    errors: [
      'master_account_exists',
      'perp_venue_not_bound',
      'master_account_mismatch',
      ...SIGNER_REFUSALS,
    ],
    handler: createMaster,
  }),
  defineRoute({
    ...common,
    id: 'createStrategyBinding',
    method: 'POST',
    power: { widens: 'perps' },
    path: BINDINGS,
    roles: ADMIN_ROLES,
    summary: 'Bind a strategy to the perps venue',
    description:
      "With a sub-account it trades there, else with the master's own account. The venue must confirm that the sub-account is " +
      "the master's. An equal repeat returns the binding.",
    params: noParams,
    body: bindingCreate,
    response: bindingResponse,
    repeats: true,
    errors: [
      'strategy_binding_exists',
      'master_account_missing',
      'perp_venue_not_bound',
      'venue_unavailable',
      'sub_account_not_of_master',
      'sub_account_bound',
    ],
    handler: createBinding,
  }),
  defineRoute({
    ...ofStrategy,
    id: 'getStrategyBinding',
    method: 'GET',
    acts: 'never',
    power: 'reads',
    roles: ALL_ROLES,
    summary: 'Read what a strategy has at the perps venue',
    body: noBody,
    response: bindingResponse,
    errors: ['strategy_binding_not_found'],
    handler: getBinding,
  }),
  defineRoute({
    ...ofStrategy,
    id: 'createAgentWallet',
    method: 'POST',
    power: { widens: 'perps' },
    path: `${BINDINGS}/{strategy_id}/agent-wallets`,
    roles: ADMIN_ROLES,
    summary: 'Let a signer trade for a strategy',
    description:
      "Stored as `pending` with the nonce of its approval; a worker has the master's signer sign that and sends it, and the wallet is " +
      '`active` once the venue lists it. The same name with another signer replaces: the earlier one is `replaced` when the new one ' +
      'is active. An equal repeat answers the wallet while it is pending or active.',
    body: walletCreate,
    response: walletResponse,
    repeats: true,
    errors: [
      'strategy_binding_not_found',
      ...SIGNER_REFUSALS,
      'agent_name_taken',
      'agent_address_reused',
      'agent_wallet_pending',
    ],
    handler: createWallet,
  }),
  defineRoute({
    ...ofStrategy,
    id: 'listAgentWallets',
    method: 'GET',
    acts: 'never',
    power: 'reads',
    path: `${BINDINGS}/{strategy_id}/agent-wallets`,
    roles: ALL_ROLES,
    summary: "List a strategy's agents",
    description: 'Newest first, at most 200. One whose `valid_until` has passed is `expired`.',
    body: noBody,
    response: walletList,
    errors: ['strategy_binding_not_found'],
    handler: listWallets,
  }),
  defineRoute({
    ...common,
    id: 'topUpAgentWallet',
    method: 'POST',
    power: 'moves',
    path: `${BINDINGS}/{strategy_id}/agent-wallets/{agent_name}/top-up`,
    roles: OPS_ROLES,
    summary: 'Give a strategy more to work with at the venue',
    description:
      "Creates a movement of the template `system/agent-wallet-top-up`, which waits for its approval: from the master to the strategy's " +
      "sub-account, or, where it has none, a deposit by the master's signer. What the strategy has, what is on its way to it and this " +
      'are no more than its `max_agent_balance`. A repeat with the same idempotency key and an equal request answers the first movement.',
    params: agentParams,
    body: topUpRequest,
    response: createResponse,
    errors: [
      'strategy_binding_not_found',
      'agent_wallet_not_found',
      'agent_wallet_not_active',
      'strategy_paused',
      'perp_venue_not_bound',
      'master_account_missing',
      'venue_unavailable',
      'max_agent_balance_exceeded',
      'idempotency_conflict',
      'binding_unresolved',
      'address_not_allowlisted',
      'cutover_mode_active',
    ],
    handler: topUp,
  }),
  defineRoute({
    ...ofStrategy,
    id: 'pauseStrategy',
    method: 'POST',
    power: { widens: 'perps' },
    path: `${BINDINGS}/{strategy_id}/pause`,
    roles: ADMIN_ROLES,
    summary: 'Pause a strategy at the perps venue, or let it go on',
    description:
      'While it is paused, nodes of the venue in its movements fail with `STRATEGY_PAUSED` before anything is sent; where it works ' +
      "with the master's own account, so do those of movements without a strategy. Agents that are pending are " +
      'approved all the same: one that takes the place of another is how that one is stopped.',
    body: pauseRequest,
    response: bindingResponse,
    errors: ['strategy_binding_not_found'],
    handler: pauseStrategy,
  }),
  defineRoute({
    ...ofStrategy,
    id: 'getEmergencyState',
    method: 'GET',
    acts: 'always',
    power: 'reads',
    path: `${BINDINGS}/{strategy_id}/emergency-state`,
    roles: ALL_ROLES,
    summary: 'Everything about a strategy at once',
    description:
      'Reads the venue now, for a few seconds at most; with `stale` it did not answer, and `venue` is its answer of `checked_at`. ' +
      'An agent is shown the movements of its own namespace.',
    body: noBody,
    response: emergencyResponse,
    errors: ['strategy_binding_not_found'],
    handler: emergencyState,
  }),
];
