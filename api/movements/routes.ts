/** The routes of movements. */
import { ALL_ROLES, OPS_ROLES } from '../../domain/roles.ts';
import { defineRoute, type Route } from '../http/route.ts';
import { jsonObject, movementParams, noBody, noParams, noQuery } from '../http/schemas.ts';
import { create } from './create.ts';
import { detail } from './detail.ts';
import { list } from './list.ts';
import { previewResponse } from './preview-schema.ts';
import { readCompiledPlan } from './read-plan.ts';
import {
  actionResponse,
  createResponse,
  detailResponse,
  listResponse,
  reassignResponse,
  resetAllowancesResponse,
  timelineResponse,
} from './responses.ts';
import { reassign } from './reassign.ts';
import { resetAllowances } from './reset-allowances.ts';
import { resolve } from './resolve.ts';
import {
  acknowledgeBody,
  approveBody,
  createBody,
  listQuery,
  namedNodeBody,
  nodeParams,
  rejectBody,
  cancelTransactionBody,
  reassignBody,
  resolveBody,
} from './schema.ts';
import { timeline } from './timeline.ts';
import {
  acknowledge,
  approve,
  cancel,
  cancelTransaction,
  reject,
  resume,
  retry,
  withdrawApproval,
} from './verbs.ts';

const tag = 'Movements';
const read = {
  method: 'GET',
  acts: 'never',
  power: 'reads',
  tag,
  roles: ALL_ROLES,
  body: noBody,
} as const;
const action = {
  method: 'POST',
  tag,
  roles: OPS_ROLES,
  params: movementParams,
  query: noQuery,
  response: actionResponse,
} as const;

