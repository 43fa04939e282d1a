/**
 * The complete table of API errors: HTTP status, whether the same request may succeed later, and
 * the sentence that callers read. The error responses in OpenAPI and the error catalogue are
 * generated from this table; a code outside it does not type-check.
 */

/**
 * What a caller should do with the same request: never repeat it, repeat it after a change, or
 * repeat it unchanged.
 */
export type RetryMeaning = 'never' | 'after_change' | 'safe';

export interface ErrorRule {
  readonly status: number;
  readonly retry: RetryMeaning;
  readonly message: string;
}

const row = (status: number, retry: RetryMeaning, message: string): ErrorRule => ({
  status,
  retry,
  message,
});

// Each row stays on one line, even with a long sentence.
// prettier-ignore
export const ERROR_TABLE = {
  invalid_request: row(422, 'after_change', 'The request does not fit its schema; see `issues` for each place.'),
  invalid_path: row(400, 'after_change', 'The request target does not have exactly one meaning; send a plain path.'),
  unsupported_media_type: row(415, 'after_change', 'Send the body as uncompressed application/json.'),
  request_timeout: row(408, 'safe', 'The request took too long to arrive, so nothing of it was accepted; send it again.'),
  headers_too_large: row(431, 'after_change', 'The request line and headers together are larger than 16 KiB; send fewer or shorter ones.'),
  body_too_large: row(413, 'after_change', "The request body is larger than 1 MiB, or than 64 KiB with an agent's key; send less."),
  route_not_found: row(404, 'never', 'No such path under this prefix; check the path.'),
  method_not_allowed: row(405, 'never', 'This path does not accept that method; the Allow header lists those that it accepts.'),
  route_role_unmapped: row(503, 'never', 'No role is mapped to this route, so it is closed; report it to the operator.'),
  unauthenticated: row(401, 'after_change', 'The request has no valid credentials; send a valid key or signature.'),
  forbidden: row(403, 'never', 'The key is valid, but its role may not call this route; use a key with another role.'),
  agent_namespace_mismatch: row(403, 'never', 'The path names another namespace than the one that this agent key is bound to; use your own.'),
  dashboard_writes_disabled: row(503, 'never', 'No operator of the dashboard has a key here; enrol one (fundadmin dashboard enrol), or set SVC_DASHBOARD_WRITER_KEYS_FILE.'),
  dashboard_key_pending: row(403, 'after_change', 'This key is not confirmed yet: run fundadmin dashboard confirm with the fingerprint that the page shows.'),
  enrolment_refused: row(403, 'after_change', 'The link with which this browser enrols was refused; `reason` says why. Ask for a new link.'),
  rate_limited: row(429, 'safe', 'rate limit exceeded'),

  template_not_found: row(404, 'after_change', 'No such plan template version; check template_key and version.'),
  movement_not_found: row(404, 'never', 'No such movement; check movement_id.'),
  node_not_found: row(404, 'never', 'The movement has no node of that key; `GET` the movement lists its nodes.'),
  executor_not_found: row(404, 'never', 'No executor has that key, neither registered nor in memory; `GET executors` lists them.'),
  agent_authority_not_found: row(404, 'never', 'No agent authority has that key; check authority_key.'),
  template_proposal_not_found: row(404, 'never', 'No such template proposal; check proposal_id.'),
  policy_not_found: row(404, 'never', 'No automatic approval policy has that id; check policy_id.'),
  callback_not_found: row(404, 'never', 'No callback of that event; check event_id.'),
  change_request_not_found: row(404, 'never', 'No such change request; check change_request_id.'),
  allowed_address_not_found: row(404, 'never', 'No row of the allowlist has that id; check it.'),
  capital_transfer_not_found: row(404, 'never', 'No such capital transfer; check transfer_id.'),
  signer_not_found: row(404, 'never', 'No signer has that key, neither registered nor in memory; `GET signers` lists them.'),
  nonce_lane_not_found: row(404, 'never', 'That address has no nonce lane on a chain that is bound here; `GET signers` lists them.'),
  chain_not_found: row(404, 'after_change', 'The bridge registry has no such chain; check its name, or add it.'),
  path_baseline_not_found: row(404, 'after_change', 'The bridge registry has no such path; check its key, or add it.'),
  strategy_binding_not_found: row(404, 'after_change', 'This strategy has no binding at the perps venue; bind it first.'),

  graph_invalid: row(422, 'after_change', 'The plan graph is not valid; correct every fault in `problems`.'),
  completion_policy_missing: row(422, 'after_change', 'completion_policy.completion_assurance is missing; send it.'),
  bridge_path_not_ready: row(422, 'after_change', 'The plan sends over a bridge path that is not ready; `paths` says why. Make it ready with `fundadmin bridge`, or use another path.'),
  template_version_exists: row(409, 'after_change', 'This template_key and version exist, and versions never change; use a new version.'),
  template_not_executable: row(409, 'never', 'The template version cannot be executed; `reasons` says why. Register a corrected version.'),
  template_version_retired: row(409, 'after_change', 'The template version is retired; use `latest_active_version`, or register a new one where that is null.'),
  lane_raise_too_large: row(409, 'after_change', "The raise exceeds `most`, or names a cap that the chain does not have. Request less, or raise the chain's caps in the venues file."),
  cap_consistency_violation: row(422, 'after_change', 'auto_approve_enabled needs daily_cap_amount and daily_cap_asset; send both.'),
  policy_exists: row(409, 'after_change', 'This client has a policy for this strategy; change that policy.'),
  open_movements_exceeded: row(409, 'after_change', 'The authority has too many open movements; cancel some, or wait until they end.'),
  template_versions_exceeded: row(409, 'after_change', 'The namespace has too many active template versions; use one of them, retire unused ones, or let an administrator register this one.'),
  plan_too_large: row(422, 'after_change', '`part` is too large: the input_params, the plan with its nodes, or its list of payees. Send less in input_params.'),
  binding_unresolved: row(422, 'after_change', 'A node selects no executor or signer, or more than one; make its selector match exactly one.'),
  completion_assurance_unsupported: row(422, 'after_change', 'A node requires more assurance than its executor can show; require less, or add an observe node after it.'),
  address_not_allowlisted: row(422, 'after_change', 'A node would pay an address that is not on the allowlist; add it there, or pay another.'),
  intent_asset_not_moved: row(422, 'after_change', "No sending node of the plan moves the intent's asset; use an asset in `moved`, or another template."),
  token_asset_mismatch: row(422, 'after_change', "The token of an on-chain node is not the node's asset in the venue's list of tokens; correct either."),
  reserved_template_family: row(422, 'never', 'Templates under system/ and top-ups of agent wallets are made only by their own routes; use those.'),

  max_notional_exceeded: row(422, 'after_change', "The plan can move more than the agent's authority covers; `exceeded` names each asset (null: unbounded). Move less, or request a larger authority."),
  asset_not_allowed: row(422, 'after_change', "The plan moves assets that the agent's authority does not cover; use other assets than those in `assets`."),
  chain_not_allowed: row(422, 'after_change', "The plan moves funds on chains that the agent's authority does not cover; use other chains than those in `chains`."),

  venue_not_found: row(422, 'after_change', 'No venue of that key has an account here; check venue_key.'),
  account_type_not_supported: row(422, 'after_change', 'Transfers run only between SPOT and USDT_FUTURE; other account types only show balances.'),
  provider_mismatch: row(422, 'after_change', 'No single provider moves funds between the source and the destination; choose two accounts of one provider.'),
  topology_not_supported: row(422, 'after_change', 'The provider does not move funds between these accounts; `rule` says why. Choose other accounts.'),

  invalid_state: row(409, 'after_change', 'The present state does not allow this command; read the state again before you repeat it.'),
  compiled_plan_hash_mismatch: row(409, 'after_change', 'The hash is not that of the compiled plan; read the movement again and review it.'),
  approver_excluded: row(403, 'never', 'An approval rule keeps this caller from approving (`why`): somebody else must; `GET movements/{movement_id}/approvers` lists who may.'),
  reason_required: row(422, 'after_change', 'An approval rule requires a reason; send `reason`.'),
  passkey_required: row(422, 'after_change', 'An approval rule counts only approvals that are signed with a passkey; approve in the console, or send `assertion`.'),
  assertion_refused: row(403, 'after_change', 'The assertion is no evidence of this decision (`why`); get a new challenge and sign again.'),
  passkey_refused: row(422, 'after_change', 'No passkey can be made, or the new one cannot be taken (`why`): `no_person` needs `fundadmin people set`; else make another one.'),
  no_approval: row(409, 'after_change', 'There is no approval of yours to withdraw here: you have approved nothing, or have withdrawn it.'),
  not_the_author: row(403, 'never', 'Only whoever made the change request may withdraw it; others reject it.'),
  change_hash_mismatch: row(409, 'after_change', 'The hash is not that of the change request; read it again, and approve what it shows.'),
  change_request_ended: row(409, 'never', 'The change request has ended (`state`); make the change again for a new one.'),
  change_outdated: row(409, 'never', 'What the change request names has changed meanwhile, so it has ended; make the change again for a new one.'),
  approval_expired: row(409, 'never', 'The approval time has passed; create the movement again.'),
  binding_unavailable: row(409, 'safe', 'An executor or signer of the next nodes is not available; try again when it is.'),
  cutover_mode_active: row(409, 'safe', 'New movements and transfers are stopped; `mode` names the switch. Try again when it is off.'),
  promotion_blocked: row(409, 'after_change', 'These reasons block the promotion; resolve them, or let the agent propose something else.'),
  insufficient_effective_withdrawable: row(409, 'safe', 'The free balance is too small, or cannot be read. Deposit, lower the amount, or try again later.'),
  budget_exceeded: row(409, 'safe', "The movement's budget was released, and the rest of its policy's window is too small; try again later."),
  send_not_over: row(409, 'safe', 'The send may still land; try again after `retry_after_seconds`.'),
  resolution_incomplete: row(422, 'after_change', "The output lacks a field that the bridge's next leg needs: retry the node, which reads it from the chain, or send it in `output`."),
  claim_missing: row(422, 'after_change', 'A node of this type is completed with what it claims (`missing` says where to name it): name it, retry the node, which reads it, or resolve the node as abandoned.'),
  claim_not_proven: row(409, 'after_change', 'The source does not show what completed names (`reason`, `found`), so nothing was written; name what is there, or resolve the node as abandoned.'),
  already_claimed: row(409, 'never', 'The payment that would complete this node has completed another (`claimed_by`); use another payment.'),
  mint_not_proven: row(409, 'after_change', 'The chain does not show that this transaction minted the burn (`reason`), so nothing was written; name the right transaction.'),
  not_reassignable: row(409, 'never', 'The payment stays with the node that it completed; `reason` says why.'),
  nonce_open: row(409, 'after_change', 'What was signed for this node may still be mined. Cancel it with cancel-transaction, and resolve the node as failed once another transaction has used the nonce in a finalized block.'),
  payment_mined: row(409, 'never', 'What was signed for this node is mined (`tx_hash` on `chain`), so it cannot be resolved as failed; resolve it as completed.'),
  send_still_open: row(409, 'safe', 'The venue has this send and has not ended it, or has paid it, so it cannot be resolved as failed. Wait until the venue ends it, which ends the node or the capital transfer by itself, or resolve the node as abandoned.'),
  venue_entry_changed: row(409, 'after_change', 'The last look could not see this send, since its venue key means another account or bridge entry by now than where it was sent, or the process with the keys has it otherwise (`VENUE_ENTRY_CHANGED`; `error_message` says where it was sent), so it cannot be resolved as failed. Point the entry back and let it be looked for, or resolve it as completed or, a node, as abandoned.'),
  nothing_signed: row(409, 'never', 'No transaction of this node waits to be mined, so there is none to cancel.'),
  no_on_cancel_edge: row(409, 'never', 'The plan has no on_cancel edge, so it cannot be cancelled.'),
  node_differs: row(409, 'never', 'The command would act on another node, attempt or state than the request names (a resolve without `attempt` names attempt 1), or an acknowledge is about another reason (a late landing has to be named). See `node_key`, `attempt` and `state`, or `attention_reason`, and decide about that one.'),
  no_retryable_node: row(409, 'never', 'No node is FAILED or UNKNOWN and free to be retried.'),
  idempotency_conflict: row(409, 'after_change', 'This idempotency key was used for a different request; use a new key.'),
  external_reference_exists: row(409, 'after_change', 'Another movement of this client (`movement_id`) holds this external_reference as unique; use that movement, or send another reference.'),
  previous_expected_address_mismatch: row(409, 'after_change', 'previous_expected_address is not the stored pin; read the pin again.'),
  signer_identity_not_applicable: row(422, 'never', 'Only EVM signers have an address to pin.'),
  signer_runtime_identity_unavailable: row(409, 'safe', 'The signer did not return its identity; check that it runs, and try again.'),
  signer_runtime_identity_invalid: row(409, 'never', 'The signer returned a malformed or zero identity; correct the signer.'),
  signer_identity_mismatch: row(409, 'after_change', 'The live identity differs from the submitted address; correct the address or the signer.'),
  signer_expected_identity_invalid: row(409, 'after_change', 'The pinned address is malformed or zero; pin the right one.'),

  ack_impact_required: row(400, 'after_change', 'A rotation that is no drill needs ack_impact true; run a drill to see its impact.'),
  validation_failed: row(409, 'after_change', 'The two signers cannot be rotated; `cause` says why.'),
  new_signer_health_check_failed: row(409, 'safe', 'The replacement signer does not answer here; check that it runs, and try again.'),
  signer_expected_identity_missing: row(409, 'after_change', 'The replacement has no pinned address; pin it first.'),
  retirement_denied: row(409, 'after_change', 'The signer is still needed; `failed_gate` says for what. Clear that first.'),

  endpoint_identity_conflict: row(409, 'after_change', 'Another chain of the bridge registry (`chain`) has this endpoint_identity; correct either.'),
  chain_exists: row(409, 'after_change', 'The bridge registry has this chain; change that row.'),
  chain_in_use: row(409, 'after_change', 'Paths of the bridge registry start or end at this chain; delete them first.'),
  path_baseline_exists: row(409, 'after_change', 'The bridge registry has this path; change that row.'),

  perp_venue_not_bound: row(409, 'after_change', 'The venues file has no perp entry; add one and restart the service.'),
  master_account_exists: row(409, 'never', 'A master account exists (`master_address`), and it never changes.'),
  master_account_mismatch: row(409, 'after_change', 'The perp entry of the venues file differs in `fields`; send what `expected` says, or correct the file.'),
  master_account_missing: row(409, 'after_change', 'There is no master account yet; name it with POST perp-venue/master-account.'),
  signer_not_active: row(409, 'after_change', 'The signer is not active; name an active one, or enable it.'),
  strategy_binding_exists: row(409, 'never', 'This strategy is already bound to something else; see `binding`.'),
  sub_account_bound: row(409, 'after_change', 'This sub-account belongs to another strategy (`strategy_id`); use another.'),
  sub_account_not_of_master: row(422, 'after_change', "The venue reports that this address is not a sub-account of the master's (`role`); use one that is."),
  agent_name_taken: row(409, 'after_change', 'An agent of another strategy has this name, and a name is unique at the venue; use another.'),
  agent_address_reused: row(409, 'after_change', 'This address was used before, and an agent needs a new one; use another signer.'),
  agent_wallet_pending: row(409, 'safe', 'An agent of this name still waits for its approval (`wallet_id`); wait for it.'),
  agent_wallet_not_found: row(404, 'never', 'The strategy has no agent of this name; check the name.'),
  agent_wallet_not_active: row(409, 'after_change', 'The agent is pending, expired, replaced or refused; use an active one.'),
  strategy_paused: row(409, 'after_change', 'The strategy is paused at the perps venue; resume it first.'),
  max_agent_balance_exceeded: row(409, 'after_change', 'The strategy would hold more at the perps venue than its max_agent_balance; send less, or raise it.'),
  venue_unavailable: row(503, 'safe', 'The venue returned no readable answer, so nothing was accepted; try again.'),

  outcome_unknown: row(503, 'safe', 'The database did not answer, so this may or may not have been accepted. Repeat it with the same idempotency key; without one, read the state first.'),
  overloaded: row(503, 'safe', 'This process has too many requests, so nothing was accepted; try again after Retry-After.'),
  dependency_unavailable: row(503, 'safe', 'The database is unreachable, so nothing was accepted; try again.'),
  internal_error: row(500, 'safe', 'An unexpected fault; report it with the request id.'),
} as const satisfies Record<string, ErrorRule>;

export type ErrorCode = keyof typeof ERROR_TABLE;

/**
 * A refusal or fault that a caller may see. `context` is public and becomes part of the response
 * body; `cause` and its content leave the process only to the log.
 */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ErrorCode;
  readonly context: Readonly<Record<string, unknown>>;

  constructor(
    code: ErrorCode,
    options: {
      message?: string;
      context?: Readonly<Record<string, unknown>>;
      cause?: unknown;
    } = {},
  ) {
    super(
      options.message ?? ERROR_TABLE[code].message,
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.code = code;
    this.context = options.context ?? {};
  }

  get status(): number {
    return ERROR_TABLE[this.code].status;
  }
}
