/** The routes of the signer lifecycle, only in the commercial edition. */
import { ADMIN_ROLES, OPS_ROLES, type Role } from '../../domain/roles.ts';
import { readSignerEvents } from '../../store/signer-lifecycle.ts';
import { defineRoute, type Route } from '../http/route.ts';
import { noBody, noQuery } from '../http/schemas.ts';
import { findSigner } from './account.ts';
import { allowances, inventory } from './look.ts';
import { retire } from './retire.ts';
import { rotate } from './rotate.ts';
import {
  allowancesRequest,
  allowancesResponse,
  historyResponse,
  inventoryRequest,
  inventoryResponse,
  retireRequest,
  retireResponse,
  rotateRequest,
  rotateResponse,
  signerParams,
} from './schema.ts';

const common = {
  method: 'POST',
  // The extension sets the roles.
  roles: [],
  tag: 'Signer lifecycle',
  params: signerParams,
  query: noQuery,
} as const;

/** The roles that may call each of {@link signerLifecycleRoutes}. */
export const SIGNER_LIFECYCLE_ROLES: Readonly<Record<string, readonly Role[]>> = {
  rotateSigner: ADMIN_ROLES,
  listSignerHoldings: ADMIN_ROLES,
  listSignerAllowances: ADMIN_ROLES,
  retireSigner: ADMIN_ROLES,
  getSignerRotationHistory: OPS_ROLES,
};

export const signerLifecycleRoutes: readonly Route[] = [
  defineRoute({
    ...common,
    id: 'rotateSigner',
    power: { widens: 'signers' },
    path: '/admin/signers/{signer_key}/rotate',
    summary: 'Replace a signer by another one',
    description:
      'What was not sent yet is signed by the replacement and prepared anew; plan and hash stay what was approved. Nodes that are ' +
      'tied to the old address stay with the old signer, which is `deprecated` from then on and signs nothing else. The replacement ' +
      'must be pinned, and its address is read again. A drill does all of it and rolls it back. Checked in this order: the ' +
      'keys, `ack_impact`, `validation_failed` by its `cause`, then health, pin and identity of the replacement.',
    body: rotateRequest,
    response: rotateResponse,
    errors: [
      'signer_not_found',
      'ack_impact_required',
      'validation_failed',
      'new_signer_health_check_failed',
      'signer_expected_identity_missing',
      'signer_expected_identity_invalid',
      'signer_runtime_identity_unavailable',
      'signer_runtime_identity_invalid',
      'signer_identity_mismatch',
    ],
    handler: rotate,
  }),
  defineRoute({
    ...common,
    id: 'listSignerHoldings',
    power: 'narrows',
    path: '/admin/signers/{signer_key}/inventory',
    summary: "What a signer's account has",
    description:
      "The chains' own coins and the tokens that their venues list, in the newest block. Kept as evidence unless `persist` is false.",
    body: inventoryRequest,
    response: inventoryResponse,
    errors: [
      'signer_not_found',
      'signer_identity_not_applicable',
      'signer_runtime_identity_unavailable',
    ],
    handler: inventory,
  }),
  defineRoute({
    ...common,
    id: 'listSignerAllowances',
    power: 'narrows',
    path: '/admin/signers/{signer_key}/allowances',
    summary: 'Who may take tokens from a signer',
    description:
      'Allowances that are not zero, of spenders that the configuration, own approvals and Approval logs name. Always kept as evidence.',
    body: allowancesRequest,
    response: allowancesResponse,
    errors: [
      'signer_not_found',
      'signer_identity_not_applicable',
      'signer_runtime_identity_unavailable',
    ],
    handler: allowances,
  }),
  defineRoute({
    ...common,
    id: 'retireSigner',
    power: 'narrows',
    path: '/admin/signers/{signer_key}/retire',
    summary: 'Retire a deprecated signer',
    description:
      'The gates in their order: `signer_not_deprecated`, `inventory_unavailable`, `balance_above_dust`, `perp_master_account`, `non_terminal_nodes`, ' +
      '`open_nonces`, `allowances_not_acknowledged`. Nothing forces them. A scan of allowances that was partial is acknowledged too.',
    body: retireRequest,
    response: retireResponse,
    errors: ['signer_not_found', 'retirement_denied'],
    handler: retire,
  }),
  defineRoute({
    ...common,
    id: 'getSignerRotationHistory',
    method: 'GET',
    acts: 'never',
    power: 'reads',
    path: '/admin/signers/{signer_key}/rotation-history',
    summary: 'What was done about a signer',
    description: 'Oldest first: drills, rotations (also those where it took a place) and evidence.',
    body: noBody,
    response: historyResponse,
    errors: ['signer_not_found'],
    handler: async ({ params: { signer_key } }, deps) => {
      const { status, replaced_by } = await findSigner(signer_key, deps);
      const events = await readSignerEvents(deps.db, signer_key);
      return { status: 200, body: { signer_key, status, replaced_by, events } };
    },
  }),
];