export const movementRoutes: readonly Route[] = [
  defineRoute({
    id: 'createMovement',
    method: 'POST',
    power: 'moves',
    path: '/movements',
    roles: ALL_ROLES,
    tag,
    summary: 'Create a movement',
    description:
      'Compiles the plan of a template version for the intent and stores it; the movement then waits for approval. ' +
      'A repeat with the same idempotency key and an equal request answers 200 with the first movement as it is now and `Idempotent-Replayed: true`. ' +
      'The key is looked up before every other precondition, and a request that was refused does not use it up. ' +
      'With `dry_run=true` nothing is written, audited or woken and no key is used; the answer is 200 with what would happen. ' +
      'What does not fit the schema and a version that does not exist are errors then too; every other refusal is among `blocking_reasons`.',
    params: noParams,
    query: noQuery,
    body: createBody,
    response: createResponse,
    preview: previewResponse,
    status: 201,
    errors: [
      'agent_namespace_mismatch',
      'template_not_found',
      'template_not_executable',
      'template_version_retired',
      'reserved_template_family',
      'address_not_allowlisted',
      'plan_too_large',
      'binding_unresolved',
      'completion_assurance_unsupported',
      'intent_asset_not_moved',
      'bridge_path_not_ready',
      'token_asset_mismatch',
      'max_notional_exceeded',
      'asset_not_allowed',
      'chain_not_allowed',
      'open_movements_exceeded',
      'idempotency_conflict',
      'cutover_mode_active',
    ],
    handler: create,
  }),
  defineRoute({
    ...read,
    id: 'listMovements',
    path: '/movements',
    summary: 'List movements',
    description: 'Newest first.',
    params: noParams,
    query: listQuery,
    response: listResponse,
    errors: [],
    handler: list,
  }),
  defineRoute({
    ...read,
    id: 'getMovement',
    path: '/movements/{movement_id}',
    summary: 'Read a movement',
    description:
      'With its nodes, artifacts, counts of callbacks and the place of its workflow. Secrets and raw signed payloads are left out.',
    params: movementParams,
    query: noQuery,
    response: detailResponse,
    errors: ['movement_not_found'],
    handler: detail,
  }),
  defineRoute({
    ...read,
    id: 'getMovementPlan',
    path: '/movements/{movement_id}/plan',
    summary: 'Read the compiled plan',
    description:
      'The document that is approved: RFC 8785 canonical JSON, byte for byte what `compiled_plan_hash` is the SHA-256 of, so that any ' +
      'tool can check it (`sha256sum`). Never redacted: secrets do not belong in a config or in `input_params`.',
    params: movementParams,
    query: noQuery,
    response: jsonObject,
    errors: ['movement_not_found'],
    handler: readCompiledPlan,
  }),
  defineRoute({
    ...read,
    id: 'getMovementTimeline',
    path: '/movements/{movement_id}/timeline',
    summary: 'Read the timeline of a movement',
    description: 'Every event in the order it happened.',
    params: movementParams,
    query: noQuery,
    response: timelineResponse,
    errors: ['movement_not_found'],
    handler: timeline,
  }),
  defineRoute({
    ...action,
    id: 'approveMovement',
    power: 'moves',
    path: '/movements/{movement_id}/approve',
    summary: 'Approve a movement',
    description:
      'Needs the hash of the plan that was reviewed, and available executors and signers for the first nodes. After the approval time has passed the movement becomes EXPIRED instead. ' +
      'Under approval rules the answer stays PENDING_APPROVAL, with `approvals`, while further people must approve.',
    body: approveBody,
    errors: [
      'movement_not_found',
      'invalid_state',
      'approval_expired',
      'compiled_plan_hash_mismatch',
      'approver_excluded',
      'reason_required',
      'passkey_required',
      'assertion_refused',
      'binding_unavailable',
      'insufficient_effective_withdrawable',
    ],
    handler: approve,
  }),
  defineRoute({
    ...action,
    id: 'withdrawApproval',
    power: 'narrows',
    path: '/movements/{movement_id}/withdraw-approval',
    summary: 'Withdraw your own approval of a movement',
    description:
      'While the movement waits for the approvals of others. It is the approval of your person, whatever key it was sent with; you may approve again. What is approved cannot be withdrawn: cancel it.',
    body: noBody,
    errors: ['movement_not_found', 'invalid_state', 'approval_expired', 'no_approval'],
    handler: withdrawApproval,
  }),
  defineRoute({
    ...action,
    id: 'rejectMovement',
    power: 'narrows',
    path: '/movements/{movement_id}/reject',
    summary: 'Reject a movement',
    body: rejectBody,
    errors: ['movement_not_found', 'invalid_state', 'compiled_plan_hash_mismatch'],
    handler: reject,
  }),
  defineRoute({
    ...action,
    id: 'resumeMovement',
    power: { moves: 'movement_action' },
    path: '/movements/{movement_id}/actions/resume',
    summary: 'Resume a movement',
    description:
      'Releases the oldest manual gate, or has an UNKNOWN node observed again. Name the node that was shown, so that a click that comes twice releases no other.',
    body: namedNodeBody,
    errors: ['movement_not_found', 'invalid_state', 'node_differs'],
    handler: resume,
  }),
  defineRoute({
    ...action,
    id: 'retryMovement',
    power: { moves: 'movement_action' },
    path: '/movements/{movement_id}/actions/retry',
    summary: 'Retry a failed or unknown node',
    description:
      'Takes the one that changed first. FAILED begins a new attempt; UNKNOWN first asks what became of the earlier send. Name the node that was shown, so that a click that comes twice sends no other.',
    body: namedNodeBody,
    errors: [
      'movement_not_found',
      'invalid_state',
      'node_differs',
      'no_retryable_node',
      'budget_exceeded',
      'insufficient_effective_withdrawable',
    ],
    handler: retry,
  }),
  defineRoute({
    ...action,
    id: 'cancelMovement',
    power: 'narrows',
    path: '/movements/{movement_id}/actions/cancel',
    summary: 'Cancel a movement',
    description:
      'Only plans with an on_cancel edge can be cancelled. What may already have had an effect is followed to its proven end.',
    body: noBody,
    errors: ['movement_not_found', 'invalid_state', 'no_on_cancel_edge'],
    handler: cancel,
  }),
  defineRoute({
    ...action,
    id: 'resetMovementAllowances',
    power: 'moves',
    path: '/movements/{movement_id}/actions/reset-allowances',
    summary: 'Take back what a movement still allows',
    description:
      'For a movement that has ended with `open_allowances`. For each of them a movement of the template `system/reset-allowances` sets the allowance to 0; ' +
      'it is made and approved by this request, and goes through the same fence and signer as every send. ' +
      'A repeat answers the one that is under way; one that failed is made anew. A retry of the movement afterwards runs the allowance node anew.',
    body: noBody,
    response: resetAllowancesResponse,
    errors: [
      'movement_not_found',
      'invalid_state',
      'binding_unresolved',
      'binding_unavailable',
      'token_asset_mismatch',
      'completion_assurance_unsupported',
      'cutover_mode_active',
    ],
    handler: resetAllowances,
  }),
  defineRoute({
    ...action,
    id: 'acknowledgeMovement',
    power: 'narrows',
    path: '/movements/{movement_id}/actions/acknowledge',
    summary: 'Acknowledge a failure or a late landing',
    description:
      'Says that a person has dealt with the failure of a movement, or with the late landing of a node that was abandoned (`landed_late`, also ' +
      'of a CANCELLED or COMPLETED movement, and where the chain contradicts how a node has ended): the movement stays as it is, and that reason leaves attention. The reason is kept on the timeline ' +
      'and in the audit. A retry undoes it for the failure, never for the landing; what is acknowledged already is `invalid_state`. Name the ' +
      '`attention_reason` and `node_key` that were shown: where none such may be acknowledged now it is `node_differs` with the first that may. ' +
      'Without them a failure is meant, so a landing has to be named.',
    body: acknowledgeBody,
    errors: ['movement_not_found', 'invalid_state', 'node_differs'],
    handler: acknowledge,
  }),
  defineRoute({
    ...action,
    id: 'resolveMovementNode',
    power: { moves: 'movement_action' },
    path: '/movements/{movement_id}/nodes/{node_key}/actions/resolve',
    summary: 'Resolve a node whose outcome no venue can report',
    description:
      'For a node in UNKNOWN whose venue can no longer report the outcome of its send, or one that is observed for longer than usual ' +
      '(attention `observed_long`). `completed` continues on its success path (of an observed node, and of one with `SEND_UNDER_WAY`, once it ' +
      'takes an hour longer than usual), `failed` on its failure path (`send_still_open` of an observed node, and of one whose last answer says ' +
      'that the venue has the send or has paid it; `venue_entry_changed` of one that the last look could not see, since its venue key means ' +
      'another account or bridge entry than where it was sent). `abandoned` ends it FAILED ' +
      'with `ABANDONED`: no edge fires, it is never retried, its amount stays counted as sent, and if it lands late the movement is in ' +
      'attention as `landed_late`. Reason and evidence are kept in the audit, on the timeline and as an artifact. Refused ' +
      'until the send and the time in which its effect may appear are over; `failed` also while what it signed may still be mined. ' +
      'Name the `attempt` that was looked into where it is not the first, so that a word about an earlier one settles no later one. ' +
      'A burn that no attester signs for, or its mint, is completed by the transaction that minted it (`mint_tx_hashes`): the chain is read ' +
      'within the request, and what it does not show is `mint_not_proven` with `reason` and `tx_hash`. Where other burns of the same terms are ' +
      'open nothing tells whose a mint is (`ambiguous`, with their `nodes`), until as many mints are named. ' +
      'Every other type that claims a payment, message or record has to name it in `output` (`claim_missing` says where): it is read at its ' +
      'source within the request, and what that does not show is `claim_not_proven` with `reason` and `found`.',
    params: nodeParams,
    body: resolveBody,
    errors: [
      'movement_not_found',
      'node_not_found',
      'node_differs',
      'invalid_state',
      'mint_not_proven',
      'claim_missing',
      'claim_not_proven',
      'venue_unavailable',
      'send_not_over',
      'nonce_open',
      'payment_mined',
      'send_still_open',
      'venue_entry_changed',
      'resolution_incomplete',
      'already_claimed',
    ],
    handler: resolve,
  }),
  defineRoute({
    ...action,
    id: 'reassignNodePayment',
    power: { moves: 'movement_action' },
    path: '/movements/{movement_id}/nodes/{node_key}/actions/reassign',
    summary: 'Give the payment of a node to the one that it is for',
    description:
      'For an observe node that was completed with a payment of another (`evm_balance_observe`, `cex_deposit_observe`), while nothing behind ' +
      'it has started. It waits for its own payment again, and the node `to_node_key` of `to_movement_id`, which waits at the same place, is ' +
      'completed with all that it had claimed: both in one write, or neither. Else `not_reassignable` with `reason`: `movement_over` ' +
      '(a movement that has ended is not opened again), `passed_on` (with the `nodes` that have started), `no_payment`, `another_place`.',
    params: nodeParams,
    body: reassignBody,
    response: reassignResponse,
    errors: [
      'movement_not_found',
      'node_not_found',
      'invalid_state',
      'not_reassignable',
      'insufficient_effective_withdrawable',
    ],
    handler: reassign,
  }),
  defineRoute({
    ...action,
    id: 'cancelNodeTransaction',
    power: 'narrows',
    path: '/movements/{movement_id}/nodes/{node_key}/actions/cancel-transaction',
    summary: 'Cancel the transaction of a node',
    description:
      'For a node in UNKNOWN or OBSERVING whose transaction is signed and not mined for good. A transaction with the same nonce that ' +
      'moves nothing is signed and sent; whichever of the two is mined decides. When it is this one, in a finalized block, the node is ' +
      'FAILED with `TRANSACTION_CANCELLED`; otherwise it continues as before. A node in UNKNOWN is looked at within a minute.',
    params: nodeParams,
    body: cancelTransactionBody,
    errors: ['movement_not_found', 'node_not_found', 'invalid_state', 'nothing_signed'],
    handler: cancelTransaction,
  }),
];
