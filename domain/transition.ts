/**
 * One change of a movement as data: what must still be true, what becomes true, and what is
 * recorded about it. Built by the pure functions in `actions/`, applied by `store/transition.ts`
 * and by nothing else.
 */
import type { RequirementKind } from './actions/terms.ts';
import type { PayeeAddress } from './allowlist/match.ts';
import type { Claim, ClaimHolder } from './claims.ts';
import type { ConditionResult } from './conditions/scope.ts';
import type { AuditAction, AuditOutcome, TimelineEventType } from './events.ts';
import type { Artifact, EvmUnsignedTransaction, TransactionKind } from './executor.ts';
import type { JsonObject } from './json.ts';
import type { Actor } from './roles.ts';
import type { ApprovalStatus, MovementState, ReservationStatus } from './states/movement.ts';
import type { NodeState } from './states/node.ts';

/** The database's clock at the time of the write, or so many seconds after it. */
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
  /** A person had an unknown outcome looked at: until a retry nothing of it is sent. */
  readonly only_look?: boolean;
  /** The attempt whose transaction a person wants cancelled. */
  readonly cancel_asked?: number;
  readonly error_count?: number;
  /** Consecutive looks without an answer; the database keeps the time of the first. */
  readonly unanswered?: number;
  readonly external_ref?: string | null;
  readonly output?: JsonObject | null;
  readonly error_code?: string | null;
  readonly error_message?: string | null;
  readonly started_at?: Stamp;
  readonly submitted_at?: Stamp;
  readonly completed_at?: Stamp;
}

/** A node of a movement. */
export interface NodeRef {
  readonly movement_id: string;
  readonly node_key: string;
}

export interface NodeChange {
  readonly node_key: string;
  /** The state it must be in; the first of `moves` leaves from here. */
  readonly from: NodeState;
  /** The states it passes through, the last being where it ends; empty when only fields change. */
  readonly moves: readonly NodeState[];
  readonly attempt?: number;
  /** The submit epoch it must have: a worker that was declared dead has an older one. */
  readonly epoch?: number;
  readonly set?: NodeFields;
  readonly artifacts?: readonly Artifact[];
  /** Claims a nonce in the account's lane for this attempt. */
  readonly nonce?: {
    readonly chain_id: number;
    readonly address: string;
    readonly chain_nonce: number;
    readonly signer_key: string;
    readonly unsigned: EvmUnsignedTransaction;
  };
  /** Stores a later version of a claim's nonce, if `over` is still its newest. */
  readonly version?: {
    readonly transaction_id: string;
    readonly claim: string;
    readonly over: string;
    readonly kind: TransactionKind;
    readonly unsigned: EvmUnsignedTransaction;
    readonly raw_tx: string;
    readonly tx_hash: string;
  };
  /** With a completion: what has arrived for this node and so completes no other. */
  readonly claims?: readonly Claim[];
  /** A completed node waits again, and what it has claimed is for `takes` of the same write. */
  readonly releases?: true;
  /** With a completion: it has what this node has claimed, which releases it in the same write. */
  readonly takes?: NodeRef;
  /** The claim of this node, which had ended, whose block is no longer on the chain. */
  readonly reorged?: string;
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
}

/** How much of one pool is held back. */
export interface Hold {
  readonly venue_key: string;
  readonly account_type: string;
  readonly asset: string;
  readonly amount: string;
}

/**
 * What is held beyond what was before must be covered, at these venues, by a snapshot younger than
 * this, and fit the budget.
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
  /** How long after a send its effect may still appear where it was sent to. */
  readonly settle_seconds: number;
  /**
   * What the attempt has signed must moreover be unable to land: its nonce is used by another,
   * finalized transaction.
   */
  readonly nonces_closed: boolean;
}

