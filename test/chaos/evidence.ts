/** What a run left behind, as plain data: everything the invariants look at and nothing else. */
import type { LedgerEntry } from '../../dev/simulators/paper-venue/views.ts';
import type { MovementView, NodeView, TimelineView, TokenTransfer } from '../support/evidence.ts';
import type { TransferEntry } from '../../dev/simulators/paper-venue/transfer-views.ts';
import type { CapitalLife } from './capital.ts';
import type { PlanModel } from '../support/movement-model.ts';
import type { Holding } from '../support/holdings.ts';
import type { Life } from './life.ts';
import type { Received } from './receiver.ts';
import type { TeamOrder } from './team.ts';

export interface NodeEvidence extends NodeView {
  readonly action_type: string;
  readonly amount: string | null;
}

export interface MovementEvidence extends MovementView {
  readonly nodes: readonly NodeEvidence[];
  readonly timeline: readonly (TimelineView & { readonly event_id: string })[];
  readonly idempotency_key: string | null;
  readonly amount: string;
  /** What the service says that it may move at most. */
  readonly outflow: readonly { readonly asset: string; readonly amount: string | null }[];
  /** What its caller and its template's author wrote. */
  readonly plan: PlanModel | null;
  /** Amounts that only this movement sends. */
  readonly amounts: readonly string[];
  readonly callback_url: string | null;
  /** Needs no run. */
  readonly ended: boolean;
  /** Status of the newest run in Temporal, null when it knows none. */
  readonly run_status: string | null;
}

export interface CallbackRow {
  readonly event_id: string;
  readonly movement_id: string;
  readonly event_type: string;
  readonly sequence: number;
  readonly status: string;
  readonly last_error: string | null;
}

export interface AuditRow {
  readonly action: string;
  readonly entity_key: string;
  readonly outcome: string;
}

export interface SignedRow {
  readonly movement_id: string;
  readonly node_key: string;
  readonly attempt: number;
  readonly address: string;
  readonly nonce: number;
  /** Null when the nonce was claimed and never signed for. */
  readonly tx_hash: string | null;
  readonly mined: boolean;
}

/** A capital transfer with what its provider's own books say of it. */
export interface CapitalEvidence {
  readonly transfer_id: string;
  readonly idempotency_key: string;
  readonly request_state: string;
  readonly amount: string;
  readonly hold: string | null;
  readonly run_status: string | null;
  readonly timeline: readonly {
    readonly sequence: number;
    readonly from_state: string | null;
    readonly to_state: string;
  }[];
  readonly record: Pick<TransferEntry, 'effects' | 'submit_calls' | 'amount'> | null;
}

export interface Evidence {
  readonly capitalLives: readonly CapitalLife[];
  readonly capital: readonly CapitalEvidence[];
  readonly lives: readonly Life[];
  readonly movements: readonly MovementEvidence[];
  readonly ledger: readonly LedgerEntry[];
  readonly transfers: readonly TokenTransfer[];
  readonly unappliedCommands: readonly {
    readonly movement_id: string;
    readonly kind: string;
    readonly wakes: number;
  }[];
  readonly callbacks: readonly CallbackRow[];
  readonly received: readonly Received[];
  /** Whether this service delivers callbacks, or only writes their rows. */
  readonly delivers: boolean;
  readonly audit: readonly AuditRow[];
  readonly pools: readonly { readonly pool: string; readonly held: string }[];
  /** `movement_id` is the id of the transfer where one holds. */
  readonly holds: readonly {
    readonly pool: string;
    readonly movement_id: string;
    readonly amount: string;
  }[];
  /** What each movement holds and uses up of its budget, beside the states that decide it. */
  readonly holdings: readonly Holding[];
  /** What the API says is used of the policy's budget. */
  readonly usage: {
    readonly reserved_amount: string;
    readonly consumed_amount: string;
    readonly count_in_window: number;
  };
  /** The books of the team's desk. */
  readonly orders: readonly TeamOrder[];
  /** Whether everything was brought to an end before, and every pool was fetched after it. */
  readonly over: boolean;
  /** What the API says may still leave each pool. */
  readonly pending: readonly { readonly pool: string; readonly amount: string }[];
  readonly signed: readonly SignedRow[];
  readonly lanes: readonly {
    readonly address: string;
    readonly next_nonce: number;
    readonly mined_nonces: number;
  }[];
}

/** Action types that move tokens on the chain. */
export const TRANSFERS = ['cex_withdrawal', 'evm_erc20_transfer'];
