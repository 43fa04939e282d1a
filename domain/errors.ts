/**
 * The closed table of everything the API can answer instead of a success: HTTP status, whether the
 * same request may succeed later, and the sentence that callers read. OpenAPI's error responses and
 * the error catalogue come from this table; a code outside it does not type-check.
 */

/**
 * What a caller should do with the same request: never repeat it, repeat after a change, or simply
 * again.
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

// A row a line, however long its sentence is.
// prettier-ignore
export const ERROR_TABLE = {
  invalid_request: row(422, 'after_change', 'The request does not fit its schema; see `issues` for each place.'),
  invalid_path: row(400, 'after_change', 'The request target is not in a form that has exactly one meaning.'),
  unsupported_media_type: row(415, 'after_change', 'Send the body as uncompressed application/json.'),
  request_timeout: row(408, 'safe', 'The request took too long to arrive; nothing of it was accepted.'),
  headers_too_large: row(431, 'after_change', 'The request line and headers are larger than 16 KiB together.'),
  body_too_large: row(413, 'after_change', "The request body is larger than 1 MiB, or than 64 KiB with an agent's key."),
  route_not_found: row(404, 'never', 'No such path under this prefix.'),
  method_not_allowed: row(405, 'never', 'This path does not take that method; see the Allow header.'),
  route_role_unmapped: row(503, 'never', 'This route has no role mapping and is closed until it has one.'),
  unauthenticated: row(401, 'after_change', 'The request is not authenticated.'),
  forbidden: row(403, 'never', 'The key is valid but its role may not call this route.'),
  agent_namespace_mismatch: row(403, 'never', 'An agent acts only in the namespace that its key is bound to.'),
  dashboard_writes_disabled: row(503, 'never', 'No operator of the dashboard has a key here; enrol one (fundadmin dashboard enrol), or set SVC_DASHBOARD_WRITER_KEYS_FILE.'),
  dashboard_key_pending: row(403, 'after_change', 'This key waits for its confirmation: fundadmin dashboard confirm, with the fingerprint that the page shows.'),
  enrolment_refused: row(403, 'after_change', 'The link with which this browser enrols is not taken; `reason` says why.'),
  rate_limited: row(429, 'safe', 'rate limit exceeded'),

  template_not_found: row(404, 'after_change', 'No such plan template version.'),
  movement_not_found: row(404, 'never', 'No such movement.'),
  node_not_found: row(404, 'never', 'The movement has no node of that key.'),
  executor_not_found: row(404, 'never', 'No executor of that key, neither registered nor in memory.'),
  agent_authority_not_found: row(404, 'never', 'No agent authority of that key.'),
  template_proposal_not_found: row(404, 'never', 'No such template proposal.'),
  policy_not_found: row(404, 'never', 'No automatic approval policy of that id.'),
  callback_not_found: row(404, 'never', 'No callback of that event.'),
  allowed_address_not_found: row(404, 'never', 'No row of the allowlist has that id.'),
  capital_transfer_not_found: row(404, 'never', 'No such capital transfer.'),
  signer_not_found: row(404, 'never', 'No signer of that key, neither registered nor in memory.'),
  nonce_lane_not_found: row(404, 'never', 'No nonce lane of that address on a chain that is bound here; `GET signers` lists them.'),
  chain_not_found: row(404, 'after_change', 'The bridge registry has no such chain.'),
  path_baseline_not_found: row(404, 'after_change', 'The bridge registry has no such path.'),
  strategy_binding_not_found: row(404, 'after_change', 'This strategy has no binding at the perps venue.'),

  graph_invalid: row(422, 'after_change', 'The plan graph is not valid; `problems` lists every fault.'),
  completion_policy_missing: row(422, 'after_change', 'Give completion_policy.completion_assurance.'),
  bridge_path_not_ready: row(422, 'after_change', 'The plan sends over a path of the bridge that is not ready; `paths` says why. Make it ready with `fundadmin bridge`, or use another way.'),
  template_version_exists: row(409, 'after_change', 'This template_key and version exist; versions are immutable, use a new one.'),
  template_not_executable: row(409, 'never', 'The template version cannot be executed; see `reasons`.'),
  template_version_retired: row(409, 'after_change', 'The template version is retired; use `latest_active_version`, or register a new one where that is null.'),
  lane_raise_too_large: row(409, 'after_change', "A lane's raise goes to `most` at most, and only of caps that its chain has. Ask for less, or raise the caps of the chain in the venues file."),
  cap_consistency_violation: row(422, 'after_change', 'auto_approve_enabled needs daily_cap_amount and daily_cap_asset.'),
  policy_exists: row(409, 'after_change', 'This client has a policy for this strategy; change that one.'),
  open_movements_exceeded: row(409, 'after_change', 'The authority has too many movements that have not ended; cancel some, or wait for their ends.'),
  template_versions_exceeded: row(409, 'after_change', 'The namespace has too many active template versions; use one of them, retire those that are not needed, or have an administrator register it.'),
  plan_too_large: row(422, 'after_change', 'Give less in input_params: `part` is what is too large, a plan with its nodes, or the payees that it names.'),
  binding_unresolved: row(422, 'after_change', 'A node selects no executor or signer, or more than one.'),
  completion_assurance_unsupported: row(422, 'after_change', 'A node is asked for more than its executor can show; ask for less, or let a node behind it look.'),
  address_not_allowlisted: row(422, 'after_change', 'A node would pay an address that is not on the allowlist.'),
  intent_asset_not_moved: row(422, 'after_change', 'No sending node of the plan moves the asset of the intent; see `moved`.'),
  token_asset_mismatch: row(422, 'after_change', "The token of an on-chain node is not the node's asset in the venue's list of tokens."),
  reserved_template_family: row(422, 'never', 'Templates under system/ and top-ups of agent wallets are made only by the routes they belong to.'),

  max_notional_exceeded: row(422, 'after_change', "The plan can move more than the agent's authority covers; `exceeded` says of which asset, null being without bound."),
  asset_not_allowed: row(422, 'after_change', "The plan moves assets that the agent's authority does not cover; see `assets`."),
  chain_not_allowed: row(422, 'after_change', "The plan moves funds on chains that the agent's authority does not cover; see `chains`."),

  venue_not_found: row(422, 'after_change', 'No venue of that key holds an account here.'),
  account_type_not_supported: row(422, 'after_change', 'Transfers are made between SPOT and USDT_FUTURE; other account types only show balances.'),
  provider_mismatch: row(422, 'after_change', 'Source and destination are not accounts of one provider that moves funds between them.'),
  topology_not_supported: row(422, 'after_change', 'The provider does not move funds between these accounts; see `rule`.'),

  invalid_state: row(409, 'after_change', 'The state does not allow this action.'),
  compiled_plan_hash_mismatch: row(409, 'after_change', 'The hash is not that of the compiled plan; read the movement again and review it.'),
  approval_expired: row(409, 'never', 'The approval time has passed; create the movement again.'),
  binding_unavailable: row(409, 'safe', 'An executor or signer of the frontier is not available.'),
  cutover_mode_active: row(409, 'safe', 'No new movements or transfers are taken at present; `mode` says which switch is set.'),
  promotion_blocked: row(409, 'after_change', 'No promotion gets past these reasons; deal with them, or let the agent propose something else.'),
  insufficient_effective_withdrawable: row(409, 'safe', 'The venue has not enough that is not promised already, or could not be asked.'),
  budget_exceeded: row(409, 'safe', "The movement's budget was released, and what its policy's window has left is not enough."),
  send_not_over: row(409, 'safe', 'What was sent may still be under way; nobody can know what becomes of it before `retry_after_seconds`.'),
  resolution_incomplete: row(422, 'after_change', "What the bridge's next leg goes by is recorded nowhere: retry the node, which asks the chain for it, or say it in `output`."),
  already_claimed: row(409, 'never', 'What this node would be completed with has completed another: see `claimed_by`. It is not completed by the same.'),
  mint_not_proven: row(409, 'after_change', 'The chain does not show that this transaction minted the burn: see `reason`. Nothing was written.'),
  not_reassignable: row(409, 'never', 'The payment stays with the node that it completed: see `reason`.'),
  nonce_open: row(409, 'after_change', 'What was signed for this node may still be mined; it can be resolved as failed once another transaction has used the nonce in a finalized block; cancel-transaction sends one that moves nothing.'),
  payment_mined: row(409, 'never', 'What was signed for this node is mined, as `tx_hash` on `chain` shows; it cannot be resolved as failed.'),
  nothing_signed: row(409, 'never', 'No transaction of this node waits to be mined, so there is none to cancel.'),
  no_on_cancel_edge: row(409, 'never', 'The plan has no on_cancel edge, so it cannot be cancelled.'),
  node_differs: row(409, 'never', 'Another node would go on than the one that was named: see `node_key`, `attempt` and `state`, and decide about that one.'),
  no_retryable_node: row(409, 'never', 'No node is FAILED or UNKNOWN and free to be retried.'),
  idempotency_conflict: row(409, 'after_change', 'This idempotency key was used for a different request.'),
  external_reference_exists: row(409, 'after_change', 'Another movement of this client holds this external_reference as unique: look at that one (`movement_id`), or send another reference.'),
  previous_expected_address_mismatch: row(409, 'after_change', 'previous_expected_address is not the stored pin.'),
  signer_identity_not_applicable: row(422, 'never', 'Only EVM signers have an address to pin.'),
  signer_runtime_identity_unavailable: row(409, 'safe', 'The signer did not tell its identity.'),
  signer_runtime_identity_invalid: row(409, 'never', 'The signer told a malformed or zero identity.'),
  signer_identity_mismatch: row(409, 'after_change', 'The live identity differs from the submitted address.'),
  signer_expected_identity_invalid: row(409, 'after_change', 'The pinned address is malformed or zero.'),

  ack_impact_required: row(400, 'after_change', 'A rotation that is no drill needs ack_impact true; a drill tells its impact.'),
  validation_failed: row(409, 'after_change', 'The two signers cannot be rotated; see `cause`.'),
  new_signer_health_check_failed: row(409, 'safe', 'The replacement does not answer here.'),
  signer_expected_identity_missing: row(409, 'after_change', 'The replacement has no pinned address; pin it first.'),
  retirement_denied: row(409, 'after_change', 'The signer is still needed; `failed_gate` says for what.'),

  endpoint_identity_conflict: row(409, 'after_change', 'Another chain of the bridge registry has this endpoint_identity; `chain` says which.'),
  chain_exists: row(409, 'after_change', 'The bridge registry has this chain; change that row.'),
  chain_in_use: row(409, 'after_change', 'Paths of the bridge registry begin or end at this chain; delete them first.'),
  path_baseline_exists: row(409, 'after_change', 'The bridge registry has this path; change that row.'),

  perp_venue_not_bound: row(409, 'after_change', 'The venues file has no perp entry; add one and start the service with it.'),
  master_account_exists: row(409, 'never', 'There is a master account already, which is never changed; `master_address` says which.'),
  master_account_mismatch: row(409, 'after_change', 'The perp entry of the venues file says something else; see `fields` and `expected`.'),
  master_account_missing: row(409, 'after_change', 'There is no master account yet; name it with POST perp-venue/master-account.'),
  signer_not_active: row(409, 'after_change', 'The signer is not active; name one that is, or switch it on.'),
  strategy_binding_exists: row(409, 'never', 'This strategy is bound already, to something else; see `binding`.'),
  sub_account_bound: row(409, 'after_change', "This sub-account is another strategy's; `strategy_id` says whose."),
  sub_account_not_of_master: row(422, 'after_change', "The venue says that this address is no sub-account of the master's; see `role`."),
  agent_name_taken: row(409, 'after_change', 'An agent of another strategy has this name, and the venue knows each name once; use another.'),
  agent_address_reused: row(409, 'after_change', 'This address was used before, and an agent needs one that never was; use another signer.'),
  agent_wallet_pending: row(409, 'safe', 'An agent of this name still waits for its approval; `wallet_id` says which.'),
  agent_wallet_not_found: row(404, 'never', 'The strategy has no agent of this name.'),
  agent_wallet_not_active: row(409, 'after_change', 'The agent is not active: it is pending, expired, replaced or refused.'),
  strategy_paused: row(409, 'after_change', 'The strategy is paused at the perps venue.'),
  max_agent_balance_exceeded: row(409, 'after_change', 'With it the strategy would have more at the perps venue than its max_agent_balance.'),
  venue_unavailable: row(503, 'safe', 'The venue gave no answer that can be read; nothing was accepted.'),

  outcome_unknown: row(503, 'safe', 'The database did not answer: this may have been accepted, or may yet be. Repeat it with the same idempotency key; without one, look what became of it first.'),
  overloaded: row(503, 'safe', 'More is asked at once than this process can take; nothing was accepted. Come again after Retry-After.'),
  dependency_unavailable: row(503, 'safe', 'The database is out of reach; nothing was accepted.'),
  internal_error: row(500, 'safe', 'An unexpected fault; give the request id when you report it.'),
} as const satisfies Record<string, ErrorRule>;

export type ErrorCode = keyof typeof ERROR_TABLE;

/**
 * A refusal or fault that a caller may see. `context` is public and becomes part of the body;
 * `cause` and whatever it holds never leave the process except to the log.
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
