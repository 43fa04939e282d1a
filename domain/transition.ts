/**
 * One change of a movement as data: what must still be true, what becomes true, and which records
 * are written. Pure functions, such as those in `commands/`, build the data; only
 * `store/transition.ts` applies it.
 */
import type { RequirementKind } from './actions/terms.ts';
import type { PayeeAddress } from './allowlist/match.ts';
import type { AssertionProblem } from './approval/evidence.ts';
import type { WhyNot } from './approval/rule.ts';
import type { Claim, ClaimHolder } from './claims.ts';
import type { ConditionResult } from './conditions/scope.ts';
import type { AuditAction, AuditOutcome, TimelineEventType } from './events.ts';
import type { Artifact, EvmUnsignedTransaction, TransactionKind } from './executor.ts';
import type { JsonObject } from './json.ts';
import type { Actor } from './roles.ts';
import type { ApprovalStatus, MovementState, ReservationStatus } from './states/movement.ts';
import type { NodeState } from './states/node.ts';

/** The database's clock at the write, or that many seconds later; null clears the field. */
export const NOW = '@now';
export type Stamp = typeof NOW | { readonly '@after_seconds': number } | null;

export interface MovementFields {
  readonly approval_status?: ApprovalStatus;
  readonly reservation_status?: ReservationStatus;
  readonly current_frontier?: readonly string[];
  readonly error_code?: string | null;
  readonly error_message?: string | null;
  readonly approver_id?: string;
  readonly approved_by?: string | null;
  readonly ended_at?: Stamp;
  readonly acknowledged_at?: Stamp;
}

export interface NodeFields {
  readonly attempt?: number;
  readonly amount?: string | null;
  readonly preflight_passed?: boolean;
  readonly prepared_action?: JsonObject | null;
  readonly sign_request?: JsonObject | null;
  readonly submit_epoch?: number;
  readonly send_not_after?: Stamp;
  readonly recover_first?: boolean;
  readonly restored?: boolean;
  readonly resumed?: boolean;
  /**
   * Whether an operator requested a check of an unknown outcome; until a retry, nothing is sent.
   */
  readonly only_look?: boolean;
  /** The attempt whose transaction an operator wants cancelled. */
  readonly cancel_asked?: number;
  readonly error_count?: number;
  /** Number of consecutive queries without an answer; the database keeps the time of the first. */
  readonly unanswered?: number;
  readonly external_ref?: string | null;
  readonly output?: JsonObject | null;
  readonly error_code?: string | null;
  readonly error_message?: string | null;
  readonly started_at?: Stamp;
  readonly submitted_at?: Stamp;
  readonly completed_at?: Stamp;
  /**
   * From when a person must know that the node waits for its venue; null: it does not wait. The
   * database clears it when the node's state changes.
   */
  readonly wait_overdue_at?: Stamp;
  /** When an abandoned node is looked for next; null: it has landed. */
  readonly next_late_look?: Stamp;
  /**
   * When an abandoned node was seen to land, or the chain was seen to contradict how a node had
   * ended.
   */
  readonly landed_late_at?: Stamp;
  /** When a person said that they have dealt with that. */
  readonly landing_seen_at?: Stamp;
}

/** Identifies a node of a movement. */
export interface NodeRef {
  readonly movement_id: string;
  readonly node_key: string;
}

export interface NodeChange {
  readonly node_key: string;
  /** The state that the node must be in; the first of `moves` starts from this state. */
  readonly from: NodeState;
  /**
   * The states that the node passes through; the last one is its new state. Empty when only fields
   * change.
   */
  readonly moves: readonly NodeState[];
  readonly attempt?: number;
  /** The submit epoch that the node must have: a worker that was replaced has an older epoch. */
  readonly epoch?: number;
  readonly set?: NodeFields;
  readonly artifacts?: readonly Artifact[];
  /** Claims a nonce in the account's nonce lane for this attempt. */
  readonly nonce?: {
    readonly chain_id: number;
    readonly address: string;
    readonly chain_nonce: number;
    readonly signer_key: string;
    readonly unsigned: EvmUnsignedTransaction;
  };
  /** Stores a later version of a claim's nonce, if `over` is still the newest version. */
  readonly version?: {
    readonly transaction_id: string;
    readonly claim: string;
    readonly over: string;
    readonly kind: TransactionKind;
    readonly unsigned: EvmUnsignedTransaction;
    readonly raw_tx: string;
    readonly tx_hash: string;
  };
  /**
   * With a completion: claims the payments that arrived for this node, so that they complete no
   * other node.
   */
  readonly claims?: readonly Claim[];
  /**
   * A completed node waits again, and its claims move to the node that names it in `takes` in the
   * same write.
   */
  readonly releases?: true;
  /** With a completion: takes the claims of this node, which releases them in the same write. */
  readonly takes?: NodeRef;
  /** The nonce claim of this ended node, whose block is no longer on the chain. */
  readonly reorged?: string;
  /** Marks a nonce claim as settled by a final block. Refused if it is settled already. */
  readonly settles?: { readonly transaction_id: string; readonly mined_hash: string | null };
}

