// Written by `npm run client:types` from the API; not by hand.
export interface components {
    schemas: {
        readonly Error: {
            readonly detail: {
                /**
                 * @description A stable code.
                 * @example invalid_state
                 */
                readonly error: string;
                /** @description What is wrong and what to do. */
                readonly message: string;
                readonly issues?: readonly components["schemas"]["Issue"][];
                readonly request_id?: string;
            } & {
                readonly [key: string]: unknown;
            };
        };
        readonly Issue: {
            /** @example nodes[2].node_key */
            readonly path: string;
            /** @example too_small */
            readonly code: string;
            readonly message: string;
        };
        readonly MovementCreateResponse: {
            readonly movement_id: components["schemas"]["Id"];
            /** @enum {string} */
            readonly request_state: "PENDING_APPROVAL" | "APPROVED" | "EXECUTING" | "COMPLETED" | "FAILED" | "WAITING_MANUAL_ACTION" | "MANUAL_INTERVENTION" | "REJECTED" | "EXPIRED" | "CANCELLED";
            readonly template: components["schemas"]["TemplateReference"];
            /** @description Lowercase hex SHA-256 of the canonical JSON (RFC 8785) of the compiled plan. */
            readonly compiled_plan_hash: string;
            /** @description Keys of the nodes that can run or are running. */
            readonly current_frontier: readonly string[];
            /** @enum {string} */
            readonly approval_status: "pending" | "approved" | "rejected" | "expired";
            /** @enum {string} */
            readonly reservation_status: "none" | "held" | "released" | "consumed";
            readonly auto_approve_result: components["schemas"]["JsonObject"] | null;
            /** @description What the plan can move at most in any one run, by asset; every limit counts it. Null where an output decides it and nothing bounds it. */
            readonly outflow: readonly components["schemas"]["OutflowEntry"][];
            /** @description Each node that moves funds, with its terms and whom it pays. */
            readonly sends: readonly components["schemas"]["ReviewedSend"][];
            readonly limits: readonly components["schemas"]["LimitPreview"][];
            readonly external_reference: string | null;
            /** @description Pairs of texts. */
            readonly metadata: components["schemas"]["JsonObject"];
            readonly expires_at: components["schemas"]["Timestamp"];
            readonly created_at: components["schemas"]["Timestamp"];
        };
        /**
         * Format: uuid
         * @description A UUID; ids that the service gives are UUIDv7.
         * @example 01938a5e-7c00-7b3a-9d2f-5b1c7e8a4f10
         */
        readonly Id: string;
        readonly TemplateReference: {
            readonly template_id: components["schemas"]["Id"];
            readonly template_key: string;
            readonly version: number;
        };
        /** @description Any JSON object. */
        readonly JsonObject: {
            readonly [key: string]: unknown;
        };
        readonly OutflowEntry: {
            readonly asset: string;
            readonly amount: components["schemas"]["Decimal"] | null;
        };
        /**
         * @description A decimal in plain notation, carried as a string.
         * @example 1250.5
         */
        readonly Decimal: string;
        readonly ReviewedSend: {
            readonly node_key: string;
            readonly action_type: string;
            readonly asset: string;
            /** @description Null where only the output of an earlier node decides it. */
            readonly amount: components["schemas"]["Decimal"] | null;
            readonly venue: string | null;
            /** @description The kind of account at the venue that it leaves; null on a chain. */
            readonly account_type: string | null;
            /** @description The account that an internal transfer pays. */
            readonly destination_venue: string | null;
            /** @description Which kind of that account. */
            readonly destination_account_type: string | null;
            /** @description The sub-account at the perps venue that a top-up pays. */
            readonly sub_account_address: string | null;
            /** @description The chain that it leaves, or on which a venue pays; null for an exchange. */
            readonly chain_id: string | null;
            /** @description The chain on which a bridge pays. */
            readonly destination_chain_id: string | null;
            readonly token_address: string | null;
            /** @description The output that decides the amount; null where plan or intent say it. */
            readonly amount_ref: string | null;
            /** @description Of a mint: the node whose burn it brings to its payee. */
            readonly burn_from: string | null;
            /** @description On which network an exchange pays. */
            readonly network: string | null;
            /** @description Behind an address that many share, it chooses whom the exchange pays. */
            readonly tag: string | null;
            /** @description Of a burn: how much of it the attester may keep; of a withdrawal: the most that the exchange may charge. */
            readonly max_fee: string | null;
            /** @description Of a burn: after which finality it is attested. */
            readonly finality: string | null;
            /** @description Of a burn: who alone may mint it; null: anybody. */
            readonly destination_caller: string | null;
            /** @description Whom it pays; empty where it moves between own accounts. */
            readonly payees: readonly components["schemas"]["ReviewedPayee"][];
        };
        readonly ReviewedPayee: {
            /** @description As it would be sent to; empty where the plan names no payee. */
            readonly address: string;
            readonly chain_family: string;
            /** @description Null for exchanges, and where the plan names no chain. */
            readonly chain_id: number | null;
            /** @description Whether an active row of the allowlist is about it. */
            readonly allowed: boolean;
            /** @description When its cooling period ends; null without one. */
            readonly usable_after: string | null;
            /** @description With what it would be refused now; null where it may be paid. */
            readonly code: ("ADDRESS_NOT_ALLOWLISTED" | "ADDRESS_CHAIN_ID_REQUIRED" | "ADDRESS_IN_COOLING_PERIOD") | null;
            /** @description Why no row can ever be about it. */
            readonly problem: string | null;
        };
        readonly LimitPreview: {
            /** @description `max_amount` or `nodes.<node_key>.max_amount` of the plan; `policy.max_amount_per_request`, `policy.max_amount_per_window`, `policy.max_count_per_window` or `template.daily_cap_amount` of the automatic approval. */
            readonly control: string;
            readonly limit: components["schemas"]["Decimal"];
            /** @description What a window has used already; null for a limit on single amounts. */
            readonly used: components["schemas"]["Decimal"] | null;
            /** @description What would be held against the limit: for the plan's, the largest known. */
            readonly after: components["schemas"]["Decimal"] | null;
            /** @description False does not block the create: the node fails with `MAX_AMOUNT_EXCEEDED` before anything is sent, or the movement waits for a person. Null when it depends on an earlier node's output. */
            readonly ok: boolean | null;
        };
        /**
         * Format: date-time
         * @description ISO 8601 UTC with milliseconds.
         * @example 2026-11-21T03:35:00.000Z
         */
        readonly Timestamp: string;
        readonly MovementList: {
            readonly movements: readonly components["schemas"]["MovementSummary"][];
            /** @description Send it as `cursor` for the next page; null on the last. */
            readonly next_cursor: string | null;
        };
        readonly MovementSummary: {
            readonly movement_id: components["schemas"]["Id"];
            readonly template_key: string;
            readonly template_version: number;
            readonly strategy_id: string | null;
            /** @enum {string} */
            readonly request_state: "PENDING_APPROVAL" | "APPROVED" | "EXECUTING" | "COMPLETED" | "FAILED" | "WAITING_MANUAL_ACTION" | "MANUAL_INTERVENTION" | "REJECTED" | "EXPIRED" | "CANCELLED";
            /** @enum {string} */
            readonly approval_status: "pending" | "approved" | "rejected" | "expired";
            /** @enum {string} */
            readonly reservation_status: "none" | "held" | "released" | "consumed";
            readonly intent: components["schemas"]["JsonObject"];
            /** @description What the plan can move at most in any one run, by asset; every limit counts it. Null where an output decides it and nothing bounds it. */
            readonly outflow: readonly components["schemas"]["OutflowEntry"][];
            /** @description Keys of the nodes that can run or are running. */
            readonly current_frontier: readonly string[];
            readonly external_reference: string | null;
            /** @description Pairs of texts. */
            readonly metadata: components["schemas"]["JsonObject"];
            readonly error_code: string | null;
            /** @description Why it needs a person; null while it needs none. */
            readonly attention_reason: ("approval" | "approval_expires_soon" | "approval_unsatisfiable" | "approval_compromised" | "unknown_outcome" | "landed_late" | "manual_gate" | "failed" | "lane_stuck" | "clock_difference" | "lane_blocked" | "delivery_late" | "executor_unavailable" | "venue_suspended" | "withdrawal_quota_exhausted" | "observed_long" | "run_stuck") | null;
            readonly created_at: components["schemas"]["Timestamp"];
            readonly updated_at: components["schemas"]["Timestamp"];
            readonly expires_at: components["schemas"]["Timestamp"];
        };
        readonly MovementDetail: {
            readonly movement_id: components["schemas"]["Id"];
            readonly template_key: string;
            readonly template_version: number;
            readonly strategy_id: string | null;
            /** @enum {string} */
            readonly request_state: "PENDING_APPROVAL" | "APPROVED" | "EXECUTING" | "COMPLETED" | "FAILED" | "WAITING_MANUAL_ACTION" | "MANUAL_INTERVENTION" | "REJECTED" | "EXPIRED" | "CANCELLED";
            /** @enum {string} */
            readonly approval_status: "pending" | "approved" | "rejected" | "expired";
            /** @enum {string} */
            readonly reservation_status: "none" | "held" | "released" | "consumed";
            readonly intent: components["schemas"]["JsonObject"];
            /** @description What the plan can move at most in any one run, by asset; every limit counts it. Null where an output decides it and nothing bounds it. */
            readonly outflow: readonly components["schemas"]["OutflowEntry"][];
            /** @description Keys of the nodes that can run or are running. */
            readonly current_frontier: readonly string[];
            readonly external_reference: string | null;
            /** @description Pairs of texts. */
            readonly metadata: components["schemas"]["JsonObject"];
            readonly error_code: string | null;
            /** @description Why it needs a person; null while it needs none. */
            readonly attention_reason: ("approval" | "approval_expires_soon" | "approval_unsatisfiable" | "approval_compromised" | "unknown_outcome" | "landed_late" | "manual_gate" | "failed" | "lane_stuck" | "clock_difference" | "lane_blocked" | "delivery_late" | "executor_unavailable" | "venue_suspended" | "withdrawal_quota_exhausted" | "observed_long" | "run_stuck") | null;
            readonly created_at: components["schemas"]["Timestamp"];
            readonly updated_at: components["schemas"]["Timestamp"];
            readonly expires_at: components["schemas"]["Timestamp"];
            readonly template: components["schemas"]["TemplateReference"];
            readonly compiled_plan_hash: string;
            readonly input_params: components["schemas"]["JsonObject"];
            readonly labels: components["schemas"]["JsonObject"];
            readonly created_by: components["schemas"]["JsonObject"];
            /** @description The label that was sent with the decision. */
            readonly approver_id: string | null;
            /** @description The authenticated key that approved. */
            readonly approved_by: string | null;
            readonly auto_approve_result: components["schemas"]["JsonObject"] | null;
            readonly error_message: string | null;
            readonly nodes: readonly components["schemas"]["MovementNodeView"][];
            readonly artifacts: readonly components["schemas"]["ArtifactView"][];
            readonly callbacks: {
                readonly pending: number;
                readonly delivered: number;
                readonly dead_letter: number;
            };
            /** @description Set while a person is needed. */
            readonly attention: components["schemas"]["MovementAttention"] | null;
            /** @description Of an agent's movement that waits for its approval: what its authority covers now. */
            readonly agent_authority?: components["schemas"]["MovementAuthority"];
            /** @description Of a movement that has ended: what it allowed others to pull and its nodes did not use. `reset-allowances` takes it back. */
            readonly open_allowances?: readonly components["schemas"]["OpenAllowance"][];
            /** @description Of a movement that waits for its approval: what the approval is about, as things stand now. */
            readonly review?: components["schemas"]["MovementReview"];
            /** @description Of a movement that waits under approval rules, except for agents. */
            readonly approvals?: components["schemas"]["MovementApprovals"];
            readonly workflow: {
                readonly namespace: string;
                readonly workflow_id: string;
                readonly run_id: string | null;
                readonly ui_url: string;
            };
        };
        readonly MovementNodeView: {
            readonly node_key: string;
            readonly node_kind: string;
            readonly action_type: string;
            /** @enum {string} */
            readonly state: "BLOCKED" | "READY" | "SUBMITTING" | "SUBMITTED" | "OBSERVING" | "COMPLETED" | "FAILED" | "UNKNOWN" | "SKIPPED" | "CANCELLED";
            readonly attempt: number;
            readonly executor_binding: {
                readonly executor_key: string;
            };
            /** @description Who signs; a rotation may have replaced the one of the plan. */
            readonly signer_binding: {
                readonly signer_key: string;
            } | null;
            /** @description Who signs by the plan that was approved, where a rotation replaced that one. */
            readonly original_signer_binding?: {
                readonly signer_key: string;
            } | null;
            /** @description What the node moves or looks for. */
            readonly asset: string;
            /** @description Before its amount is fixed: the most it can be; null while only an output decides. */
            readonly amount: components["schemas"]["Decimal"] | null;
            /** @description Of a gate: what its template says that a person is to look at. */
            readonly description: string | null;
            /** @description The key under which its executor is called in this attempt, and by which its send can be looked up. */
            readonly idempotency_key: string;
            /** @description Whom it pays: by its plan before it runs, as it was prepared after. */
            readonly destination: string | null;
            readonly external_ref: string | null;
            readonly output: components["schemas"]["JsonObject"] | null;
            readonly error_code: string | null;
            readonly error_message: string | null;
            readonly started_at: components["schemas"]["Timestamp"] | null;
            readonly updated_at: components["schemas"]["Timestamp"];
            readonly completed_at: components["schemas"]["Timestamp"] | null;
        };
        readonly ArtifactView: {
            readonly artifact_id: components["schemas"]["Id"];
            readonly node_key: string;
            readonly attempt: number;
            readonly kind: string;
            readonly data: components["schemas"]["JsonObject"];
            readonly created_at: components["schemas"]["Timestamp"];
        };
        readonly MovementAttention: {
            /** @enum {string} */
            readonly reason: "approval" | "approval_expires_soon" | "approval_unsatisfiable" | "approval_compromised" | "unknown_outcome" | "landed_late" | "manual_gate" | "failed" | "lane_stuck" | "clock_difference" | "lane_blocked" | "delivery_late" | "executor_unavailable" | "venue_suspended" | "withdrawal_quota_exhausted" | "observed_long" | "run_stuck";
            /** @description The reason in a sentence. */
            readonly message: string;
            /** @description The node that it is about; null for an approval. */
            readonly node_key: string | null;
            /** @description Of a gate that waits: what its template says that a person is to look at. */
            readonly description: string | null;
            /** @description Of an unknown outcome: the key by which its executor or venue can look it up. */
            readonly idempotency_key: string | null;
            /** @description What was last said about the node, by its executor or on its way there. */
            readonly last_answer: string | null;
            /** @description The present attempt of the node. */
            readonly attempt: number | null;
            /** @description Errors before a send after which the attempt gives up. Looks at what became of a send have no such end. */
            readonly max_attempts: number | null;
            /** @description Errors of the attempt so far, and consecutive looks without an answer. */
            readonly errors: number | null;
            /** @description When its outcome is looked up again; null: never. */
            readonly next_look_at: components["schemas"]["Timestamp"] | null;
            /** @description What may be done now, and what comes of it. */
            readonly actions: readonly {
                readonly action: string;
                readonly consequence: string;
                readonly node_key?: string;
                readonly attempt?: number;
                /** @enum {string} */
                readonly state?: "BLOCKED" | "READY" | "SUBMITTING" | "SUBMITTED" | "OBSERVING" | "COMPLETED" | "FAILED" | "UNKNOWN" | "SKIPPED" | "CANCELLED";
                /**
                 * @description Of an acknowledge: the reason that it deals with.
                 * @enum {string}
                 */
                readonly attention_reason?: "approval" | "approval_expires_soon" | "approval_unsatisfiable" | "approval_compromised" | "unknown_outcome" | "landed_late" | "manual_gate" | "failed" | "lane_stuck" | "clock_difference" | "lane_blocked" | "delivery_late" | "executor_unavailable" | "venue_suspended" | "withdrawal_quota_exhausted" | "observed_long" | "run_stuck";
                /** @description Of a resolve: the outcomes that may be stated now. */
                readonly outcomes?: readonly ("completed" | "failed" | "abandoned")[];
                /** @description Of a resolve that may be `completed`: where the request has to name what completed the node, in one of these places. Absent where its type claims nothing. */
                readonly claim_places?: readonly string[];
            }[];
        };
        readonly MovementAuthority: {
            readonly authority_key: string;
            readonly max_notional: components["schemas"]["Decimal"] | null;
            readonly allowed_assets: readonly string[];
            readonly allowed_chains: readonly string[];
            /** @description What an administrator has promoted of this template version. */
            readonly granted: {
                readonly asset: string;
                readonly amount: components["schemas"]["Decimal"];
            } | null;
            /** @description What of the movement the authority does not cover, as its limits are now. */
            readonly uncovered: readonly ("max_notional_exceeded" | "asset_not_allowed" | "chain_not_allowed")[];
        };
        readonly OpenAllowance: {
            /** @description The node that set it. */
            readonly node_key: string;
            readonly chain_id: number;
            /** @description Whose tokens may be pulled. */
            readonly owner: string;
            readonly token_address: string;
            readonly spender: string;
            readonly asset: string;
            readonly amount: components["schemas"]["Decimal"];
        };
        readonly MovementReview: {
            /** @description Each node that moves funds, with its terms and whom it pays. */
            readonly sends: readonly components["schemas"]["ReviewedSend"][];
            readonly limits: readonly components["schemas"]["LimitPreview"][];
            /** @description Each pool of funds that the plan draws from. */
            readonly balances: readonly components["schemas"]["ReviewedBalance"][];
            /** @description What would be refused after the create, as things stand now; it may change. */
            readonly would_fail: readonly components["schemas"]["WouldFail"][];
        };
        readonly ReviewedBalance: {
            readonly venue_key: string;
            readonly account_type: string;
            readonly asset: string;
            /** @description What the plan takes from there at most; null where nothing bounds it. */
            readonly draws: components["schemas"]["Decimal"] | null;
            /** @description As the venue last answered; null where it is not known. */
            readonly withdrawable: components["schemas"]["Decimal"] | null;
            /** @description Of that, what no other movement or transfer holds. */
            readonly effective_withdrawable: string | null;
            readonly fetched_at: components["schemas"]["Timestamp"] | null;
            readonly stale: boolean | null;
        };
        readonly WouldFail: {
            /**
             * @description `approve`: an approval is refused; `dispatch`: the node fails when it is reached.
             * @enum {string}
             */
            readonly at: "approve" | "dispatch";
            /** @description Null where it is about the plan as a whole. */
            readonly node_key: string | null;
            /** @example ADDRESS_IN_COOLING_PERIOD */
            readonly error: string;
            readonly message: string;
        };
        readonly MovementApprovals: {
            /** @description The rules that hold, all of them together. */
            readonly rules: readonly string[];
            readonly required: readonly {
                readonly rule: string;
                readonly group: string;
                /** @description How many members of the group must approve. */
                readonly threshold: number;
                /** @description Each person counts for one group of a rule. */
                readonly received: number;
                readonly missing: number;
            }[];
            readonly decisions: readonly {
                readonly person: string;
                readonly name: string;
                /** @constant */
                readonly decision: "approve";
                readonly at: components["schemas"]["Timestamp"];
                readonly reason: string | null;
                /**
                 * @description What shows it: the assertion of a passkey, which anybody can verify, or a request that was signed with a secret that the service knows, too.
                 * @enum {string}
                 */
                readonly evidence: "shared_secret" | "passkey";
                /** @description False once it has expired, or the person has left the groups, or the key was revoked: then it is missing again. What was withdrawn is not listed. */
                readonly counts: boolean;
            }[];
            /** @description The caller of this request. */
            readonly you: {
                /** @description Whether an approval of the caller would count. */
                readonly may: boolean;
                readonly why_not: ("initiator" | "payee_author" | "template_author" | "not_in_group" | "no_passkey" | "no_person" | "role" | "not_waiting") | null;
                /**
                 * @description `passkey`: the approval needs `assertion`.
                 * @enum {string}
                 */
                readonly evidence: "any" | "passkey";
                /** @description Whether the caller’s person has approved; `withdraw-approval` takes it back. */
                readonly approved: boolean;
            };
        };
        readonly MovementTimelineEventView: {
            readonly event_id: components["schemas"]["Id"];
            /** @description Per movement, without gaps. */
            readonly sequence: number;
            /** @enum {string} */
            readonly event_type: "movement_created" | "auto_approve_evaluated" | "approval_recorded" | "approval_withdrawn" | "request_approved" | "request_rejected" | "request_expired" | "request_resumed" | "request_retried" | "request_cancelled" | "request_completed" | "request_failed" | "request_attention" | "frontier_advanced" | "request_acknowledged" | "node_ready" | "node_preflight_passed" | "node_prepared" | "node_submitting" | "node_submitted" | "node_observing" | "node_completed" | "node_failed" | "node_unknown" | "node_recovered" | "node_skipped" | "node_cancelled" | "node_requeued" | "transaction_mined" | "transaction_replaced" | "transaction_cancel_requested" | "transaction_cancelling" | "transaction_dropped" | "transaction_displaced" | "transaction_mined_late" | "signer_remapped" | "condition_error" | "callback_delivered" | "callback_dead_lettered";
            readonly node_key: string | null;
            readonly attempt: number | null;
            readonly from_state: string | null;
            readonly to_state: string | null;
            readonly actor: {
                /** @enum {string} */
                readonly type: "key" | "system" | "executor" | "operator";
                readonly client_id?: string | null;
                readonly key_id?: string | null;
                readonly label?: string;
            };
            readonly message: string;
            readonly data: components["schemas"]["JsonObject"];
            readonly occurred_at: components["schemas"]["Timestamp"];
        };
        readonly MovementActionResponse: {
            readonly movement_id: components["schemas"]["Id"];
            /** @enum {string} */
            readonly request_state: "PENDING_APPROVAL" | "APPROVED" | "EXECUTING" | "COMPLETED" | "FAILED" | "WAITING_MANUAL_ACTION" | "MANUAL_INTERVENTION" | "REJECTED" | "EXPIRED" | "CANCELLED";
            /** @description Keys of the nodes that can run or are running. */
            readonly current_frontier: readonly string[];
            /** @enum {string} */
            readonly reservation_status: "none" | "held" | "released" | "consumed";
            /** @description Of an approval under approval rules, or its withdrawal, while approvals are missing. */
            readonly approvals?: components["schemas"]["MovementApprovals"];
        };
        readonly ResetAllowancesResponse: {
            readonly movement_id: components["schemas"]["Id"];
            readonly open_allowances: readonly components["schemas"]["OpenAllowance"][];
            readonly resets: readonly components["schemas"]["AllowanceReset"][];
        };
        readonly AllowanceReset: {
            /** @description The node that set the allowance. */
            readonly node_key: string;
            /** @description The movement that takes it back. */
            readonly movement_id: components["schemas"]["Id"];
            /** @enum {string} */
            readonly request_state: "PENDING_APPROVAL" | "APPROVED" | "EXECUTING" | "COMPLETED" | "FAILED" | "WAITING_MANUAL_ACTION" | "MANUAL_INTERVENTION" | "REJECTED" | "EXPIRED" | "CANCELLED";
        };
        readonly ReassignResponse: {
            readonly movement_id: components["schemas"]["Id"];
            /** @enum {string} */
            readonly request_state: "PENDING_APPROVAL" | "APPROVED" | "EXECUTING" | "COMPLETED" | "FAILED" | "WAITING_MANUAL_ACTION" | "MANUAL_INTERVENTION" | "REJECTED" | "EXPIRED" | "CANCELLED";
            /** @description Keys of the nodes that can run or are running. */
            readonly current_frontier: readonly string[];
            /** @enum {string} */
            readonly reservation_status: "none" | "held" | "released" | "consumed";
            /** @description Of an approval under approval rules, or its withdrawal, while approvals are missing. */
            readonly approvals?: components["schemas"]["MovementApprovals"];
            /** @description The movement of the node that the payment is for. */
            readonly to: components["schemas"]["MovementActionResponse"];
            /** @description All that the node had claimed. */
            readonly payments: readonly components["schemas"]["ReassignedPayment"][];
        };
        readonly ReassignedPayment: {
            readonly source: string;
            readonly reference: string;
            readonly amount: components["schemas"]["Decimal"];
        };
        readonly PersonList: {
            readonly people: readonly components["schemas"]["Person"][];
        };
        readonly Person: {
            readonly person: string;
            readonly name: string;
            /** @description Ids of API clients, and `dashboard:<operator>`. */
            readonly identities: readonly string[];
            readonly groups: readonly string[];
            /** @description Whether a passkey is in force. */
            readonly has_passkey: boolean;
        };
        readonly ApproverGroupList: {
            readonly groups: readonly components["schemas"]["ApproverGroup"][];
        };
        readonly ApproverGroup: {
            readonly name: string;
            readonly members: readonly string[];
        };
        readonly ApprovalRuleList: {
            readonly rules: readonly components["schemas"]["ApprovalRule"][];
        };
        readonly ApprovalRule: {
            readonly name: string;
            readonly revision: number;
            /**
             * @description Movements, capital transfers, or a kind of change that lets more money go.
             * @enum {string}
             */
            readonly applies_to: "movement" | "capital_transfer" | "allowlist" | "policies" | "templates" | "executors" | "signers" | "bridge" | "perps" | "cutover" | "keys" | "approval_rules";
            /** @description All that is named must match; empty: all. */
            readonly when: {
                readonly template_keys?: readonly string[];
                readonly strategy_ids?: readonly string[];
                readonly origins?: readonly ("api" | "agent" | "dashboard" | "service")[];
                readonly assets?: readonly string[];
                readonly outflow_above?: readonly {
                    /** @description `*`: any asset. */
                    readonly asset: string;
                    readonly amount: components["schemas"]["Decimal"];
                    /** @description Adds up what the same person created, or pays the same payee. */
                    readonly within_seconds?: number;
                }[];
                readonly new_payee_within_seconds?: number;
                readonly venues?: readonly string[];
                readonly amount_above?: readonly {
                    readonly asset: string;
                    readonly amount: components["schemas"]["Decimal"];
                }[];
            };
            readonly require: readonly {
                readonly group: string;
                /** @description How many members of the group must approve. */
                readonly threshold: number;
            }[];
            readonly initiator_may_approve: boolean;
            readonly payee_author_may_approve: boolean;
            readonly template_author_may_approve: boolean;
            readonly expires_after_seconds?: number;
            readonly reason_required: boolean;
            /**
             * @description `passkey`: only approvals that were signed with a passkey count.
             * @enum {string}
             */
            readonly evidence: "any" | "passkey";
            readonly created_at: components["schemas"]["Timestamp"];
            readonly updated_at: components["schemas"]["Timestamp"];
        };
        readonly MovementApprovers: {
            readonly movement_id: components["schemas"]["Id"];
            /** @description Null where no rule holds: then one approval is enough. */
            readonly approvals: components["schemas"]["MovementApprovals"] | null;
            /** @description Of each rule every member of its groups who has an identity, and whoever approved and is no member. */
            readonly approvers: readonly {
                readonly rule: string;
                readonly person: string;
                readonly name: string;
                readonly groups: readonly string[];
                readonly may: boolean;
                readonly why_not: ("initiator" | "payee_author" | "template_author" | "not_in_group" | "no_passkey" | "no_person" | "role" | "not_waiting") | null;
                readonly decided_at: components["schemas"]["Timestamp"] | null;
                readonly counts: boolean;
            }[];
        };
        readonly Challenge: {
            /** @description The text whose SHA-256 was the challenge. */
            readonly statement: string;
            /** @description SHA-256 of the statement, in base64url. */
            readonly challenge: string;
            /** @description The relying party: the host name of the console. */
            readonly rp_id: string;
            /** @description The passkeys of the caller’s person. */
            readonly credential_ids: readonly string[];
            readonly expires_at: components["schemas"]["Timestamp"];
        };
        readonly PasskeyList: {
            readonly passkeys: readonly components["schemas"]["Passkey"][];
        };
        readonly Passkey: {
            readonly credential_id: string;
            readonly person: string;
            /** @description By which people compare it. */
            readonly fingerprint: string;
            /** @description The console at which it was made. */
            readonly origin: string;
            readonly enrolled_at: components["schemas"]["Timestamp"];
            readonly revoked_at: components["schemas"]["Timestamp"] | null;
        };
        readonly PasskeyChallenge: {
            /** @description The text whose SHA-256 was the challenge. */
            readonly statement: string;
            /** @description SHA-256 of the statement, in base64url. */
            readonly challenge: string;
            /** @description The relying party: the host name of the console. */
            readonly rp_id: string;
            /** @description The passkeys of the caller’s person. */
            readonly credential_ids: readonly string[];
            readonly expires_at: components["schemas"]["Timestamp"];
            readonly user_id: string;
            readonly user_name: string;
        };
        readonly OfferedPasskey: {
            readonly credential_id: string;
            readonly person: string;
            readonly fingerprint: string;
            readonly created_at: components["schemas"]["Timestamp"];
        };
        readonly ChangeRequestList: {
            readonly change_requests: readonly components["schemas"]["ChangeRequest"][];
            /** @description Send it as `cursor` for the next page; null on the last. */
            readonly next_cursor: string | null;
        };
        readonly ChangeRequest: {
            readonly change_request_id: components["schemas"]["Id"];
            /** @enum {string} */
            readonly kind: "allowlist" | "policies" | "templates" | "executors" | "signers" | "bridge" | "perps" | "cutover" | "keys" | "approval_rules" | "capital_transfer" | "movement_action";
            /**
             * @description `applied`: done, exactly as approved. `failed`: the call was refused when it was made (`code`). `outdated`: what it names has changed meanwhile, or the database was restored.
             * @enum {string}
             */
            readonly state: "open" | "applied" | "rejected" | "withdrawn" | "failed" | "outdated" | "expired";
            /** @description SHA-256 of the document; an approval names it. */
            readonly hash: string;
            /** @description Who wants it: an API client, `dashboard:<operator>` or `fundadmin:<person>`. */
            readonly author: string | null;
            readonly method: string;
            readonly path: string;
            readonly body: components["schemas"]["JsonValue"];
            /** @description The table of the row that changes. */
            readonly subject: string;
            /** @description The row as it was; null: there was none. */
            readonly before: components["schemas"]["JsonValue"];
            /** @description The row that is written, without what is made on writing. */
            readonly after: components["schemas"]["JsonValue"];
            readonly approvals: components["schemas"]["MovementApprovals"];
            /** @description Whether the owner of the database made the change alone. */
            readonly break_glass: boolean;
            readonly reason: string | null;
            readonly code: string | null;
            readonly created_at: components["schemas"]["Timestamp"];
            readonly expires_at: components["schemas"]["Timestamp"];
            readonly ended_at: components["schemas"]["Timestamp"] | null;
            readonly ended_by: string | null;
        };
        /** @description Any JSON value. */
        readonly JsonValue: unknown;
        readonly ChangeRequestDocument: {
            readonly id: components["schemas"]["Id"];
            /** @enum {string} */
            readonly kind: "allowlist" | "policies" | "templates" | "executors" | "signers" | "bridge" | "perps" | "cutover" | "keys" | "approval_rules" | "capital_transfer" | "movement_action";
            readonly author: components["schemas"]["JsonValue"];
            readonly method: string;
            readonly path: string;
            readonly body: components["schemas"]["JsonValue"];
            readonly subject: string;
            readonly before: components["schemas"]["JsonValue"];
            readonly after: components["schemas"]["JsonValue"];
        } & {
            readonly [key: string]: unknown;
        };
        readonly MovementGraph: {
            readonly movement_id: components["schemas"]["Id"];
            /** @enum {string} */
            readonly request_state: "PENDING_APPROVAL" | "APPROVED" | "EXECUTING" | "COMPLETED" | "FAILED" | "WAITING_MANUAL_ACTION" | "MANUAL_INTERVENTION" | "REJECTED" | "EXPIRED" | "CANCELLED";
            readonly template_key: string;
            readonly template_version: number;
            readonly nodes: readonly components["schemas"]["MovementGraphNode"][];
            readonly edges: readonly components["schemas"]["MovementGraphEdge"][];
        };
        readonly MovementGraphNode: {
            readonly node_key: string;
            /** @enum {string} */
            readonly node_kind: "action" | "observe" | "manual_gate" | "compensation" | "post_action";
            readonly action_type: string;
            /** @enum {string} */
            readonly state: "BLOCKED" | "READY" | "SUBMITTING" | "SUBMITTED" | "OBSERVING" | "COMPLETED" | "FAILED" | "UNKNOWN" | "SKIPPED" | "CANCELLED";
            readonly attempt: number;
            readonly error_code: string | null;
            readonly executor_key: string;
            readonly signer_key: string | null;
        };
        readonly MovementGraphEdge: {
            readonly from: string;
            readonly to: string;
            /** @enum {string} */
            readonly edge_type: "on_success" | "on_failure" | "on_timeout" | "on_cancel" | "on_manual_resume";
            readonly condition_expr: string | null;
            readonly priority: number;
            readonly join_key: string | null;
            /** @description `dead` will not fire as things stand; a retry may change that. Null only after a cancel, for another edge into a node that the cancel may have started. */
            readonly status: ("pending" | "fired" | "dead") | null;
        };
        readonly PlanTemplateGraph: {
            readonly template_id: components["schemas"]["Id"];
            readonly template_key: string;
            readonly version: number;
            /** @enum {string} */
            readonly graph_shape: "linear" | "branching" | "merging" | "split" | "hybrid";
            readonly nodes: readonly components["schemas"]["TemplateGraphNode"][];
            readonly edges: readonly components["schemas"]["TemplateGraphEdge"][];
        };
        readonly TemplateGraphNode: {
            readonly node_key: string;
            /** @enum {string} */
            readonly node_kind: "action" | "observe" | "manual_gate" | "compensation" | "post_action";
            readonly action_type: string;
            /** @description Null selects by the node's own action type. */
            readonly executor_selector: {
                readonly action_type: string;
                readonly provider?: string;
                readonly chain_family?: string;
            } | null;
            readonly signer_selector: {
                readonly chain_family: string;
                readonly profile?: string;
            } | null;
        };
        readonly TemplateGraphEdge: {
            readonly from: string;
            readonly to: string;
            /** @enum {string} */
            readonly edge_type: "on_success" | "on_failure" | "on_timeout" | "on_cancel" | "on_manual_resume";
            readonly condition_expr: string | null;
            readonly priority: number;
            readonly join_key: string | null;
        };
        readonly PlanTemplateCreateResponse: {
            readonly template_id: components["schemas"]["Id"];
            readonly template_key: string;
            readonly version: number;
            /** @enum {string} */
            readonly graph_shape: "linear" | "branching" | "merging" | "split" | "hybrid";
            readonly requires_graph_runtime: boolean;
            readonly executable_in_v3_0: boolean;
            /** @description Each as `<code>:<node_key or from->to>`. */
            readonly non_executable_reasons: readonly string[];
            readonly completion_policy: components["schemas"]["CompletionPolicyView"];
        };
        readonly CompletionPolicyView: {
            /** @enum {string} */
            readonly completion_assurance: "provider_completed" | "destination_observed" | "destination_credited" | "destination_finalized" | "protocol_finalized";
        };
        readonly PlanTemplateListResponse: {
            readonly plan_templates: readonly components["schemas"]["PlanTemplateSummary"][];
            /** @description Send it as `cursor` for the next page; null on the last. */
            readonly next_cursor: string | null;
        };
        readonly PlanTemplateSummary: {
            readonly template_id: components["schemas"]["Id"];
            readonly template_key: string;
            readonly version: number;
            /** @enum {string} */
            readonly graph_shape: "linear" | "branching" | "merging" | "split" | "hybrid";
            readonly requires_graph_runtime: boolean;
            readonly executable_in_v3_0: boolean;
            /** @description Each as `<code>:<node_key or from->to>`. */
            readonly non_executable_reasons: readonly string[];
            readonly completion_policy: components["schemas"]["CompletionPolicyView"];
            readonly name: string;
            readonly owner: string | null;
            /** @description The client that registered it. */
            readonly created_by: string | null;
            readonly created_at: components["schemas"]["Timestamp"];
            /**
             * @description `retired`: nothing new is made from it; movements that it made continue.
             * @enum {string}
             */
            readonly status: "active" | "retired";
            readonly retired_at: components["schemas"]["Timestamp"] | null;
            /** @description The client that retired it. */
            readonly retired_by: string | null;
            readonly retired_reason: string | null;
        };
        readonly PlanTemplateDetailResponse: {
            readonly template_id: components["schemas"]["Id"];
            readonly template_key: string;
            readonly version: number;
            /** @enum {string} */
            readonly graph_shape: "linear" | "branching" | "merging" | "split" | "hybrid";
            readonly requires_graph_runtime: boolean;
            readonly executable_in_v3_0: boolean;
            /** @description Each as `<code>:<node_key or from->to>`. */
            readonly non_executable_reasons: readonly string[];
            readonly completion_policy: components["schemas"]["CompletionPolicyView"];
            readonly name: string;
            readonly owner: string | null;
            /** @description The client that registered it. */
            readonly created_by: string | null;
            readonly created_at: components["schemas"]["Timestamp"];
            /**
             * @description `retired`: nothing new is made from it; movements that it made continue.
             * @enum {string}
             */
            readonly status: "active" | "retired";
            readonly retired_at: components["schemas"]["Timestamp"] | null;
            /** @description The client that retired it. */
            readonly retired_by: string | null;
            readonly retired_reason: string | null;
            readonly approval_policy: components["schemas"]["JsonObject"];
            readonly risk_controls: components["schemas"]["JsonObject"];
            readonly nodes: readonly components["schemas"]["PlanNodeView"][];
            readonly edges: readonly components["schemas"]["PlanEdgeView"][];
            readonly auto_approve_enabled: boolean;
            readonly daily_cap_amount: components["schemas"]["Decimal"] | null;
            readonly daily_cap_asset: string | null;
        };
        readonly PlanNodeView: {
            readonly id: components["schemas"]["Id"];
            readonly node_key: string;
            /** @enum {string} */
            readonly node_kind: "action" | "observe" | "manual_gate" | "compensation" | "post_action";
            readonly action_type: string;
            readonly executor_selector: components["schemas"]["ExecutorSelector"] | null;
            readonly signer_selector: components["schemas"]["SignerSelector"] | null;
            readonly input_schema: components["schemas"]["JsonObject"] | null;
            readonly config: components["schemas"]["JsonObject"] | null;
            readonly has_side_effect: boolean;
            readonly timeout_policy: components["schemas"]["TimeoutPolicy"] | null;
            readonly retry_policy: components["schemas"]["RetryPolicy"] | null;
            readonly risk_patch: components["schemas"]["JsonObject"] | null;
        };
        readonly ExecutorSelector: {
            readonly action_type: string;
            readonly provider?: string;
            readonly chain_family?: string;
        };
        readonly SignerSelector: {
            readonly chain_family: string;
            readonly profile?: string;
        };
        readonly TimeoutPolicy: {
            /** @description From the start of the node to its submit. */
            readonly execution_seconds?: number;
            /** @description From the submit to the proven end; absent means no end. */
            readonly observe_seconds?: number;
            /** @description From the submit: a node that is observed for longer needs a person (`observed_long`). It ends nothing; absent means the usual time of the action type. */
            readonly attention_seconds?: number;
        };
        /** @description For errors of preflight, prepare, recover and observe; a submit is never repeated by it. */
        readonly RetryPolicy: {
            readonly max_attempts?: number;
            readonly initial_interval_seconds?: number;
            readonly backoff_coefficient?: number;
            readonly max_interval_seconds?: number;
        };
        readonly PlanEdgeView: {
            readonly id: components["schemas"]["Id"];
            readonly from: string;
            readonly to: string;
            /** @enum {string} */
            readonly edge_type: "on_success" | "on_failure" | "on_timeout" | "on_cancel" | "on_manual_resume";
            readonly condition_expr: string | null;
            readonly priority: number;
            readonly join_key: string | null;
        };
        readonly PlanTemplateAdminResponse: {
            readonly template_key: string;
            readonly latest_version: number;
            readonly auto_approve_enabled: boolean;
            readonly daily_cap_amount: components["schemas"]["Decimal"] | null;
            readonly daily_cap_asset: string | null;
            readonly updated_at: components["schemas"]["Timestamp"];
        };
        readonly PlanTemplateRetireResponse: {
            readonly template_id: components["schemas"]["Id"];
            readonly template_key: string;
            readonly version: number;
            /** @enum {string} */
            readonly status: "active" | "retired";
            readonly retired_at: components["schemas"]["Timestamp"];
            /** @description The client that retired it. */
            readonly retired_by: string | null;
            readonly retired_reason: string;
            /** @description Of the same key, to be used instead; null where none is active. */
            readonly latest_active_version: number | null;
        };
        readonly RouteCatalog: {
            readonly routes: readonly components["schemas"]["RouteView"][];
            readonly generated_at: components["schemas"]["Timestamp"];
        };
        readonly RouteView: {
            readonly template_key: string;
            readonly name: string;
            readonly version: number;
            /** @enum {string} */
            readonly graph_shape: "linear" | "branching" | "merging" | "split" | "hybrid";
            readonly node_count: number;
            readonly executable: boolean;
            readonly metadata: {
                /** @enum {string} */
                readonly transport_family: "cex_withdrawal" | "onchain_transfer" | "bridge" | "perp" | "mixed";
                readonly source_venue: string | null;
                readonly destination_venue: string | null;
                /** @description Null: the route carries the movement's asset. */
                readonly asset: string | null;
            };
            /** @description Null for a route without bridges. */
            readonly bridge: components["schemas"]["RouteBridge"] | null;
            /** @description Null when no movement ended in that time. */
            readonly stats: components["schemas"]["RouteStats"] | null;
            /** @description expected_fee, max_fee_abs, max_fee_pct and max_fee_usd of risk_controls, where present. */
            readonly fee_policy: components["schemas"]["JsonObject"];
            /** @description max_amount and min_amount, where present. */
            readonly risk_controls: components["schemas"]["JsonObject"];
            /** @description Only with `include_health=true`. */
            readonly health?: components["schemas"]["RouteHealth"];
        };
        readonly RouteBridge: {
            /** @description Of the longest way over its bridges; null where one of them is not known. */
            readonly latency_baseline_seconds: number | null;
            /** @description What its bridges may take of the amount; null where one of them is not known. */
            readonly max_fee: components["schemas"]["Decimal"] | null;
            readonly legs: readonly components["schemas"]["RouteBridgeLeg"][];
        };
        readonly RouteBridgeLeg: {
            /** @description The node that burns or sends. */
            readonly node_key: string;
            /** @enum {string} */
            readonly lane: "burn_and_mint" | "bridge_c";
            /** @description Null: left to the caller. */
            readonly source_chain_id: number | null;
            readonly destination_chain_id: number | null;
            /** @description The node's, else the requested one; null: the movement's. */
            readonly asset: string | null;
            readonly finality: ("fast" | "standard") | null;
            readonly latency_baseline_seconds: number | null;
            readonly latency_source: ("bridge_registry" | "chain_finality" | "fast_attestation") | null;
            /** @description The most that a burn may cost, in units of the asset. */
            readonly max_fee: components["schemas"]["Decimal"] | null;
            /** @description The most that a send over the path may cost, in `fee_native_asset`. */
            readonly fee_native_budget: components["schemas"]["Decimal"] | null;
            /** @description The coin of the source chain. */
            readonly fee_native_asset: string | null;
            /** @description Null: unknown. */
            readonly usable: boolean | null;
            /** @description What the node would fail with now. */
            readonly problem: {
                /** @example BRIDGE_PATH_NOT_READY */
                readonly error_code: string;
                readonly reason: string;
            } | null;
        };
        /** @description Movements that ended in this or the previous calendar month (UTC). */
        readonly RouteStats: {
            readonly total_completed: number;
            readonly total_failed: number;
            /**
             * @description total_completed over both.
             * @example 0.98
             */
            readonly success_rate: number;
            /** @description Of completed movements, from approval to end; null while there is none. */
            readonly avg_duration_seconds: number | null;
            readonly max_duration_seconds: number | null;
        };
        readonly RouteHealth: {
            /** @enum {string} */
            readonly status: "healthy" | "degraded" | "unavailable";
            readonly executors: readonly {
                /** @description Where none or several match: what the node selects by. */
                readonly executor_key: string;
                /** @enum {string} */
                readonly health_state: "up" | "down" | "unknown" | "missing" | "ambiguous";
                /** @description Why it cannot work on this route, where it could on others. */
                readonly reason?: string;
            }[];
        };
        readonly RouteRecommendations: {
            readonly recommendations: readonly components["schemas"]["RouteRecommendation"][];
            readonly request: components["schemas"]["RouteRecommendationRequest"];
            readonly generated_at: components["schemas"]["Timestamp"];
        };
        readonly RouteRecommendation: {
            /** @description From 1; feasible routes first. */
            readonly rank: number;
            /** @description 0 to 1; 0 for an infeasible route. */
            readonly score: number;
            readonly score_parts: components["schemas"]["RouteScoreParts"];
            /** @enum {string} */
            readonly feasibility: "feasible" | "infeasible";
            readonly infeasible_reasons: readonly ("not_executable" | "executor_unavailable" | "amount_below_min" | "amount_above_max")[];
            readonly route: components["schemas"]["RouteView"];
        };
        /** @description score = reliability.value * (sum of weight * value of speed, cost and health) */
        readonly RouteScoreParts: {
            readonly speed: {
                readonly weight: number;
                /** @description 0 to 1 */
                readonly value: number;
                readonly avg_duration_seconds: number | null;
                /** @description Of the bridges; it stands in for the duration until a movement completed. */
                readonly latency_baseline_seconds: number | null;
                readonly basis: ("avg_duration" | "latency_baseline") | null;
            };
            readonly cost: {
                readonly weight: number;
                /** @description 0 to 1 */
                readonly value: number;
                readonly fee: components["schemas"]["Decimal"] | null;
                /** @example expected_fee */
                readonly basis: string | null;
            };
            readonly health: {
                readonly weight: number;
                /** @description 0 to 1 */
                readonly value: number;
                /** @enum {string} */
                readonly status: "healthy" | "degraded" | "unavailable";
            };
            readonly reliability: {
                readonly value: number;
                readonly total_completed: number;
                readonly total_failed: number;
            };
        };
        /**
         * @example {
         *       "asset": "USDC",
         *       "source_venue": "paper-main",
         *       "destination_venue": null,
         *       "amount": "1250.5",
         *       "priority": "cost"
         *     }
         */
        readonly RouteRecommendationRequest: {
            /**
             * @description Compared in upper case.
             * @example USDC
             */
            readonly asset: string;
            /**
             * @description Only routes that begin there.
             * @default null
             */
            readonly source_venue: string | null;
            /**
             * @description Only routes that end there.
             * @default null
             */
            readonly destination_venue: string | null;
            /**
             * @description Null skips the checks of limits.
             * @default null
             */
            readonly amount: components["schemas"]["PositiveDecimal"] | null;
            /**
             * @default speed
             * @enum {string}
             */
            readonly priority: "speed" | "cost";
        };
        /**
         * @description A decimal greater than zero, in plain notation, carried as a string.
         * @example 1250.5
         */
        readonly PositiveDecimal: string;
        readonly ExecutorRegistryView: {
            readonly executor_key: string;
            /** @enum {string} */
            readonly kind: "local" | "remote" | "task_queue";
            /** @enum {string} */
            readonly status: "active" | "disabled";
            /** @enum {string} */
            readonly health_state: "up" | "down" | "unknown";
            readonly health_checked_at: components["schemas"]["Timestamp"] | null;
            readonly action_types: readonly string[];
            readonly provider: string | null;
            readonly chain_family: string | null;
            readonly endpoint: string | null;
            /**
             * @description Whether the entry is stored, registered in this process, or both.
             * @enum {string}
             */
            readonly source: "persisted" | "memory" | "both";
            readonly updated_at: components["schemas"]["Timestamp"] | null;
        };
        readonly SignerRegistryView: {
            readonly signer_key: string;
            /** @enum {string} */
            readonly status: "active" | "disabled" | "deprecated" | "retired";
            /** @enum {string} */
            readonly backend: "local" | "managed_kms_evm" | "remote" | "noop";
            readonly chain_family: string;
            readonly profile: string | null;
            /** @description The operator's pin; EVM only. */
            readonly expected_signer_address: string | null;
            /** @description What the last health refresh saw; diagnostic. */
            readonly observed_signer_address: string | null;
            readonly observed_at: components["schemas"]["Timestamp"] | null;
            /** @enum {string} */
            readonly identity_state: "match" | "mismatch" | "unpinned" | "unobserved" | "not_applicable";
            /** @description The nonces of its address, one entry for each chain on which it has sent. */
            readonly lanes: readonly components["schemas"]["SignerLane"][];
            /**
             * @description Whether the entry is stored, registered in this process, or both.
             * @enum {string}
             */
            readonly source: "persisted" | "memory" | "both";
            readonly updated_at: components["schemas"]["Timestamp"] | null;
        };
        readonly SignerLane: {
            readonly chain_id: number;
            readonly address: string;
            /** @description The nonce that is claimed next. */
            readonly next_nonce: number;
            /** @description How many transactions its newest block counts, as last seen; null before that. */
            readonly mined_nonce: number | null;
            /** @description The same of its newest final block. */
            readonly final_nonce: number | null;
            readonly seen_at: components["schemas"]["Timestamp"] | null;
            /** @description Claimed, and in no block that was seen. */
            readonly open_nonces: number;
            readonly oldest_open_seconds: number | null;
            /** @description Mined, and not final yet. */
            readonly unfinal_nonces: number;
            readonly stuck: components["schemas"]["StuckNonce"];
            readonly caps: components["schemas"]["LaneCaps"];
            readonly raise: components["schemas"]["LaneRaise"] | null;
            readonly finality: components["schemas"]["ChainFinality"];
        };
        /** @description The lowest nonce that is to be used up by a transaction that moves nothing, where that one cannot be signed or paid for. */
        readonly StuckNonce: {
            readonly nonce: number;
            readonly why: string;
            readonly since: components["schemas"]["Timestamp"];
        } | null;
        /** @description What a transaction that takes a used nonce of this lane may cost now: the larger of the chain's caps and the lane's raise. First sends keep the chain's. Null where the chain is not bound. */
        readonly LaneCaps: {
            readonly max_gas_cost_wei: string;
            readonly max_fee_per_gas_gwei: string | null;
        } | null;
        /** @description What an admin raised the chain's caps to for this lane; null is as the chain has it. */
        readonly LaneRaise: {
            readonly max_gas_cost_wei: string | null;
            readonly max_fee_per_gas_gwei: string | null;
            readonly reason: string;
            readonly raised_by: {
                /** @enum {string} */
                readonly type: "key" | "system" | "executor" | "operator";
                readonly client_id?: string | null;
                readonly key_id?: string | null;
                readonly label?: string;
            };
            readonly raised_at: components["schemas"]["Timestamp"];
            readonly until: components["schemas"]["Timestamp"];
        };
        /** @description How a block of this chain becomes final; null where the chain is not bound. */
        readonly ChainFinality: {
            /** @enum {string} */
            readonly read: "finalized_tag" | "confirmations";
            /** @description Blocks, the transaction's own included; null where the node's tag says it. */
            readonly confirmations: number | null;
            readonly typical_age_seconds: number | null;
            /** @description Why less than what is known of the chain is enough here; null if it is not. */
            readonly override_reason: string | null;
        } | null;
        readonly SetExpectedSignerIdentityResponse: {
            /** @enum {string} */
            readonly outcome: "changed" | "noop";
            readonly signer_key: string;
            readonly expected_signer_address: string;
            /** @description The pin that was stored before. */
            readonly previous_expected_address: string | null;
            readonly runtime_address: string;
            readonly audit_event_id: components["schemas"]["Id"];
        };
        readonly RegistryDrift: {
            readonly ok: boolean;
            readonly checked_at: components["schemas"]["Timestamp"];
            readonly drift: readonly {
                /** @enum {string} */
                readonly kind: "executor" | "signer";
                readonly key: string;
                /** @enum {string} */
                readonly problem: "missing_in_memory" | "missing_in_database" | "endpoint_changed" | "identity_mismatch" | "identity_unavailable";
                readonly expected: string | null;
                readonly observed: string | null;
            }[];
        };
        readonly BridgeRegistryRefresh: {
            readonly refreshed_at: components["schemas"]["Timestamp"];
            /** @description Chains whose facts changed. */
            readonly changed: readonly string[];
            /** @description Chains whose snapshots are stale now. */
            readonly stale: readonly string[];
            readonly chains: readonly components["schemas"]["BridgeChain"][];
        };
        readonly BridgeChain: {
            readonly chain: string;
            readonly endpoint_identity: string;
            readonly finality_age_seconds: number;
            /** @description Grows whenever the facts of the endpoint change; 0 before the first. */
            readonly snapshot_version: number;
            /** @description The endpoint did not answer the last refresh, was never read, or was read too long ago. */
            readonly snapshot_stale: boolean;
            readonly stale_detected_at: components["schemas"]["Timestamp"] | null;
            readonly operator_label: string | null;
            /** @description When the endpoint of this identity last answered. */
            readonly snapshot_at: components["schemas"]["Timestamp"] | null;
            readonly created_at: components["schemas"]["Timestamp"];
            readonly updated_at: components["schemas"]["Timestamp"];
        };
        readonly CutoverMode: {
            /** @enum {string} */
            readonly mode: "normal" | "drain" | "frozen";
            readonly previous_mode: ("normal" | "drain" | "frozen") | null;
            readonly reason: string | null;
            readonly changed_at: components["schemas"]["Timestamp"] | null;
            readonly changed_by: components["schemas"]["JsonObject"] | null;
        };
        readonly BalanceResponse: {
            readonly balances: readonly components["schemas"]["Balance"][];
            /** @description Each venue of these balances. */
            readonly venues: readonly components["schemas"]["BalanceVenue"][];
        };
        readonly Balance: {
            readonly venue_key: string;
            readonly asset: string;
            readonly account_type: string;
            readonly available: components["schemas"]["Decimal"] | null;
            readonly withdrawable: components["schemas"]["Decimal"] | null;
            readonly total: components["schemas"]["Decimal"] | null;
            readonly details: components["schemas"]["JsonObject"] | null;
            readonly fetched_at: components["schemas"]["Timestamp"] | null;
            readonly stale: boolean;
            readonly svc_pending_outflow: components["schemas"]["Decimal"];
            readonly svc_effective_withdrawable: string | null;
            readonly svc_effective_reason: ("capital_transfer_reservation" | "movement_reservation" | "mixed_reservations") | null;
        };
        readonly BalanceVenue: {
            readonly venue_key: string;
            /** @description Null where the venue shows nothing of them, and where what it showed is as old as a stale balance. */
            readonly withdrawals: components["schemas"]["VenueWithdrawals"] | null;
        };
        readonly VenueWithdrawals: {
            /** @description What the account may still withdraw; null: the venue does not show it. */
            readonly quota: {
                readonly left: components["schemas"]["Decimal"];
                /**
                 * @description An asset, or `USD`.
                 * @example USD
                 */
                readonly unit: string;
            } | null;
            /** @description What the venue does not pay out at present, of the assets that the account has. That something is missing does not prove that it is paid out. */
            readonly closed: readonly {
                readonly asset: string;
                /** @description As the venue names it; null: every network of the asset. */
                readonly network: string | null;
                /** @description When the venue expects to pay out again; null: not known. */
                readonly opens_at: components["schemas"]["Timestamp"] | null;
            }[];
            readonly read_at: components["schemas"]["Timestamp"];
        };
        readonly CapitalTransferView: {
            readonly transfer_id: components["schemas"]["Id"];
            /** @enum {string} */
            readonly request_state: "CREATED" | "SUBMITTING" | "PENDING_PROVIDER_CONFIRMATION" | "COMPLETED" | "FAILED" | "MANUAL_INTERVENTION";
            readonly source_venue: string;
            readonly destination_venue: string;
            readonly source_account_type: string;
            readonly destination_account_type: string;
            readonly asset: string;
            readonly amount: components["schemas"]["Decimal"];
            readonly reason: string;
            readonly strategy_id: string | null;
            readonly idempotency_key: string;
            readonly provider: string | null;
            /** @description The provider's own id of its record, once it has reported it. */
            readonly provider_transfer_id: string | null;
            readonly error_code: string | null;
            readonly error_message: string | null;
            /** @description What a person should do; null while none is needed. */
            readonly attention: components["schemas"]["CapitalTransferAttention"] | null;
            readonly created_at: components["schemas"]["Timestamp"];
            readonly updated_at: components["schemas"]["Timestamp"];
        };
        readonly CapitalTransferAttention: {
            /** @enum {string} */
            readonly reason: "approval" | "approval_expires_soon" | "approval_unsatisfiable" | "approval_compromised" | "unknown_outcome" | "landed_late" | "manual_gate" | "failed" | "lane_stuck" | "clock_difference" | "lane_blocked" | "delivery_late" | "executor_unavailable" | "venue_suspended" | "withdrawal_quota_exhausted" | "observed_long" | "run_stuck";
            readonly message: string;
            readonly last_answer: string | null;
            readonly actions: readonly {
                readonly action: string;
                readonly consequence: string;
            }[];
        };
        readonly CapitalTransferList: {
            readonly capital_transfers: readonly components["schemas"]["CapitalTransferView"][];
            /** @description Send it as `cursor` for the next page; null on the last. */
            readonly next_cursor: string | null;
        };
        readonly CapitalTransferEventView: {
            readonly event_id: components["schemas"]["Id"];
            /** @description Per transfer, without gaps. */
            readonly sequence: number;
            /** @enum {string} */
            readonly event_type: "transfer_created" | "transfer_submitting" | "transfer_pending" | "transfer_completed" | "transfer_failed" | "transfer_attention" | "transfer_resolved";
            readonly from_state: string | null;
            readonly to_state: string | null;
            readonly actor: {
                /** @enum {string} */
                readonly type: "key" | "system" | "executor" | "operator";
                readonly client_id?: string | null;
                readonly key_id?: string | null;
                readonly label?: string;
            };
            readonly message: string;
            readonly data: components["schemas"]["JsonObject"];
            readonly occurred_at: components["schemas"]["Timestamp"];
        };
        readonly PolicyResponse: {
            readonly policy_id: components["schemas"]["Id"];
            readonly client_id: components["schemas"]["Id"];
            readonly strategy_id: string;
            readonly is_active: boolean;
            readonly allowed_templates: readonly {
                readonly template_key: string;
                readonly template_version: number | null;
            }[];
            readonly allowed_assets: readonly string[];
            readonly max_amount_per_request: components["schemas"]["Decimal"] | null;
            readonly window_hours: number | null;
            readonly max_amount_per_window: components["schemas"]["Decimal"] | null;
            readonly max_count_per_window: number | null;
            /** @description The client that created it. */
            readonly created_by: string | null;
            readonly created_at: components["schemas"]["Timestamp"];
            readonly updated_at: components["schemas"]["Timestamp"];
        };
        readonly BudgetResponse: {
            readonly strategy_id: string;
            readonly policies: readonly components["schemas"]["PolicyBudget"][];
        };
        readonly PolicyBudget: {
            readonly policy_id: components["schemas"]["Id"];
            readonly window_hours: number;
            readonly max_amount_per_window: components["schemas"]["Decimal"] | null;
            readonly max_count_per_window: number | null;
            /** @description Approved in the window, neither completed nor released. */
            readonly reserved_amount: string;
            /** @description Approved in the window and completed. */
            readonly consumed_amount: string;
            /** @description What the window has left; null without an amount cap, below zero when the cap was lowered under what is used. */
            readonly available_amount: string | null;
            /** @description Approvals in the window that are not released. */
            readonly count_in_window: number;
        };
        readonly CallbackList: {
            readonly callbacks: readonly components["schemas"]["CallbackView"][];
            /** @description Send it as `cursor` for the next page; null on the last. */
            readonly next_cursor: string | null;
        };
        readonly CallbackView: {
            readonly event_id: components["schemas"]["Id"];
            /** @description Null unless it is of a movement. */
            readonly movement_id: components["schemas"]["Id"] | null;
            /** @description Null unless it is of a capital transfer. */
            readonly transfer_id: components["schemas"]["Id"] | null;
            /** @description The webhook of the service whose message it is; else null. */
            readonly webhook: string | null;
            /** @enum {string} */
            readonly event_type: "approval_recorded" | "approval_withdrawn" | "request_approved" | "request_rejected" | "request_expired" | "request_resumed" | "request_retried" | "request_cancelled" | "request_completed" | "request_failed" | "request_attention" | "frontier_advanced" | "movement.approval_needed" | "movement.attention" | "approval.recorded" | "capital_transfer.attention" | "change_request.approval_needed" | "change_request.break_glass" | "change_request.ended" | "template_proposal.decision_needed" | "callback.dead_letter" | "cutover.changed" | "webhook.test";
            /** @description The event's place in its timeline; 0 for a webhook, which has none. */
            readonly sequence: number;
            /** @description Where it goes; a query is not shown, since it may hold a token. */
            readonly url: string;
            /** @description What is sent, the same at every attempt. */
            readonly payload: components["schemas"]["JsonObject"];
            /** @description `X-SVC-Nonce` and `webhook-id`, the same at every attempt. */
            readonly nonce: string;
            /** @enum {string} */
            readonly status: "pending" | "delivered" | "dead_letter";
            /** @description Requests made since it was written or sent again. */
            readonly attempts: number;
            /** @description Null unless it is pending. */
            readonly next_attempt_at: components["schemas"]["Timestamp"] | null;
            /** @example http_503 */
            readonly last_error: string | null;
            readonly created_at: components["schemas"]["Timestamp"];
            readonly updated_at: components["schemas"]["Timestamp"];
        };
        readonly AuditEventList: {
            readonly events: readonly components["schemas"]["AuditEvent"][];
            /** @description Send it as `cursor` for the next page; null on the last. */
            readonly next_cursor: string | null;
        };
        readonly AuditEvent: {
            readonly event_id: components["schemas"]["Id"];
            readonly occurred_at: components["schemas"]["Timestamp"];
            /** @description An API client, `dashboard:<operator>`, or `fundadmin:<person>`. Null for the service itself, for `fundadmin` without `--as`, and with authentication switched off. */
            readonly actor_client_id: string | null;
            readonly actor_key_id: string | null;
            readonly actor_role: string | null;
            readonly namespace: string | null;
            /** @enum {string} */
            readonly action: "plan_template.create" | "plan_template.update_admin_fields" | "plan_template.retire" | "movement.create" | "movement.approve" | "movement.record_approval" | "movement.withdraw_approval" | "movement.reject" | "movement.expire" | "movement.resume" | "movement.retry" | "movement.cancel" | "movement.resolve" | "movement.reassign" | "movement.acknowledge" | "movement.cancel_transaction" | "movement.reset_allowances" | "movement.complete" | "movement.fail" | "cutover.set_mode" | "executor.update_status" | "signer.update_status" | "signer.set_expected_identity" | "signer.rotate" | "signer.inventory" | "signer.allowances" | "signer.retire" | "nonce_lane.raise_caps" | "registry.verify_drift" | "bridge_chain.create" | "bridge_chain.replace" | "bridge_chain.delete" | "bridge_path.create" | "bridge_path.replace" | "bridge_path.delete" | "bridge_path.drill_pass" | "bridge_registry.refresh" | "perp_master.create" | "perp_binding.create" | "perp_binding.pause" | "perp_agent_wallet.create" | "perp_agent_wallet.activate" | "perp_agent_wallet.refuse" | "perp_agent_wallet.expire" | "database.after_restore" | "callback.redeliver" | "webhook.set" | "webhook.remove" | "webhook.test" | "api_key.issue" | "api_key.revoke" | "api_key.compromise" | "api_key.authenticate" | "route.call" | "agent_authority.create" | "agent_authority.update" | "dashboard_key.enrol" | "dashboard_key.fill" | "dashboard_key.confirm" | "dashboard_key.end" | "dashboard_key.compromise" | "dashboard_session.create" | "dashboard_session.end" | "template_proposal.create" | "template_proposal.promote" | "template_proposal.reject" | "template_proposal.expire" | "auto_approve_policy.create" | "auto_approve_policy.update" | "allowed_address.create" | "allowed_address.reactivate" | "allowed_address.revoke" | "allowed_address.set_chain" | "person.set" | "person.remove" | "approver_group.set" | "approver_group.remove" | "approval_rule.set" | "approval_rule.remove" | "approval_decision.record" | "passkey.offer" | "passkey.confirm" | "passkey.revoke" | "passkey.compromise" | "change_request.create" | "change_request.approve" | "change_request.reject" | "change_request.withdraw" | "change_request.withdraw_approval" | "change_request.fail" | "capital_transfer.create" | "capital_transfer.resolve" | "capital_transfer.complete" | "capital_transfer.fail";
            readonly entity_type: string;
            readonly entity_key: string;
            /** @enum {string} */
            readonly outcome: "success" | "denied" | "failed";
            readonly request_id: string | null;
            /** @description What the caller gave as the reason, or why it was denied. */
            readonly reason: string | null;
            readonly details: components["schemas"]["JsonObject"];
        };
        readonly AuditSeal: {
            /** @description Records with a seal. */
            readonly sealed: number;
            /** @description SHA-256 of the newest seal, in hexadecimal; it covers all before it. */
            readonly chain_hash: string | null;
            readonly sealed_at: components["schemas"]["Timestamp"] | null;
            /** @description A record of more than a minute ago, of the newest 100, has no seal yet. */
            readonly overdue: boolean;
        };
        /** @description What an agent may propose and create. An absent limit is null; an empty list allows nothing. */
        readonly AgentAuthority: {
            readonly authority_key: string;
            readonly namespace: string;
            /** @description The active key that is bound to it. */
            readonly key_id: string | null;
            readonly client_id: string | null;
            /** @description Of one proposal, and of one movement in each asset; null covers no amount. */
            readonly max_notional: components["schemas"]["Decimal"] | null;
            readonly allowed_assets: readonly string[];
            readonly allowed_chains: readonly string[];
            /** @description Null: as long as a proposal may ask for. */
            readonly max_ttl_seconds: number | null;
            readonly created_at: components["schemas"]["Timestamp"];
            readonly updated_at: components["schemas"]["Timestamp"];
        };
        readonly TemplateProposal: {
            readonly proposal_id: components["schemas"]["Id"];
            readonly authority_key: string;
            /**
             * @description `auto_promoted` in either way; `promotion_mode` says which. `rejected`: no plan can be made of it.
             * @enum {string}
             */
            readonly status: "submitted" | "auto_promoted" | "rejected" | "expired";
            readonly promotion_mode: ("auto" | "admin") | null;
            readonly template_key: string | null;
            readonly template_version: number | null;
            /** @description Why the service did not promote it by itself; of one that an administrator promoted, what was waived. */
            readonly reasons: readonly ("asset_not_allowed" | "chain_not_allowed" | "notional_exceeded" | "ttl_exceeded" | "address_not_allowlisted" | "address_in_cooling_period" | "signer_profile_unresolved" | "bridge_path_not_ready" | "no_blueprint")[];
            readonly expires_at: components["schemas"]["Timestamp"];
            readonly created_at: components["schemas"]["Timestamp"];
        };
        readonly BridgeAttempt: {
            readonly proposal_id: components["schemas"]["Id"];
            /**
             * @description `auto_promoted` in either way; `promotion_mode` says which. `rejected`: no plan can be made of it.
             * @enum {string}
             */
            readonly status: "submitted" | "auto_promoted" | "rejected" | "expired";
            /** @description Null while the proposal is not promoted. */
            readonly movement_id: components["schemas"]["Id"] | null;
            readonly template_key: string | null;
            readonly template_version: number | null;
        };
        readonly TemplateProposalListResponse: {
            readonly template_proposals: readonly components["schemas"]["TemplateProposalDetail"][];
            /** @description Send it as `cursor` for the next page; null on the last. */
            readonly next_cursor: string | null;
        };
        readonly TemplateProposalDetail: {
            readonly proposal_id: components["schemas"]["Id"];
            readonly authority_key: string;
            /**
             * @description `auto_promoted` in either way; `promotion_mode` says which. `rejected`: no plan can be made of it.
             * @enum {string}
             */
            readonly status: "submitted" | "auto_promoted" | "rejected" | "expired";
            readonly promotion_mode: ("auto" | "admin") | null;
            readonly template_key: string | null;
            readonly template_version: number | null;
            /** @description Why the service did not promote it by itself; of one that an administrator promoted, what was waived. */
            readonly reasons: readonly ("asset_not_allowed" | "chain_not_allowed" | "notional_exceeded" | "ttl_exceeded" | "address_not_allowlisted" | "address_in_cooling_period" | "signer_profile_unresolved" | "bridge_path_not_ready" | "no_blueprint")[];
            readonly expires_at: components["schemas"]["Timestamp"];
            readonly created_at: components["schemas"]["Timestamp"];
            /** @description What was proposed. */
            readonly proposal: components["schemas"]["JsonObject"];
            /** @description Why no plan can be made of it, in a sentence. */
            readonly problem: string | null;
            /** @description Of a bridge attempt: the movement that it made. */
            readonly movement_id: components["schemas"]["Id"] | null;
        };
        readonly SearchResult: {
            /** @description At most 20: by `matched` in its order, then newest first. */
            readonly hits: readonly components["schemas"]["SearchHit"][];
        };
        readonly SearchHit: {
            /** @enum {string} */
            readonly kind: "movement" | "capital_transfer" | "proposal" | "change_request" | "allowed_address";
            readonly id: components["schemas"]["Id"];
            /** @description For people; it may change. */
            readonly title: string;
            /**
             * @description By what it was found; the first where there are several.
             * @enum {string}
             */
            readonly matched: "id" | "transaction_hash" | "idempotency_key" | "external_reference" | "address";
        };
        readonly Whoami: {
            readonly client_id: string | null;
            readonly key_id: string | null;
            /** @enum {string} */
            readonly role: "admin" | "operator" | "agent" | "allowlist";
            readonly namespace?: string;
            readonly dashboard?: {
                readonly operator: string;
                readonly allowlist: boolean;
            };
        };
        readonly MasterAccount: {
            /** @description With its checksum. */
            readonly master_address: string;
            readonly signer_key: string;
            /** @enum {string} */
            readonly network: "mainnet" | "testnet";
            readonly label: string | null;
            readonly created_at: components["schemas"]["Timestamp"];
        };
        readonly StrategyBinding: {
            readonly strategy_id: string;
            readonly sub_account_address: string | null;
            readonly max_agent_balance: components["schemas"]["Decimal"] | null;
            /** @description Nothing of this strategy begins at the venue. */
            readonly paused: boolean;
            /** @description Why `paused` is what it is; null before anybody said so. */
            readonly pause_reason: string | null;
            readonly paused_changed_at: components["schemas"]["Timestamp"] | null;
            readonly created_at: components["schemas"]["Timestamp"];
            readonly updated_at: components["schemas"]["Timestamp"];
        };
        readonly AgentWallet: {
            readonly wallet_id: components["schemas"]["Id"];
            readonly strategy_id: string;
            readonly agent_name: string;
            readonly signer_key: string;
            /** @description With its checksum. */
            readonly address: string;
            readonly valid_until: components["schemas"]["Timestamp"];
            /** @enum {string} */
            readonly state: "pending" | "active" | "expired" | "replaced" | "refused";
            /** @description What was wrong at the last look; null when nothing was. */
            readonly last_error: string | null;
            readonly created_at: components["schemas"]["Timestamp"];
            readonly updated_at: components["schemas"]["Timestamp"];
            /** @description When the venue was first seen to list it. */
            readonly approved_at: components["schemas"]["Timestamp"] | null;
        };
        readonly EmergencyState: {
            readonly strategy_id: string;
            readonly paused: boolean;
            readonly agent_wallets: readonly components["schemas"]["AgentWallet"][];
            /** @description Those that have not ended, newest first, at most 200. */
            readonly open_movements: readonly {
                readonly movement_id: components["schemas"]["Id"];
                /** @enum {string} */
                readonly request_state: "PENDING_APPROVAL" | "APPROVED" | "EXECUTING" | "COMPLETED" | "FAILED" | "WAITING_MANUAL_ACTION" | "MANUAL_INTERVENTION" | "REJECTED" | "EXPIRED" | "CANCELLED";
                readonly template_key: string;
                readonly asset: string;
                readonly amount: components["schemas"]["Decimal"];
                readonly created_at: components["schemas"]["Timestamp"];
            }[];
            /** @description How many there are in all. */
            readonly open_movement_count: number;
            /** @description Of the strategy's sub-account, or of the master where it has none. Null when nothing was ever seen of it. */
            readonly venue: {
                /** @description A decimal; it may be less than zero. */
                readonly withdrawable: string | null;
                /** @description A decimal; it may be less than zero. */
                readonly account_value: string | null;
                readonly open_positions: number | null;
            };
            /** @description When `venue` was read from the venue. */
            readonly checked_at: components["schemas"]["Timestamp"] | null;
            /** @description The venue did not say it now: it is from `checked_at`, or nothing. */
            readonly stale: boolean;
        };
        readonly RotateSignerResponse: {
            /** @enum {string} */
            readonly outcome: "drilled" | "changed";
            readonly signer_key: string;
            readonly replace_with: string;
            readonly impact: components["schemas"]["RotationImpact"];
            readonly audit_event_id: components["schemas"]["Id"];
            readonly signer_rotation_event_id: components["schemas"]["Id"];
        };
        readonly RotationImpact: {
            /** @description Nodes that the replacement signs. */
            readonly remapped: number;
            /** @description Nodes that stay with the old signer, and what ties them to it. */
            readonly kept: readonly {
                readonly movement_id: components["schemas"]["Id"];
                readonly node_key: string;
                /** @enum {string} */
                readonly reason: "open_nonce" | "in_flight" | "passed_fence" | "perp_master" | "allowance" | "destination_caller" | "old_address" | "passes_on" | "no_room";
            }[];
            /** @description Nonces of kept nodes that are not final. */
            readonly open_nonces: number;
            /** @description Movements among them that wait for their approval. */
            readonly pending_approval: number;
        };
        readonly SignerInventory: {
            readonly signer_key: string;
            readonly address: string;
            readonly checked_at: components["schemas"]["Timestamp"];
            readonly balances: readonly components["schemas"]["SignerHolding"][];
            /** @enum {string} */
            readonly rotation_state: "active" | "disabled" | "deprecated" | "retired";
            readonly audit_event_id: components["schemas"]["Id"] | null;
            readonly evidence_id: components["schemas"]["Id"] | null;
        };
        readonly SignerHolding: {
            readonly chain: string;
            readonly asset: string;
            /** @description Null: the chain's own coin. */
            readonly token_address: string | null;
            readonly amount: string | null;
            /** @description Why the amount is unknown. */
            readonly problem: string | null;
        };
        readonly SignerAllowances: {
            readonly signer_key: string;
            readonly address: string;
            readonly checked_at: components["schemas"]["Timestamp"];
            readonly allowances: readonly {
                readonly chain: string;
                readonly token_address: string;
                readonly spender: string;
                readonly amount: string;
            }[];
            /** @description The scan is partial: an endpoint searches no logs, or a token gave no answer. */
            readonly unsupported_spender_not_checked: boolean;
            readonly audit_event_id: components["schemas"]["Id"];
            readonly evidence_id: components["schemas"]["Id"];
        };
        readonly RetireSignerResponse: {
            /** @constant */
            readonly outcome: "retired";
            readonly signer_key: string;
            /** @description What was seen of the account. */
            readonly retired_with: components["schemas"]["JsonObject"];
            readonly audit_event_id: components["schemas"]["Id"];
            readonly evidence_id: components["schemas"]["Id"];
        };
        readonly SignerRotationHistory: {
            readonly signer_key: string;
            /** @enum {string} */
            readonly status: "active" | "disabled" | "deprecated" | "retired";
            readonly replaced_by: string | null;
            readonly events: readonly {
                readonly event_id: components["schemas"]["Id"];
                /** @enum {string} */
                readonly event_type: "rotation_drilled" | "rotated" | "inventory" | "allowances" | "retirement_denied" | "retired";
                readonly signer_key: string;
                readonly replace_with: string | null;
                readonly reason: string | null;
                readonly done_by: components["schemas"]["JsonObject"];
                readonly data: components["schemas"]["JsonObject"];
                readonly audit_event_id: components["schemas"]["Id"] | null;
                readonly occurred_at: components["schemas"]["Timestamp"];
            }[];
        };
        readonly PathBaseline: {
            readonly src_chain: string;
            readonly dst_chain: string;
            readonly asset: string;
            readonly expected_latency_seconds: number;
            readonly detection_latency_budget_seconds: number;
            readonly fee_native_budget: components["schemas"]["Decimal"];
            readonly enabled: boolean;
            readonly disabled_reason: string | null;
            /** @description Null: no drill has passed since an identity of its chains changed. */
            readonly last_drill_pass_at: components["schemas"]["Timestamp"] | null;
            readonly last_drill_evidence_path: string | null;
            /** @description What the venues file named for both ends when the drill passed. While it names other contracts the path is not ready. Null: it named none for one of them. */
            readonly last_drill_contracts: string | null;
            readonly baseline_source: string | null;
            readonly operator_label: string | null;
            readonly created_at: components["schemas"]["Timestamp"];
            readonly updated_at: components["schemas"]["Timestamp"];
        };
        readonly ChangeRequested: {
            readonly change_request_id: components["schemas"]["Id"];
            /** @enum {string} */
            readonly kind: "allowlist" | "policies" | "templates" | "executors" | "signers" | "bridge" | "perps" | "cutover" | "keys" | "approval_rules" | "capital_transfer" | "movement_action";
            readonly hash: string;
            readonly approvals: components["schemas"]["MovementApprovals"];
        };
        readonly MovementPreview: {
            /** @description Whether the same request without the header would make a movement now. */
            readonly would_create: boolean;
            /** @description The hash the movement would have; null when no plan can be compiled. */
            readonly compiled_plan_hash: string | null;
            /** @description The nodes that an approval would make ready. */
            readonly current_frontier: readonly string[];
            readonly bindings: readonly components["schemas"]["BindingPreview"][];
            /** @description Whom the nodes would pay, as far as the plan tells. On-chain ones that are not allowed block the create (`address_not_allowlisted`); those of withdrawals do not. All are checked again before anything is sent. */
            readonly allowlist: readonly components["schemas"]["AddressPreview"][];
            readonly external_reference: string | null;
            /** @description Pairs of texts. */
            readonly metadata: components["schemas"]["JsonObject"];
            /** @description Each node that moves funds, with its terms and whom it pays. */
            readonly sends: readonly components["schemas"]["ReviewedSend"][];
            readonly limits: readonly components["schemas"]["LimitPreview"][];
            /** @description Each pool of funds that the plan draws from. */
            readonly balances: readonly components["schemas"]["ReviewedBalance"][];
            /** @description What the plan can move at most, by asset; null where no plan can be made of the request. */
            readonly outflow: readonly components["schemas"]["OutflowEntry"][] | null;
            /** @description `auto_approve_result` as the create would give it if nothing changed in between; null where automatic approval is off or without strategy_id. */
            readonly auto_approve: components["schemas"]["JsonObject"] | null;
            /** @description All of them, the one that the create would answer with first. `idempotent_replay` means that the key was used for this very request: the create would answer 200 with that movement. Behind them stand amounts beyond their own limit (`MAX_AMOUNT_EXCEEDED`), which can be created and fail before anything is sent: `would_create` is true with those alone. */
            readonly blocking_reasons: readonly components["schemas"]["BlockingReason"][];
            /** @description What would be refused after the create, as things stand now; it may change. */
            readonly would_fail: readonly components["schemas"]["WouldFail"][];
            /** @description Withdrawals that would wait before anything is sent, as their venue showed itself with its last balances. It blocks nothing, and may have changed when they are reached. A venue that shows nothing, or not lately, has none here. */
            readonly would_wait: readonly components["schemas"]["WouldWait"][];
        };
        readonly BindingPreview: {
            readonly node_key: string;
            /** @description Null when none or several are selected. */
            readonly executor_key: string | null;
            /** @description Null for nodes that do not sign, too. */
            readonly signer_key: string | null;
            readonly available: boolean;
            /**
             * @description Why not, as codes with a comma between them: `executor_missing`, `executor_ambiguous`, `executor_disabled`, and the same for `signer_`. What is missing or ambiguous blocks the create; what is switched off does not, but an approve is refused (`binding_unavailable`) while it is so for a node of the frontier, and a later node fails when it is reached.
             * @example executor_disabled
             */
            readonly reason: string | null;
        };
        readonly AddressPreview: {
            readonly node_key: string;
            /** @description As it would be sent to; an address without a normal form is shown as written. */
            readonly address: string;
            /** @description Null for exchanges, and where the plan names no chain. */
            readonly chain_id: number | null;
            /** @description Whether an active row of the allowlist is about it. */
            readonly allowed: boolean;
            /** @description When its cooling period ends, past or to come; null without one. A node that is reached before fails. */
            readonly usable_after: string | null;
        };
        /** @description Code, sentence and context as the refusal of the create would carry them. */
        readonly BlockingReason: {
            readonly error: string;
            readonly message: string;
        } & {
            readonly [key: string]: unknown;
        };
        readonly WouldWait: {
            readonly node_key: string;
            /** @enum {string} */
            readonly error_code: "VENUE_SUSPENDED" | "WITHDRAWAL_QUOTA_EXHAUSTED";
            /** @example the exchange does not pay out USDC on ERC20 at present */
            readonly message: string;
            /** @description When the venue expects to pay out again; null: not known. */
            readonly opens_at: components["schemas"]["Timestamp"] | null;
        };
        /**
         * @example {
         *       "template_key": "starter/withdraw-to-treasury",
         *       "template_version": 1,
         *       "intent": {
         *         "asset": "USDC",
         *         "amount": "250.5"
         *       },
         *       "strategy_id": "rebalance",
         *       "approval_ttl_seconds": 3600,
         *       "callback_url": "https://treasury.example/callbacks",
         *       "idempotency_key": "rebalance-2026-11-21-1",
         *       "labels": {
         *         "desk": "treasury"
         *       },
         *       "external_reference": "INV-2026-1187",
         *       "metadata": {
         *         "cost_center": "emea"
         *       }
         *     }
         */
        readonly MovementCreateRequest: {
            readonly template_key: string;
            readonly template_version: number;
            readonly intent: components["schemas"]["Intent"];
            readonly strategy_id?: string;
            /** @default {} */
            readonly input_params?: components["schemas"]["InputParams"];
            /** @description How long the movement waits for its approval; the service's setting when absent. */
            readonly approval_ttl_seconds?: number;
            /** @description Where state changes are sent: https, or http to a loopback host. */
            readonly callback_url?: string;
            /** @description May be sent as the header `Idempotency-Key` instead; both must be equal. */
            readonly idempotency_key?: string;
            /**
             * @description At most 50 pairs, of keys to 128 and values to 1,024 characters; no part of the plan.
             * @default {}
             */
            readonly labels?: {
                readonly [key: string]: string;
            };
            /** @description What your own books name the movement by: NFC text without characters that cannot be seen, its only blanks single spaces between words. Lists and the search find it; it is no part of the plan. */
            readonly external_reference?: string;
            /**
             * @description Refuses the create (`external_reference_exists`) where another movement of this client holds the reference with this flag; needs an `external_reference`.
             * @default false
             */
            readonly unique_reference?: boolean;
            /**
             * @description At most 20 pairs that lists can be filtered by; no part of the plan.
             * @default {}
             */
            readonly metadata?: {
                readonly [key: string]: string;
            };
        };
        readonly Intent: {
            /**
             * @description Stored in upper case.
             * @example USDC
             */
            readonly asset: string;
            readonly amount: components["schemas"]["PositiveDecimal"];
            /** @description Whom the plan pays. A template does not take it from here: it must be in a node's config. Only a team's executor may read it. */
            readonly destination_address?: string;
            /** @description Must be one that the plan names, if it names any. Only conditions and a team's executor read it. */
            readonly chain_id?: number;
            /** @description Must be one that the plan names, if it names any. Only conditions and a team's executor read it. */
            readonly source_venue?: string;
            /** @description Must be one that the plan names, if it names any. Only conditions and a team's executor read it. */
            readonly destination_venue?: string;
        };
        /** @description Part of the compiled plan. The keys of `node_config`, when an object, supplement every node's `config`; the template's value wins, and an `amount` is a decimal text. It takes at most 64 KiB, and none of `completion_assurance`, `amount_ref`, `match_from`, `burn_from`, `tag`, `baseline`, `baseline_amount`, `destination_caller`, `max_fee`, `finality`, `fee_limit`. */
        readonly InputParams: components["schemas"]["JsonObject"];
        /**
         * @example {
         *       "compiled_plan_hash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
         *       "approver_id": "desk-lead"
         *     }
         */
        readonly MovementApproveRequest: {
            /** @description The hash of the plan that was reviewed. */
            readonly compiled_plan_hash: string;
            /** @description A label; the authenticated key is stored beside it. */
            readonly approver_id: string;
            /** @description Why, for timeline and audit; an approval rule may require it. */
            readonly reason?: string;
            readonly assertion?: components["schemas"]["Assertion"];
        };
        /** @description What a passkey signed, in base64url; a rule may require it. */
        readonly Assertion: {
            readonly credential_id: string;
            /** @description The text whose SHA-256 was the challenge. */
            readonly statement: string;
            readonly client_data_json: string;
            readonly authenticator_data: string;
            readonly signature: string;
        };
        /**
         * @default {}
         * @example {
         *       "approver_id": "desk-lead",
         *       "reason": "Not this week."
         *     }
         */
        readonly MovementRejectRequest: {
            readonly approver_id?: string;
            readonly reason?: string;
            /** @description Must match when sent. */
            readonly compiled_plan_hash?: string;
        };
        /**
         * @description Each field must match the node that would run, else `node_differs`.
         * @default {}
         * @example {
         *       "node_key": "check",
         *       "attempt": 1,
         *       "state": "READY"
         *     }
         */
        readonly NamedNode: {
            readonly node_key?: string;
            readonly attempt?: number;
            /** @enum {string} */
            readonly state?: "BLOCKED" | "READY" | "SUBMITTING" | "SUBMITTED" | "OBSERVING" | "COMPLETED" | "FAILED" | "UNKNOWN" | "SKIPPED" | "CANCELLED";
        };
        /**
         * @example {
         *       "reason": "Paid by hand; see the ticket of that day.",
         *       "attention_reason": "failed"
         *     }
         */
        readonly MovementAcknowledgeRequest: {
            readonly reason: string;
            /**
             * @description The reason that was shown and is dealt with, as the acknowledge of `attention.actions` has it. Where it is none that may be acknowledged now, nothing changes: `node_differs`. A late landing (`landed_late`) has to be named.
             * @enum {string}
             */
            readonly attention_reason?: "approval" | "approval_expires_soon" | "approval_unsatisfiable" | "approval_compromised" | "unknown_outcome" | "landed_late" | "manual_gate" | "failed" | "lane_stuck" | "clock_difference" | "lane_blocked" | "delivery_late" | "executor_unavailable" | "venue_suspended" | "withdrawal_quota_exhausted" | "observed_long" | "run_stuck";
            /** @description The node that the reason is about, as the same offer has it. */
            readonly node_key?: string;
        };
        /**
         * @example {
         *       "outcome": "completed",
         *       "reason": "The venue shows the withdrawal as paid.",
         *       "evidence": {
         *         "statement": "2026-11",
         *         "line": 17
         *       }
         *     }
         */
        readonly MovementNodeResolveRequest: {
            /**
             * @description `completed`: its effect landed; `failed`: proven that it did not; `abandoned`: neither can be known, and it may still land.
             * @enum {string}
             */
            readonly outcome: "completed" | "failed" | "abandoned";
            readonly reason: string;
            /** @description What proves it: a reference, a statement line, a transaction hash. */
            readonly evidence: components["schemas"]["JsonObject"];
            /** @description The attempt that the evidence is about, as `attention.attempt` shows it; the first unless named. Where the node is at another one, nothing changes: `node_differs`. */
            readonly attempt?: number;
            /** @description Only with `completed`: the node's output, as its executor would have returned it. Without it the node's amount counts as sent, and fills each output field that an `amount_ref` names. A node that claims a payment, message or record names it here; it is read at its source. */
            readonly output?: components["schemas"]["JsonObject"];
            /** @description Only with `completed`, in place of `output`, for a burn or its mint: the transaction that minted it. It is read on the chain, which decides. Where burns of the same terms are open, one of each. */
            readonly mint_tx_hashes?: readonly string[];
        };
        /**
         * @example {
         *       "to_movement_id": "01920000-0000-7000-8000-000000000002",
         *       "to_node_key": "arrive",
         *       "reason": "The sender named the other invoice.",
         *       "evidence": {
         *         "letter": "2026-11-25"
         *       }
         *     }
         */
        readonly MovementNodeReassignRequest: {
            readonly to_movement_id: components["schemas"]["Id"];
            /** @description The node that the payment is for. */
            readonly to_node_key: string;
            readonly reason: string;
            /** @description What proves whose payment it is. */
            readonly evidence: components["schemas"]["JsonObject"];
        };
        /**
         * @example {
         *       "reason": "The fees of the day are above what this payment is worth."
         *     }
         */
        readonly MovementNodeCancelTransactionRequest: {
            readonly reason: string;
        };
        /**
         * @example {
         *       "decision": "approve"
         *     }
         */
        readonly ChallengeRequest: {
            /** @constant */
            readonly decision: "approve";
        };
        /**
         * @example {
         *       "statement": "svc-passkey/1\n6f0b2f0c-5a61-4f0e-9a0e-7f5a3f1c2d3e\nann\nq83vEjRWeJA\n2026-11-28T09:00:00.000Z",
         *       "client_data_json": "eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0",
         *       "attestation_object": "o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YVg"
         *     }
         */
        readonly PasskeyOffer: {
            /** @description The text whose SHA-256 was the challenge. */
            readonly statement: string;
            readonly client_data_json: string;
            readonly attestation_object: string;
        };
        /**
         * @example {
         *       "hash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
         *     }
         */
        readonly ChangeApproveRequest: {
            /** @description The hash of the request that was reviewed. */
            readonly hash: string;
            /** @description Why; a rule may require it. */
            readonly reason?: string;
            readonly assertion?: components["schemas"]["Assertion"];
        };
        /**
         * @example {
         *       "reason": "not our counterparty"
         *     }
         */
        readonly ChangeRejectRequest: {
            readonly reason?: string;
        };
        /**
         * @example {
         *       "template_key": "treasury/checked-transfer",
         *       "name": "A step, and a person who looks at it",
         *       "version": 1,
         *       "nodes": [
         *         {
         *           "node_key": "step",
         *           "node_kind": "action",
         *           "action_type": "noop"
         *         },
         *         {
         *           "node_key": "look",
         *           "node_kind": "manual_gate",
         *           "action_type": "manual_gate"
         *         }
         *       ],
         *       "edges": [
         *         {
         *           "from": "step",
         *           "to": "look",
         *           "edge_type": "on_success",
         *           "condition_expr": "dec(intent.amount) > dec(\"1000\")"
         *         }
         *       ],
         *       "risk_controls": {
         *         "max_amount": "50000"
         *       },
         *       "completion_policy": {
         *         "completion_assurance": "provider_completed"
         *       }
         *     }
         */
        readonly PlanTemplateCreateRequest: {
            /**
             * @description Identifies the template; many versions share a key. In a path its slashes stand as they are, not as %2F.
             * @example treasury/cex-to-wallet
             */
            readonly template_key: string;
            readonly name: string;
            readonly version: number;
            readonly owner?: string | null;
            readonly nodes: readonly components["schemas"]["PlanNodeCreate"][];
            /** @default [] */
            readonly edges?: readonly components["schemas"]["PlanEdgeCreate"][];
            /** @default {} */
            readonly approval_policy?: components["schemas"]["JsonObject"];
            /** @default {} */
            readonly risk_controls?: components["schemas"]["RiskControls"];
            /** @description Required: without completion_assurance the answer is `completion_policy_missing`. */
            readonly completion_policy?: {
                /** @enum {string} */
                readonly completion_assurance?: "provider_completed" | "destination_observed" | "destination_credited" | "destination_finalized" | "protocol_finalized";
            } | null;
        };
        readonly PlanNodeCreate: {
            readonly node_key: string;
            /** @enum {string} */
            readonly node_kind: "action" | "observe" | "manual_gate" | "compensation" | "post_action";
            readonly action_type: string;
            readonly executor_selector?: components["schemas"]["ExecutorSelector"] | null;
            readonly signer_selector?: components["schemas"]["SignerSelector"] | null;
            readonly input_schema?: components["schemas"]["JsonObject"] | null;
            readonly config?: components["schemas"]["JsonObject"] | null;
            /** @default false */
            readonly has_side_effect?: boolean;
            readonly timeout_policy?: components["schemas"]["TimeoutPolicy"] | null;
            readonly retry_policy?: components["schemas"]["RetryPolicy"] | null;
            readonly risk_patch?: components["schemas"]["RiskPatch"] | null;
        };
        /** @description Overrides risk_controls for this node; max_amount may only be tightened. */
        readonly RiskPatch: components["schemas"]["JsonObject"];
        readonly PlanEdgeCreate: {
            readonly from: string;
            readonly to: string;
            /** @enum {string} */
            readonly edge_type: "on_success" | "on_failure" | "on_timeout" | "on_cancel" | "on_manual_resume";
            readonly condition_expr?: string | null;
            /** @default 0 */
            readonly priority?: number;
            readonly join_key?: string | null;
        };
        /** @description Free-form; only max_amount and min_amount have an effect. */
        readonly RiskControls: components["schemas"]["JsonObject"];
        /**
         * @description Only the submitted fields change; null clears a cap. Without both caps auto_approve_enabled cannot be true.
         * @example {
         *       "auto_approve_enabled": true,
         *       "daily_cap_amount": "10000",
         *       "daily_cap_asset": "USDC"
         *     }
         */
        readonly PlanTemplateAdminUpdate: {
            readonly auto_approve_enabled?: boolean;
            readonly daily_cap_amount?: components["schemas"]["Decimal"] | null;
            readonly daily_cap_asset?: string | null;
        };
        /**
         * @example {
         *       "reason": "Version 2 pays the new treasury."
         *     }
         */
        readonly PlanTemplateRetireRequest: {
            readonly reason: string;
        };
        /**
         * @example {
         *       "asset": "USDC",
         *       "source_venue": "paper-main",
         *       "destination_venue": null,
         *       "amount": "1250.5",
         *       "priority": "cost"
         *     }
         */
        readonly RouteRecommendationRequestInput: {
            /**
             * @description Compared in upper case.
             * @example USDC
             */
            readonly asset: string;
            /**
             * @description Only routes that begin there.
             * @default null
             */
            readonly source_venue?: string | null;
            /**
             * @description Only routes that end there.
             * @default null
             */
            readonly destination_venue?: string | null;
            /**
             * @description Null skips the checks of limits.
             * @default null
             */
            readonly amount?: components["schemas"]["PositiveDecimal"] | null;
            /**
             * @default speed
             * @enum {string}
             */
            readonly priority?: "speed" | "cost";
        };
        /**
         * @example {
         *       "status": "disabled",
         *       "reason": "The venue announced maintenance."
         *     }
         */
        readonly UpdateRegistryStatusRequest: {
            /** @enum {string} */
            readonly status: "active" | "disabled";
            readonly reason?: string;
        };
        /**
         * @example {
         *       "max_gas_cost_wei": "200000000000000000",
         *       "ttl_seconds": 3600,
         *       "reason": "Nonce 41 has to be used up while gas is dear."
         *     }
         */
        readonly RaiseLaneCapsRequest: {
            /** @description Most that one transaction may cost. */
            readonly max_gas_cost_wei?: string;
            /** @description Most that is offered for gas; only where the chain has such a cap. */
            readonly max_fee_per_gas_gwei?: string;
            /** @description So long it holds; 0 ends it. */
            readonly ttl_seconds: number;
            readonly reason: string;
        };
        /**
         * @example {
         *       "expected_address": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
         *       "previous_expected_address": null,
         *       "reason": "Pinned after the key ceremony."
         *     }
         */
        readonly SetExpectedSignerIdentityRequest: {
            /** @example 0x70997970C51812dc3A010C7d01b50e0d17dc79C8 */
            readonly expected_address: string;
            /** @description The pin as it stands; null when there is none. */
            readonly previous_expected_address: string | null;
            readonly reason: string;
        };
        /**
         * @example {
         *       "mode": "normal",
         *       "reason": "The signing service runs on its new host."
         *     }
         */
        readonly CutoverModeRequest: {
            /** @enum {string} */
            readonly mode: "normal" | "drain" | "frozen";
            readonly reason: string;
        };
        /**
         * @example {
         *       "source_venue": "paper-main",
         *       "destination_venue": "paper-sub-a",
         *       "destination_account_type": "USDT_FUTURE",
         *       "asset": "USDT",
         *       "amount": "2500",
         *       "reason": "margin for the basis strategy",
         *       "idempotency_key": "margin-2026-11-21-1",
         *       "strategy_id": "basis"
         *     }
         */
        readonly CapitalTransferCreateRequest: {
            /** @description Key of a venue binding. */
            readonly source_venue: string;
            /** @description The same as the source to move between two account types of one sub-account. */
            readonly destination_venue: string;
            /**
             * @description SPOT or USDT_FUTURE, in any case; SPOT when absent or empty.
             * @default SPOT
             */
            readonly source_account_type?: string;
            /**
             * @description SPOT or USDT_FUTURE, in any case; SPOT when absent or empty.
             * @default SPOT
             */
            readonly destination_account_type?: string;
            readonly asset: string;
            readonly amount: components["schemas"]["PositiveDecimal"];
            /** @description For the audit; not part of what a repeat is compared by. */
            readonly reason: string;
            readonly idempotency_key: string;
            readonly strategy_id?: string;
            /** @description Where `request_attention` is sent when it comes to need a person: https, or http to a loopback host. */
            readonly callback_url?: string;
        };
        /**
         * @example {
         *       "resolution": "completed",
         *       "reason": "Confirmed on the statement of the account.",
         *       "provider_transfer_id": "11945860693"
         *     }
         */
        readonly CapitalTransferResolveRequest: {
            /**
             * @description `completed`: the funds were moved; `failed`: proven that they were not; `manual_intervention`: left open for a person.
             * @enum {string}
             */
            readonly resolution: "completed" | "failed" | "manual_intervention";
            readonly reason: string;
            /** @description The provider's id of the record that proves it. */
            readonly provider_transfer_id?: string;
        };
        /**
         * @example {
         *       "client_id": "01938a5e-7c00-7b3a-9d2f-5b1c7e8a4f10",
         *       "strategy_id": "rebalancing",
         *       "allowed_templates": [
         *         {
         *           "template_key": "treasury/withdraw",
         *           "template_version": 1
         *         }
         *       ],
         *       "allowed_assets": [
         *         "USDC"
         *       ],
         *       "max_amount_per_request": "25000",
         *       "window_hours": 24,
         *       "max_amount_per_window": "100000",
         *       "max_count_per_window": 20
         *     }
         */
        readonly CreatePolicyRequest: {
            readonly client_id: components["schemas"]["Id"];
            readonly strategy_id: string;
            /** @default true */
            readonly is_active?: boolean;
            /**
             * @description Empty allows no template.
             * @default []
             */
            readonly allowed_templates?: readonly components["schemas"]["AllowedTemplateEntry"][];
            /**
             * @description Empty allows no asset.
             * @default []
             */
            readonly allowed_assets?: readonly string[];
            /** @default null */
            readonly max_amount_per_request?: components["schemas"]["Decimal"] | null;
            /**
             * @description The rolling window of the two caps; they need it.
             * @default null
             */
            readonly window_hours?: number | null;
            /**
             * @description Of all assets together, so let a policy with it allow assets of one unit.
             * @default null
             */
            readonly max_amount_per_window?: components["schemas"]["Decimal"] | null;
            /** @default null */
            readonly max_count_per_window?: number | null;
        };
        /** @description Without a version, or with null, every version of the key is allowed. A key in the namespace of an agent (`agent/…`) needs one. */
        readonly AllowedTemplateEntry: {
            /**
             * @description Identifies the template; many versions share a key. In a path its slashes stand as they are, not as %2F.
             * @example treasury/cex-to-wallet
             */
            readonly template_key: string;
            /** @default null */
            readonly template_version?: number | null;
        };
        /**
         * @description Only the submitted fields change; null takes a limit away.
         * @example {
         *       "is_active": false
         *     }
         */
        readonly UpdatePolicyRequest: {
            readonly is_active?: boolean;
            readonly allowed_templates?: readonly components["schemas"]["AllowedTemplateEntry"][];
            readonly allowed_assets?: readonly string[];
            readonly max_amount_per_request?: components["schemas"]["Decimal"] | null;
            readonly window_hours?: number | null;
            readonly max_amount_per_window?: components["schemas"]["Decimal"] | null;
            readonly max_count_per_window?: number | null;
        };
        /**
         * @example {
         *       "asset": "USDC",
         *       "protocol_family": "onchain_transfer",
         *       "proposal_kind": "ephemeral",
         *       "source_chain": "local-chain",
         *       "destination_chain": "local-chain",
         *       "destination_chain_id": 31337,
         *       "destination_address": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
         *       "signer_profile": "treasury",
         *       "requested_notional": "125.5",
         *       "ttl_seconds": 900
         *     }
         */
        readonly TemplateProposalRequest: {
            /** @description Stored in upper case. */
            readonly asset: string;
            /** @description Which blueprint the plan is made by: onchain_transfer, cctp, bridge_c, cex_withdrawal, perp_deposit, perp_withdraw. Of any other the proposal is rejected. */
            readonly protocol_family: string;
            /**
             * @description `static`: one version, for up to the authority's max_notional. `ephemeral`: a version whose max_amount covers the notional.
             * @enum {string}
             */
            readonly proposal_kind: "static" | "ephemeral";
            /** @description Where the funds are: a chain's venue key or decimal id, an exchange account's or the perps venue's venue key. */
            readonly source_chain: string;
            /** @description Where they go: likewise; for a withdrawal from an exchange its name for the network. */
            readonly destination_chain: string;
            readonly destination_chain_id: number;
            readonly destination_address: string;
            readonly signer_profile: string;
            /** @description In units of the asset. */
            readonly requested_notional: components["schemas"]["PositiveDecimal"];
            /** @description Until it expires unless promoted. */
            readonly ttl_seconds: number;
            /** @description May be sent as the header `Idempotency-Key` instead; both must be equal. */
            readonly idempotency_key?: string;
        };
        /**
         * @example {
         *       "asset": "USDC",
         *       "protocol_family": "onchain_transfer",
         *       "proposal_kind": "ephemeral",
         *       "source_chain": "local-chain",
         *       "destination_chain": "local-chain",
         *       "destination_chain_id": 31337,
         *       "destination_address": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
         *       "signer_profile": "treasury",
         *       "requested_notional": "125.5",
         *       "ttl_seconds": 900,
         *       "callback_url": "https://agent.example/callbacks"
         *     }
         */
        readonly BridgeAttemptRequest: {
            /** @description Stored in upper case. */
            readonly asset: string;
            /** @description Which blueprint the plan is made by: onchain_transfer, cctp, bridge_c, cex_withdrawal, perp_deposit, perp_withdraw. Of any other the proposal is rejected. */
            readonly protocol_family: string;
            /**
             * @description `static`: one version, for up to the authority's max_notional. `ephemeral`: a version whose max_amount covers the notional.
             * @enum {string}
             */
            readonly proposal_kind: "static" | "ephemeral";
            /** @description Where the funds are: a chain's venue key or decimal id, an exchange account's or the perps venue's venue key. */
            readonly source_chain: string;
            /** @description Where they go: likewise; for a withdrawal from an exchange its name for the network. */
            readonly destination_chain: string;
            readonly destination_chain_id: number;
            readonly destination_address: string;
            readonly signer_profile: string;
            /** @description In units of the asset. */
            readonly requested_notional: components["schemas"]["PositiveDecimal"];
            /** @description Until it expires unless promoted. */
            readonly ttl_seconds: number;
            /** @description Of the movement: where its state changes are sent. */
            readonly callback_url?: string;
            /** @description May be sent as the header `Idempotency-Key` instead; both must be equal. */
            readonly idempotency_key?: string;
        };
        /**
         * @example {
         *       "master_address": "0x90F79bf6EB2c4f870365E785982E1f101E93b906",
         *       "signer_key": "perp-master",
         *       "network": "testnet",
         *       "label": "treasury"
         *     }
         */
        readonly CreateMasterAccountRequest: {
            /** @description In upper or lower case, or mixed with the right checksum; not zero. */
            readonly master_address: string;
            /** @description Who signs for it; its live address is the same. */
            readonly signer_key: string;
            /** @description In any case. */
            readonly network: string;
            /** @default null */
            readonly label?: string | null;
        };
        /**
         * @example {
         *       "strategy_id": "basis",
         *       "max_agent_balance": "25000"
         *     }
         */
        readonly CreateStrategyBindingRequest: {
            readonly strategy_id: string;
            /**
             * @description One of the master's sub-accounts, and this strategy's only.
             * @default null
             */
            readonly sub_account_address?: string | null;
            /**
             * @description A top-up never makes it have more than this.
             * @default null
             */
            readonly max_agent_balance?: components["schemas"]["Decimal"] | null;
        };
        /**
         * @example {
         *       "agent_name": "desk",
         *       "signer_key": "perp-agent"
         *     }
         */
        readonly CreateAgentWalletRequest: {
            /** @description The name at the venue, among all of the master's agents. */
            readonly agent_name: string & (unknown & unknown & unknown);
            /** @description Whose live address becomes the agent; one that was never used before. */
            readonly signer_key: string;
            /**
             * @description In the future, at most 180 days ahead; 90 days ahead when it is left out.
             * @default null
             */
            readonly valid_until?: string | null;
        };
        /**
         * @example {
         *       "asset": "USDC",
         *       "amount": "2500",
         *       "reason": "More margin for the week.",
         *       "idempotency_key": "basis-2026-11-24-1"
         *     }
         */
        readonly TopUpRequest: {
            readonly asset: string;
            readonly amount: components["schemas"]["Decimal"];
            readonly reason: string;
            readonly idempotency_key: string;
        };
        /**
         * @example {
         *       "paused": true,
         *       "reason": "The index price is off."
         *     }
         */
        readonly PauseStrategyRequest: {
            readonly paused: boolean;
            readonly reason: string;
        };
        /**
         * @example {
         *       "replace_with": "treasury-2027",
         *       "reason": "The yearly rotation.",
         *       "drill": true
         *     }
         */
        readonly RotateSignerRequest: {
            readonly replace_with: string;
            readonly reason: string;
            /**
             * @description Play it through and take it back; only the evidence stays.
             * @default false
             */
            readonly drill?: boolean;
            /**
             * @description Must be true where it is no drill.
             * @default false
             */
            readonly ack_impact?: boolean;
        };
        /**
         * @example {
         *       "chains": [
         *         "31337"
         *       ],
         *       "persist": true
         *     }
         */
        readonly SignerInventoryRequest: {
            readonly chains?: readonly string[];
            /** @default true */
            readonly persist?: boolean;
        };
        /**
         * @example {
         *       "chains": [
         *         "31337"
         *       ]
         *     }
         */
        readonly SignerAllowancesRequest: {
            readonly chains?: readonly string[];
        };
        /**
         * @example {
         *       "ack_allowances": true,
         *       "dust_threshold_usd": 0.01
         *     }
         */
        readonly RetireSignerRequest: {
            /** @default false */
            readonly ack_allowances?: boolean;
            /**
             * @description A ceiling in whole units of each asset; nothing is converted.
             * @default 0
             */
            readonly dust_threshold_usd?: number;
        };
        /**
         * @example {
         *       "chain": "base",
         *       "endpoint_identity": "30184:0x1a44076050125825900e736c501f859c50fe728c",
         *       "finality_age_seconds": 1200,
         *       "operator_label": "treasury"
         *     }
         */
        readonly CreateBridgeChainRequest: {
            readonly chain: string & (unknown & unknown);
            /** @description `<eid>:<address>`: the bridge's id of the chain and its endpoint's address there. No two chains have the same. */
            readonly endpoint_identity: string;
            /** @description How long the chain takes until a block is final. */
            readonly finality_age_seconds: number;
            /** @default null */
            readonly operator_label?: string | null;
        };
        /**
         * @description What is left out becomes null.
         * @example {
         *       "endpoint_identity": "30184:0x1a44076050125825900e736c501f859c50fe728c",
         *       "finality_age_seconds": 1500
         *     }
         */
        readonly ReplaceBridgeChainRequest: {
            /** @description What the path says, or left out. */
            readonly chain?: string & (unknown & unknown);
            /** @description `<eid>:<address>`: the bridge's id of the chain and its endpoint's address there. No two chains have the same. */
            readonly endpoint_identity: string;
            /** @description How long the chain takes until a block is final. */
            readonly finality_age_seconds: number;
            /** @default null */
            readonly operator_label?: string | null;
        };
        /**
         * @example {
         *       "src_chain": "base",
         *       "dst_chain": "arbitrum",
         *       "asset": "USDC",
         *       "expected_latency_seconds": 180,
         *       "detection_latency_budget_seconds": 900,
         *       "fee_native_budget": "0.002",
         *       "baseline_source": "forty transfers in November"
         *     }
         */
        readonly CreatePathBaselineRequest: {
            readonly src_chain: string & (unknown & unknown);
            readonly dst_chain: string & (unknown & unknown);
            readonly asset: string & (unknown & unknown);
            readonly expected_latency_seconds: number;
            /** @description A node that waits for its arrival longer than this needs attention. */
            readonly detection_latency_budget_seconds: number;
            /** @description The most that a send may cost, in the coin of the source chain. */
            readonly fee_native_budget: components["schemas"]["Decimal"];
            /** @default true */
            readonly enabled?: boolean;
            /** @default null */
            readonly disabled_reason?: string | null;
            /**
             * @description Where the figures come from.
             * @default null
             */
            readonly baseline_source?: string | null;
            /** @default null */
            readonly operator_label?: string | null;
        };
        /**
         * @description What is left out becomes null.
         * @example {
         *       "expected_latency_seconds": 180,
         *       "detection_latency_budget_seconds": 900,
         *       "fee_native_budget": "0.002",
         *       "enabled": false,
         *       "disabled_reason": "The deliverer is being replaced."
         *     }
         */
        readonly ReplacePathBaselineRequest: {
            /** @description What the path says, or left out. */
            readonly src_chain?: string & (unknown & unknown);
            /** @description What the path says, or left out. */
            readonly dst_chain?: string & (unknown & unknown);
            /** @description What the path says, or left out. */
            readonly asset?: string & (unknown & unknown);
            readonly expected_latency_seconds: number;
            /** @description A node that waits for its arrival longer than this needs attention. */
            readonly detection_latency_budget_seconds: number;
            /** @description The most that a send may cost, in the coin of the source chain. */
            readonly fee_native_budget: components["schemas"]["Decimal"];
            readonly enabled: boolean;
            /** @default null */
            readonly disabled_reason?: string | null;
            /**
             * @description Where the figures come from.
             * @default null
             */
            readonly baseline_source?: string | null;
            /** @default null */
            readonly operator_label?: string | null;
        };
        /**
         * @example {
         *       "evidence_path": "drills/2026-11/base-arbitrum-usdc.json"
         *     }
         */
        readonly DrillPassRequest: {
            /** @description Where the evidence is kept. It is stored and never opened. */
            readonly evidence_path: string;
        };
        /** @description The answer of 429, the only one whose `detail` is a text. */
        readonly RateLimited: {
            /** @constant */
            readonly detail: "rate limit exceeded";
        };
    };
    responses: never;
    parameters: {
        /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
        readonly RequestId: string;
        /** @description Replaces `idempotency_key` of the body; where both are sent they must be equal. On a write without that field it is 422, unless that only stops or narrows something. */
        readonly IdempotencyKey: string;
        /** @description `true` writes nothing and answers 200 with what would happen. It is signed with the query, so that nothing on the way can turn a preview into a create. */
        readonly DryRunQuery: "true" | "false";
        /** @description The same as the parameter `dry_run`, but not signed: a proxy that drops it makes a create of a preview. The two must not differ; any other value, and the header on an operation that does not list it, is 422. */
        readonly DryRun: "true" | "false";
    };
    requestBodies: never;
    headers: {
        /** @description The id of the request, in logs and audit too. */
        readonly RequestId: string;
        /** @description The methods that the path takes. */
        readonly Allow: string;
        /** @description Whole seconds until the window of the key ends. */
        readonly RetryAfter: number;
        /** @description With `overloaded`: after how many seconds to come again. */
        readonly RetryAfterOverload: number;
        /** @description Present, and `true`, when the answer is the result of an earlier request with the same idempotency key. */
        readonly IdempotentReplayed: "true";
    };
    pathItems: never;
}
export interface operations {
    readonly healthz: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Alive */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly ok: boolean;
                        readonly service: string;
                        readonly api_prefix: string;
                    };
                };
            };
        };
    };
    readonly listMovements: {
        readonly parameters: {
            readonly query?: {
                readonly state?: "PENDING_APPROVAL" | "APPROVED" | "EXECUTING" | "COMPLETED" | "FAILED" | "WAITING_MANUAL_ACTION" | "MANUAL_INTERVENTION" | "REJECTED" | "EXPIRED" | "CANCELLED";
                readonly strategy_id?: string;
                readonly template_key?: string;
                readonly asset?: string;
                readonly external_reference?: string;
                readonly metadata?: {
                    readonly [key: string]: string;
                };
                readonly needs_attention?: "true";
                readonly created_from?: string;
                readonly created_to?: string;
                readonly limit?: number;
                readonly cursor?: string;
            };
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["MovementList"];
                };
            };
        };
    };
    readonly createMovement: {
        readonly parameters: {
            readonly query?: {
                /** @description `true` writes nothing and answers 200 with what would happen. It is signed with the query, so that nothing on the way can turn a preview into a create. */
                readonly dry_run?: components["parameters"]["DryRunQuery"];
            };
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
                /** @description Replaces `idempotency_key` of the body; where both are sent they must be equal. On a write without that field it is 422, unless that only stops or narrows something. */
                readonly "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The same as the parameter `dry_run`, but not signed: a proxy that drops it makes a create of a preview. The two must not differ; any other value, and the header on an operation that does not list it, is 422. */
                readonly "Dry-Run"?: components["parameters"]["DryRun"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["MovementCreateRequest"];
            };
        };
        readonly responses: {
            /** @description With `dry_run=true`: what would happen, nothing was written. Else a repeat of an idempotency key: the first result, with the header `Idempotent-Replayed: true`. */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly "Idempotent-Replayed": components["headers"]["IdempotentReplayed"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["MovementPreview"] | components["schemas"]["MovementCreateResponse"];
                };
            };
            /** @description Success */
            readonly 201: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["MovementCreateResponse"];
                };
            };
        };
    };
    readonly getMovement: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly movement_id: components["schemas"]["Id"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["MovementDetail"];
                };
            };
        };
    };
    readonly getMovementPlan: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly movement_id: components["schemas"]["Id"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["JsonObject"];
                };
            };
        };
    };
    readonly getMovementTimeline: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly movement_id: components["schemas"]["Id"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["MovementTimelineEventView"][];
                };
            };
        };
    };
    readonly approveMovement: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly movement_id: components["schemas"]["Id"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["MovementApproveRequest"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["MovementActionResponse"];
                };
            };
        };
    };
    readonly withdrawApproval: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly movement_id: components["schemas"]["Id"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": Record<string, never>;
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["MovementActionResponse"];
                };
            };
        };
    };
    readonly rejectMovement: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly movement_id: components["schemas"]["Id"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": components["schemas"]["MovementRejectRequest"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["MovementActionResponse"];
                };
            };
        };
    };
    readonly resumeMovement: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly movement_id: components["schemas"]["Id"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": components["schemas"]["NamedNode"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["MovementActionResponse"];
                };
            };
            /** @description An approval rule makes this call wait for people; nothing else was done. */
            readonly 202: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ChangeRequested"];
                };
            };
        };
    };
    readonly retryMovement: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly movement_id: components["schemas"]["Id"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": components["schemas"]["NamedNode"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["MovementActionResponse"];
                };
            };
            /** @description An approval rule makes this call wait for people; nothing else was done. */
            readonly 202: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ChangeRequested"];
                };
            };
        };
    };
    readonly cancelMovement: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly movement_id: components["schemas"]["Id"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": Record<string, never>;
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["MovementActionResponse"];
                };
            };
        };
    };
    readonly resetMovementAllowances: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly movement_id: components["schemas"]["Id"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": Record<string, never>;
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ResetAllowancesResponse"];
                };
            };
        };
    };
    readonly acknowledgeMovement: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly movement_id: components["schemas"]["Id"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["MovementAcknowledgeRequest"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["MovementActionResponse"];
                };
            };
        };
    };
    readonly resolveMovementNode: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly movement_id: components["schemas"]["Id"];
                readonly node_key: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["MovementNodeResolveRequest"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["MovementActionResponse"];
                };
            };
            /** @description An approval rule makes this call wait for people; nothing else was done. */
            readonly 202: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ChangeRequested"];
                };
            };
        };
    };
    readonly reassignNodePayment: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly movement_id: components["schemas"]["Id"];
                readonly node_key: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["MovementNodeReassignRequest"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ReassignResponse"];
                };
            };
            /** @description An approval rule makes this call wait for people; nothing else was done. */
            readonly 202: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ChangeRequested"];
                };
            };
        };
    };
    readonly cancelNodeTransaction: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly movement_id: components["schemas"]["Id"];
                readonly node_key: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["MovementNodeCancelTransactionRequest"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["MovementActionResponse"];
                };
            };
        };
    };
    readonly listPeople: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PersonList"];
                };
            };
        };
    };
    readonly listApproverGroups: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ApproverGroupList"];
                };
            };
        };
    };
    readonly listApprovalRules: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ApprovalRuleList"];
                };
            };
        };
    };
    readonly listMovementApprovers: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly movement_id: components["schemas"]["Id"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["MovementApprovers"];
                };
            };
        };
    };
    readonly challengeMovementApproval: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly movement_id: components["schemas"]["Id"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["ChallengeRequest"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Challenge"];
                };
            };
        };
    };
    readonly listPasskeys: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PasskeyList"];
                };
            };
        };
    };
    readonly offerPasskey: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["PasskeyOffer"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 201: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["OfferedPasskey"];
                };
            };
        };
    };
    readonly challengePasskey: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": Record<string, never>;
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PasskeyChallenge"];
                };
            };
        };
    };
    readonly listChangeRequests: {
        readonly parameters: {
            readonly query?: {
                readonly state?: "open" | "applied" | "rejected" | "withdrawn" | "failed" | "outdated" | "expired";
                readonly kind?: "allowlist" | "policies" | "templates" | "executors" | "signers" | "bridge" | "perps" | "cutover" | "keys" | "approval_rules" | "capital_transfer" | "movement_action";
                readonly break_glass?: boolean;
                readonly created_from?: string;
                readonly created_to?: string;
                readonly limit?: number;
                readonly cursor?: string;
            };
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ChangeRequestList"];
                };
            };
        };
    };
    readonly getChangeRequest: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly change_request_id: components["schemas"]["Id"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ChangeRequest"];
                };
            };
        };
    };
    readonly getChangeRequestDocument: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly change_request_id: components["schemas"]["Id"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ChangeRequestDocument"];
                };
            };
        };
    };
    readonly approveChangeRequest: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly change_request_id: components["schemas"]["Id"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["ChangeApproveRequest"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ChangeRequest"];
                };
            };
        };
    };
    readonly challengeChangeRequestApproval: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly change_request_id: components["schemas"]["Id"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["ChallengeRequest"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Challenge"];
                };
            };
        };
    };
    readonly withdrawChangeRequestApproval: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly change_request_id: components["schemas"]["Id"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": Record<string, never>;
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ChangeRequest"];
                };
            };
        };
    };
    readonly rejectChangeRequest: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly change_request_id: components["schemas"]["Id"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": components["schemas"]["ChangeRejectRequest"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ChangeRequest"];
                };
            };
        };
    };
    readonly withdrawChangeRequest: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly change_request_id: components["schemas"]["Id"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": Record<string, never>;
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ChangeRequest"];
                };
            };
        };
    };
    readonly getMovementGraph: {
        readonly parameters: {
            readonly query?: {
                readonly format?: "json" | "mermaid";
            };
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly movement_id: components["schemas"]["Id"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["MovementGraph"];
                    readonly "text/plain": string;
                };
            };
        };
    };
    readonly getPlanTemplateGraph: {
        readonly parameters: {
            readonly query?: {
                readonly format?: "json" | "mermaid";
            };
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly template_id: components["schemas"]["Id"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PlanTemplateGraph"];
                    readonly "text/plain": string;
                };
            };
        };
    };
    readonly listPlanTemplates: {
        readonly parameters: {
            readonly query?: {
                readonly template_key?: string;
                readonly executable?: boolean;
                readonly status?: "active" | "retired";
                readonly created_from?: string;
                readonly created_to?: string;
                readonly limit?: number;
                readonly cursor?: string;
            };
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PlanTemplateListResponse"];
                };
            };
        };
    };
    readonly createPlanTemplate: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["PlanTemplateCreateRequest"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 201: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PlanTemplateCreateResponse"];
                };
            };
            /** @description An approval rule makes this call wait for people; nothing else was done. */
            readonly 202: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ChangeRequested"];
                };
            };
        };
    };
    readonly getPlanTemplate: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly template_id: components["schemas"]["Id"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PlanTemplateDetailResponse"];
                };
            };
        };
    };
    readonly updatePlanTemplateAdmin: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                /** @description Here the `template_key`. The rest of the path: send each `/` in it as it is, never as `%2F`. */
                readonly template_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["PlanTemplateAdminUpdate"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PlanTemplateAdminResponse"];
                };
            };
            /** @description An approval rule makes this call wait for people; nothing else was done. */
            readonly 202: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ChangeRequested"];
                };
            };
        };
    };
    readonly retirePlanTemplate: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly template_id: components["schemas"]["Id"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["PlanTemplateRetireRequest"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PlanTemplateRetireResponse"];
                };
            };
        };
    };
    readonly listRoutes: {
        readonly parameters: {
            readonly query?: {
                readonly include_health?: boolean;
                readonly status?: "executable" | "non_executable" | "all";
            };
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RouteCatalog"];
                };
            };
        };
    };
    readonly recommendRoutes: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["RouteRecommendationRequestInput"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RouteRecommendations"];
                };
            };
        };
    };
    readonly listExecutors: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["ExecutorRegistryView"][];
                };
            };
        };
    };
    readonly updateExecutorStatus: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly executor_key: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["UpdateRegistryStatusRequest"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ExecutorRegistryView"];
                };
            };
            /** @description An approval rule makes this call wait for people; nothing else was done. */
            readonly 202: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ChangeRequested"];
                };
            };
        };
    };
    readonly listSigners: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["SignerRegistryView"][];
                };
            };
        };
    };
    readonly updateSignerStatus: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly signer_key: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["UpdateRegistryStatusRequest"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SignerRegistryView"];
                };
            };
            /** @description An approval rule makes this call wait for people; nothing else was done. */
            readonly 202: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ChangeRequested"];
                };
            };
        };
    };
    readonly raiseLaneCaps: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly chain_id: string;
                readonly address: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["RaiseLaneCapsRequest"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SignerLane"];
                };
            };
            /** @description An approval rule makes this call wait for people; nothing else was done. */
            readonly 202: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ChangeRequested"];
                };
            };
        };
    };
    readonly setExpectedSignerIdentity: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly signer_key: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["SetExpectedSignerIdentityRequest"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SetExpectedSignerIdentityResponse"];
                };
            };
            /** @description An approval rule makes this call wait for people; nothing else was done. */
            readonly 202: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ChangeRequested"];
                };
            };
        };
    };
    readonly verifyRegistryDrift: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": Record<string, never>;
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RegistryDrift"];
                };
            };
        };
    };
    readonly refreshBridgeRegistry: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": Record<string, never>;
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BridgeRegistryRefresh"];
                };
            };
        };
    };
    readonly getCutoverMode: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CutoverMode"];
                };
            };
        };
    };
    readonly setCutoverMode: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["CutoverModeRequest"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CutoverMode"];
                };
            };
            /** @description An approval rule makes this call wait for people; nothing else was done. */
            readonly 202: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ChangeRequested"];
                };
            };
        };
    };
    readonly listBalances: {
        readonly parameters: {
            readonly query?: {
                readonly venue_key?: string;
                readonly asset?: string;
                readonly account_type?: string;
                readonly fresh?: boolean;
            };
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BalanceResponse"];
                };
            };
        };
    };
    readonly listCapitalTransfers: {
        readonly parameters: {
            readonly query?: {
                readonly state?: "CREATED" | "SUBMITTING" | "PENDING_PROVIDER_CONFIRMATION" | "COMPLETED" | "FAILED" | "MANUAL_INTERVENTION";
                readonly strategy_id?: string;
                readonly source_venue?: string;
                readonly destination_venue?: string;
                readonly asset?: string;
                readonly needs_attention?: "true";
                readonly created_from?: string;
                readonly created_to?: string;
                readonly limit?: number;
                readonly cursor?: string;
            };
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CapitalTransferList"];
                };
            };
        };
    };
    readonly createCapitalTransfer: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["CapitalTransferCreateRequest"];
            };
        };
        readonly responses: {
            /** @description A repeat: the first result */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly "Idempotent-Replayed": components["headers"]["IdempotentReplayed"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CapitalTransferView"];
                };
            };
            /** @description Success */
            readonly 201: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CapitalTransferView"];
                };
            };
            /** @description An approval rule makes this call wait for people; nothing else was done. */
            readonly 202: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ChangeRequested"];
                };
            };
        };
    };
    readonly getCapitalTransfer: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly transfer_id: components["schemas"]["Id"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CapitalTransferView"];
                };
            };
        };
    };
    readonly getCapitalTransferTimeline: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly transfer_id: components["schemas"]["Id"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["CapitalTransferEventView"][];
                };
            };
        };
    };
    readonly resolveCapitalTransfer: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly transfer_id: components["schemas"]["Id"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["CapitalTransferResolveRequest"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CapitalTransferView"];
                };
            };
            /** @description An approval rule makes this call wait for people; nothing else was done. */
            readonly 202: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ChangeRequested"];
                };
            };
        };
    };
    readonly listAutoApprovePolicies: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["PolicyResponse"][];
                };
            };
        };
    };
    readonly createAutoApprovePolicy: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["CreatePolicyRequest"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 201: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PolicyResponse"];
                };
            };
            /** @description An approval rule makes this call wait for people; nothing else was done. */
            readonly 202: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ChangeRequested"];
                };
            };
        };
    };
    readonly getAutoApprovePolicy: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly policy_id: components["schemas"]["Id"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PolicyResponse"];
                };
            };
        };
    };
    readonly updateAutoApprovePolicy: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly policy_id: components["schemas"]["Id"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["UpdatePolicyRequest"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PolicyResponse"];
                };
            };
            /** @description An approval rule makes this call wait for people; nothing else was done. */
            readonly 202: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ChangeRequested"];
                };
            };
        };
    };
    readonly getBudget: {
        readonly parameters: {
            readonly query?: {
                readonly client_id?: components["schemas"]["Id"];
            };
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly strategy_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BudgetResponse"];
                };
            };
        };
    };
    readonly listCallbacks: {
        readonly parameters: {
            readonly query?: {
                readonly status?: "pending" | "delivered" | "dead_letter";
                readonly movement_id?: components["schemas"]["Id"];
                readonly transfer_id?: components["schemas"]["Id"];
                readonly webhook?: string;
                readonly created_from?: string;
                readonly created_to?: string;
                readonly limit?: number;
                readonly cursor?: string;
            };
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CallbackList"];
                };
            };
        };
    };
    readonly redeliverCallback: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly event_id: components["schemas"]["Id"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": Record<string, never>;
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CallbackView"];
                };
            };
        };
    };
    readonly listAuditEvents: {
        readonly parameters: {
            readonly query?: {
                readonly time_range_start?: string;
                readonly time_range_end?: string;
                readonly actor_client_id?: string;
                readonly actor_key_id?: string;
                readonly entity_key?: string;
                readonly action?: "plan_template.create" | "plan_template.update_admin_fields" | "plan_template.retire" | "movement.create" | "movement.approve" | "movement.record_approval" | "movement.withdraw_approval" | "movement.reject" | "movement.expire" | "movement.resume" | "movement.retry" | "movement.cancel" | "movement.resolve" | "movement.reassign" | "movement.acknowledge" | "movement.cancel_transaction" | "movement.reset_allowances" | "movement.complete" | "movement.fail" | "cutover.set_mode" | "executor.update_status" | "signer.update_status" | "signer.set_expected_identity" | "signer.rotate" | "signer.inventory" | "signer.allowances" | "signer.retire" | "nonce_lane.raise_caps" | "registry.verify_drift" | "bridge_chain.create" | "bridge_chain.replace" | "bridge_chain.delete" | "bridge_path.create" | "bridge_path.replace" | "bridge_path.delete" | "bridge_path.drill_pass" | "bridge_registry.refresh" | "perp_master.create" | "perp_binding.create" | "perp_binding.pause" | "perp_agent_wallet.create" | "perp_agent_wallet.activate" | "perp_agent_wallet.refuse" | "perp_agent_wallet.expire" | "database.after_restore" | "callback.redeliver" | "webhook.set" | "webhook.remove" | "webhook.test" | "api_key.issue" | "api_key.revoke" | "api_key.compromise" | "api_key.authenticate" | "route.call" | "agent_authority.create" | "agent_authority.update" | "dashboard_key.enrol" | "dashboard_key.fill" | "dashboard_key.confirm" | "dashboard_key.end" | "dashboard_key.compromise" | "dashboard_session.create" | "dashboard_session.end" | "template_proposal.create" | "template_proposal.promote" | "template_proposal.reject" | "template_proposal.expire" | "auto_approve_policy.create" | "auto_approve_policy.update" | "allowed_address.create" | "allowed_address.reactivate" | "allowed_address.revoke" | "allowed_address.set_chain" | "person.set" | "person.remove" | "approver_group.set" | "approver_group.remove" | "approval_rule.set" | "approval_rule.remove" | "approval_decision.record" | "passkey.offer" | "passkey.confirm" | "passkey.revoke" | "passkey.compromise" | "change_request.create" | "change_request.approve" | "change_request.reject" | "change_request.withdraw" | "change_request.withdraw_approval" | "change_request.fail" | "capital_transfer.create" | "capital_transfer.resolve" | "capital_transfer.complete" | "capital_transfer.fail";
                readonly request_id?: string;
                readonly outcome?: "success" | "denied" | "failed";
                readonly namespace?: string;
                readonly limit?: number;
                readonly cursor?: string;
                readonly entity_type?: string;
            };
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["AuditEventList"];
                };
            };
        };
    };
    readonly listRegistryAudit: {
        readonly parameters: {
            readonly query?: {
                readonly time_range_start?: string;
                readonly time_range_end?: string;
                readonly actor_client_id?: string;
                readonly actor_key_id?: string;
                readonly entity_key?: string;
                readonly action?: "plan_template.create" | "plan_template.update_admin_fields" | "plan_template.retire" | "movement.create" | "movement.approve" | "movement.record_approval" | "movement.withdraw_approval" | "movement.reject" | "movement.expire" | "movement.resume" | "movement.retry" | "movement.cancel" | "movement.resolve" | "movement.reassign" | "movement.acknowledge" | "movement.cancel_transaction" | "movement.reset_allowances" | "movement.complete" | "movement.fail" | "cutover.set_mode" | "executor.update_status" | "signer.update_status" | "signer.set_expected_identity" | "signer.rotate" | "signer.inventory" | "signer.allowances" | "signer.retire" | "nonce_lane.raise_caps" | "registry.verify_drift" | "bridge_chain.create" | "bridge_chain.replace" | "bridge_chain.delete" | "bridge_path.create" | "bridge_path.replace" | "bridge_path.delete" | "bridge_path.drill_pass" | "bridge_registry.refresh" | "perp_master.create" | "perp_binding.create" | "perp_binding.pause" | "perp_agent_wallet.create" | "perp_agent_wallet.activate" | "perp_agent_wallet.refuse" | "perp_agent_wallet.expire" | "database.after_restore" | "callback.redeliver" | "webhook.set" | "webhook.remove" | "webhook.test" | "api_key.issue" | "api_key.revoke" | "api_key.compromise" | "api_key.authenticate" | "route.call" | "agent_authority.create" | "agent_authority.update" | "dashboard_key.enrol" | "dashboard_key.fill" | "dashboard_key.confirm" | "dashboard_key.end" | "dashboard_key.compromise" | "dashboard_session.create" | "dashboard_session.end" | "template_proposal.create" | "template_proposal.promote" | "template_proposal.reject" | "template_proposal.expire" | "auto_approve_policy.create" | "auto_approve_policy.update" | "allowed_address.create" | "allowed_address.reactivate" | "allowed_address.revoke" | "allowed_address.set_chain" | "person.set" | "person.remove" | "approver_group.set" | "approver_group.remove" | "approval_rule.set" | "approval_rule.remove" | "approval_decision.record" | "passkey.offer" | "passkey.confirm" | "passkey.revoke" | "passkey.compromise" | "change_request.create" | "change_request.approve" | "change_request.reject" | "change_request.withdraw" | "change_request.withdraw_approval" | "change_request.fail" | "capital_transfer.create" | "capital_transfer.resolve" | "capital_transfer.complete" | "capital_transfer.fail";
                readonly request_id?: string;
                readonly outcome?: "success" | "denied" | "failed";
                readonly namespace?: string;
                readonly limit?: number;
                readonly cursor?: string;
                readonly entity_type?: "executor" | "signer" | "nonce_lane" | "registry" | "cutover_mode" | "bridge_chain" | "bridge_path" | "bridge_registry" | "perp_master" | "perp_binding" | "perp_agent_wallet";
            };
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["AuditEventList"];
                };
            };
        };
    };
    readonly getAuditSeal: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["AuditSeal"];
                };
            };
        };
    };
    readonly getAgentAuthority: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly authority_key: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["AgentAuthority"];
                };
            };
        };
    };
    readonly createTemplateProposal: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
                /** @description Replaces `idempotency_key` of the body; where both are sent they must be equal. On a write without that field it is 422, unless that only stops or narrows something. */
                readonly "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            readonly path: {
                readonly authority_key: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["TemplateProposalRequest"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TemplateProposal"];
                };
            };
            /** @description An approval rule makes this call wait for people; nothing else was done. */
            readonly 202: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ChangeRequested"];
                };
            };
        };
    };
    readonly createBridgeAttempt: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
                /** @description Replaces `idempotency_key` of the body; where both are sent they must be equal. On a write without that field it is 422, unless that only stops or narrows something. */
                readonly "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            readonly path: {
                readonly authority_key: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["BridgeAttemptRequest"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BridgeAttempt"];
                };
            };
            /** @description An approval rule makes this call wait for people; nothing else was done. */
            readonly 202: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ChangeRequested"];
                };
            };
        };
    };
    readonly listTemplateProposals: {
        readonly parameters: {
            readonly query?: {
                readonly status?: "submitted" | "auto_promoted" | "rejected" | "expired";
                readonly authority_key?: string;
                readonly created_from?: string;
                readonly created_to?: string;
                readonly limit?: number;
                readonly cursor?: string;
            };
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TemplateProposalListResponse"];
                };
            };
        };
    };
    readonly getTemplateProposal: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly proposal_id: components["schemas"]["Id"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TemplateProposalDetail"];
                };
            };
        };
    };
    readonly promoteTemplateProposal: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly proposal_id: components["schemas"]["Id"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": Record<string, never>;
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TemplateProposal"];
                };
            };
            /** @description An approval rule makes this call wait for people; nothing else was done. */
            readonly 202: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ChangeRequested"];
                };
            };
        };
    };
    readonly searchAll: {
        readonly parameters: {
            readonly query: {
                readonly q: string;
            };
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SearchResult"];
                };
            };
        };
    };
    readonly whoami: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Whoami"];
                };
            };
        };
    };
    readonly createMasterAccount: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["CreateMasterAccountRequest"];
            };
        };
        readonly responses: {
            /** @description Success, of a repeat too */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly "Idempotent-Replayed": components["headers"]["IdempotentReplayed"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["MasterAccount"];
                };
            };
            /** @description An approval rule makes this call wait for people; nothing else was done. */
            readonly 202: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ChangeRequested"];
                };
            };
        };
    };
    readonly createStrategyBinding: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["CreateStrategyBindingRequest"];
            };
        };
        readonly responses: {
            /** @description Success, of a repeat too */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly "Idempotent-Replayed": components["headers"]["IdempotentReplayed"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["StrategyBinding"];
                };
            };
            /** @description An approval rule makes this call wait for people; nothing else was done. */
            readonly 202: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ChangeRequested"];
                };
            };
        };
    };
    readonly getStrategyBinding: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly strategy_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["StrategyBinding"];
                };
            };
        };
    };
    readonly listAgentWallets: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly strategy_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["AgentWallet"][];
                };
            };
        };
    };
    readonly createAgentWallet: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly strategy_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["CreateAgentWalletRequest"];
            };
        };
        readonly responses: {
            /** @description Success, of a repeat too */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly "Idempotent-Replayed": components["headers"]["IdempotentReplayed"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["AgentWallet"];
                };
            };
            /** @description An approval rule makes this call wait for people; nothing else was done. */
            readonly 202: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ChangeRequested"];
                };
            };
        };
    };
    readonly topUpAgentWallet: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly strategy_id: string;
                readonly agent_name: string & (unknown & unknown & unknown);
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["TopUpRequest"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["MovementCreateResponse"];
                };
            };
        };
    };
    readonly pauseStrategy: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly strategy_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["PauseStrategyRequest"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["StrategyBinding"];
                };
            };
            /** @description An approval rule makes this call wait for people; nothing else was done. */
            readonly 202: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ChangeRequested"];
                };
            };
        };
    };
    readonly getEmergencyState: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly strategy_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["EmergencyState"];
                };
            };
        };
    };
    readonly rotateSigner: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly signer_key: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["RotateSignerRequest"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RotateSignerResponse"];
                };
            };
            /** @description An approval rule makes this call wait for people; nothing else was done. */
            readonly 202: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ChangeRequested"];
                };
            };
        };
    };
    readonly listSignerHoldings: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly signer_key: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["SignerInventoryRequest"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SignerInventory"];
                };
            };
        };
    };
    readonly listSignerAllowances: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly signer_key: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["SignerAllowancesRequest"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SignerAllowances"];
                };
            };
        };
    };
    readonly retireSigner: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly signer_key: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["RetireSignerRequest"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RetireSignerResponse"];
                };
            };
        };
    };
    readonly getSignerRotationHistory: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly signer_key: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SignerRotationHistory"];
                };
            };
        };
    };
    readonly listBridgeChains: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["BridgeChain"][];
                };
            };
        };
    };
    readonly createBridgeChain: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["CreateBridgeChainRequest"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BridgeChain"];
                };
            };
            /** @description An approval rule makes this call wait for people; nothing else was done. */
            readonly 202: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ChangeRequested"];
                };
            };
        };
    };
    readonly getBridgeChain: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly chain: string & (unknown & unknown);
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BridgeChain"];
                };
            };
        };
    };
    readonly replaceBridgeChain: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly chain: string & (unknown & unknown);
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["ReplaceBridgeChainRequest"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BridgeChain"];
                };
            };
            /** @description An approval rule makes this call wait for people; nothing else was done. */
            readonly 202: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ChangeRequested"];
                };
            };
        };
    };
    readonly deleteBridgeChain: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly chain: string & (unknown & unknown);
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": Record<string, never>;
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BridgeChain"];
                };
            };
        };
    };
    readonly listPathBaselines: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["PathBaseline"][];
                };
            };
        };
    };
    readonly createPathBaseline: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["CreatePathBaselineRequest"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PathBaseline"];
                };
            };
            /** @description An approval rule makes this call wait for people; nothing else was done. */
            readonly 202: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ChangeRequested"];
                };
            };
        };
    };
    readonly getPathBaseline: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly src_chain: string & (unknown & unknown);
                readonly dst_chain: string & (unknown & unknown);
                readonly asset: string & (unknown & unknown);
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PathBaseline"];
                };
            };
        };
    };
    readonly replacePathBaseline: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly src_chain: string & (unknown & unknown);
                readonly dst_chain: string & (unknown & unknown);
                readonly asset: string & (unknown & unknown);
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["ReplacePathBaselineRequest"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PathBaseline"];
                };
            };
            /** @description An approval rule makes this call wait for people; nothing else was done. */
            readonly 202: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ChangeRequested"];
                };
            };
        };
    };
    readonly deletePathBaseline: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly src_chain: string & (unknown & unknown);
                readonly dst_chain: string & (unknown & unknown);
                readonly asset: string & (unknown & unknown);
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": Record<string, never>;
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PathBaseline"];
                };
            };
        };
    };
    readonly recordDrillPass: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Kept when it is 1 to 128 of `A-Z a-z 0-9 . _ -`; anything else is replaced with a new one. */
                readonly "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            readonly path: {
                readonly src_chain: string & (unknown & unknown);
                readonly dst_chain: string & (unknown & unknown);
                readonly asset: string & (unknown & unknown);
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["DrillPassRequest"];
            };
        };
        readonly responses: {
            /** @description Success */
            readonly 200: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PathBaseline"];
                };
            };
            /** @description An approval rule makes this call wait for people; nothing else was done. */
            readonly 202: {
                headers: {
                    readonly "X-Request-Id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ChangeRequested"];
                };
            };
        };
    };
}