/** Why the outcome of a send is not final yet. */
export type SendObstacle =
  | { readonly reason: 'send_not_over'; readonly retry_after_seconds: number }
  | {
      /** What was signed for it is in a final block: that nothing was paid is not so. */
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

/** By whom or what a movement is approved: an authenticated key, a policy, a template's cap. */
export type Approval =
  | { readonly by: 'key' | 'policy' | 'template_cap'; readonly name: string }
  | { readonly by: 'auth_off' };

export interface Transition {
  readonly movement_id: string;
  /** The states the movement must be in; any when absent. */
  readonly from?: readonly MovementState[];
  /** The state it moves to; stays when absent. */
  readonly to?: MovementState;
  readonly set?: MovementFields;
  /** The version that was loaded; refused when another decision or command came first. */
  readonly version?: number;
  /** Counts as a command or decision: the version grows. */
  readonly bump?: boolean;
  readonly expiry?: 'future' | 'past';
  readonly plan_hash?: string;
  /** Approves the plan of that hash; without the row that it leaves, nothing is sent. */
  readonly approval?: Approval;
  readonly require?: {
    readonly executors: readonly string[];
    readonly signers: readonly { readonly signer_key: string; readonly address?: string }[];
    /** On the allowlist and past their cooling. */
    readonly addresses?: readonly PayeeAddress[];
    /** Within what was approved, and within what the node that it passes on from has sent. */
    readonly flow?: { readonly node_key: string; readonly amount: string };
    /** What a node needs of a venue; `requirement_problem` of the database knows each kind. */
    readonly requirements?: Readonly<Partial<Record<RequirementKind, object>>>;
  };
  /** A person's word about a node's send counts only once nothing of that send can be under way. */
  readonly send_over?: SendOver;
  readonly nodes?: readonly NodeChange[];
  /** Results of conditions by the edge's position; null removes one. */
  readonly conditions?: Readonly<Record<string, ConditionResult | null>>;
  /** Present where the request takes funds; holds and budgets follow from states by themselves. */
  readonly take?: Take;
  readonly timeline: readonly TimelineEntry[];
  readonly audit?: readonly AuditEntry[];
  /** The reason to wake the movement's run. */
  readonly command?: CommandKind;
}

/** Why a transition was refused. Nothing was written. */
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
  'nothing_signed',
  'already_claimed',
  'claim_missing',
  'binding',
  'budget',
  'withdrawable',
  /** This process stops, and begins nothing; another one goes on. */
  'leaving',
] as const;
export type Refusal = (typeof REFUSALS)[number];

/** The movement as a transition left or found it. */
export interface MovementHead {
  readonly version: number;
  readonly request_state: MovementState;
  readonly approval_status: ApprovalStatus;
  readonly reservation_status: ReservationStatus;
  readonly current_frontier: readonly string[];
}

export interface BindingProblem {
  readonly binding: 'executor' | 'signer' | 'address' | 'flow' | 'lane' | RequirementKind;
  readonly key: string;
  readonly reason: string;
  /** Only of `flow`: what may be moved in all, and what the other nodes have moved of it. */
  readonly limit?: string;
  readonly used?: string;
  /** Only of `flow`: nodes that a restore brought back and that have not been looked up yet. */
  readonly nodes?: readonly string[];
}

export interface BudgetProblem {
  readonly policy_id: string;
  readonly reason: string;
}

/** A hold that its venue's balance does not cover. */
export interface UncoveredHold extends Hold {
  /** Null when there is no young snapshot to tell by. */
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
      /** Only of `budget`: the policy whose budget the movement does not fit, and why. */
      readonly budget: BudgetProblem | null;
      /** Only of `withdrawable`. */
      readonly uncovered: UncoveredHold | null;
      /** Only of `send_not_over`, `nonce_open` and `payment_mined`. */
      readonly send: SendObstacle | null;
      /** Only of `already_claimed`. */
      readonly holder?: ClaimHolder | null;
      readonly node: {
        readonly node_key: string;
        readonly state: NodeState;
        readonly attempt: number;
        readonly epoch: number;
      } | null;
    };