export interface TimelineEntry {
  readonly event_type: TimelineEventType;
  readonly message: string;
  readonly actor: Actor;
  readonly node_key?: string;
  readonly attempt?: number;
  readonly from_state?: string;
  readonly to_state?: string;
  readonly data?: JsonObject;
}

export interface AuditEntry {
  readonly action: AuditAction;
  readonly entity_type: string;
  readonly entity_key: string;
  readonly outcome: AuditOutcome;
  readonly actor_client_id?: string | null;
  readonly actor_key_id?: string | null;
  readonly actor_role?: string | null;
  readonly namespace?: string | null;
  readonly request_id?: string | null;
  readonly reason?: string | null;
  readonly details?: JsonObject;
  /**
   * See `Caller`; not a field of the row. What succeeds is refused, with everything else of its
   * transaction, if this is more than a minute old or the key was revoked since.
   */
  readonly checked_at?: string;
}

/** The amount that is held back in one pool. */
export interface Hold {
  readonly venue_key: string;
  readonly account_type: string;
  readonly asset: string;
  readonly amount: string;
}

/**
 * Conditions for increasing a hold (a reserved amount): a balance snapshot of these venues, younger
 * than this, must cover the increase, and the increase must fit the budget.
 */
export interface Take {
  readonly venues: readonly string[];
  readonly stale_after_seconds: number;
}

export const COMMAND_KINDS = [
  'create',
  'approve',
  'reject',
  'resume',
  'retry',
  'cancel',
  'resolve',
  'cancel_transaction',
  'wake',
] as const;
export type CommandKind = (typeof COMMAND_KINDS)[number];

export interface SendOver {
  readonly node_key: string;
  /** Seconds after a send in which its effect may still appear at its destination. */
  readonly settle_seconds: number;
  /** Seconds that the database's clock is ahead of the caller's: a send has to be over by both. */
  readonly ahead_seconds: number;
  /**
   * Whether the transactions that the attempt has signed must also be unable to land, because
   * another, finalized transaction has used their nonce, and no run may observe the send.
   */
  readonly nonces_closed: boolean;
}

/** Why the outcome of a send is not final yet. */
export type SendObstacle =
  | { readonly reason: 'send_not_over'; readonly retry_after_seconds: number }
  /** The run of the node observes the send, and the venue has not ended it. */
  | { readonly reason: 'send_still_open' }
  /** The last look could not see the send, as `VENUE_ENTRY_CHANGED` of domain/send/ says. */
  | { readonly reason: 'venue_entry_changed' }
  | {
      /**
       * The transaction that the node signed is in a final block, so "nothing was paid" would be
       * false.
       */
      readonly reason: 'payment_mined';
      readonly chain: number;
      readonly tx_hash: string;
    }
  | {
      readonly reason: 'nonce_open';
      readonly signer: string | null;
      readonly address: string;
      readonly chain: number;
      readonly nonce: number;
      readonly hashes: readonly string[];
    };

/** The authority that approved a movement: an authenticated key, a policy, or a template's cap. */
export type Approval =
  | { readonly by: 'key' | 'policy' | 'template_cap'; readonly name: string }
  | { readonly by: 'auth_off' };

export interface Transition {
  readonly movement_id: string;
  /** The states that the movement must be in; absent: any state. */
  readonly from?: readonly MovementState[];
  /** The state that the movement moves to; absent: the state stays. */
  readonly to?: MovementState;
  readonly set?: MovementFields;
  /** The version that was loaded. Refused if another decision or command was written first. */
  readonly version?: number;
  /** Whether the change counts as a command or decision, which increases the version. */
  readonly bump?: boolean;
  readonly expiry?: 'future' | 'past';
  readonly plan_hash?: string;
  /** Approves the plan with that hash. Without the row that this writes, nothing is sent. */
  readonly approval?: Approval;
  readonly require?: {
    readonly executors: readonly string[];
    readonly signers: readonly { readonly signer_key: string; readonly address?: string }[];
    /** Payees that must be on the allowlist and past their cooling period. */
    readonly addresses?: readonly PayeeAddress[];
    /**
     * An amount that must not exceed the approved amount, nor the amount sent by the node whose
     * funds it passes on.
     */
    readonly flow?: { readonly node_key: string; readonly amount: string };
    /**
     * What a node requires of a venue; the database function `requirement_problem` checks each
     * kind.
     */
    readonly requirements?: Readonly<Partial<Record<RequirementKind, object>>>;
  };
  /**
   * Required for an operator's statement about a node's send: nothing of that send may be under
   * way.
   */
  readonly send_over?: SendOver;
  readonly nodes?: readonly NodeChange[];
  /** Results of conditions by the edge's position; null removes a result. */
  readonly conditions?: Readonly<Record<string, ConditionResult | null>>;
  /**
   * Present when the request takes funds. Holds and budgets follow from the states automatically.
   */
  readonly take?: Take;
  readonly timeline: readonly TimelineEntry[];
  readonly audit?: readonly AuditEntry[];
  /** Why the movement's run is signalled; absent: no signal. */
  readonly command?: CommandKind;
}

/** Why a transition was refused. Then nothing was written. */
export const REFUSALS = [
  'movement_not_found',
  'movement_state',
  'version',
  'expired',
  'not_expired',
  'plan_hash',
  'not_approved',
  'node_state',
  'frozen',
  'send_not_over',
  'nonce_open',
  'payment_mined',
  'send_still_open',
  'venue_entry_changed',
  'nothing_signed',
  'already_claimed',
  'claim_missing',
  'binding',
  'budget',
  'withdrawable',
  /** Of approvals under a rule: whoever approves may not, or said no reason. */
  'approver_excluded',
  'reason_required',
  'passkey_required',
  'assertion_refused',
  /** The person has no approval of the movement to withdraw. */
  'no_approval',
  /** The assertions of the movement's approvals do not prove what a rule asks. */
  'approval_not_proven',
  /** This process is stopping and starts nothing; another process continues. */
  'leaving',
] as const;
export type Refusal = (typeof REFUSALS)[number];

/** The movement after an applied transition, or as a refused one found it. */
export interface MovementHead {
  readonly version: number;
  readonly request_state: MovementState;
  readonly approval_status: ApprovalStatus;
  readonly reservation_status: ReservationStatus;
  readonly current_frontier: readonly string[];
}

export interface BindingProblem {
  readonly binding:
    'executor' | 'signer' | 'address' | 'flow' | 'lane' | 'send_lane' | RequirementKind;
  readonly key: string;
  readonly reason: string;
  /**
   * Only for `flow`: the largest total that may be moved, and how much of it other nodes have
   * moved.
   */
  readonly limit?: string;
  readonly used?: string;
  /** Only for `flow`: nodes that a restore brought back and whose sends were not looked up yet. */
  readonly nodes?: readonly string[];
}

export interface BudgetProblem {
  readonly policy_id: string;
  readonly reason: string;
}

/** A hold that its venue's balance does not cover. */
export interface UncoveredHold extends Hold {
  /** Null when no balance snapshot is recent enough. */
  readonly effective_withdrawable: string | null;
}

export interface ClaimedTransaction {
  readonly transaction_id: string;
  readonly chain_id: number;
  readonly from: string;
  readonly nonce: number;
  readonly unsigned: EvmUnsignedTransaction;
  readonly raw_tx: string | null;
  readonly tx_hash: string | null;
}

export type TransitionOutcome =
  | {
      readonly ok: true;
      readonly head: MovementHead;
      readonly transaction: ClaimedTransaction | null;
      readonly command_id: string | null;
    }
  | {
      readonly ok: false;
      readonly reason: Refusal;
      readonly head: MovementHead | null;
      readonly problems: readonly BindingProblem[];
      /** Only for `budget`: the policy whose budget the movement does not fit, and the reason. */
      readonly budget: BudgetProblem | null;
      /** Only for `withdrawable`. */
      readonly uncovered: UncoveredHold | null;
      /** Only for the reasons of {@link SendObstacle}. */
      readonly send: SendObstacle | null;
      /** Only for `already_claimed`. */
      readonly holder?: ClaimHolder | null;
      /** Only for `approver_excluded` and `assertion_refused`. */
      readonly why?: WhyNot | AssertionProblem | null;
      readonly node: {
        readonly node_key: string;
        readonly state: NodeState;
        readonly attempt: number;
        readonly epoch: number;
      } | null;
    };
